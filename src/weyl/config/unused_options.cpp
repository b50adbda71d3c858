#include "weyl/config/unused_options.h"

#include <algorithm>
#include <map>
#include <utility>

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

/// Where this thread's options without effect go; null: they are thrown.
thread_local std::vector<UnusedOption>* gathered = nullptr;

Values values_of(const Visit& visit) {
  Values values;
  collect_values(describe(visit), values);
  return values;
}

}  // namespace

std::vector<std::string> unused_option_warnings(const std::function<void()>& look,
                                                std::span<const std::string> told) {
  struct Gather {
    std::vector<UnusedOption> found;
    std::vector<UnusedOption>* before = std::exchange(gathered, &found);
    ~Gather() { gathered = before; }
  } gather;
  look();
  std::vector<std::string> lines;
  for (const UnusedOption& option : gather.found) {
    const auto same = [&](const std::string& line) { return line.starts_with(option.path + " = "); };
    if (std::ranges::none_of(told, same) && std::ranges::none_of(lines, same)) {
      lines.push_back(option.warning());
    }
  }
  return lines;
}

void refuse_unused(std::string_view table, const Visit& given, const Visit& usual,
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
        UnusedOption unused(text(whole, ": has no effect ", option.without, "; must be left out or be ",
                                 one_line(normal, 80), ", got ", one_line(value, 80)),
                            whole, one_line(value, 80), option.without);
        if (gathered == nullptr) {
          throw unused;
        }
        gathered->push_back(std::move(unused));
      }
    }
    require(known, "refuse_unused: '", table, "' must have a key '", option.key, "', got none");
  }
}

}  // namespace weyl
