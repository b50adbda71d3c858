#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace weyl {

/// A text with the letters A to Z as a to z.
inline std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

}  // namespace weyl
