#include "weyl/ops/steerable/irrep_norms.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include "weyl/core/check.h"
#include "weyl/ops/autograd/full_precision.h"

namespace weyl::steerable {
namespace {

void require_features(const char* where, const Tensor& x, const SteerableType& type) {
  require(x.defined() && x.dim() >= 2 && x.size(1) == 2 * type.width(), where, ": features must be (B, ",
          2 * type.width(), ", ...), got ", x.defined() ? x.sizes() : at::IntArrayRef{});
}

/// Irrep l of features (B, 2, F, P): (B, 2, components, channels, P).
Tensor irrep_of(const Tensor& x, const SteerableType& type, int64_t l) {
  return x.narrow(2, type.offset(l), type.width(l)).unflatten(2, {type.components(l), type.channels[l]});
}

}  // namespace

Tensor irrep_squares(const Tensor& features, const SteerableType& type) {
  require_features("irrep_squares", features, type);
  const Tensor wide = widened(features);
  if (type.dimension == 2) {
    return wide.unflatten(1, {2, type.width()}).square().sum(1);
  }
  const Tensor x = wide.unflatten(1, {2, type.width()}).flatten(3 <= features.dim() ? 3 : 2);
  std::vector<Tensor> squares;
  for (int64_t l = 0; l < type.irreps(); ++l) {
    squares.push_back(irrep_of(x, type, l).square().sum({1, 2}));
  }
  std::vector<int64_t> shape = features.sizes().vec();
  shape[1] = type.multiplicity();
  return at::cat(squares, 1).view(shape);
}

Tensor scale_irreps(const Tensor& features, const Tensor& factors, const SteerableType& type) {
  require_features("scale_irreps", features, type);
  const int64_t multiplicity = type.multiplicity();
  require(factors.defined() && factors.dim() == features.dim() && factors.size(1) == multiplicity,
          "scale_irreps: factors must be (B, ", multiplicity, ", ...), got ",
          factors.defined() ? factors.sizes() : at::IntArrayRef{});
  const Tensor x = features.unflatten(1, {2, type.width()});
  if (type.dimension == 2) {
    return (x * factors.unsqueeze(1)).flatten(1, 2);
  }
  std::vector<Tensor> scaled;
  int64_t copy = 0;
  for (int64_t l = 0; l < type.irreps(); ++l) {
    const Tensor factor = factors.narrow(1, copy, type.channels[l]).unsqueeze(1).unsqueeze(1);
    scaled.push_back((irrep_of(x, type, l) * factor).flatten(2, 3));
    copy += type.channels[l];
  }
  return at::cat(scaled, 2).flatten(1, 2);
}

}  // namespace weyl::steerable
