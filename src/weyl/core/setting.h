#pragma once

#include <map>
#include <string>

namespace weyl {

/// A setting from another program's file: None, a truth value, a number, a word, or something else (a list, an object).
struct Setting {
  enum class Kind { none, boolean, number, word, other };
  Kind kind = Kind::none;
  double number = 0;  // a truth value is 0 or 1
  std::string word;
};

/// The setting as people write it: "none", "true", "8", "silu"; "something else".
std::string text_of(const Setting& setting);

using Settings = std::map<std::string, Setting>;

}  // namespace weyl
