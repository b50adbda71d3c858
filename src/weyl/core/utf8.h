#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weyl {

/// A character of UTF-8, or the bytes that stand for none: the longest that begin a character, one at least.
struct Utf8 {
  uint32_t code = 0;
  size_t bytes = 0;
  bool valid = false;
};

/// What a text that is not empty begins with.
Utf8 first_utf8(std::string_view text);

bool is_utf8(std::string_view text);

void append_utf8(std::string& to, uint32_t code);

}  // namespace weyl
