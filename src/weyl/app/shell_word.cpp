#include "weyl/app/shell_word.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace weyl {

std::string shell_word(const std::string& word) {
  const bool plain =
      !word.empty() && word.front() != '-' && word.front() != '~' &&
      std::ranges::all_of(word, [](unsigned char c) {
        return c >= 128 || std::isalnum(c) != 0 ||
               std::string_view("/._-+=,:@%").find(static_cast<char>(c)) != std::string_view::npos;
      });
  if (plain) {
    return word;
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

}  // namespace weyl
