#include "weyl/config/description.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "weyl/config/suggestions.h"
#include "weyl/config/toml_tree.h"
#include "weyl/config/wording.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/nearest.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

class Describer final : public Fields {
 public:
  Describer() { open_.push_back({}); }

  Description all() { return std::move(open_.front()); }

  void also_called(std::string_view key, std::initializer_list<std::string_view> words) override {
    for (const std::string_view word : words) {
      open_.back().also_called.emplace_back(word, key);
    }
  }

 protected:
  using Type = Description::Type;

  void boolean(std::string_view key, bool& v, std::string_view help) override {
    add(Type::boolean, key, help, v ? "true" : "false");
  }
  void integer(std::string_view key, int64_t& v, std::string_view help, Range range) override {
    add(Type::integer, key, help, text(v), range);
  }
  void real(std::string_view key, double& v, std::string_view help, Range range) override {
    add(Type::real, key, help, toml_number(v), range);
  }
  void string(std::string_view key, std::string& v, std::string_view help) override {
    add(Type::string, key, help, toml_string(v));
  }
  void integers(std::string_view key, std::vector<int64_t>& v, std::string_view help, Range range) override {
    add(Type::integers, key, help, toml_list(v, [](int64_t i) { return text(i); }), range);
  }
  void reals(std::string_view key, std::vector<double>& v, std::string_view help, Range range) override {
    add(Type::reals, key, help, toml_list(v, toml_number), range);
  }
  void matrix(std::string_view key, std::vector<std::vector<double>>& v, std::string_view help) override {
    add(Type::matrix, key, help, toml_list(v, [](const auto& row) { return toml_list(row, toml_number); }));
  }
  void strings(std::string_view key, std::vector<std::string>& v, std::string_view help) override {
    add(Type::strings, key, help, toml_list(v, [](const std::string& s) { return toml_string(s); }));
  }
  void choice(std::string_view key, size_t& index, std::span<const std::string_view> names,
              std::string_view help) override {
    auto& d = add(Type::choice, key, help, index < names.size() ? toml_choice(names[index]) : "");
    d.choices.assign(names.begin(), names.end());
  }

  Presence optional(std::string_view, bool has_value, bool, std::string_view) override {
    optional_ = true;
    on_ = has_value;
    return Presence::described;
  }

  bool enter(std::string_view key, std::string_view help) override {
    open(make(Type::table, key, help));
    return true;
  }
  void leave() override {
    Description closed = std::move(open_.back());
    open_.pop_back();
    open_.back().children.push_back(std::move(closed));
  }

  // The item's keys are the children of the array itself: features.name, without an index.
  Items enter_array(std::string_view key, size_t, std::string_view help) override {
    array_ = make(Type::tables, key, help);
    return {Items::Plan::describe, 1};
  }
  void enter_item(size_t) override { open(std::move(array_)); }
  void leave_array() override {}

  bool enter_alternative(std::string_view name, bool, std::string_view) override {
    Description d = make(Type::table, name, text("Options of `", choice_of(name), " = \"", name, "\"`."));
    d.chosen_by = choice_of(name);
    open(std::move(d));
    return true;
  }

 private:
  Description make(Type type, std::string_view key, std::string_view help) {
    Description d;
    d.type = type;
    d.key = key;
    d.path = open_.back().path.empty() ? std::string(key) : text(open_.back().path, ".", key);
    d.help = help;
    d.optional = std::exchange(optional_, false);
    d.on = std::exchange(on_, true);
    return d;
  }

  Description& add(Type type, std::string_view key, std::string_view help, std::string standard,
                   Range range = {}) {
    Description d = make(type, key, help);
    d.standard = d.on ? std::move(standard) : "false";
    d.range = range;
    open_.back().children.push_back(std::move(d));
    return open_.back().children.back();
  }

  void open(Description d) { open_.push_back(std::move(d)); }

  // The key of the choice that offers this alternative: the latest one with that name.
  std::string choice_of(std::string_view name) const {
    const auto& siblings = open_.back().children;
    for (auto d = siblings.rbegin(); d != siblings.rend(); ++d) {
      for (const auto& c : d->choices) {
        if (c == name) {
          return d->key;
        }
      }
    }
    return "";
  }

  std::vector<Description> open_;
  Description array_;
  bool optional_ = false, on_ = true;
};

}  // namespace

Description describe(const Visit& visit) {
  Describer describer;
  visit(describer);
  return describer.all();
}

