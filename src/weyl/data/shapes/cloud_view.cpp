#include "weyl/data/shapes/cloud_view.h"

#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "weyl/core/check.h"
#include "weyl/data/shapes/farthest_points.h"
#include "weyl/data/shapes/nearest_points.h"

namespace weyl {
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

/// Changes the points; how they were turned.
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
  return turned;
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
