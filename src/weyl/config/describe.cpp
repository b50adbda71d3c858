#include <algorithm>
#include <cmath>

#include "weyl/config/description.h"
#include "weyl/config/meant.h"
#include "weyl/config/toml_tree.h"
#include "weyl/config/wording.h"
#include "weyl/core/check.h"
#include "weyl/core/joined.h"
#include "weyl/core/json.h"
#include "weyl/core/nearest.h"

namespace weyl {
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
    const Meant meant = meant_by(
        {std::string(key.substr(0, inside ? dot : 0)), std::string(key.substr(inside ? dot + 1 : 0)), ""},
        root);
    std::string near = joined(meant.paths);
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
