#include "weyl/carriers/background.h"

#include <ATen/ops/tensor.h>

#include <vector>

#include "weyl/core/to_device.h"

namespace weyl {
namespace {

/// The places of the cells at the border of a grid of these sizes, row by row.
std::vector<int64_t> border_of(at::IntArrayRef sizes) {
  int64_t cells = 1;
  for (const int64_t n : sizes) {
    cells *= n;
  }
  std::vector<int64_t> places;
  for (int64_t cell = 0; cell < cells; ++cell) {
    bool at_border = false;
    int64_t rest = cell;
    for (auto n = sizes.rbegin(); n != sizes.rend() && !at_border; ++n) {
      at_border = rest % *n == 0 || rest % *n == *n - 1;
      rest /= *n;
    }
    if (at_border) {
      places.push_back(cell);
    }
  }
  return places;
}

}  // namespace

Tensor background_of(const Tensor& x) {
  const Tensor places = to_device(at::tensor(border_of(x.sizes().slice(2)), at::kLong), x.device());
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[0] = x.size(0);
  shape[1] = x.size(1);
  // Sorted, since medians have no deterministic form on GPUs.
  const Tensor border = std::get<0>(x.flatten(2).index_select(2, places).sort(2));
  return border.select(2, (border.size(2) - 1) / 2).reshape(shape);
}

}  // namespace weyl
