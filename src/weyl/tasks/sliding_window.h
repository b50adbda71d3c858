#pragma once

#include <functional>
#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/tasks/options.h"

namespace weyl {

/// Where windows of `size` cells begin on an axis of `length` >= size cells: evenly, each overlapping the
/// next by at least `overlap` of its size, every cell covered, and symmetric: a window at s has one at length
/// - size - s, so that cutting commutes with turning the grid.
std::vector<int64_t> window_starts(int64_t length, int64_t size, double overlap);

/// How much each cell of a window says, (sizes...), largest at the centre: the product over the axes of
/// exp(-(i - (w - 1)/2)^2 / (2 (w/8)^2)), never below 1e-3.
Tensor window_weights(const std::vector<int64_t>& sizes, at::TensorOptions options);

/// f on windows of a grid (B, C, spatial...), put together to (B, K, spatial...): in every cell the mean of
/// what the windows that hold it say, weighted by the cell's place in them. f gives (B, K, window...). Along
/// an axis shorter than the window the grid is padded with zeros, as much on both sides (one more behind when
/// that is odd), and cut again. Without a size: f(grid). The result is where the grid is, whatever device f
/// answers on: that device holds one window at a time, while grid and result, in full, stay here.
/// ConfigError: as many sizes as neither 1 nor the axes.
Tensor over_windows(const Grid& grid, const WindowOptions& options,
                    const std::function<Tensor(const Grid&)>& f);

}  // namespace weyl
