#include "weyl/models/steerable/activation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>

#include <algorithm>
#include <numeric>

#include "weyl/core/check.h"
#include "weyl/ops/irrep_norms.h"

namespace weyl {
namespace {

constexpr double floor_ = 1e-5;  // below it lengths count as this: no division by zero, finite gradients

/// Lengths as if each vector had one component more, of 1e-5.
Tensor lengths(const Tensor& squares) {
  return (squares + floor_ * floor_).sqrt();
}

}  // namespace

NormActivation::NormActivation(const SteerableType& type, Law law) : type_(type), law_(law) {
  bias_ = parameter("bias", {std::accumulate(type.channels.begin(), type.channels.end(), int64_t{0})},
                    Init::zeros());
}

Tensor NormActivation::operator()(const Tensor& x) const {
  const Tensor n = lengths(irrep_squares(x, type_));
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[1] = bias_.size(0);
  const Tensor inner = n + bias_.to(x.scalar_type()).view(shape);
  return scale_irreps(x, (law_ == Law::relu ? at::relu(inner) : at::gelu(inner)) / n, type_);
}

SteerableNorm::SteerableNorm(const SteerableType& type, bool joint) : type_(type), joint_(joint) {
  const bool alike = std::all_of(type.channels.begin(), type.channels.end(),
                                 [&](int64_t c) { return c == type.channels.front(); });
  require(!joint || alike, "SteerableNorm: a joint norm needs the same channels for all irreps");
}

Tensor SteerableNorm::operator()(const Tensor& x) const {
  Tensor squares = irrep_squares(x, type_);
  if (joint_) {
    const Tensor of_irreps = squares.unflatten(1, {type_.irreps(), type_.channels.front()});
    squares = of_irreps.sum(1, /*keepdim=*/true).expand_as(of_irreps).flatten(1, 2);
  }
  return scale_irreps(x, 1 / lengths(squares), type_);
}

}  // namespace weyl
