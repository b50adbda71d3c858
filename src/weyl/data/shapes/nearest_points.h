#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weyl {

/// The points of a cloud in a k-d tree, which finds the neighbours of one in about log P steps. Built in O(P log P).
class NearestPoints {
 public:
  /// Points (P, 3), which must outlive it. ShapeError: another shape.
  explicit NearestPoints(std::span<const double> points);

  /// The `count` rows nearest to the point `row`, itself left out: the nearest first, the lowest row of equals.
  /// ShapeError: no such row, a count outside 0 .. P - 1.
  std::vector<int64_t> of(int64_t row, int64_t count) const;

 private:
  using Found = std::pair<double, int64_t>;  // squared distance and row: ordered as neighbours are
  struct Search {
    int64_t row = 0;
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

}  // namespace weyl
