#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "weyl/core/random.h"
#include "weyl/data/shapes/cloud_input.h"
#include "weyl/data/shapes/surface.h"

namespace weyl {

/// A cloud as a model is given it: M nodes of its P points.
struct CloudView {
  std::vector<int64_t> rows;       // (M), which points they are
  std::vector<double> positions;   // (M, 3)
  std::vector<double> neighbours;  // (M, k, 3), from each node to the points nearest to it
  std::vector<double> frame;       // (F, 3), of all nodes alike
  Rotation turned;                 // by augmentation: so turns what else turns with the points

  int64_t nodes() const { return static_cast<int64_t>(rows.size()); }
};

/// The nodes of `points` (P, 3), whose sample was turned by `turned` before, and has the upward axis `up` (0, 1, 2).
/// With `stream`, which training has, by which it draws, they are first changed as `input.augment` says, if it does:
/// turned, scaled, moved by noise, and with `draw` the first centre is drawn. ShapeError: no more points than neighbours.
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
