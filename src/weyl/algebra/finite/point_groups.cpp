#include "weyl/algebra/finite/point_groups.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/core/check.h"
#include "weyl/core/nearest.h"

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

namespace {

using Matrix3 = std::array<double, 9>;

// The number (a + b phi) / 2, phi = (1 + sqrt 5) / 2: every entry of an icosahedral matrix in the standard
// orientation, closed under their products, so that the tables are made without rounding.
struct Golden {
  int a = 0, b = 0;
  double value() const { return (a + b * std::numbers::phi) / 2; }
};
using GoldenMatrix = std::array<Golden, 9>;

GoldenMatrix operator*(const GoldenMatrix& x, const GoldenMatrix& y) {
  GoldenMatrix product;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      int a = 0, b = 0;  // of the sum times 4; phi^2 = phi + 1
      for (int k = 0; k < 3; ++k) {
        const Golden p = x[3 * i + k], q = y[3 * k + j];
        a += p.a * q.a + p.b * q.b;
        b += p.a * q.b + p.b * q.a + p.b * q.b;
      }
      product[3 * i + j] = {a / 2, b / 2};
    }
  }
  return product;
}

// "+y-z+x": row 0 gives +y, row 1 gives -z, row 2 gives +x.
GoldenMatrix signed_permutation(std::string_view rows) {
  GoldenMatrix r;
  for (int i = 0; i < 3; ++i) {
    r[3 * i + (rows[2 * i + 1] - 'x')] = {rows[2 * i] == '+' ? 2 : -2, 0};
  }
  return r;
}

std::vector<GoldenMatrix> tetrahedral_rotations() {
  std::vector<GoldenMatrix> rotations;
  for (const char* rows : {"+x+y+z", "+x-y-z", "-x+y-z", "-x-y+z", "+z+x+y", "+y+z+x", "-z+x-y", "-y-z+x",
                           "+z-x-y", "-y+z-x", "-z-x+y", "+y-z-x"}) {
    rotations.push_back(signed_permutation(rows));
  }
  return rotations;
}

std::vector<GoldenMatrix> octahedral_rotations() {
  auto rotations = tetrahedral_rotations();
  const auto quarter_turn = signed_permutation("-y+x+z");
  for (int t = 0; t < 12; ++t) {
    rotations.push_back(rotations[t] * quarter_turn);
  }
  return rotations;
}

std::vector<GoldenMatrix> icosahedral_rotations() {
  // phi/2, 1/(2 phi) = (phi - 1)/2 and 1/2.
  const Golden p{0, 1}, q{-1, 1}, h{1, 0}, minus_p{0, -1}, minus_h{-1, 0};
  const GoldenMatrix fifth_of_a_turn{p, q, h, q, h, minus_p, minus_h, p, q};
  std::vector<GoldenMatrix> rotations;
  for (const auto& t : tetrahedral_rotations()) {
    rotations.push_back(t);
    for (int k = 1; k < 5; ++k) {
      rotations.push_back(rotations.back() * fifth_of_a_turn);
    }
  }
  return rotations;
}

// G, then -G.
std::vector<GoldenMatrix> with_inversion(std::vector<GoldenMatrix> rotations) {
  const size_t count = rotations.size();
  for (size_t i = 0; i < count; ++i) {
    auto r = rotations[i];
    for (Golden& x : r) {
      x = {-x.a, -x.b};
    }
    rotations.push_back(r);
  }
  return rotations;
}

FiniteGroup group(const char* name, const std::vector<GoldenMatrix>& elements) {
  std::vector<std::vector<double>> values;
  for (const auto& r : elements) {
    auto& matrix = values.emplace_back();
    for (const Golden& x : r) {
      matrix.push_back(x.value());
    }
  }
  return {name, 3, std::move(values)};
}

std::array<double, 3> unit(std::array<double, 3> v) {
  const double largest = std::max({std::abs(v[0]), std::abs(v[1]), std::abs(v[2])});
  require<ConfigError>(std::isfinite(v[0] + v[1] + v[2]) && largest > 0,
                       "axis: must be a finite vector of a length above zero, got (", v[0], ", ", v[1], ", ",
                       v[2], ")");
  for (double& x : v) {
    x /= largest;  // neither overflow nor underflow in the length
  }
  const double length = std::hypot(v[0], v[1], v[2]);
  for (double& x : v) {
    x /= length;
  }
  return v;
}

