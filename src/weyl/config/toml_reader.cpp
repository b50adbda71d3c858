#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "weyl/config/suggestions.h"
#include "weyl/config/toml.h"
#include "weyl/config/toml_tree.h"
#include "weyl/config/wording.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/nearest.h"
#include "weyl/core/quote.h"

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

namespace {

constexpr size_t kLargestFile = size_t{4} << 20;

std::string shown(const TomlNode& node) {
  struct Shower {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(int64_t i) const { return text("the integer ", i); }
    std::string operator()(double x) const { return text("the number ", toml_number(x)); }
    std::string operator()(const std::string& s) const { return text("the string \"", one_line(s, 60), '"'); }
    std::string operator()(const TomlDate& d) const { return text("a ", d.kind); }
    std::string operator()(const TomlNode::List& l) const { return text("a list of ", l.size()); }
    std::string operator()(const TomlNode::Table&) const { return "a table"; }
    std::string operator()(const TomlNode::Items& i) const {
      return text("item ", i.front().number, " of a list");
    }
  };
  return std::visit(Shower{}, node.value);
}

class Reader final : public Fields {
 public:
  Reader(const TomlNode& root, std::string where, std::span<const std::string> overrides, const Visit& visit)
      : where_(std::move(where)), overrides_(overrides), root_(root), visit_(visit) {
    frames_.push_back({root.as<TomlNode::Table>(), "", {}});
  }

  void finish() {
    leave();
    require<ConfigError>(unread_override_.empty(), unread_override_);
  }

 protected:
  void boolean(std::string_view key, bool& v, std::string_view) override {
    if (const auto* node = take(key)) {
      const auto* b = node->as<bool>();
      require_that(b, *node, key, "true or false");
      v = *b;
    }
  }

  void integer(std::string_view key, int64_t& v, std::string_view, Range range) override {
    if (const auto* node = take(key)) {
      v = integer_of(*node, key, in_range("an integer", range), range);
    }
  }

  void real(std::string_view key, double& v, std::string_view, Range range) override {
    if (const auto* node = take(key)) {
      v = real_of(*node, key, in_range("a number", range), range);
    }
  }

  void string(std::string_view key, std::string& v, std::string_view) override {
    if (const auto* node = take(key)) {
      v = string_of(*node, key, "a string");
    }
  }

  void integers(std::string_view key, std::vector<int64_t>& v, std::string_view, Range range) override {
    read_list(
        key, v, "a list, each " + in_range("an integer", range),
        [&](const TomlNode& item, const std::string& must) { return integer_of(item, key, must, range); });
  }

  void reals(std::string_view key, std::vector<double>& v, std::string_view, Range range) override {
    read_list(key, v, "a list, each " + in_range("a number", range),
              [&](const TomlNode& item, const std::string& must) { return real_of(item, key, must, range); });
  }

  void matrix(std::string_view key, std::vector<std::vector<double>>& v, std::string_view) override {
    read_list(key, v, "a list of lists of numbers", [&](const TomlNode& row, const std::string& must) {
      const auto* list = row.as<TomlNode::List>();
      require_that(list, row, key, must);
      std::vector<double> numbers;
      for (const auto& item : *list) {
        numbers.push_back(real_of(item, key, must, {}));
      }
      return numbers;
    });
  }

  void strings(std::string_view key, std::vector<std::string>& v, std::string_view) override {
    read_list(key, v, "a list of strings",
              [&](const TomlNode& item, const std::string& must) { return string_of(item, key, must); });
  }

  void choice(std::string_view key, size_t& index, std::span<const std::string_view> names,
              std::string_view) override {
    if (const auto* node = take(key)) {
      const auto* s = node->as<std::string>();
      const auto* b = node->as<bool>();
      require_that(s || b, *node, key, one_of(names));
      const std::string given = s ? *s : *b ? "true" : "false";
      const auto found = std::find(names.begin(), names.end(), given);
      if (found == names.end()) {
        const std::vector<std::string> candidates(names.begin(), names.end());
        fail(*node, key, one_of(names), s ? nearest(given, candidates) : "");
      }
      index = static_cast<size_t>(found - names.begin());
    }
    if (index < names.size()) {
      frames_.back().choice = text(path(key), " = \"", names[index], '"');
    }
  }

