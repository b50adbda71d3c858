#include "weyl/nn/order_encoding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/sin.h>
#include <cmath>

#include "weyl/ops/autograd/full_precision.h"

namespace weyl {

Tensor numbers_in(const Segments& segments) {
  const Tensor first = segments.offsets_on_device().index_select(0, segments.index);
  return at::arange(segments.rows(), segments.index.options()) - first;
}

OrderAngles order_angles(const Tensor& number, int64_t channels, double base, at::ScalarType dtype) {
  const auto wide = at::TensorOptions(at::kDouble).device(number.device());
  const Tensor frequency =
      at::exp(at::arange(0, channels, 2, wide) * (-std::log(base) / static_cast<double>(channels)));
  const Tensor angle = number.to(at::kDouble).unsqueeze(1) * frequency;
  const at::ScalarType type = at_least_float32(dtype);
  return {at::cos(angle).to(type), at::sin(angle).to(type)};
}

Tensor turned_by_order(const Tensor& x, int64_t axis, const OrderAngles& angles) {
  const FullPrecision no_autocast;
  const Tensor wide = widened(x);
  const int64_t half = x.size(axis) / 2;
  const Tensor a = wide.narrow(axis, 0, half), b = wide.narrow(axis, half, half);
  const Tensor cosine = angles.cosine.unsqueeze(3 - axis), sine = angles.sine.unsqueeze(3 - axis);
  return at::cat({a * cosine - b * sine, b * cosine + a * sine}, axis);
}

}  // namespace weyl
