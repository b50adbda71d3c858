#include "weyl/config/idle.h"

#include <map>

#include "weyl/config/description.h"
#include "weyl/config/wording.h"

namespace weyl {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

/// Each key's value as TOML, and of a table that can be off whether it is on. What stands in a list of tables is not
/// among them: a description has no items.
void collect_values(const Description& d, Values& values) {
  const bool table = d.type == Description::Type::table;
  if (!d.path.empty() && d.type != Description::Type::tables && (!table || d.optional)) {
    values[d.path] = table ? (d.on ? "true" : "false") : d.standard;
  }
  if (d.type != Description::Type::tables) {
    for (const Description& child : d.children) {
      collect_values(child, values);
    }
  }
}

Values values_of(const Visit& visit) {
  Values values;
  collect_values(describe(visit), values);
  return values;
}

}  // namespace

void refuse_idle(std::string_view table, const Visit& given, const Visit& usual,
                 std::span<const Conditional> options) {
  const Values found = values_of(given), expected = values_of(usual);
  for (const Conditional& option : options) {
    const std::string inside = std::string(option.key) + ".";
    bool known = false;
    for (const auto& [path, value] : found) {
      if (path != option.key && !path.starts_with(inside)) {
        continue;
      }
      known = true;
      const std::string& normal = expected.at(path);
      if (!option.acts && value != normal) {
        const std::string whole = text(table, ".", path);
        throw IdleOption(text(whole, ": has no effect ", option.without, "; must be left out or be ",
                              one_line(normal, 80), ", got ", one_line(value, 80)),
                         whole, normal, option.without);
      }
    }
    require(known, "refuse_idle: '", table, "' must have a key '", option.key, "', got none");
  }
}

}  // namespace weyl
