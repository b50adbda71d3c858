#include <toml++/toml.h>

#include <algorithm>

#include "weyl/config/toml_tree.h"
#include "weyl/config/wording.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

// toml++ destroys tables recursively: a key of a million dots would overflow the stack. It limits the depth
// of values itself, so the number of dots bounds the depth of the whole document, quotes and comments or not.
constexpr int64_t kMostDots = 1000;

void require_shallow(std::string_view text, std::string_view where) {
  const int64_t dots = std::count(text.begin(), text.end(), '.');
  require<ConfigError>(dots <= kMostDots, where, ": a config must have at most ", kMostDots, " dots, got ",
                       dots);
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
  require_shallow(text, where);
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
    require_shallow(line, "override");
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

bool is_toml_text(std::string_view text) {
  const std::string line = "value = " + toml_string(text);
  try {
    return toml::parse(std::string_view(line)).size() == 1;
  } catch (const toml::parse_error&) {
    return false;
  }
}

}  // namespace weyl
