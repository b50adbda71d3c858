#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"

namespace weyl {

/// The words that reader, writer and describer share.

/// A double as a TOML float that reads back to the same bits: "0.001", "1000.0", "1e-30".
std::string toml_number(double x);

/// A string as a TOML basic string, with its quotes.
std::string toml_string(std::string_view s);

/// Control characters replaced by blanks, and cut to a length that fits on a line.
std::string one_line(std::string_view s, size_t longest = 300);

/// "an integer from 1 to 1000", "a number of at least 0", "an integer": noun with article, and the range.
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

/// "hours has 2 items, numbered from 0, got 3": of an item that a list has not, and of an empty list how it is given.
std::string no_such_item(std::string_view list, size_t size, int64_t number);

/// A name of a choice as TOML: a string, but `true` and `false`, which are booleans there.
std::string toml_choice(std::string_view name);

/// `"a", "b" or "c"`, each as `toml_choice` writes it.
std::string one_of(std::span<const std::string_view> names);

}  // namespace weyl
