#include "weyl/nn/gaussian_basis.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/uniform.h>

#include "weyl/core/check.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/edges/gaussian_densities.h"

namespace weyl {

GaussianBasis::GaussianBasis(int64_t count, int64_t types, double epsilon) : epsilon_(epsilon) {
  require(count >= 1 && types >= 1, "GaussianBasis: count and types must be positive, got ", count, " and ",
          types);
  const auto between = Init{Init::Law::uniform, 0, 3};
  means_ = parameter("means.weight", {1, count}, between);
  deviations_ = parameter("stds.weight", {1, count}, between);
  factors_ = parameter("mul.weight", {types, 1}, Init::ones());
  shifts_ = parameter("bias.weight", {types, 1}, Init::zeros());
}

Tensor GaussianBasis::operator()(const Tensor& d, const Tensor& types) const {
  const char* where = "GaussianBasis";
  require(d.defined() && d.dim() == 1 && d.is_floating_point(), where, ": d must be (E) floating, got ",
          d.defined() ? d.sizes() : at::IntArrayRef{});
  require(types.defined() && types.sizes() == d.sizes() && types.scalar_type() == at::kLong, where,
          ": types must be (", d.size(0), ") int64, got ",
          types.defined() ? types.sizes() : at::IntArrayRef{});
  const FullPrecision no_autocast;
  const auto dtype = at_least_float32(d.scalar_type());
  const auto wide = [&](const Tensor& x) { return x.to(dtype); };
  const Tensor u = wide(factors_).squeeze(1).index_select(0, types) * wide(d) +
                   wide(shifts_).squeeze(1).index_select(0, types);
  const Tensor s = at::abs(wide(deviations_)) + epsilon_;
  return gaussian_densities(u, wide(means_).squeeze(0), s.squeeze(0)).to(d.scalar_type());
}

}  // namespace weyl
