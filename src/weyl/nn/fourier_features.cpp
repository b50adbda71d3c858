#include "weyl/nn/fourier_features.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sin.h>

#include <numbers>

#include "weyl/ops/autograd/full_precision.h"

namespace weyl {

FourierFeatures::FourierFeatures(int64_t in, int64_t frequencies, double sigma) {
  const Tensor init = BuildOn::device().is_meta()
                          ? at::empty({frequencies, in}, at::TensorOptions().device(at::kMeta))
                          : at::randn({frequencies, in}, at::TensorOptions().dtype(at::kDouble)) * sigma;
  frequencies_ = parameter("frequencies", init, /*decay=*/false, /*trainable=*/false);
}

Tensor FourierFeatures::operator()(const Tensor& x) const {
  const FullPrecision no_autocast;
  const auto dtype = at_least_float32(x.scalar_type());
  const Tensor angles = at::matmul(x.to(dtype), frequencies_.to(dtype).t()) * (2 * std::numbers::pi);
  return at::cat({at::cos(angles), at::sin(angles)}, -1).to(x.scalar_type());
}

}  // namespace weyl
