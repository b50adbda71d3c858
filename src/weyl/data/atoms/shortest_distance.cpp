#include "weyl/data/atoms/shortest_distance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/units.h"
#include "weyl/core/elements.h"

namespace weyl {
namespace {

using Vector = std::array<double, 3>;

constexpr int kMostImages = 4;
constexpr size_t kSwept = 256;  // points that one is compared with on average, before cells are cheaper

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double length(const Vector& a) {
  return std::hypot(a[0], a[1], a[2]);
}

struct Point {
  Vector x;
  int64_t atom = 0;
  bool inside = false;  // of the cell: a pair has one such at least
};

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
void add_images(const AtomsFrame& frame, double bound, std::vector<Point>& points) {
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
            points.push_back({{g[0] * a[0][0] + g[1] * a[1][0] + g[2] * a[2][0],
                               g[0] * a[0][1] + g[1] * a[1][1] + g[2] * a[2][1],
                               g[0] * a[0][2] + g[1] * a[1][2] + g[2] * a[2][2]},
                              static_cast<int64_t>(atom),
                              u == 0 && v == 0 && w == 0});
          }
        }
      }
    }
  }
}

/// The nearest pair of points that are sorted along x; of several, the first in that order
/// (of such at one place, any).
class Search {
 public:
  Search(const std::vector<Point>& points, double bound) : points_(points), bound_(bound), best_(bound) {}

  /// Each with those that follow within the best distance along x; false when these are many, as where many
  /// have one x.
  bool sweep() {
    size_t left = kSwept * points_.size();
    for (size_t i = 0; i < points_.size(); ++i) {
      for (size_t j = i + 1; j < points_.size() && points_[j].x[0] - points_[i].x[0] < best_; ++j) {
        if (left-- == 0) {
          return false;
        }
        compare(i, j);
      }
    }
    return true;
  }

  /// Each with those before it in its own and the adjacent cells, as wide as the best distance, or up to twice
  /// that: points that are no nearer to one another fill a cell with a few. N log N.
  void by_cells() {
    std::map<Vector, std::vector<size_t>> cells;
    double width = best_;
    const auto cell_of = [&](size_t i) {
      const Vector& x = points_[i].x;
      return Vector{std::floor(x[0] / width), std::floor(x[1] / width), std::floor(x[2] / width)};
    };
    for (size_t j = 0; j < points_.size() && best_ > 0; ++j) {
      const Vector at = cell_of(j);
      for (int k = 0; k < 27; ++k) {
        const int along = k / 9, across = k / 3 % 3, up = k % 3;
        const auto found = cells.find({at[0] + along - 1, at[1] + across - 1, at[2] + up - 1});
        if (found != cells.end()) {
          std::ranges::for_each(found->second, [&](size_t i) { compare(i, j); });
        }
      }
      if (best_ < width / 2 && best_ > 0) {
        width = best_;
        cells.clear();
        for (size_t i = 0; i < j; ++i) {
          cells[cell_of(i)].push_back(i);
        }
      }
      cells[cell_of(j)].push_back(j);
    }
  }

  std::optional<ShortestDistance> found() const {
    if (!(best_ < bound_)) {
      return std::nullopt;
    }
    const auto [a, b] = std::minmax(points_[first_].atom, points_[second_].atom);
    return ShortestDistance{best_, a, b};
  }

 private:
  void compare(size_t i, size_t j) {
    const Point &p = points_[i], &q = points_[j];
    if (!p.inside && !q.inside) {
      return;
    }
    const double distance = std::hypot(p.x[0] - q.x[0], p.x[1] - q.x[1], p.x[2] - q.x[2]);
    if (distance < best_ || (distance == best_ && std::pair(i, j) < std::pair(first_, second_))) {
      best_ = distance;
      first_ = i;
      second_ = j;
    }
  }

  const std::vector<Point>& points_;
  double bound_, best_;
  size_t first_ = 0, second_ = 0;
};

}  // namespace

std::optional<ShortestDistance> shortest_distance(const AtomsFrame& frame, double bound) {
  std::vector<Point> points;
  if (frame.cell && frame.pbc != std::array<bool, 3>{}) {
    add_images(frame, bound, points);
  } else {
    for (size_t atom = 0; atom < frame.numbers.size(); ++atom) {
      points.push_back(
          {{frame.positions[3 * atom], frame.positions[3 * atom + 1], frame.positions[3 * atom + 2]},
           static_cast<int64_t>(atom),
           true});
    }
  }
  std::ranges::sort(points, {}, [](const Point& p) { return p.x[0]; });
  Search search(points, bound);
  if (!search.sweep()) {
    search.by_cells();
  }
  return search.found();
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
