#include <algorithm>
#include <charconv>
#include <iterator>

#include "weyl/config/toml_tree.h"
#include "weyl/config/wording.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) {
    s.remove_prefix(1);
  }
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) {
    s.remove_suffix(1);
  }
  return s;
}

/// "stages[2]" as a key and the number of an item; -1: none.
struct Step {
  std::string_view key;
  int64_t item = -1;
};

Step step_of(std::string_view word) {
  const size_t open = word.find('[');
  int64_t item = -1;
  if (open == word.npos || !word.ends_with(']')) {
    return {word};
  }
  const char *first = word.data() + open + 1, *last = word.data() + word.size() - 1;
  const auto [end, error] = std::from_chars(first, last, item);
  return error == std::errc() && end == last && item >= 0 ? Step{word.substr(0, open), item} : Step{word};
}

/// An item of the list that stands under a key, or is to stand there.
TomlNode* item_of(TomlNode& under, std::string_view key, int64_t number, TomlPlace place,
                  const std::string& where) {
  if (auto* list = std::get_if<TomlNode::List>(&under.value)) {
    const auto size = static_cast<int64_t>(list->size());
    require<ConfigError>(number < size, where, ": ", no_such_item(key, list->size(), number));
    return &(*list)[static_cast<size_t>(number)];
  }
  auto* items = std::get_if<TomlNode::Items>(&under.value);
  require<ConfigError>(items != nullptr, where, ": ", key, " is no list, but an item of it is given");
  auto found = std::ranges::find(*items, number, &TomlItem::number);
  if (found == items->end()) {
    items->push_back({number, {TomlNode::Table{}, place}});
    found = std::prev(items->end());
  }
  return &found->node;
}

}  // namespace

void apply_override(TomlNode& root, const std::string& whole, int64_t index) {
  const TomlPlace place{0, index};
  const std::string where = text("override '", one_line(whole), "'");
  const size_t equals = whole.find('=');
  require<ConfigError>(equals != std::string::npos, where, ": must be key=value, such as train.epochs=5");
  std::string_view path = trimmed(std::string_view(whole).substr(0, equals));
  const std::string_view value = trimmed(std::string_view(whole).substr(equals + 1));

  require<ConfigError>(is_toml_text(value), where, ": the value must be UTF-8");  // or no run could record it
  TomlNode* node = &root;
  for (int depth = 0;; ++depth) {
    const size_t dot = path.find('.');
    const auto [key, item] = step_of(path.substr(0, dot));
    const std::string_view words = ": the key must be words with dots between them, such as train.epochs";
    require<ConfigError>(!key.empty() && std::all_of(key.begin(), key.end(), is_bare) && depth < 32, where,
                         words);
    require<ConfigError>(!node->as<TomlNode::List>() && !node->as<TomlNode::Items>(), where,
                         ": a list is given whole, as in key=[1, 2], or an item of it by its number, as in "
                         "key[0]");
    if (!node->as<TomlNode::Table>()) {
      *node = {TomlNode::Table{}, place};
    }
    auto& table = std::get<TomlNode::Table>(node->value);
    auto entry = std::find_if(table.begin(), table.end(),
                              [&, name = key](const TomlEntry& e) { return e.key == name; });
    if (item >= 0) {
      if (entry == table.end()) {
        table.push_back({std::string(key), {TomlNode::Items{}, place}, place});
        entry = std::prev(table.end());
      }
      node = item_of(entry->node, key, item, place, where);
      if (dot == std::string_view::npos) {
        break;
      }
      path.remove_prefix(dot + 1);
      continue;
    }
    if (entry == table.end()) {
      table.push_back({std::string(key), {TomlNode::Table{}, place}, place});
      entry = std::prev(table.end());
    }
    node = &entry->node;
    if (dot == std::string_view::npos) {
      entry->place = place;
      break;
    }
    path.remove_prefix(dot + 1);
  }
  *node = parse_toml_value(value, place);
}

}  // namespace weyl
