#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"

namespace weyl {

// The wording that reader, writer and describer share.

/// A double as a TOML float that reads back to the same bits: "0.001", "1000.0", "1e-30".
std::string toml_number(double x);

/// A string as a TOML basic string, with its quotes.
std::string toml_string(std::string_view s);

/// The text on one line: control characters become blanks, and a text longer than `longest` bytes is cut.
std::string one_line(std::string_view s, size_t longest = 300);

/// A noun with its article, and the range: "an integer from 1 to 1000", "a number of at least 0", "an integer".
std::string in_range(std::string_view noun, Range range);

/// "[1, 2]": a TOML list, each item written by `write`.
template <class T, class Write>
std::string toml_list(const std::vector<T>& items, Write&& write) {
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    out += i == 0 ? "" : ", ";
    out += write(items[i]);
  }
  return out + "]";
}

/// The message about an item that a list does not have: "hours has 2 items, numbered from 0, got 3". For an empty list
/// it adds how the list is given.
std::string no_such_item(std::string_view list, size_t size, int64_t number);

/// The name of a choice as TOML: a string, but for `true` and `false`, which are booleans.
std::string toml_choice(std::string_view name);

/// `"a", "b" or "c"`, each as `toml_choice` writes it.
std::string one_of(std::span<const std::string_view> names);

}  // namespace weyl
