#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "weyl/config/toml.h"

namespace weyl {

/// Other values for keys whose type does not suggest any: names, lists.
struct OtherValues {
  std::map<std::string, std::vector<std::string>> string;
  std::map<std::string, std::vector<std::vector<std::string>>> strings;
  std::map<std::string, std::vector<std::vector<int64_t>>> integers;
  std::map<std::string, std::vector<std::vector<double>>> reals;
  std::map<std::string, std::vector<std::vector<std::vector<double>>>> matrix;
};

/// Visits the keys of options, whatever they are, to give one of them another value. Keys are whole paths
/// ("rope.sigma", "stages[0].kernel"); of a variant the chosen alternative has keys, of a list of tables its items.
class Flip final : public Fields {
 public:
  /// All keys, also those within tables that are off.
  static std::vector<std::string> keys(const Visit& visit) {
    Flip f(Mode::list, "", 0, nullptr);
    visit(f);
    return f.keys_;
  }
  /// Switches on what a key stands in; whether anything was off.
  static bool reach(const Visit& visit, const std::string& key) {
    Flip f(Mode::reach, key, 0, nullptr);
    visit(f);
    return f.changed_;
  }
  /// Gives a key its n-th other value; false: it has no more.
  static bool change(const Visit& visit, const std::string& key, size_t n, const OtherValues& values) {
    Flip f(Mode::change, key, n, &values);
    visit(f);
    return f.changed_;
  }

 protected:
  void boolean(std::string_view key, bool& v, std::string_view) override { pick<bool>(key, v, {!v}); }

  void integer(std::string_view key, int64_t& v, std::string_view, Range range) override {
    pick(key, v, within<int64_t>({2 * v, v / 2, v + 1, v - 1, v + 2, 1, 2, 3}, v, range));
  }

  void real(std::string_view key, double& v, std::string_view, Range range) override {
    pick(key, v, within<double>({v / 2, 2 * v, v + 0.1, v - 0.1, v / 100, 100 * v, 0.5, 1e-3}, v, range));
  }

  void string(std::string_view key, std::string& v, std::string_view) override {
    pick(key, v, known(&OtherValues::string, key, {v + "x"}));
  }

  void integers(std::string_view key, std::vector<int64_t>& v, std::string_view, Range) override {
    std::vector<int64_t> doubled = v;
    for (int64_t& x : doubled) {
      x *= 2;
    }
    pick(key, v, known(&OtherValues::integers, key, {v.empty() ? std::vector<int64_t>{1} : doubled}));
  }

  void reals(std::string_view key, std::vector<double>& v, std::string_view, Range) override {
    pick(key, v, known(&OtherValues::reals, key, {std::vector<double>(v.rbegin(), v.rend())}));
  }

  void matrix(std::string_view key, std::vector<std::vector<double>>& v, std::string_view) override {
    pick(key, v, known(&OtherValues::matrix, key, {}));
  }

  void strings(std::string_view key, std::vector<std::string>& v, std::string_view) override {
    pick(key, v, known(&OtherValues::strings, key, {std::vector<std::string>{"x"}}));
  }

  void choice(std::string_view key, size_t& index, std::span<const std::string_view> names,
              std::string_view) override {
    std::vector<size_t> others;
    for (size_t i = 0; i < names.size(); ++i) {
      if (i != index) {
        others.push_back(i);
      }
    }
    pick(key, index, others);
  }

  Presence optional(std::string_view key, bool has_value, bool is_struct, std::string_view) override {
    const std::string whole = path(key);
    switch (mode_) {
      case Mode::list:
        if (is_struct) {
          keys_.push_back(whole);
        }
        return Presence::described;
      case Mode::reach:
      case Mode::change:
        break;
    }
    if (target_.starts_with(whole + ".")) {
      changed_ = changed_ || (mode_ == Mode::reach && !has_value);
      return Presence::on;
    }
    if (mode_ == Mode::change && target_ == whole) {
      if (has_value && n_ == 0) {
        changed_ = true;
        return Presence::off;
      }
      if (is_struct && n_ == 0) {
        changed_ = true;
        return Presence::on_by_default;
      }
      n_ -= has_value ? 1 : 0;
      return is_struct ? Presence::off : Presence::on;
    }
    return has_value ? Presence::on : Presence::off;
  }

  bool enter(std::string_view key, std::string_view) override {
    tables_.push_back(path(key));
    return true;
  }
  void leave() override { tables_.pop_back(); }

  Items enter_array(std::string_view key, size_t size, std::string_view) override {
    arrays_.push_back(path(key));
    return {Items::Plan::visit, size};
  }
  void enter_item(size_t index) override {
    tables_.push_back(arrays_.back() + "[" + std::to_string(index) + "]");
  }
  void leave_array() override { arrays_.pop_back(); }

  bool enter_alternative(std::string_view name, bool chosen, std::string_view) override {
    if (chosen) {
      tables_.push_back(path(name));
    }
    return chosen;
  }

 private:
  enum class Mode { list, reach, change };

  Flip(Mode mode, std::string target, size_t n, const OtherValues* values)
      : mode_(mode), target_(std::move(target)), n_(n), values_(values) {}

  std::string path(std::string_view key) const {
    return tables_.empty() ? std::string(key) : tables_.back() + "." + std::string(key);
  }

  template <class T>
  void pick(std::string_view key, T& v, const std::vector<T>& others) {
    const std::string whole = path(key);
    if (mode_ == Mode::list) {
      keys_.push_back(whole);
    } else if (mode_ == Mode::change && whole == target_ && n_ < others.size()) {
      v = others[n_];
      changed_ = true;
    }
  }

  template <class T>
  static std::vector<T> within(const std::vector<T>& candidates, T now, Range range) {
    std::vector<T> others;
    for (const T x : candidates) {
      const auto number = static_cast<double>(x);
      const bool fits = std::isfinite(number) && number >= range.low && number <= range.high && x != now;
      if (fits && std::find(others.begin(), others.end(), x) == others.end()) {
        others.push_back(x);
      }
    }
    return others;
  }

  template <class T>
  std::vector<T> known(std::map<std::string, std::vector<T>> OtherValues::* of, std::string_view key,
                       std::vector<T> otherwise) const {
    if (values_ == nullptr) {
      return {};
    }
    const auto found = (values_->*of).find(path(key));
    return found == (values_->*of).end() ? otherwise : found->second;
  }

  Mode mode_;
  std::string target_;
  size_t n_;
  const OtherValues* values_;
  bool changed_ = false;
  std::vector<std::string> keys_, tables_, arrays_;
};

}  // namespace weyl
