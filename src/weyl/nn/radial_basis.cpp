#include "weyl/nn/radial_basis.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/uniform.h>
#include <ATen/ops/where.h>
#include <cmath>
#include <numbers>

#include "weyl/core/check.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/edges/cutoff.h"
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

namespace {

void require_range(const char* where, int64_t count, int64_t least, double upper, double lower) {
  require(count >= least, where, ": count must be ", least, " or more, got ", count);
  require(lower >= 0 && lower < upper && std::isfinite(upper), where,
          ": lower must be 0 <= lower < upper, got ", lower, " and ", upper);
}
void require_lengths(const char* where, const Tensor& d) {
  require(d.defined() && d.dim() == 1 && d.is_floating_point(), where, ": d must be (E) floating, got ",
          d.defined() ? d.sizes() : at::IntArrayRef{});
}

}  // namespace

ExpNormalBasis::ExpNormalBasis(int64_t count, double upper, double lower, bool trainable)
    : upper_(upper), lower_(lower) {
  require_range("ExpNormalBasis", count, 1, upper, lower);
  const double start = std::exp(lower - upper), spread = 2 * (1 - start) / static_cast<double>(count);
  means_ = parameter("means", at::linspace(start, 1, count, at::kDouble), /*decay=*/false, trainable);
  betas_ =
      parameter("betas", at::full({count}, 1 / (spread * spread), at::kDouble), /*decay=*/false, trainable);
}

Tensor ExpNormalBasis::operator()(const Tensor& d) const {
  require_lengths("ExpNormalBasis", d);
  const Tensor t = at::exp((lower_ - d) * (5 / (upper_ - lower_))).unsqueeze(1) - means_;
  return cutoff_weights(d, CutoffLaw::cosine, upper_).unsqueeze(1) * exp_or_zero(-betas_ * (t * t));
}

BesselBasis::BesselBasis(int64_t count, double upper, bool trainable) {
  require_range("BesselBasis", count, 1, upper, 0);
  frequencies_ = parameter("freqs", at::arange(1, count + 1, at::kDouble) * (std::numbers::pi / upper),
                           /*decay=*/false, trainable);
}

Tensor BesselBasis::operator()(const Tensor& d) const {
  require_lengths("BesselBasis", d);
  const Tensor zero = (d == 0).unsqueeze(1), length = d.unsqueeze(1).masked_fill(zero, 1);
  return at::where(zero, frequencies_, at::sin(length * frequencies_) / length);
}

GaussianSmearing::GaussianSmearing(int64_t count, double upper, double lower, bool trainable) {
  require_range("GaussianSmearing", count, 2, upper, lower);
  const double apart = (upper - lower) / static_cast<double>(count - 1);
  coefficient_ =
      parameter("coeff", at::full({}, -0.5 / (apart * apart), at::kDouble), /*decay=*/false, trainable);
  offsets_ = parameter("offset", at::linspace(lower, upper, count, at::kDouble), /*decay=*/false, trainable);
}

Tensor GaussianSmearing::operator()(const Tensor& d) const {
  require_lengths("GaussianSmearing", d);
  const Tensor t = d.unsqueeze(1) - offsets_;
  return exp_or_zero(coefficient_ * (t * t));
}

}  // namespace weyl
