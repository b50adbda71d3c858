#pragma once

#include <array>
#include <cmath>

namespace weyl {

using Vector3 = std::array<double, 3>;

template <class Number>
constexpr Number dot(const std::array<Number, 3>& a, const std::array<Number, 3>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class Number>
constexpr std::array<Number, 3> cross(const std::array<Number, 3>& a, const std::array<Number, 3>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline double length(const Vector3& a) {
  return std::hypot(a[0], a[1], a[2]);
}
/// Of length 1; not a number of a vector that has no length.
inline Vector3 unit(const Vector3& a) {
  const double l = length(a);
  return {a[0] / l, a[1] / l, a[2] / l};
}

}  // namespace weyl
