#include "weyl/algebra/finite/planar.h"

#include <cmath>
#include <numbers>
#include <string>

#include "weyl/core/check.h"

namespace weyl {

std::pair<double, double> turn(int64_t k, int64_t n) {
  require<ConfigError>(n >= 1, "turn: n must be at least 1, got ", n);
  k = ((k % n) + n) % n;
  const int64_t quarters = 4 * k / n, rest = 4 * k % n;  // angle = (quarters + rest / n) pi / 2
  double c = 1, s = 0;
  if (2 * rest == n) {
    c = s = std::numbers::sqrt2 / 2;
  } else if (3 * rest == n) {
    c = std::numbers::sqrt3 / 2, s = 0.5;
  } else if (3 * rest == 2 * n) {
    c = 0.5, s = std::numbers::sqrt3 / 2;
  } else if (rest != 0) {
    // Below 45 degrees; above, by the complement, so that mirrored angles have the same values.
    const bool upper = 2 * rest > n;
    const double angle =
        std::numbers::pi / 2 * static_cast<double>(upper ? n - rest : rest) / static_cast<double>(n);
    c = upper ? std::sin(angle) : std::cos(angle);
    s = upper ? std::cos(angle) : std::sin(angle);
  }
  switch (quarters) {
    case 0:
      return {c, s};
    case 1:
      return {0.0 - s, c};
    case 2:
      return {0.0 - c, 0.0 - s};
    default:
      return {s, 0.0 - c};
  }
}

FiniteGroup cyclic(int64_t n) {
  std::vector<std::vector<double>> elements;
  for (int64_t k = 0; k < n; ++k) {
    const auto [c, s] = turn(k, n);
    elements.push_back({c, -s, s, c});
  }
  return {text("cyclic_", n), 2, std::move(elements)};
}

FiniteGroup dihedral(int64_t n) {
  std::vector<std::vector<double>> elements;
  for (int64_t k = 0; k < n; ++k) {
    const auto [c, s] = turn(k, n);
    elements.push_back({c, -s, s, c});
  }
  for (int64_t k = 0; k < n; ++k) {
    const auto [c, s] = turn(k, n);
    elements.push_back({c, s, s, -c});
  }
  return {text("dihedral_", n), 2, std::move(elements)};
}

FiniteGroup flop_2d(int64_t which) {
  require<ConfigError>(which == 1 || which == 2, "flop_2d: must be 1 (flips y) or 2 (flips x), got ", which);
  const double x = which == 2 ? -1 : 1, y = which == 1 ? -1 : 1;
  return {text("flop_2d_", which), 2, {{1, 0, 0, 1}, {x, 0, 0, y}}};
}

FiniteGroup trivial(int64_t dimension) {
  require<ConfigError>(dimension >= 1, "trivial: dimension must be at least 1, got ", dimension);
  std::vector<double> identity(dimension * dimension, 0.0);
  for (int64_t i = 0; i < dimension; ++i) {
    identity[i * (dimension + 1)] = 1;
  }
  return {text("trivial_", dimension), dimension, {std::move(identity)}};
}

}  // namespace weyl