std::string requirement(const Description& d) {
  using Type = Description::Type;
  std::string must;
  switch (d.type) {
    case Type::boolean:
      must = "true or false";
      break;
    case Type::integer:
      must = in_range("an integer", d.range);
      break;
    case Type::real:
      must = in_range("a number", d.range);
      break;
    case Type::string:
      must = "a string";
      break;
    case Type::integers:
      must = "a list, each " + in_range("an integer", d.range);
      break;
    case Type::reals:
      must = "a list, each " + in_range("a number", d.range);
      break;
    case Type::matrix:
      must = "a list of lists of numbers";
      break;
    case Type::strings:
      must = "a list of strings";
      break;
    case Type::choice: {
      const std::vector<std::string_view> names(d.choices.begin(), d.choices.end());
      must = one_of(names);
      break;
    }
    case Type::table:
      must = "a table";
      break;
    case Type::tables:
      must = "a list of tables";
      break;
  }
  if (d.optional) {
    must += d.type == Type::table ? ", true or false" : " or false";
  }
  return must;
}

std::string requirement_and_default(const Description& d) {
  const std::string must = "must be " + requirement(d);
  if (!d.standard.empty()) {
    return must + "; default " + d.standard;
  }
  return d.optional ? text(must, "; ", d.on ? "on" : "off", " by default") : must;
}

namespace {

using Type = Description::Type;

bool is_table(const Description& d) {
  return d.type == Type::table || d.type == Type::tables;
}

// `|` would end a cell.
std::string cell(std::string_view s) {
  std::string out;
  for (const char c : s) {
    out += c == '|' ? "\\|" : std::string(1, c);
  }
  return out;
}

std::string heading(const Description& d) {
  return d.type == Type::tables ? text("[[", d.path, "]]") : text("[", d.path, "]");
}

void write_markdown(const Description& table, std::string& out) {
  if (!table.path.empty()) {
    out += text("\n## `", heading(table), "`\n\n", table.help, "\n");
    if (table.optional) {
      out += text("\nOptional, ", table.on ? "on" : "off", " by default: `", table.key,
                  " = false` switches it off, `", table.key, " = true` or a table on.\n");
    }
  }
  bool any = false;
  for (const auto& d : table.children) {
    if (!is_table(d)) {
      if (!any) {
        out += "\n| key | must be | default | meaning |\n|---|---|---|---|\n";
        any = true;
      }
      out += text("| `", d.key, "` | ", cell(requirement(d)), " | `", cell(d.standard), "` | ", cell(d.help),
                  " |\n");
    }
  }
  for (const auto& d : table.children) {
    if (is_table(d)) {
      write_markdown(d, out);
    }
  }
}

// A default as JSON. TOML's values are read by our own reader, so nothing is parsed twice by hand.
Json default_json(const TomlNode& node) {
  if (const auto* list = node.as<TomlNode::List>()) {
    Json out = Json::array();
    for (const auto& item : *list) {
      out.add(default_json(item));
    }
    return out;
  }
  if (const auto* b = node.as<bool>()) {
    return *b;
  }
  if (const auto* i = node.as<int64_t>()) {
    return *i;
  }
  if (const auto* x = node.as<double>()) {
    return *x;
  }
  const auto* s = node.as<std::string>();
  return s ? Json(*s) : Json();
}

Json type_schema(const char* type) {
  return Json::object().set("type", type);
}

Json number_schema(const char* type, Range range) {
  Json s = type_schema(type);
  const auto bound = [&](const char* name, double x) {
    if (std::isfinite(x)) {
      s.set(name, x == std::trunc(x) && std::abs(x) < 1e15 ? Json(static_cast<int64_t>(x)) : Json(x));
    }
  };
  bound("minimum", range.low);
  bound("maximum", range.high);
  return s;
}

/// Names that are `true` and `false` are booleans in TOML, so the values are of two types there.
Json choice_schema(const std::vector<std::string>& names) {
  Json values = Json::array();
  bool booleans = false;
  for (const std::string& name : names) {
    const bool boolean = name == "true" || name == "false";
    values.add(boolean ? Json(name == "true") : Json(name));
    booleans |= boolean;
  }
  Json s = booleans ? Json::object() : type_schema("string");
  return s.set("enum", std::move(values));
}

Json list_schema(Json items) {
  return type_schema("array").set("items", std::move(items));
}

Json schema(const Description& d);

Json& add_table_schema(Json& to, const Description& d) {
  Json properties = Json::object();
  for (const auto& child : d.children) {
    properties.set(child.key, schema(child));
  }
  return to.set("type", "object").set("properties", std::move(properties)).set("additionalProperties", false);
}

Json value_schema(const Description& d) {
  Json table = Json::object();
  switch (d.type) {
    case Type::boolean:
      return type_schema("boolean");
    case Type::integer:
      return number_schema("integer", d.range);
    case Type::real:
      return number_schema("number", d.range);
    case Type::string:
      return type_schema("string");
    case Type::integers:
      return list_schema(number_schema("integer", d.range));
    case Type::reals:
      return list_schema(number_schema("number", d.range));
    case Type::matrix:
      return list_schema(list_schema(type_schema("number")));
    case Type::strings:
      return list_schema(type_schema("string"));
    case Type::choice:
      return choice_schema(d.choices);
    case Type::table:
      return add_table_schema(table, d);
    case Type::tables:
      return list_schema(add_table_schema(table, d));
  }
  return {};
}

Json schema(const Description& d) {
  Json s = value_schema(d);
  if (d.optional) {
    const Json off = d.type == Type::table ? type_schema("boolean") : Json::object().set("const", false);
    s = Json::object().set("anyOf", Json::array().add(off).add(std::move(s)));
  }
  if (!d.help.empty()) {
    s.set("description", d.help);
  }
  if (!d.standard.empty()) {
    s.set("default", default_json(parse_toml_value(d.standard, {0, 0})));
  } else if (d.optional) {
    s.set("default", d.on);
  }
  return s;
}

void collect_descriptions(const Description& d, std::vector<const Description*>& out) {
  for (const auto& child : d.children) {
    out.push_back(&child);
    collect_descriptions(child, out);
  }
}

// The key of a child of the table, and blanks to where the longest of them ends.
std::string padded_key(const Description& child, const Description& table) {
  size_t width = 0;
  for (const auto& other : table.children) {
    width = std::max(width, other.key.size());
  }
  return child.key + std::string(width - child.key.size() + 2, ' ');
}

std::string explanation(const Description& d) {
  std::string out =
      text(is_table(d) ? heading(d) : d.path, "\n  ", d.help, "\n  ", requirement_and_default(d), "\n");
  for (const auto& child : d.children) {
    out += text("    ", padded_key(child, d), child.help);
    out += child.standard.empty() ? "\n" : text(" (", child.standard, ")\n");
  }
  return out;
}

}  // namespace

