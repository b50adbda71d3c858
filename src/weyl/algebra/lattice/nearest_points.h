#pragma once

#include <array>
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

  /// All rows, in an order in which those that are near one another in space stand near one another.
  const std::vector<int64_t>& order() const { return order_; }
  /// The `count` rows nearest to the point `row`, itself left out: the nearest first, the lowest row of equals.
  /// ShapeError: no such row, a count outside 0 .. P - 1.
  std::vector<int64_t> of(int64_t row, int64_t count) const;
  /// The rows of `of` and all that are as near as the last of these, squared distances the same to 1e-4; in ascending order.
  /// Unlike them they depend neither on the order of the points nor, where distances are equal, on rounding. `count` may be
  /// above P - 1: then all. ShapeError: no such row, a count below 0.
  std::vector<int64_t> as_near(int64_t row, int64_t count) const;
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
  void within(int64_t begin, int64_t end, const std::array<double, 3>& place, double square,
              std::vector<int64_t>& rows) const;
  double square_to(int64_t row, const std::array<double, 3>& place) const;
  double at(int64_t row, int axis) const { return points_[3 * row + axis]; }

  std::span<const double> points_;
  std::vector<int64_t> order_;  // of the rows: the one in the middle of a range parts it along an axis
  std::vector<uint8_t> axes_;   // by place in that order
};

}  // namespace weyl