// Turn by an angle of the given cosine and sine about a unit axis a: c (1 - a a^T) + a a^T + s [a]x. Entries
// within rounding of 0, 1/2 or 1 become that: turns about a cube's diagonals permute the axes exactly.
Matrix3 rotation(const std::array<double, 3>& a, double c, double s) {
  Matrix3 r;
  const Matrix3 cross{0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const double along = a[i] * a[j];
      const double x = c * ((i == j ? 1 : 0) - along) + along + s * cross[3 * i + j];
      const double halves = std::round(2 * x) / 2;
      r[3 * i + j] = std::abs(x - halves) < 1e-15 ? halves : x;
    }
  }
  return r;
}

Matrix3 matrix_product(const Matrix3& x, const Matrix3& y) {
  Matrix3 r;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      r[3 * i + j] = x[3 * i] * y[j] + x[3 * i + 1] * y[3 + j] + x[3 * i + 2] * y[6 + j];
    }
  }
  return r;
}

// The unit normal of `axis` described at dihedral_3d.
std::array<double, 3> normal_of(const std::array<double, 3>& axis) {
  int least = 0;
  for (int i = 1; i < 3; ++i) {
    least = std::abs(axis[i]) < std::abs(axis[least]) ? i : least;
  }
  std::array<double, 3> u{-axis[least] * axis[0], -axis[least] * axis[1], -axis[least] * axis[2]};
  u[least] += 1;
  return unit(u);
}

}  // namespace

FiniteGroup tetrahedron() {
  return group("tetrahedron", tetrahedral_rotations());
}

FiniteGroup tetrahedron_full() {
  auto elements = tetrahedral_rotations();
  const auto exchange = signed_permutation("+y+x+z");
  for (int t = 0; t < 12; ++t) {
    elements.push_back(exchange * elements[t]);
  }
  return group("tetrahedron_full", elements);
}

FiniteGroup octahedron() {
  return group("octahedron", octahedral_rotations());
}

FiniteGroup octahedron_full() {
  return group("octahedron_full", with_inversion(octahedral_rotations()));
}

FiniteGroup icosahedron() {
  return group("icosahedron", icosahedral_rotations());
}

FiniteGroup icosahedron_full() {
  return group("icosahedron_full", with_inversion(icosahedral_rotations()));
}

FiniteGroup octahedron_reflections() {
  std::vector<std::vector<double>> elements;
  for (const double x : {-1.0, 1.0}) {
    for (const double y : {-1.0, 1.0}) {
      for (const double z : {-1.0, 1.0}) {
        elements.push_back({x, 0, 0, 0, y, 0, 0, 0, z});
      }
    }
  }
  return {"octahedron_reflections", 3, std::move(elements)};
}

FiniteGroup flop_3d(int64_t which) {
  require<ConfigError>(which >= 1 && which <= 3, "flop_3d: must be 1 (x), 2 (y) or 3 (z), got ", which);
  std::vector<double> flip{1, 0, 0, 0, 1, 0, 0, 0, 1};
  flip[4 * (which - 1)] = -1;
  return {text("flop_3d_", which), 3, {{1, 0, 0, 0, 1, 0, 0, 0, 1}, std::move(flip)}};
}

FiniteGroup cyclic_3d(int64_t n, std::array<double, 3> axis) {
  const auto a = unit(axis);
  std::vector<std::vector<double>> elements;
  for (int64_t k = 0; k < n; ++k) {
    const auto [c, s] = turn(k, n);
    const auto r = rotation(a, c, s);
    elements.emplace_back(r.begin(), r.end());
  }
  return {text("cyclic_3d_", n), 3, std::move(elements)};
}

