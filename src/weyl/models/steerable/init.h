#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>

#include <vector>

#include "weyl/nn/module.h"

namespace weyl::steerable {

/// Numbers of the standard normal law (shape) float64, from torch's generator of the CPU; where parameters
/// are shapes alone (BuildOn the meta device) a shape.
inline Tensor initial_normals(const std::vector<int64_t>& shape) {
  return BuildOn::device().is_meta()
             ? at::empty(shape, at::TensorOptions().device(at::kMeta).dtype(at::kDouble))
             : at::randn(shape, at::kDouble);
}

}  // namespace weyl::steerable
