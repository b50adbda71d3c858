#include "weyl/models/steerable/resample.h"

#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/upsample_trilinear3d.h>

#include <algorithm>

#include "weyl/core/check.h"

namespace weyl::steerable {

Tensor average_pool(const Tensor& x, int64_t size) {
  require(x.dim() == 4 || x.dim() == 5, "average_pool: x must be (B, C, 2 or 3 axes), got ", x.sizes());
  const at::IntArrayRef pixels = x.sizes().slice(2);
  require(*std::min_element(pixels.begin(), pixels.end()) >= size, "average_pool: an axis must have ", size,
          " pixels at least, got ", pixels);
  if (size == 1) {
    return x;
  }
  return x.dim() == 4 ? at::avg_pool2d(x, {size, size}) : at::avg_pool3d(x, {size, size, size});
}

Tensor upsample(const Tensor& x, at::IntArrayRef sizes) {
  require(x.dim() == 4 || x.dim() == 5, "upsample: x must be (B, C, 2 or 3 axes), got ", x.sizes());
  if (x.sizes().slice(2) == sizes) {
    return x;
  }
  return x.dim() == 4 ? at::upsample_bilinear2d(x, sizes, /*align_corners=*/false)
                      : at::upsample_trilinear3d(x, sizes, /*align_corners=*/false);
}

}  // namespace weyl::steerable
