#include "weyl/config/description.h"

#include <utility>

#include "weyl/config/wording.h"
#include "weyl/core/check.h"

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

}  // namespace weyl
