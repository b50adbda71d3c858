#pragma once

#include <map>
#include <string>

namespace weyl {

/// A setting as the file of another program holds it: None, a truth value, a number, a word, or something else (a list,
/// an object).
struct Setting {
  enum class Kind { none, boolean, number, word, other };
  Kind kind = Kind::none;
  double number = 0;  // of a truth value 0 or 1
  std::string word;
};

/// As people write it: "none", "true", "8", "silu"; "something else".
std::string text_of(const Setting& setting);

using Settings = std::map<std::string, Setting>;

}  // namespace weyl
