// The rules by which the fact sheets make inputs and weights without a random generator.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <string>
#include <vector>

#include "weyl/carriers/points.h"
#include "weyl/nn/module.h"

namespace weyl {

/// Sine rule: float64, element n (0-based, row-major) is sin(a (n + 1) + offset).
inline Tensor sine(std::vector<int64_t> shape, double offset = 0, double a = 0.7) {
  Tensor x = at::empty(shape, at::TensorOptions(at::kDouble));
  auto* values = x.mutable_data_ptr<double>();
  for (int64_t n = 0; n < x.numel(); ++n) {
    values[n] = std::sin(a * static_cast<double>(n + 1) + offset);
  }
  return x;
}

/// Weight rule: element n of the p-th parameter is scale sin(0.37 (n + 1) + p), plus 1 for the weights of
/// norms; frequencies are counted and left as they started.
inline void apply_weight_rule(Module& module, double scale) {
  const at::NoGradGuard quiet;
  int64_t p = 0;
  for (const auto& parameter : module.parameters()) {
    const auto& name = parameter.name;
    if (!name.ends_with("freqs")) {
      Tensor value = sine(parameter.tensor.sizes().vec(), static_cast<double>(p), 0.37) * scale;
      if (name.ends_with("norm1.weight") || name.ends_with("norm2.weight")) {
        value = value + 1;
      }
      parameter.tensor.copy_(value);
    }
    ++p;
  }
  module.train(module.training());
}

/// The positions and the two graphs (0, 0, 0, 1, 1) that most of the sheet's numbers use.
inline Tensor five_positions() {
  return sine({5, 3}, 0.9, 1.3);
}
inline Segments three_and_two() {
  return Segments::of_sizes(std::vector<int64_t>{3, 2});
}

}  // namespace weyl
