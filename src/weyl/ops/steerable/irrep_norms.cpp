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

/// Each irrep of features (B, 2, F, P): (B, 2, components, channels, P). Split at once: the gradient is then put together
/// once, and not added up from one as large as the features for each irrep.
std::vector<Tensor> irreps_of(const Tensor& x, const SteerableType& type) {
  std::vector<int64_t> widths;
  for (int64_t l = 0; l < type.irreps(); ++l) {
    widths.push_back(type.width(l));
  }
  std::vector<Tensor> irreps = x.split_with_sizes(widths, 2);
  for (int64_t l = 0; l < type.irreps(); ++l) {
    irreps[l] = irreps[l].unflatten(2, {type.components(l), type.channels[l]});
  }
  return irreps;
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
  for (const Tensor& irrep : irreps_of(x, type)) {
    squares.push_back(irrep.square().sum({1, 2}));
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
  const std::vector<Tensor> irreps = irreps_of(x, type),
                            of_copies = factors.split_with_sizes(type.channels, 1);
  std::vector<Tensor> scaled;
  for (int64_t l = 0; l < type.irreps(); ++l) {
    scaled.push_back((irreps[l] * of_copies[l].unsqueeze(1).unsqueeze(1)).flatten(2, 3));
  }
  return at::cat(scaled, 2).flatten(1, 2);
}

}  // namespace weyl::steerable
