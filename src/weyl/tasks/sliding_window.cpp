#include "weyl/tasks/sliding_window.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "weyl/core/check.h"

namespace weyl {

std::vector<int64_t> window_starts(int64_t length, int64_t size, double overlap) {
  require(size >= 1 && length >= size, "window: must be 1 .. ", length, " cells, got ", size);
  const int64_t room = length - size;
  const auto step =
      std::max<int64_t>(1, static_cast<int64_t>(std::floor(static_cast<double>(size) * (1 - overlap))));
  int64_t count = (room + step - 1) / step + 1;
  if (count % 2 == 1 && room % 2 == 1) {
    ++count;  // no cell is the middle: an odd number of windows would not be symmetric
  }
  std::vector<int64_t> starts(count, 0);
  for (int64_t i = 0; i < count - 1 - i; ++i) {
    starts[i] = (2 * i * room + count - 1) / (2 * (count - 1));  // i room / (count - 1), to the nearest
    starts[count - 1 - i] = room - starts[i];
  }
  if (count % 2 == 1) {
    starts[count / 2] = room / 2;
  }
  return starts;
}

Tensor window_weights(const std::vector<int64_t>& sizes, at::TensorOptions options) {
  const auto d = static_cast<int64_t>(sizes.size());
  Tensor result = at::ones(sizes, options);
  for (int64_t axis = 0; axis < d; ++axis) {
    const int64_t w = sizes[axis];
    const double middle = static_cast<double>(w - 1) / 2, sigma = static_cast<double>(w) / 8;
    const Tensor weight = at::exp((at::arange(w, options) - middle).square() * (-0.5 / (sigma * sigma)));
    std::vector<int64_t> shape(d, 1);
    shape[axis] = w;
    result = result * weight.view(shape);
  }
  return result.clamp_min(1e-3);
}

namespace {

std::vector<int64_t> sizes_of(const WindowOptions& options, int64_t dimension) {
  const auto n = static_cast<int64_t>(options.size.size());
  require<ConfigError>(n == 1 || n == dimension, "window.size: must be one number, or one for each of the ",
                       dimension, " axes, got ", n);
  return n == dimension ? options.size : std::vector<int64_t>(dimension, options.size[0]);
}

}  // namespace

Tensor over_windows(const Grid& grid, const WindowOptions& options,
                    const std::function<Tensor(const Grid&)>& f) {
  if (options.size.empty()) {
    return f(grid).to(grid.values.device());
  }
  const int64_t d = grid.values.dim() - 2;
  const std::vector<int64_t> sizes = sizes_of(options, d);
  // `part` is what of the window lies on the grid: all of it, but on an axis shorter than the window.
  std::vector<int64_t> before(d), part(d), pad;
  for (int64_t a = d - 1; a >= 0; --a) {  // constant_pad_nd begins with the last axis
    const int64_t missing = std::max<int64_t>(0, sizes[a] - grid.values.size(2 + a));
    before[a] = missing / 2;
    part[a] = sizes[a] - missing;
    pad.insert(pad.end(), {missing / 2, missing - missing / 2});
  }
  std::vector<std::vector<int64_t>> starts;
  int64_t windows = 1;
  for (int64_t a = 0; a < d; ++a) {
    starts.push_back(window_starts(grid.values.size(2 + a), part[a], options.overlap));
    windows *= static_cast<int64_t>(starts.back().size());
  }
  const auto narrowed = [&](Tensor x, int64_t lead, const std::vector<int64_t>& at) {
    for (int64_t a = 0; a < d; ++a) {
      x = x.narrow(lead + a, at[a], part[a]);
    }
    return x;
  };
  std::vector<int64_t> shape = grid.values.sizes().vec();
  Tensor sum, total, weights;
  for (int64_t window = 0; window < windows; ++window) {
    int64_t rest = window;
    std::vector<int64_t> at(d);
    for (int64_t a = d - 1; a >= 0; --a) {
      const auto n = static_cast<int64_t>(starts[a].size());
      at[a] = starts[a][rest % n];
      rest /= n;
    }
    Tensor cells = narrowed(grid.values, 2, at);
    if (part != sizes) {
      cells = at::constant_pad_nd(cells, pad, 0);
    }
    const Tensor said = f({cells, grid.spacing});
    require(said.sizes().slice(2) == at::IntArrayRef(sizes),
            "segmentation: the model must give as many pixels as it is given, ", at::IntArrayRef(sizes),
            ", got ", said.sizes().slice(2));
    if (!sum.defined()) {
      shape[1] = said.size(1);
      const auto here = said.options().device(grid.values.device());
      weights = narrowed(window_weights(sizes, here), 0, before);
      sum = at::zeros(shape, here);
      total = at::zeros(at::IntArrayRef(shape).slice(2), here);
    }
    narrowed(sum, 2, at).add_(narrowed(said, 2, before).to(sum.device()) * weights);
    narrowed(total, 0, at).add_(weights);
  }
  return sum.div_(total);
}

}  // namespace weyl
