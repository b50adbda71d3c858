#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace weyl {

/// A closed interval that a number must lie in.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// An enum that a config may hold. It has a constexpr array of its names in the order of its values (0, 1, ...), which
/// is found by argument-dependent lookup:
///   constexpr auto names_of(Pooling) { return std::array<std::string_view, 2>{"sum", "mean"}; }
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) { names_of(e); };

class Fields;

/// A struct of options has an ordinary function `void fields(Fields&, S&)` beside it (in its options.cpp).
template <class S>
concept OptionsStruct = requires(Fields& f, S& s) { fields(f, s); };

/// An abstract visitor over the fields of an options struct. Reader, checker, override, writer, describer and JSON
/// schema are implementations. The struct's own defaults are the only defaults.
///
///   void fields(Fields& f, platonic::Options& o) {
///     f("blocks", o.blocks, "number of transformer blocks", {1, 1000});
///     f("pooling", o.pooling, "how node features become graph features");
///     f("rope", o.rope, "rotary position encoding; `rope = false` switches it off");   // optional<struct>
///   }
///
/// In a config, an optional is switched off by `key = false`. A struct is switched on with its defaults by `key =
/// true`. A value or a table sets the optional.
class Fields {
 public:
  virtual ~Fields() = default;

  void operator()(std::string_view key, bool& v, std::string_view help) { boolean(key, v, help); }
  void operator()(std::string_view key, int64_t& v, std::string_view help, Range range = {}) {
    integer(key, v, help, range);
  }
  void operator()(std::string_view key, double& v, std::string_view help, Range range = {}) {
    real(key, v, help, range);
  }
  void operator()(std::string_view key, std::string& v, std::string_view help) { string(key, v, help); }
  void operator()(std::string_view key, std::vector<int64_t>& v, std::string_view help, Range range = {}) {
    integers(key, v, help, range);
  }
  void operator()(std::string_view key, std::vector<double>& v, std::string_view help, Range range = {}) {
    reals(key, v, help, range);
  }
  void operator()(std::string_view key, std::vector<std::vector<double>>& v, std::string_view help) {
    matrix(key, v, help);
  }
  void operator()(std::string_view key, std::vector<std::string>& v, std::string_view help) {
    strings(key, v, help);
  }

  template <NamedEnum E>
  void operator()(std::string_view key, E& v, std::string_view help) {
    const auto& names = names_of(v);
    auto index = static_cast<size_t>(v);
    choice(key, index, names, help);
    v = static_cast<E>(index);
  }

  /// A nested struct: a table of its own.
  template <OptionsStruct S>
  void operator()(std::string_view key, S& v, std::string_view help) {
    if (enter(key, help)) {
      fields(*this, v);
      leave();
    }
  }

  /// An optional number, string, enum or struct.
  template <class T>
  void operator()(std::string_view key, std::optional<T>& v, std::string_view help, Range range = {}) {
    static_assert(!std::is_same_v<T, bool>, "an optional<bool> has two kinds of false: use an enum of three");
    switch (optional(key, v.has_value(), OptionsStruct<T>, help)) {
      case Presence::off:
        v.reset();
        return;
      case Presence::described: {  // a describer wants to see the inside whether or not it is on
        T inside = v.value_or(T{});
        visit_inside(key, inside, help, range);
        return;
      }
      case Presence::on:
        if (!v) {
          v.emplace();
        }
        visit_inside(key, *v, help, range);
        return;
      case Presence::on_by_default:  // `key = true`
        if (!v) {
          v.emplace();
        }
        return;
    }
  }

  /// An array of tables. A file that gives the array replaces all items; each begins with the struct's defaults.
  template <OptionsStruct S>
  void operator()(std::string_view key, std::vector<S>& v, std::string_view help) {
    const Items items = enter_array(key, v.size(), help);
    if (items.plan == Items::Plan::keep) {
      return;
    }
    std::vector<S> scratch(1);
    if (items.plan == Items::Plan::replace) {
      v.assign(items.count, S{});
    }
    auto& visited = items.plan == Items::Plan::describe ? scratch : v;
    for (size_t i = 0; i < visited.size(); ++i) {
      enter_item(i);
      fields(*this, visited[i]);
      leave();
    }
    leave_array();
  }

