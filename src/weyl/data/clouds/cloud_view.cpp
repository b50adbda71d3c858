#include "weyl/data/clouds/cloud_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
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

std::array<double, 3> mean_of(std::span<const double> points) {
  const double count = static_cast<double>(points.size()) / 3;
  std::array<double, 3> mean{};
  for (size_t i = 0; i < points.size(); ++i) {
    mean[i % 3] += points[i] / count;
  }
  return mean;
}

int64_t farthest_from_the_mean(std::span<const double> points, int64_t count) {
  const std::array<double, 3> mean = mean_of(points);
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

/// The root of the mean square distance of points (P, 3) from their mean.
double size_of(const std::vector<double>& points) {
  const std::array<double, 3> mean = mean_of(points);
  double squares = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    squares += (points[i] - mean[i % 3]) * (points[i] - mean[i % 3]);
  }
  return std::sqrt(3 * squares / static_cast<double>(points.size()));
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

/// A symmetric matrix of 3 x 3: xx, yy, zz, xy, xz, yz.
using Symmetric3 = std::array<double, 6>;

/// Its eigenvalues, ascending (O. K. Smith, 1961). Where two are nearly equal they are off by 1e-8 of the largest.
std::array<double, 3> eigenvalues(const Symmetric3& a) {
  const double mean = (a[0] + a[1] + a[2]) / 3, x = a[0] - mean, y = a[1] - mean, z = a[2] - mean;
  const double size = std::sqrt((x * x + y * y + z * z + 2 * (a[3] * a[3] + a[4] * a[4] + a[5] * a[5])) / 6);
  if (size == 0) {
    return {mean, mean, mean};
  }
  const double determinant =
      x * (y * z - a[5] * a[5]) - a[3] * (a[3] * z - a[5] * a[4]) + a[4] * (a[3] * a[5] - y * a[4]);
  const double angle = std::acos(std::clamp(determinant / (2 * size * size * size), -1.0, 1.0)) / 3;
  constexpr double third = 2 * std::numbers::pi / 3;
  const double largest = mean + 2 * size * std::cos(angle), least = mean + 2 * size * std::cos(angle + third);
  return {least, 3 * mean - largest - least, largest};
}

/// The moments of a node (cloud_input.h) are put behind those of the nodes before it. `to`: from the node to its neighbours, the
/// nearest first; `middle`: to the mean of the cloud.
void put_moments(std::span<const double> to, const std::array<double, 3>& middle, CloudView& view) {
  const auto norm = [](const auto& v) { return std::hypot(v[0], v[1], v[2]); };
  const double radius = norm(to.last<3>()), count = static_cast<double>(to.size()) / 3;
  view.numbers.insert(view.numbers.end(), {radius, norm(middle)});
  view.neighbours.insert(view.neighbours.end(), middle.begin(), middle.end());
  for (const bool inner : {true, false}) {
    double sum = 0;
    std::array<double, 3> first{};
    Symmetric3 second{};
    for (size_t j = 0; radius > 0 && j < to.size(); j += 3) {
      const double u[3] = {to[j] / radius, to[j + 1] / radius, to[j + 2] / radius};
      const double square = std::min(u[0] * u[0] + u[1] * u[1] + u[2] * u[2], 1.0);
      const double weight = (inner ? 3 : 12 * square) * (1 - square) * (1 - square) / count;
      sum += weight;
      for (size_t d = 0; d < 3; ++d) {
        first[d] += weight * u[d];
        second[d] += weight * u[d] * u[d];
      }
      second[3] += weight * u[0] * u[1];
      second[4] += weight * u[0] * u[2];
      second[5] += weight * u[1] * u[2];
    }
    const std::array<double, 3> values = eigenvalues(second);
    view.numbers.insert(view.numbers.end(), {sum, norm(first), values[0], values[1], values[2]});
    view.neighbours.insert(view.neighbours.end(), first.begin(), first.end());
  }
}

/// What the nodes are told of the points nearest to them.
void add_neighbours(std::span<const double> points, const CloudInput& input, CloudView& view) {
  const NearestPoints nearest(points);
  const std::array<double, 3> mean = mean_of(points);
  std::vector<double> to;
  for (const int64_t row : view.rows) {
    to.clear();
    for (const int64_t neighbour : nearest.of(row, input.neighbours)) {
      for (int64_t d = 0; d < 3; ++d) {
        to.push_back(points[3 * neighbour + d] - points[3 * row + d]);
      }
    }
    if (input.moments()) {
      const std::array<double, 3> x = place_of(points, row);
      put_moments(to, {mean[0] - x[0], mean[1] - x[1], mean[2] - x[2]}, view);
    } else {
      view.neighbours.insert(view.neighbours.end(), to.begin(), to.end());
    }
  }
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
    add_neighbours(points, input, view);
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
