#include "weyl/models/geomformer/vector_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rsqrt.h>

#include "weyl/core/check.h"
#include "weyl/ops/inverse_square_root.h"

namespace weyl {

VectorNorm::VectorNorm(int64_t channels, VectorNormLaw law, double rho, double epsilon)
    : law_(law), rho_(rho), epsilon_(epsilon), weight_(parameter("weight", {channels}, Init::ones())) {
  require<ConfigError>(law != VectorNormLaw::none, "geomformer.norm: none is no norm");
}

Tensor VectorNorm::operator()(const Tensor& z) const {
  const Tensor a = z - z.mean(-1, /*keepdim=*/true);
  if (law_ == VectorNormLaw::rms) {
    const Tensor t = (a * a).mean({-2, -1}, /*keepdim=*/true);
    return a * at::rsqrt(t + epsilon_) * weight_;
  }
  const Tensor wide = a.to(at::kDouble);
  const Tensor c = at::matmul(wide, wide.transpose(-1, -2)) / static_cast<double>(z.size(-1));
  const Tensor t = (c.diagonal(0, -2, -1).sum(-1) / 3).unsqueeze(-1).unsqueeze(-1);
  const Tensor tau = t + epsilon_;
  const Tensor unit = at::eye(3, c.options().requires_grad(false));
  // Of trace 3 whatever the features' size, so that the roots stay in range.
  const Tensor scaled = ((1 - rho_) * c + (rho_ * t + epsilon_) * unit) / tau;
  const Tensor root = inverse_square_root(scaled) * tau.rsqrt();
  return at::matmul(root, wide).to(z.scalar_type()) * weight_;
}

}  // namespace weyl