  Presence optional(std::string_view key, bool has_value, bool is_struct, std::string_view) override {
    const auto* node = find(key);
    if (!node) {
      take(key);
      return has_value ? Presence::on : Presence::off;
    }
    if (const auto* b = node->as<bool>()) {
      if (!*b) {
        take(key);
        return Presence::off;
      }
      if (is_struct) {
        take(key);
        return Presence::on_by_default;
      }
    }
    or_else_ = is_struct ? ", true or false" : " or false";
    return Presence::on;
  }

  bool enter(std::string_view key, std::string_view) override {
    const auto* node = take(key);
    if (!node) {
      return false;
    }
    push(*node, key);
    return true;
  }

  void leave() override {
    const Frame& frame = frames_.back();
    if (frame.table) {
      for (const auto& entry : *frame.table) {
        if (!frame.known.contains(entry.key)) {
          fail_unknown(frame, entry);
        }
      }
    }
    frames_.pop_back();
  }

  Items enter_array(std::string_view key, size_t size, std::string_view) override {
    const auto* node = take(key);
    if (!node) {
      return {};
    }
    if (const auto* items = node->as<TomlNode::Items>()) {
      require_items(*items, key, size);
      arrays_.push_back({node, std::string(key)});
      return {Items::Plan::visit};
    }
    const auto* list = node->as<TomlNode::List>();
    require_that(list, *node, key, "a list of tables");
    arrays_.push_back({node, std::string(key)});
    return {Items::Plan::replace, list->size()};
  }

  void enter_item(size_t index) override {
    static const TomlNode none{TomlNode::Table{}, {}};
    const auto& [node, key] = arrays_.back();
    const TomlNode* item = &none;
    if (const auto* items = node->as<TomlNode::Items>()) {
      const auto found = std::ranges::find(*items, static_cast<int64_t>(index), &TomlItem::number);
      item = found == items->end() ? item : &found->node;
    } else {
      item = &(*node->as<TomlNode::List>())[index];
    }
    push(*item, text(key, "[", index, "]"));
  }

  void leave_array() override { arrays_.pop_back(); }

  // A file may hold the tables of several alternatives; who sets a key of one that is not chosen behind a verb means
  // something by it.
  bool enter_alternative(std::string_view name, bool chosen, std::string_view help) override {
    const auto* node = chosen ? nullptr : find(name);
    const int64_t override = node ? override_in(*node) : -1;
    if (override >= 0 && unread_override_.empty()) {
      unread_override_ = text(place({0, override}), ": has no effect with ", frames_.back().choice);
    }
    return enter(name, help);
  }

 private:
  struct Frame {
    const TomlNode::Table* table;
    std::string path;                          // "model.platonic", empty for the file itself
    std::set<std::string, std::less<>> known;  // keys that the struct has
    std::string choice = {};                   // the last choice of the struct: "model.system = \"lie\""
  };

  const TomlNode* find(std::string_view key) const {
    for (const auto& entry : *frames_.back().table) {
      if (entry.key == key) {
        return &entry.node;
      }
    }
    return nullptr;
  }

  // The value of a key that the struct has, or null when the file does not give it.
  const TomlNode* take(std::string_view key) {
    frames_.back().known.insert(std::string(key));
    also_ = std::exchange(or_else_, "");
    return find(key);
  }

  void push(const TomlNode& node, std::string_view key) {
    const auto* table = node.as<TomlNode::Table>();
    require_that(table, node, key, "a table");
    frames_.push_back({table, path(key), {}});
  }

