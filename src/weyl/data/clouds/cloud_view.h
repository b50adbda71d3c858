#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "weyl/core/random.h"
#include "weyl/data/clouds/cloud_input.h"
#include "weyl/data/clouds/surface.h"

namespace weyl {

/// Farthest-point sampling (Eldar et al., 1997): `count` different rows of points (P, 3), each the one that is farthest
/// from all before it, the lowest row of equals. It begins with the row `first`, or, without one, with the point
/// farthest from the mean of all, so that nothing is drawn. Time and memory: O(count P), O(P). ShapeError: points that
/// are not (P, 3), a count outside 1 .. P, no such row.
std::vector<int64_t> farthest_points(std::span<const double> points, int64_t count,
                                     std::optional<int64_t> first = {});

/// The points of a cloud in a k-d tree, which finds the neighbours of one in about log P steps. Built in O(P log P).
class NearestPoints {
 public:
  /// Points (P, 3), which must outlive it. ShapeError: another shape.
  explicit NearestPoints(std::span<const double> points);

  /// The `count` rows nearest to the point `row`, itself left out: the nearest first, the lowest row of equals.
  /// ShapeError: no such row, a count outside 0 .. P - 1.
  std::vector<int64_t> of(int64_t row, int64_t count) const;
  /// The row nearest to a place, the lowest of equals. ShapeError: there are no points.
  int64_t to(const std::array<double, 3>& place) const;

 private:
  using Found = std::pair<double, int64_t>;  // squared distance and row: ordered as neighbours are
  struct Search {
    std::array<double, 3> place{};
    int64_t row = -1;  // that is left out
    size_t count = 0;
    std::vector<Found> best;  // a heap, the worst in front
  };

  void build(int64_t begin, int64_t end);
  void descend(int64_t begin, int64_t end, Search& search) const;
  void take(int64_t row, Search& search) const;
  double at(int64_t row, int axis) const { return points_[3 * row + axis]; }

  std::span<const double> points_;
  std::vector<int64_t> order_;  // of the rows: the one in the middle of a range parts it along an axis
  std::vector<uint8_t> axes_;   // by place in that order
};

/// A cloud as a model is given it: M nodes of its P points.
struct CloudView {
  std::vector<int64_t> rows;       // (M), which points they are
  std::vector<double> positions;   // (M, 3)
  std::vector<double> neighbours;  // (M, k, 3), from each node to the points nearest to it
  std::vector<double> frame;       // (F, 3), of all nodes alike
  Rotation turned;                 // by augmentation: so turns what else turns with the points

  int64_t nodes() const { return static_cast<int64_t>(rows.size()); }
};

/// Changes points (P, 3) as training does; how they were turned.
Rotation augment(std::vector<double>& points, const CloudAugmentation& how, int up, Stream& stream);

/// The nodes of `points` (P, 3), whose sample was turned by `turned` before, and has the upward axis `up` (0, 1, 2).
/// With `stream`, which training has, by which it draws, they are first changed as `input.augment` says, if it does:
/// turned, scaled, moved by noise and as a whole, and with `draw` the first centre is drawn. ShapeError: no more points than neighbours.
CloudView view_of(std::vector<double> points, const CloudInput& input, int up, const Rotation& turned,
                  Stream* stream);

/// Rows drawn without repeats, in their order; all where there are no more than `count`, or it is 0.
std::vector<int64_t> draw_rows(int64_t points, int64_t count, Stream& stream);

/// Writes the vectors of a view, as features_of lists them, into columns from `first` on of `to` (M, width, 3).
template <class T>
void put_vectors(const CloudView& view, int64_t first, int64_t width, T* to) {
  const int64_t nodes = view.nodes();
  const int64_t each = nodes > 0 ? static_cast<int64_t>(view.neighbours.size()) / nodes : 0;
  const auto number = [](double x) { return static_cast<T>(x); };
  for (int64_t m = 0; m < nodes; ++m) {
    const auto begin = view.neighbours.begin() + m * each;
    T* after = std::transform(begin, begin + each, to + (m * width + first) * 3, number);
    std::transform(view.frame.begin(), view.frame.end(), after, number);
  }
}

}  // namespace weyl
