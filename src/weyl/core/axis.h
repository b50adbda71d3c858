#pragma once

#include <array>
#include <string_view>

namespace weyl {

/// An axis of space.
enum class Axis { x, y, z };
constexpr std::array<std::string_view, 3> axis_names{"x", "y", "z"};
constexpr const auto& names_of(Axis) {
  return axis_names;
}

}  // namespace weyl
