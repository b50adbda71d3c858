#include "weyl/algebra/lattice/nearest_points.h"

#include <algorithm>
#include <numeric>

#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr int64_t kLeaf = 8;          // so few points are looked at one by one
constexpr double kAsNear = 1 + 1e-4;  // of squared distances that count as equal

std::array<double, 3> place_of(std::span<const double> points, int64_t row) {
  return {points[3 * row], points[3 * row + 1], points[3 * row + 2]};
}

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

double NearestPoints::square_to(int64_t row, const std::array<double, 3>& place) const {
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double x = at(row, axis) - place[axis];
    square += x * x;
  }
  return square;
}

void NearestPoints::take(int64_t row, Search& search) const {
  if (row == search.row) {
    return;
  }
  const Found found{square_to(row, search.place), row};
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
  const double beside = search.place[axes_[middle]] - at(order_[middle], axes_[middle]);
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
  Search search{place_of(points_, row), row, static_cast<size_t>(count), {}};
  descend(0, points, search);
  std::ranges::sort_heap(search.best);
  std::vector<int64_t> rows;
  rows.reserve(count);
  for (const auto& [square, neighbour] : search.best) {
    rows.push_back(neighbour);
  }
  return rows;
}

void NearestPoints::within(int64_t begin, int64_t end, const std::array<double, 3>& place, double square,
                           std::vector<int64_t>& rows) const {
  const auto look_at = [&](int64_t row) {
    if (square_to(row, place) <= square) {
      rows.push_back(row);
    }
  };
  if (end - begin <= kLeaf) {
    std::for_each(order_.begin() + begin, order_.begin() + end, look_at);
    return;
  }
  const int64_t middle = begin + (end - begin) / 2;
  const double beside = place[axes_[middle]] - at(order_[middle], axes_[middle]);
  if (beside <= 0 || beside * beside <= square) {
    within(begin, middle, place, square, rows);
  }
  look_at(order_[middle]);
  if (beside >= 0 || beside * beside <= square) {
    within(middle + 1, end, place, square, rows);
  }
}

std::vector<int64_t> NearestPoints::as_near(int64_t row, int64_t count) const {
  const int64_t points = std::ssize(order_);
  require(row >= 0 && row < points, "nearest points: the row must be 0 .. ", points - 1, ", got ", row);
  require(count >= 0, "nearest points: count must be 0 or more, got ", count);
  count = std::min(count, points - 1);
  std::vector<int64_t> rows;
  if (count == 0) {
    return rows;
  }
  Search search{place_of(points_, row), row, static_cast<size_t>(count), {}};
  descend(0, points, search);
  within(0, points, search.place, search.best.front().first * kAsNear, rows);
  std::erase(rows, row);
  std::ranges::sort(rows);
  return rows;
}

int64_t NearestPoints::to(const std::array<double, 3>& place) const {
  require(!order_.empty(), "nearest points: there must be a point, there is none");
  Search search{place, -1, 1, {}};
  descend(0, std::ssize(order_), search);
  return search.best.front().second;
}

}  // namespace weyl