  int64_t integer_of(const TomlNode& node, std::string_view key, const std::string& must, Range range) const {
    const auto* i = node.as<int64_t>();
    require_that(i, node, key, must);
    require_that(static_cast<double>(*i) >= range.low && static_cast<double>(*i) <= range.high, node, key,
                 must);
    return *i;
  }

  double real_of(const TomlNode& node, std::string_view key, const std::string& must, Range range) const {
    const auto* i = node.as<int64_t>();
    const auto* d = node.as<double>();
    require_that(i || d, node, key, must);
    const double x = i ? static_cast<double>(*i) : *d;
    require_that(std::isfinite(x), node, key, must + ", finite");
    require_that(x >= range.low && x <= range.high, node, key, must);
    return x;
  }

  std::string string_of(const TomlNode& node, std::string_view key, std::string_view must) const {
    const auto* s = node.as<std::string>();
    require_that(s, node, key, must);
    return *s;
  }

  template <class T, class ReadItem>
  void read_list(std::string_view key, std::vector<T>& v, const std::string& must, ReadItem&& read_item) {
    if (const auto* node = take(key)) {
      if (const auto* given = node->as<TomlNode::Items>()) {
        require_items(*given, key, v.size());
        for (const auto& [number, item] : *given) {
          v[static_cast<size_t>(number)] = read_item(item, must);
        }
        return;
      }
      const auto* list = node->as<TomlNode::List>();
      require_that(list, *node, key, must);
      std::vector<T> items;
      for (const auto& item : *list) {
        items.push_back(read_item(item, must));
      }
      v = std::move(items);
    }
  }

  /// Of a list that no file gives, which has its default size.
  void require_items(const TomlNode::Items& items, std::string_view key, size_t size) const {
    for (const auto& [number, item] : items) {
      require<ConfigError>(number < static_cast<int64_t>(size), place(item.place), ": ",
                           no_such_item(path(key), size, number));
    }
  }

  std::string path(std::string_view key) const {
    const std::string& table = frames_.back().path;
    return table.empty() ? std::string(key) : text(table, ".", key);
  }

  std::string place(TomlPlace p) const {
    return p.override >= 0 ? text("override '", one_line(overrides_[static_cast<size_t>(p.override)]), "'")
                           : text(where_, ":", p.line);
  }

  template <class Holds>
  void require_that(Holds holds, const TomlNode& node, std::string_view key, std::string_view must) const {
    if (!holds) {
      fail(node, key, must, "");
    }
  }

  [[noreturn]] void fail(const TomlNode& node, std::string_view key, std::string_view must,
                         const std::string& near) const {
    const std::string hint = near.empty() ? "" : text("; did you mean '", near, "'?");
    throw ConfigError(
        text(place(node.place), ": ", path(key), ": must be ", must, also_, ", got ", shown(node), hint));
  }

  [[noreturn]] void fail_unknown(const Frame& frame, const TomlEntry& entry) const {
    const std::vector<std::string> candidates(frame.known.begin(), frame.known.end());
    // In items of lists, whose keys no path reaches, their own come first.
    const bool item = frame.path.find('[') != std::string::npos;
    std::string near = item ? nearest(entry.key, candidates) : "";
    const Suggestions suggested =
        near.empty()
            ? suggestions_for({frame.path, entry.key, only_path_in(entry.node)}, describe(visit_), root_)
            : Suggestions{};
    if (near.empty() && (suggested.paths.empty() || suggested.of_rest)) {
      near = nearest(entry.key, candidates);  // a table that is not chosen
    }
    std::string hint;
    if (!near.empty()) {
      hint = text("; did you mean '", near, "'?");
    } else if (!suggested.paths.empty()) {
      hint = "; did you mean " + named(suggested, frame.path);
    } else if (candidates.empty()) {
      hint = "; there are no keys here";
    } else {
      hint = "; the keys here are " + joined(candidates);
    }
    throw ConfigError(text(place(entry.place), ": ", one_line(path(entry.key)), ": unknown key", hint));
  }