std::string describe_markdown(const Visit& visit, std::string_view title) {
  std::string out = text("# ", title, "\n");
  write_markdown(describe(visit), out);
  return out;
}

std::string describe_json_schema(const Visit& visit) {
  Json out = Json::object().set("$schema", "https://json-schema.org/draft/2020-12/schema");
  return add_table_schema(out, describe(visit)).dump() + "\n";
}

std::string explain(const Visit& visit, std::string_view key) {
  const Description root = describe(visit);
  std::vector<const Description*> all;
  collect_descriptions(root, all);
  std::vector<std::string> paths, ends;
  for (const auto* d : all) {
    if (d->path == key) {
      return explanation(*d);
    }
    paths.push_back(d->path);
  }
  // A last word alone is enough where only one key, or a few, end so.
  for (const auto& path : paths) {
    if (path.ends_with(text(".", key))) {
      ends.push_back(path);
    }
  }
  if (ends.size() == 1) {
    return explain(visit, ends.front());
  }
  std::string hint;
  if (!ends.empty()) {
    hint = "; there are " + joined(ends);
  } else {
    const size_t dot = key.rfind('.');
    const bool inside = dot != std::string_view::npos;
    const Suggestions suggested = suggestions_for(
        {std::string(key.substr(0, inside ? dot : 0)), std::string(key.substr(inside ? dot + 1 : 0)), ""},
        root);
    std::string near = joined(suggested.paths);
    if (near.empty()) {
      near = nearest(key, paths);  // a slip in a table's name
    }
    hint = near.empty() ? "" : text("; did you mean '", near, "'?");
  }
  throw ConfigError(text(one_line(key), ": must be a key or table of the config", hint));
}

std::string describe_keys(const Visit& visit) {
  const Description all = describe(visit);
  std::string out;
  for (const auto& d : all.children) {
    const std::string key = padded_key(d, all);
    out += text("  ", key, d.help, "\n  ", std::string(key.size(), ' '), requirement_and_default(d), "\n");
  }
  return out;
}

}  // namespace weyl
