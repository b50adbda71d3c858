#include "weyl/carriers/background.h"

#include <ATen/ops/cat.h>

#include <vector>

namespace weyl {

Tensor background_of(const Tensor& x) {
  std::vector<Tensor> faces;
  Tensor inside = x;  // what no axis so far has at its ends: each cell of the border is taken once
  for (int64_t axis = 2; axis < x.dim(); ++axis) {
    const int64_t n = inside.size(axis);
    faces.push_back(inside.narrow(axis, 0, 1).flatten(2));
    if (n > 1) {
      faces.push_back(inside.narrow(axis, n - 1, 1).flatten(2));
    }
    if (n <= 2) {
      break;
    }
    inside = inside.narrow(axis, 1, n - 2);
  }
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[0] = x.size(0);
  shape[1] = x.size(1);
  // Sorted, since medians have no deterministic form on GPUs.
  const Tensor border = std::get<0>(at::cat(faces, 2).sort(2));
  return border.select(2, (border.size(2) - 1) / 2).reshape(shape);
}

}  // namespace weyl
