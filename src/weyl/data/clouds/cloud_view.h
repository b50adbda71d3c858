#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "weyl/algebra/lattice/nearest_points.h"
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

/// A cloud as a model is given it: M nodes of its P points.
struct CloudView {
  std::vector<int64_t> rows;      // (M), which points they are
  std::vector<double> positions;  // (M, 3)
  std::vector<double> numbers;    // (M, moment_numbers), with neighbours_as = moments
  std::vector<double>
      neighbours;  // (M, k, 3), from each node to the points nearest to it; or (M, moment_vectors, 3)
  std::vector<double> frame;  // (F, 3), of all nodes alike
  Rotation turned;            // by augmentation: so turns what else turns with the points

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

/// Writes the numbers of a view, as features_of lists them, into columns from `first` on of `to` (M, width).
template <class T>
void put_numbers(const CloudView& view, int64_t first, int64_t width, T* to) {
  for (size_t i = 0; i < view.numbers.size(); ++i) {
    const auto node = static_cast<int64_t>(i) / moment_numbers,
               column = static_cast<int64_t>(i) % moment_numbers;
    to[node * width + first + column] = static_cast<T>(view.numbers[i]);
  }
}

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
