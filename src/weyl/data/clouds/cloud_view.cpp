#include "weyl/data/clouds/cloud_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "weyl/core/check.h"

namespace weyl {
namespace {

std::array<double, 3> place_of(std::span<const double> points, int64_t row) {
  return {points[3 * row], points[3 * row + 1], points[3 * row + 2]};
}

/// Lowers the squared distance of each point to those that were chosen, by one more of them.
void lower(std::span<const double> points, const std::array<double, 3>& chosen,
           std::vector<double>& squares) {
  for (size_t i = 0; i < squares.size(); ++i) {
    const double x = points[3 * i] - chosen[0], y = points[3 * i + 1] - chosen[1],
                 z = points[3 * i + 2] - chosen[2];
    squares[i] = std::min(squares[i], x * x + y * y + z * z);
  }
}

int64_t largest(const std::vector<double>& values) {  // the first of equals
  return std::ranges::max_element(values) - values.begin();
}

int64_t farthest_from_the_mean(std::span<const double> points, int64_t count) {
  std::array<double, 3> mean{};
  for (size_t i = 0; i < points.size(); ++i) {
    mean[i % 3] += points[i] / static_cast<double>(count);
  }
  std::vector<double> squares(count, std::numeric_limits<double>::infinity());
  lower(points, mean, squares);
  return largest(squares);
}

}  // namespace

std::vector<int64_t> farthest_points(std::span<const double> points, int64_t count,
                                     std::optional<int64_t> first) {
  const int64_t all = std::ssize(points) / 3;
  require(points.size() % 3 == 0, "farthest_points: points must be (P, 3), got ", points.size(), " numbers");
  require(count >= 1 && count <= all, "farthest_points: count must be 1 .. ", all, ", got ", count);
  require(!first || (*first >= 0 && *first < all), "farthest_points: first must be 0 .. ", all - 1, ", got ",
          first.value_or(0));
  std::vector<double> squares(all, std::numeric_limits<double>::infinity());
  std::vector<int64_t> rows;
  rows.reserve(count);
  int64_t next = first ? *first : farthest_from_the_mean(points, all);
  for (;;) {
    rows.push_back(next);
    if (std::ssize(rows) == count) {
      return rows;
    }
    lower(points, place_of(points, next), squares);
    squares[next] = -1;  // below every distance: not even points at one place are taken twice
    next = largest(squares);
  }
}

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
    const double x = at(row, axis) - search.place[axis];
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

int64_t NearestPoints::to(const std::array<double, 3>& place) const {
  require(!order_.empty(), "nearest points: there must be a point, there is none");
  Search search{place, -1, 1, {}};
  descend(0, std::ssize(order_), search);
  return search.best.front().second;
}

namespace {

/// The root of the mean square distance of points (P, 3) from their mean.
double size_of(const std::vector<double>& points) {
  const double count = static_cast<double>(points.size()) / 3;
  double mean[3] = {}, squares = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    mean[i % 3] += points[i] / count;
  }
  for (size_t i = 0; i < points.size(); ++i) {
    squares += (points[i] - mean[i % 3]) * (points[i] - mean[i % 3]);
  }
  return std::sqrt(squares / count);
}

/// Which way the axes of the sample look now: those of the frame, (F, 3).
std::vector<double> frame_of(CloudFrame frame, int up, const Rotation& before, const Rotation& after) {
  std::vector<double> axes;
  for (int axis = 0; axis < 3; ++axis) {
    if (frame == CloudFrame::axes || (frame == CloudFrame::up && axis == up)) {
      axes.insert(axes.end(), {before[axis], before[3 + axis], before[6 + axis]});  // a column: R e
    }
  }
  turn(std::span(axes), after);
  return axes;
}

}  // namespace

Rotation augment(std::vector<double>& points, const CloudAugmentation& how, int up, Stream& stream) {
  const Rotation turned = draw_rotation(how.rotate, up, stream);
  turn(std::span(points), turned);
  const double least = 1 / how.scale, factor = least + (how.scale - least) * stream.uniform();
  for (double& x : points) {
    x *= factor;
  }
  if (how.jitter > 0) {
    const double deviation = how.jitter * size_of(points);
    for (double& x : points) {
      x += deviation * stream.normal();
    }
  }
  if (how.shift > 0) {
    std::array<double, 3> by{};
    for (double& x : by) {
      x = how.shift * (2 * stream.uniform() - 1);
    }
    for (size_t i = 0; i < points.size(); ++i) {
      points[i] += by[i % 3];
    }
  }
  return turned;
}

CloudView view_of(std::vector<double> points, const CloudInput& input, int up, const Rotation& turned,
                  Stream* stream) {
  const auto count = static_cast<int64_t>(points.size()) / 3;
  require(input.neighbours == 0 || input.neighbours < count, "a cloud of ", count,
          " points must have more than ", input.neighbours, ", the neighbours of each");
  CloudView view{.turned = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  std::optional<int64_t> first;
  if (stream != nullptr && input.augment) {
    view.turned = augment(points, *input.augment, up, *stream);
    if (input.augment->draw && count > 0) {
      first = stream->below(count);
    }
  }
  view.frame = frame_of(input.frame, up, turned, view.turned);
  if (input.nodes(count) < count) {
    view.rows = farthest_points(points, input.centres, first);
    for (const int64_t row : view.rows) {
      view.positions.insert(view.positions.end(), points.begin() + 3 * row, points.begin() + 3 * (row + 1));
    }
  } else {
    view.rows.resize(count);
    std::iota(view.rows.begin(), view.rows.end(), int64_t{0});
    view.positions = points;
  }
  if (input.neighbours > 0) {
    const NearestPoints nearest(points);
    view.neighbours.reserve(3 * view.rows.size() * input.neighbours);
    for (const int64_t row : view.rows) {
      for (const int64_t neighbour : nearest.of(row, input.neighbours)) {
        for (int64_t d = 0; d < 3; ++d) {
          view.neighbours.push_back(points[3 * neighbour + d] - points[3 * row + d]);
        }
      }
    }
  }
  return view;
}

std::vector<int64_t> draw_rows(int64_t points, int64_t count, Stream& stream) {
  std::vector<int64_t> rows(points);
  std::iota(rows.begin(), rows.end(), int64_t{0});
  if (count == 0 || points <= count) {
    return rows;
  }
  for (int64_t k = 0; k < count; ++k) {
    std::swap(rows[k], rows[k + stream.below(points - k)]);
  }
  rows.resize(count);
  std::ranges::sort(rows);
  return rows;
}

}  // namespace weyl
