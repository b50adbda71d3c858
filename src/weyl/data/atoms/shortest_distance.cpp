#include "weyl/data/atoms/shortest_distance.h"

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/units.h"
#include "weyl/data/formats/elements.h"

namespace weyl {
namespace {

using Vector = std::array<double, 3>;

constexpr int kMostImages = 4;

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double length(const Vector& a) {
  return std::hypot(a[0], a[1], a[2]);
}

/// The lattice vectors; those that do not repeat are replaced by unit vectors perpendicular to the others,
/// along which nothing is wrapped.
std::array<Vector, 3> basis_of(const AtomsFrame& frame) {
  std::array<Vector, 3> a;
  for (size_t i = 0; i < 3; ++i) {
    a[i] = {(*frame.cell)[3 * i], (*frame.cell)[3 * i + 1], (*frame.cell)[3 * i + 2]};
  }
  const auto unit = [](Vector v) {
    const double l = length(v);
    return Vector{v[0] / l, v[1] / l, v[2] / l};
  };
  const auto perpendicular = [&](const Vector& v) {  // with the axis that is furthest from it
    const auto least = std::ranges::min_element(v, {}, [](double x) { return std::abs(x); }) - v.begin();
    Vector axis{};
    axis[least] = 1;
    return unit(cross(v, axis));
  };
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3, k = (i + 2) % 3;
    if (!frame.pbc[i] && frame.pbc[j] && frame.pbc[k]) {
      a[i] = unit(cross(a[j], a[k]));
    } else if (frame.pbc[i] && !frame.pbc[j] && !frame.pbc[k]) {
      a[j] = perpendicular(a[i]);
      a[k] = unit(cross(a[i], a[j]));
    }
  }
  return a;
}

/// The atoms wrapped into the cell, and those images that are within `bound` of it.
void add_images(const AtomsFrame& frame, double bound, std::vector<Vector>& points, std::vector<int>& first,
                std::vector<int64_t>& atoms) {
  const auto a = basis_of(frame);
  std::array<Vector, 3> reciprocal;  // rows of the inverse's transpose: f_i = reciprocal_i . x
  std::array<int, 3> images{};
  std::array<double, 3> margin{};
  for (size_t i = 0; i < 3; ++i) {
    const Vector normal = cross(a[(i + 1) % 3], a[(i + 2) % 3]);
    const double volume = dot(a[i], normal);
    reciprocal[i] = {normal[0] / volume, normal[1] / volume, normal[2] / volume};
    if (frame.pbc[i]) {
      margin[i] = bound * length(reciprocal[i]);  // over the distance of the planes
      images[i] = static_cast<int>(std::min(std::ceil(margin[i]), double{kMostImages}));
    }
  }
  for (size_t atom = 0; atom < frame.numbers.size(); ++atom) {
    const Vector x{frame.positions[3 * atom], frame.positions[3 * atom + 1], frame.positions[3 * atom + 2]};
    Vector f{dot(reciprocal[0], x), dot(reciprocal[1], x), dot(reciprocal[2], x)};
    for (size_t i = 0; i < 3; ++i) {
      f[i] -= frame.pbc[i] ? std::floor(f[i]) : 0;
    }
    for (int u = -images[0]; u <= images[0]; ++u) {
      for (int v = -images[1]; v <= images[1]; ++v) {
        for (int w = -images[2]; w <= images[2]; ++w) {
          const Vector g{f[0] + u, f[1] + v, f[2] + w};
          bool near = true;
          for (size_t i = 0; i < 3; ++i) {
            near = near && (!frame.pbc[i] || (g[i] >= -margin[i] && g[i] <= 1 + margin[i]));
          }
          if (near) {
            points.push_back({g[0] * a[0][0] + g[1] * a[1][0] + g[2] * a[2][0],
                              g[0] * a[0][1] + g[1] * a[1][1] + g[2] * a[2][1],
                              g[0] * a[0][2] + g[1] * a[1][2] + g[2] * a[2][2]});
            first.push_back(u == 0 && v == 0 && w == 0 ? 1 : 0);
            atoms.push_back(static_cast<int64_t>(atom));
          }
        }
      }
    }
  }
}

}  // namespace

std::optional<ShortestDistance> shortest_distance(const AtomsFrame& frame, double bound) {
  std::vector<Vector> points;
  std::vector<int> inside;  // of the cell: a pair has one such at least
  std::vector<int64_t> atoms;
  if (frame.cell && frame.pbc != std::array<bool, 3>{}) {
    add_images(frame, bound, points, inside, atoms);
  } else {
    for (size_t atom = 0; atom < frame.numbers.size(); ++atom) {
      points.push_back(
          {frame.positions[3 * atom], frame.positions[3 * atom + 1], frame.positions[3 * atom + 2]});
      atoms.push_back(static_cast<int64_t>(atom));
    }
    inside.assign(points.size(), 1);
  }
  std::vector<size_t> order(points.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::ranges::sort(order, {}, [&](size_t i) { return points[i][0]; });
  ShortestDistance best{bound};
  for (size_t i = 0; i < order.size(); ++i) {
    const Vector& p = points[order[i]];
    for (size_t j = i + 1; j < order.size() && points[order[j]][0] - p[0] < best.distance; ++j) {
      const Vector& q = points[order[j]];
      if (inside[order[i]] + inside[order[j]] > 0) {
        const double distance = std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
        if (distance < best.distance) {
          const auto [a, b] = std::minmax(atoms[order[i]], atoms[order[j]]);
          best = {distance, a, b};
        }
      }
    }
  }
  return best.distance < bound ? std::optional(best) : std::nullopt;
}

std::string overlap_text(const AtomsFrame& frame, const ShortestDistance& found) {
  const auto name = [&](int64_t atom) {
    return text(atom + 1, " (", element_symbol(frame.numbers[static_cast<size_t>(atom)]), ")");
  };
  return text("atoms ", name(found.first), " and ", name(found.second), " are ", found.distance, " apart");
}

std::string overlap_warning(const AtomsFrame& frame, const std::string& where,
                            const std::string& length_unit) {
  const auto found = shortest_distance(frame, overlap / unit_factor(length_unit, "Angstrom"));
  return found ? text(where, ": ", overlap_text(frame, *found), " (", length_unit, "): no molecule has such")
               : "";
}

}  // namespace weyl
