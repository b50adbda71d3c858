#pragma once

#include <type_traits>
#include <variant>

namespace weyl {

/// Calls f(std::type_identity<T>{}) for each alternative T of a variant in their order until one call returns
/// true. False: none did.
template <class Variant, class F>
bool any_alternative(F&& f) {
  return [&]<class... T>(std::type_identity<std::variant<T...>>) {
    return (f(std::type_identity<T>{}) || ...);
  }(std::type_identity<Variant>{});
}

/// Calls f(std::type_identity<T>{}) for each alternative T of a variant in their order.
template <class Variant, class F>
void each_alternative(F&& f) {
  any_alternative<Variant>([&](auto type) {
    f(type);
    return false;
  });
}

}  // namespace weyl