FiniteGroup dihedral_3d(int64_t n, std::array<double, 3> axis) {
  const auto a = unit(axis);
  const auto half_turn = rotation(normal_of(a), -1, 0);
  std::vector<std::vector<double>> elements;
  for (const bool flipped : {false, true}) {
    for (int64_t k = 0; k < n; ++k) {
      const auto [c, s] = turn(k, n);
      const auto r = flipped ? matrix_product(rotation(a, c, s), half_turn) : rotation(a, c, s);
      elements.emplace_back(r.begin(), r.end());
    }
  }
  return {text("dihedral_3d_", n), 3, std::move(elements)};
}

namespace {

using Axis = std::array<double, 3>;

struct Single {
  const char* name;
  FiniteGroup (*make)();
};
constexpr Single singles[] = {
    {"trivial", [] { return FiniteGroup("trivial", 3, {{1, 0, 0, 0, 1, 0, 0, 0, 1}}); }},
    {"tetrahedron", tetrahedron},
    {"tetrahedron_full", tetrahedron_full},
    {"octahedron", octahedron},
    {"octahedron_full", octahedron_full},
    {"icosahedron", icosahedron},
    {"icosahedron_full", icosahedron_full},
    {"octahedron_reflections", octahedron_reflections},
};

// Names that end in a number. A prefix that continues another stands before it.
struct Family {
  const char* prefix;
  int64_t least, most;
  FiniteGroup (*make)(int64_t n, Axis axis);
};
constexpr Family families[] = {
    {"flop_3d_", 1, 3, [](int64_t n, Axis) { return flop_3d(n); }},
    {"cyclic_3d_", 2, 64, cyclic_3d},
    {"dihedral_3d_", 2, 64, dihedral_3d},
    {"flop_2d_", 1, 2, [](int64_t n, Axis) { return flop_2d(n); }},
    {"cyclic_", 2, 64, [](int64_t n, Axis) { return cyclic(n); }},
    {"dihedral_", 2, 64, [](int64_t n, Axis) { return dihedral(n); }},
    {"trivial_", 1, 10, [](int64_t n, Axis) { return trivial(n); }},
};

// The number that is the whole of the text, without sign or leading zeros; -1 otherwise.
int64_t whole_number(std::string_view digits) {
  int64_t n = -1;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), n);
  const bool whole = error == std::errc() && end == digits.end() && std::to_string(n) == digits;
  return whole && n >= 0 ? n : -1;
}

std::string join(const std::vector<std::string>& names) {
  std::string list;
  for (const auto& name : names) {
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

}  // namespace

GroupPtr named_group(std::string_view name, std::array<double, 3> axis) {
  for (const auto& single : singles) {
    if (name == single.name) {
      return std::make_shared<const FiniteGroup>(single.make());
    }
  }
  for (const auto& family : families) {
    if (name.starts_with(family.prefix)) {
      const int64_t n = whole_number(name.substr(std::string_view(family.prefix).size()));
      if (n < 0) {
        continue;
      }
      require<ConfigError>(n >= family.least && n <= family.most, "group '", name, "': n must be ",
                           family.least, " to ", family.most, " in ", family.prefix, "n, got ", n);
      return std::make_shared<const FiniteGroup>(family.make(n, axis));
    }
  }
  // Families with the number of the word asked for, so that `cyclc_4` finds `cyclic_4`.
  auto candidates = group_names();
  const auto digits = name.substr(name.find_last_not_of("0123456789") + 1);
  for (auto& candidate : candidates) {
    if (candidate.ends_with("_n") && !digits.empty()) {
      candidate.replace(candidate.size() - 1, 1, digits);
    }
  }
  const auto meant = nearest(name, candidates);
  throw ConfigError(text(
      "group: must be one of ", join(group_names()), "; got '", name, "'",
      meant.empty() ? ""
                    : text(", did you mean '", meant, "'", meant.ends_with("_n") ? ", n a number?" : "?")));
}

std::vector<std::string> group_names() {
  std::vector<std::string> names;
  for (const auto& single : singles) {
    names.emplace_back(single.name);
  }
  for (const auto& family : families) {
    names.push_back(text(family.prefix, "n"));
  }
  return names;
}

}  // namespace weyl
