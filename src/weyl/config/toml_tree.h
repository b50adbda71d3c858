#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weyl {

/// Where a value was written: a line of the file, or the index of an override.
struct TomlPlace {
  int64_t line = 0;
  int64_t override = -1;
};

/// A parsed TOML document as plain data, so that toml++ (7 s a file to compile) stays in toml.cpp. Of a date or a time,
/// which no option takes, only its kind is kept.
struct TomlDate {
  std::string kind;
};
struct TomlEntry;
struct TomlItem;
struct TomlNode {
  using List = std::vector<TomlNode>;
  using Table = std::vector<TomlEntry>;
  using Items = std::vector<TomlItem>;  // items that overrides set of a list that the document does not give
  std::variant<bool, int64_t, double, std::string, TomlDate, List, Table, Items> value;
  TomlPlace place;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
};
struct TomlEntry {
  std::string key;
  TomlNode node;
  TomlPlace place;  // of the key
};
struct TomlItem {
  int64_t number = 0;
  TomlNode node;
};

/// The document as a table. ConfigError `where:line: not valid TOML: ...` for a syntax error, a key that is given
/// twice, text that is not UTF-8 or is nested too deep, and more dots than any config has.
TomlNode parse_toml(std::string_view text, std::string_view where);

/// The value of an override: a TOML value, or the text itself as a string where it is none.
TomlNode parse_toml_value(std::string_view text, TomlPlace place);

/// Whether a document may hold the text as a string: whether it is UTF-8.
bool is_toml_text(std::string_view text);

/// Puts the override "a.b.c=value" into the document, in place of what was there; its place is `index`. An item of a
/// list is named by its number, "a.b[0].c=value". Where the document does not give the list, the item belongs to the
/// default list, which the reader knows. ConfigError unless the override is words with dots between them, an equals
/// sign and a value in UTF-8, and the list has such an item.
void apply_override(TomlNode& root, const std::string& whole, int64_t index);

}  // namespace weyl
