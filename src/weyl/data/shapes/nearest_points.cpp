#include "weyl/data/shapes/nearest_points.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr int64_t kLeaf = 8;  // so few points are looked at one by one

}  // namespace

NearestPoints::NearestPoints(std::span<const double> points) : points_(points) {
  require(points.size() % 3 == 0, "nearest points: points must be (P, 3), got ", points.size(), " numbers");
  order_.resize(points.size() / 3);
  axes_.resize(order_.size());
  std::iota(order_.begin(), order_.end(), int64_t{0});
  build(0, std::ssize(order_));
}

/// Parts a range of the order by its median along the longest side of its box.
void NearestPoints::build(int64_t begin, int64_t end) {
  if (end - begin <= kLeaf) {
    return;
  }
  std::array<double, 3> sides{};
  for (int axis = 0; axis < 3; ++axis) {
    const auto [low, high] =
        std::minmax_element(order_.begin() + begin, order_.begin() + end,
                            [&](int64_t a, int64_t b) { return at(a, axis) < at(b, axis); });
    sides[axis] = at(*high, axis) - at(*low, axis);
  }
  const int axis = static_cast<int>(std::ranges::max_element(sides) - sides.begin());
  const int64_t middle = begin + (end - begin) / 2;
  std::nth_element(
      order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
      [&](int64_t a, int64_t b) { return std::pair(at(a, axis), a) < std::pair(at(b, axis), b); });
  axes_[middle] = static_cast<uint8_t>(axis);
  build(begin, middle);
  build(middle + 1, end);
}

void NearestPoints::take(int64_t row, Search& search) const {
  if (row == search.row) {
    return;
  }
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double x = at(row, axis) - at(search.row, axis);
    square += x * x;
  }
  const Found found{square, row};
  if (search.best.size() == search.count) {
    if (!(found < search.best.front())) {
      return;
    }
    std::ranges::pop_heap(search.best);
    search.best.pop_back();
  }
  search.best.push_back(found);
  std::ranges::push_heap(search.best);
}

void NearestPoints::descend(int64_t begin, int64_t end, Search& search) const {
  if (end - begin <= kLeaf) {
    for (int64_t k = begin; k < end; ++k) {
      take(order_[k], search);
    }
    return;
  }
  const int64_t middle = begin + (end - begin) / 2;
  const double beside = at(search.row, axes_[middle]) - at(order_[middle], axes_[middle]);
  const auto side = [&](bool low) {
    low ? descend(begin, middle, search) : descend(middle + 1, end, search);
  };
  side(beside < 0);
  take(order_[middle], search);
  // At the very distance of the worst one there may be a lower row on the other side.
  if (search.best.size() < search.count || beside * beside <= search.best.front().first) {
    side(beside >= 0);
  }
}

std::vector<int64_t> NearestPoints::of(int64_t row, int64_t count) const {
  const int64_t points = std::ssize(order_);
  require(row >= 0 && row < points, "nearest points: the row must be 0 .. ", points - 1, ", got ", row);
  require(count >= 0 && count < points, "nearest points: count must be 0 .. ", points - 1, ", got ", count);
  if (count == 0) {
    return {};
  }
  Search search{row, static_cast<size_t>(count), {}};
  descend(0, points, search);
  std::ranges::sort_heap(search.best);
  std::vector<int64_t> rows;
  rows.reserve(count);
  for (const auto& [square, neighbour] : search.best) {
    rows.push_back(neighbour);
  }
  return rows;
}

}  // namespace weyl
