#include <toml++/toml.h>

#include <algorithm>
#include <cctype>

#include "weyl/config/toml_tree.h"
#include "weyl/config/wording.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

// Parsed tables are destroyed recursively, so a key of a million dots would overflow the stack.
constexpr int kDeepestKey = 32;

void require_shallow_keys(std::string_view text, std::string_view where) {
  int64_t line = 1;
  int depth = 0;
  bool word = false;  // the last character that is not blank belongs to a word
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      depth = 0;
      word = false;
    } else if (c == '.') {
      depth = word ? depth + 1 : 0;
      word = false;
      require<ConfigError>(depth < kDeepestKey, where, ":", line,
                           ": not valid TOML: a key must have fewer than ", kDeepestKey, " dots");
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '"' || c == '\'') {
      word = true;
    } else if (c != ' ' && c != '\t') {
      depth = 0;
      word = false;
    }
  }
}

class Converter {
 public:
  explicit Converter(TomlPlace fixed) : fixed_(fixed) {}

  TomlNode operator()(const toml::node& node) const {
    TomlNode out;
    out.place = place(node.source());
    switch (node.type()) {
      case toml::node_type::boolean:
        out.value = node.as_boolean()->get();
        break;
      case toml::node_type::integer:
        out.value = node.as_integer()->get();
        break;
      case toml::node_type::floating_point:
        out.value = node.as_floating_point()->get();
        break;
      case toml::node_type::string:
        out.value = node.as_string()->get();
        break;
      case toml::node_type::array: {
        TomlNode::List list;
        for (const auto& item : *node.as_array()) {
          list.push_back((*this)(item));
        }
        out.value = std::move(list);
        break;
      }
      case toml::node_type::table: {
        TomlNode::Table table;
        for (const auto& [key, value] : *node.as_table()) {
          table.push_back({std::string(key.str()), (*this)(value), place(key.source())});
        }
        // toml++ sorts by name; messages should follow the file.
        std::stable_sort(table.begin(), table.end(),
                         [](const TomlEntry& a, const TomlEntry& b) { return a.place.line < b.place.line; });
        out.value = std::move(table);
        break;
      }
      case toml::node_type::date:
        out.value = TomlDate{"date"};
        break;
      case toml::node_type::time:
        out.value = TomlDate{"time"};
        break;
      default:
        out.value = TomlDate{"date and time"};
        break;
    }
    return out;
  }

 private:
  TomlPlace place(const toml::source_region& source) const {
    return fixed_.override >= 0 ? fixed_ : TomlPlace{static_cast<int64_t>(source.begin.line), -1};
  }

  TomlPlace fixed_;
};

}  // namespace

TomlNode parse_toml(std::string_view text, std::string_view where) {
  require_shallow_keys(text, where);
  try {
    return Converter({})(toml::parse(text));
  } catch (const toml::parse_error& e) {
    throw ConfigError(weyl::text(where, ":", e.source().begin.line,
                                 ": not valid TOML: ", one_line(std::string(e.description()))));
  }
}

TomlNode parse_toml_value(std::string_view value, TomlPlace place) {
  const std::string line = "value = " + std::string(value);
  try {
    require_shallow_keys(line, "override");
    const toml::table table = toml::parse(std::string_view(line));
    // A line break in the text could smuggle in further keys: then it is no TOML value.
    if (table.size() == 1 && table.contains("value")) {
      return Converter(place)(*table.get("value"));
    }
  } catch (const toml::parse_error&) {
  } catch (const ConfigError&) {
  }
  return {std::string(value), place};
}

}  // namespace weyl
