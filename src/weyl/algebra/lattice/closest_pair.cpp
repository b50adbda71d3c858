#include "weyl/algebra/lattice/closest_pair.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "weyl/algebra/lattice/cell.h"

namespace weyl {
namespace {

constexpr int most_images = 4;
constexpr size_t most_swept = 256;  // points that one is compared with on average, before cells are cheaper

struct ImagePoint {
  Vector3 x;
  int64_t atom = 0;
  bool inside = false;  // of the cell: a pair has one such at least
};

/// The points wrapped into the cell, and those images that are within `bound` of it.
std::vector<ImagePoint> images_near(std::span<const double> x, const double* cell,
                                    const std::array<bool, 3>& periodic, double bound) {
  const CellRows a = completed(rows_of(cell), periodic), duals = duals_of(a);
  std::array<int, 3> images{};
  std::array<double, 3> margin{};
  for (size_t i = 0; i < 3; ++i) {
    if (periodic[i]) {
      margin[i] = bound * length(duals[i]);  // over the distance of the planes
      images[i] = static_cast<int>(std::min(std::ceil(margin[i]), double{most_images}));
    }
  }
  std::vector<ImagePoint> points;
  for (size_t atom = 0; atom < x.size() / 3; ++atom) {
    const Vector3 place{x[3 * atom], x[3 * atom + 1], x[3 * atom + 2]};
    Vector3 f{dot(duals[0], place), dot(duals[1], place), dot(duals[2], place)};
    for (size_t i = 0; i < 3; ++i) {
      f[i] -= periodic[i] ? std::floor(f[i]) : 0;
    }
    for (int u = -images[0]; u <= images[0]; ++u) {
      for (int v = -images[1]; v <= images[1]; ++v) {
        for (int w = -images[2]; w <= images[2]; ++w) {
          const Vector3 g{f[0] + u, f[1] + v, f[2] + w};
          bool near = true;
          for (size_t i = 0; i < 3; ++i) {
            near = near && (!periodic[i] || (g[i] >= -margin[i] && g[i] <= 1 + margin[i]));
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
  return points;
}

/// The nearest pair of points that are sorted along x; of several, the first in that order
/// (of such at one place, any).
class ClosestSearch {
 public:
  ClosestSearch(const std::vector<ImagePoint>& points, double bound)
      : points_(points), bound_(bound), best_(bound) {}

  /// Each with those that follow within the best distance along x; false when these are many, as where many
  /// have one x.
  bool sweep() {
    size_t left = most_swept * points_.size();
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
    std::map<Vector3, std::vector<size_t>> cells;
    double width = best_;
    const auto cell_of = [&](size_t i) {
      const Vector3& x = points_[i].x;
      return Vector3{std::floor(x[0] / width), std::floor(x[1] / width), std::floor(x[2] / width)};
    };
    for (size_t j = 0; j < points_.size() && best_ > 0; ++j) {
      const Vector3 at = cell_of(j);
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

  std::optional<ClosestPair> found() const {
    if (!(best_ < bound_)) {
      return std::nullopt;
    }
    const auto [a, b] = std::minmax(points_[first_].atom, points_[second_].atom);
    return ClosestPair{best_, a, b};
  }

 private:
  void compare(size_t i, size_t j) {
    const ImagePoint &p = points_[i], &q = points_[j];
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

  const std::vector<ImagePoint>& points_;
  double bound_, best_;
  size_t first_ = 0, second_ = 0;
};

}  // namespace

std::optional<ClosestPair> closest_pair(std::span<const double> positions, const double* cell,
                                        const std::array<bool, 3>& periodic, double bound) {
  std::vector<ImagePoint> points;
  if (cell != nullptr && periodic != std::array<bool, 3>{}) {
    points = images_near(positions, cell, periodic, bound);
  } else {
    for (size_t atom = 0; atom < positions.size() / 3; ++atom) {
      points.push_back({{positions[3 * atom], positions[3 * atom + 1], positions[3 * atom + 2]},
                        static_cast<int64_t>(atom),
                        true});
    }
  }
  std::ranges::sort(points, {}, [](const ImagePoint& p) { return p.x[0]; });
  ClosestSearch search(points, bound);
  if (!search.sweep()) {
    search.by_cells();
  }
  return search.found();
}

}  // namespace weyl
