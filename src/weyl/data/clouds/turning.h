#pragma once

#include <array>
#include <string_view>

namespace weyl {

/// How samples are turned:
///
///   none     not at all
///   z        about the upward axis, by a uniform angle
///   so3      by Euler angles R_z(2 pi u) R_y(pi v) R_z(2 pi w) with u, v, w uniform, the protocol of ModelNet's
///            "SO(3)" tests (its polar angle is uniform, so poles are met too often)
///   uniform  uniformly on SO(3)
enum class Turning { none, z, so3, uniform };
constexpr std::array<std::string_view, 4> turning_names{"none", "z", "so3", "uniform"};
constexpr const auto& names_of(Turning) {
  return turning_names;
}

}  // namespace weyl
