// Random elements of Pin(3,0,1), and whether a layer commutes with them.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "weyl/algebra/clifford/motors.h"
#include "weyl/core/random.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/gatr/layers.h"

namespace weyl::gatr {

/// How multivectors move under a random product of `reflections` mirrors, whose planes pass within about 1 of the
/// origin: (16, 16), float64. An even number of them is a motor, with rotation and translation.
inline Tensor pin_matrix(int reflections, Stream& stream) {
  using clifford::Vector;
  clifford::Multivector<double> versor = clifford::blade(clifford::one, 1.0);
  for (int i = 0; i < reflections; ++i) {
    Vector<double, 3> n, through;
    double square = 0;
    for (int k = 0; k < 3; ++k) {
      n[k] = stream.normal();
      through[k] = stream.normal();
      square += n[k] * n[k];
    }
    for (int k = 0; k < 3; ++k) {
      n[k] /= std::sqrt(square);
    }
    versor = clifford::compose(clifford::reflection(n, through), versor);
  }
  const auto matrix = clifford::sandwich_matrix(versor);
  return at::tensor(at::ArrayRef<double>(matrix.data(), matrix.size()), at::kDouble).view({16, 16});
}

/// x (16, N, C) by a matrix.
inline Tensor moved_by(const Tensor& matrix, const Tensor& x) {
  return at::matmul(matrix, x.reshape({16, -1})).view(x.sizes());
}

inline Streams as(const Streams& x, at::ScalarType dtype) {
  return {x.multivectors.to(dtype), x.scalars.defined() ? x.scalars.to(dtype) : Tensor()};
}

/// The largest difference of the layer's result on moved multivectors from its moved result, and of the scalars that
/// must not move; each relative to the largest number. `layer` gets float64 numbers that are rounded to `dtype`.
inline double pin_error(const std::function<Streams(const Streams&)>& layer, const Streams& x,
                        const Tensor& matrix, at::ScalarType dtype) {
  const at::NoGradGuard quiet;
  const Streams y = as(layer(as(x, dtype)), at::kDouble);
  const Streams on_moved = as(layer(as({moved_by(matrix, x.multivectors), x.scalars}, dtype)), at::kDouble);
  const auto error = [](const Tensor& a, const Tensor& b) {
    return ((a - b).abs().max() / b.abs().max()).item<double>();
  };
  const double scalars = y.scalars.defined() ? error(on_moved.scalars, y.scalars) : 0;
  return worst_of(error(on_moved.multivectors, moved_by(matrix, y.multivectors)), scalars);
}

/// The layer commutes with products of one to four mirrors in float64 and float32; with a dense random map of the 16
/// components, the control, it does not. `to` brings the layer to a precision.
inline void expect_pin(
    const char* name, const std::function<Streams(const Streams&)>& layer, const Streams& x,
    const std::function<void(at::ScalarType)>& to = [](at::ScalarType) {}) {
  Stream stream(5, name);
  at::manual_seed(12);
  to(at::kDouble);
  EXPECT_GT(pin_error(layer, x, at::randn({16, 16}, at::kDouble), at::kDouble), 1e-2)
      << name << ": the control passed";
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    to(dtype);
    for (int reflections = 1; reflections <= 4; ++reflections) {
      EXPECT_LT(pin_error(layer, x, pin_matrix(reflections, stream), dtype),
                dtype == at::kDouble ? 1e-11 : 1e-5)
          << name << ", " << reflections << " reflections in " << dtype;
    }
  }
  to(at::kDouble);
}

}  // namespace weyl::gatr