  /// Other names that users may try for a key of this struct. They are not valid in a file; they only lead a suggestion
  /// to the key, wherever in the config they are used (config/suggestions.h). The call stands beside the visit of
  /// `key`.
  virtual void also_called(std::string_view /*key*/, std::initializer_list<std::string_view> /*words*/) {}

  /// A choice of structs. `key` holds the name of the chosen alternative (its `static constexpr const char*
  /// name_in_config`), and each alternative has a sub-table of that name. Tables of alternatives that are not chosen
  /// are read into a scratch struct, so that they are checked too.
  template <class... Alternatives>
  void variant(std::string_view key, std::variant<Alternatives...>& v, std::string_view help) {
    constexpr std::string_view names[] = {Alternatives::name_in_config...};
    size_t chosen = v.index();
    alternatives(
        key, chosen, names, help,
        [&](size_t index) { set_alternative(v, index, std::index_sequence_for<Alternatives...>{}); },
        [&](size_t index) { visit_alternative(v, index, std::index_sequence_for<Alternatives...>{}); });
  }

  /// A choice among structs that are listed at run time. `choose(i)` makes the i-th the chosen one, with its defaults.
  /// `visit(i)` visits the fields of the i-th, or of a scratch struct when the i-th is not chosen.
  template <class Choose, class Visit>
  void alternatives(std::string_view key, size_t& chosen, std::span<const std::string_view> names,
                    std::string_view help, const Choose& choose, const Visit& visit) {
    size_t index = chosen;
    choice(key, index, names, help);
    if (index != chosen) {
      chosen = index;
      choose(index);
    }
    for (size_t i = 0; i < names.size(); ++i) {
      if (enter_alternative(names[i], i == chosen, help)) {
        visit(i);
        leave();
      }
    }
  }

 protected:
  enum class Presence { off, on, on_by_default, described };

  /// What a visitor does with an array of tables:
  ///   keep      leaves it
  ///   visit     visits its items
  ///   replace   makes `count` fresh items and visits them
  ///   describe  visits one fresh item and leaves the array as it is
  struct Items {
    enum class Plan { keep, visit, replace, describe } plan = Plan::keep;
    size_t count = 0;
  };

  virtual void boolean(std::string_view key, bool&, std::string_view help) = 0;
  virtual void integer(std::string_view key, int64_t&, std::string_view help, Range) = 0;
  virtual void real(std::string_view key, double&, std::string_view help, Range) = 0;
  virtual void string(std::string_view key, std::string&, std::string_view help) = 0;
  virtual void integers(std::string_view key, std::vector<int64_t>&, std::string_view help, Range) = 0;
  virtual void reals(std::string_view key, std::vector<double>&, std::string_view help, Range) = 0;
  virtual void matrix(std::string_view key, std::vector<std::vector<double>>&, std::string_view help) = 0;
  virtual void strings(std::string_view key, std::vector<std::string>&, std::string_view help) = 0;
  virtual void choice(std::string_view key, size_t& index, std::span<const std::string_view> names,
                      std::string_view help) = 0;
  virtual Presence optional(std::string_view key, bool has_value, bool is_struct, std::string_view help) = 0;
  virtual bool enter(std::string_view key, std::string_view help) = 0;  // false: skip the struct
  virtual void leave() = 0;
  virtual Items enter_array(std::string_view key, size_t size, std::string_view help) = 0;
  virtual void enter_item(size_t index) = 0;
  virtual void leave_array() = 0;
  /// Enters the sub-table of one alternative of a variant; false: skip it (a writer skips those not chosen).
  virtual bool enter_alternative(std::string_view name, bool chosen, std::string_view help) = 0;

 private:
  template <class T>
  void visit_inside(std::string_view key, T& inside, std::string_view help, Range range) {
    if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>) {
      (*this)(key, inside, help, range);
    } else {
      (*this)(key, inside, help);
    }
  }
  template <class V, size_t... I>
  static void set_alternative(V& v, size_t index, std::index_sequence<I...>) {
    ((I == index ? (void)v.template emplace<I>() : void()), ...);
  }
  template <class V, size_t... I>
  void visit_alternative(V& v, size_t index, std::index_sequence<I...>) {
    ((I == index ? visit_one<I>(v) : void()), ...);
  }
  template <size_t I, class V>
  void visit_one(V& v) {
    std::variant_alternative_t<I, V> scratch;
    fields(*this, v.index() == I ? std::get<I>(v) : scratch);
  }
};

}  // namespace weyl