  // An override that put something into a value; -1: none has.
  static int64_t override_in(const TomlNode& node) {
    int64_t found = node.place.override;
    if (const auto* table = node.as<TomlNode::Table>()) {
      for (const TomlEntry& entry : *table) {
        found = std::max(found, override_in(entry.node));
      }
    }
    if (const auto* list = node.as<TomlNode::List>()) {
      for (const TomlNode& item : *list) {
        found = std::max(found, override_in(item));
      }
    }
    return found;
  }

  /// "rate" of {rate = 1e-3}, "a.b" of {a = {b = 1}}; empty where there is no one key alone.
  static std::string only_path_in(const TomlNode& node) {
    const auto* table = node.as<TomlNode::Table>();
    if (table == nullptr || table->size() != 1) {
      return "";
    }
    const std::string rest = only_path_in(table->front().node);
    return table->front().key + (rest.empty() ? "" : "." + rest);
  }

  /// "'train.optimiser.rate'?"; a key of the table at hand that was misspelt without the table.
  static std::string named(const Suggestions& suggested, const std::string& table) {
    if (const std::string& path = suggested.paths.front();
        suggested.paths.size() == 1 && suggested.help.empty()) {
      const std::string own = table.empty() ? "" : table + ".";
      const bool here = path.starts_with(own) && path.find('.', own.size()) == path.npos;
      return text("'", here ? path.substr(own.size()) : path, "'?");
    }
    std::string names;
    for (size_t i = 0; i < suggested.paths.size(); ++i) {
      names += text(i == 0                            ? ""
                    : i + 1 == suggested.paths.size() ? " or "
                                                      : ", ",
                    "'", suggested.paths[i], "'");
    }
    return names + (suggested.help.empty() ? "?" : text(" (", one_line(suggested.help, 120), ")?"));
  }

  std::string where_;
  std::span<const std::string> overrides_;
  std::string unread_override_;  // what is to be said of an override that nothing reads
  const TomlNode& root_;
  const Visit& visit_;
  std::vector<Frame> frames_;
  std::vector<std::pair<const TomlNode*, std::string>> arrays_;  // lists or items of one, and their keys
  std::string or_else_, also_;  // what an optional may be beside its value: pending, and of the key at hand
};

}  // namespace

void read_toml(const std::string& path, std::span<const std::string> overrides, const Visit& visit) {
  const FileContents file = read_file(path, kLargestFile);
  require<ConfigError>(file.fault.empty(), path, ": ", file.fault);
  read_toml_text(file.text, path, overrides, visit);
}

void read_toml_text(std::string_view content, std::string_view where, std::span<const std::string> overrides,
                    const Visit& visit) {
  TomlNode root = parse_toml(content, where);
  for (size_t i = 0; i < overrides.size(); ++i) {
    apply_override(root, overrides[i], static_cast<int64_t>(i));
  }
  Reader reader(root, std::string(where), overrides, visit);
  visit(reader);
  reader.finish();
}

namespace {

/// Takes out what is at none of the paths, in none of them and on the way to none.
void keep_only(TomlNode& node, const std::string& before, std::span<const std::string_view> paths) {
  auto* table = std::get_if<TomlNode::Table>(&node.value);
  if (table == nullptr) {
    return;
  }
  std::erase_if(*table, [&](TomlEntry& entry) {
    const std::string path = before + entry.key;
    if (std::ranges::find(paths, path) != paths.end()) {
      return false;
    }
    keep_only(entry.node, path + ".", paths);
    return std::ranges::none_of(paths, [&](std::string_view p) { return p.starts_with(path + "."); });
  });
}

}  // namespace

void read_toml_part(std::string_view content, std::string_view where, std::span<const std::string_view> paths,
                    const Visit& visit) {
  TomlNode root = parse_toml(content, where);
  keep_only(root, "", paths);
  Reader reader(root, std::string(where), {}, visit);
  visit(reader);
  reader.finish();
}

}  // namespace weyl
