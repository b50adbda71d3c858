// Elements of Lie groups for the tests of the ops.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "tests/lie_groups.h"
#include "weyl/core/random.h"
#include "weyl/ops/lie/elements.h"

namespace weyl::lie {

inline at::Tensor normal_rows(const char* name, int64_t rows, int64_t columns, double scale) {
  weyl::Stream stream(11, name);
  at::Tensor x = at::empty({rows, columns}, at::kDouble);
  auto* p = x.mutable_data_ptr<double>();
  for (int64_t i = 0; i < rows * columns; ++i) {
    p[i] = scale * stream.normal();
  }
  return x;
}

/// exp of tangents with entries N(0, scale^2), (rows, c) in float64.
inline at::Tensor random_elements(LieGroup group, int64_t rows, double scale, const char* name = "elements") {
  return exp(normal_rows(name, rows, degrees_of_freedom(group), scale), group);
}

inline double largest(const at::Tensor& x) {
  return x.numel() == 0 ? 0 : x.to(at::kDouble).abs().max().item<double>();
}

}  // namespace weyl::lie
