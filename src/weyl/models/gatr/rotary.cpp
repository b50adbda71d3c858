#include "weyl/models/gatr/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/sin.h>

#include <cmath>

#include "weyl/ops/autograd/full_precision.h"

namespace weyl::gatr {

OrderAngles order_angles(const Tensor& number, int64_t scalars, double base, at::ScalarType dtype) {
  const auto wide = at::TensorOptions(at::kDouble).device(number.device());
  const Tensor frequency =
      at::exp(at::arange(0, scalars, 2, wide) * (-std::log(base) / static_cast<double>(scalars)));
  const Tensor angle = (number.to(at::kDouble).unsqueeze(1) * frequency).unsqueeze(2);
  const at::ScalarType type = at_least_float32(dtype);
  return {at::cos(angle).to(type), at::sin(angle).to(type)};
}

Tensor rotated(const Tensor& x, int64_t heads, const OrderAngles& angles) {
  const FullPrecision no_autocast;
  const int64_t scalars = x.size(1) / heads;
  const Tensor channels = widened(x).unflatten(1, {scalars, heads});
  const Tensor a = channels.narrow(1, 0, scalars / 2), b = channels.narrow(1, scalars / 2, scalars / 2);
  return at::cat({a * angles.cosine - b * angles.sine, b * angles.cosine + a * angles.sine}, 1).flatten(1);
}

}  // namespace weyl::gatr
