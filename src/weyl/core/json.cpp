#include "weyl/core/json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "weyl/core/check.h"

namespace weyl {

using Tree = nlohmann::ordered_json;

struct JsonAccess {
  static Tree to_tree(const Json& json) {
    return std::visit(
        [](const auto& v) -> Tree {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, std::monostate>) {
            return nullptr;
          } else if constexpr (std::is_same_v<T, double>) {
            return std::isfinite(v) ? Tree(v) : Tree(nullptr);
          } else if constexpr (std::is_same_v<T, Json::Items>) {
            Tree tree = Tree::array();
            for (const Json& item : v) {
              tree.push_back(to_tree(item));
            }
            return tree;
          } else if constexpr (std::is_same_v<T, Json::Members>) {
            Tree tree = Tree::object();
            for (const auto& [key, value] : v) {
              tree[key] = to_tree(value);
            }
            return tree;
          } else {
            return v;
          }
        },
        json.value_);
  }

  static Json from_tree(const Tree& tree) {
    switch (tree.type()) {
      case Tree::value_t::boolean:
        return tree.get<bool>();
      case Tree::value_t::number_integer:
      case Tree::value_t::number_unsigned:
        return tree.get<int64_t>();
      case Tree::value_t::number_float:
        return tree.get<double>();
      case Tree::value_t::string:
        return tree.get<std::string>();
      case Tree::value_t::array: {
        Json json = Json::array();
        for (const Tree& item : tree) {
          json.add(from_tree(item));
        }
        return json;
      }
      case Tree::value_t::object: {
        Json json = Json::object();
        for (const auto& [key, value] : tree.items()) {
          json.set(key, from_tree(value));
        }
        return json;
      }
      default:
        return {};
    }
  }
};

Json Json::object() {
  Json json;
  json.value_ = Members{};
  return json;
}

Json Json::array() {
  Json json;
  json.value_ = Items{};
  return json;
}

Json Json::parse(std::string_view text, std::string_view where) {
  const Tree tree = Tree::parse(text, nullptr, false);
  require<DataError>(!tree.is_discarded(), where, ": must be valid JSON, but does not parse");
  return JsonAccess::from_tree(tree);
}

Json& Json::set(std::string key, Json value) {
  require(is_object(), "Json::set: must be called on an object");
  auto& members = std::get<Members>(value_);
  const auto old =
      std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first == key; });
  if (old != members.end()) {
    old->second = std::move(value);
  } else {
    members.emplace_back(std::move(key), std::move(value));
  }
  return *this;
}

Json& Json::add(Json value) {
  require(std::holds_alternative<Items>(value_), "Json::add: must be called on an array");
  std::get<Items>(value_).push_back(std::move(value));
  return *this;
}

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, value] : members()) {
    if (name == key) {
      return &value;
    }
  }
  return nullptr;
}

const std::vector<Json>& Json::items() const {
  static const Items none;
  const auto* items = std::get_if<Items>(&value_);
  return items != nullptr ? *items : none;
}

const std::vector<std::pair<std::string, Json>>& Json::members() const {
  static const Members none;
  const auto* members = std::get_if<Members>(&value_);
  return members != nullptr ? *members : none;
}

std::string Json::string_or(std::string_view otherwise) const {
  const auto* s = std::get_if<std::string>(&value_);
  return s != nullptr ? *s : std::string(otherwise);
}

double Json::number_or(double otherwise) const {
  if (const auto* i = std::get_if<int64_t>(&value_)) {
    return static_cast<double>(*i);
  }
  const auto* d = std::get_if<double>(&value_);
  return d != nullptr ? *d : otherwise;
}

std::string Json::dump() const {
  return JsonAccess::to_tree(*this).dump(2, ' ', false, Tree::error_handler_t::replace);
}

}  // namespace weyl
