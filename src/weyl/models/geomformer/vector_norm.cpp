#include "weyl/models/geomformer/vector_norm.h"

#include "weyl/core/check.h"
#include "weyl/ops/vectors/vector_norm.h"

namespace weyl::geomformer {

VectorNorm::VectorNorm(int64_t channels, VectorNormLaw law, double rho, double epsilon)
    : rho_(law == VectorNormLaw::rms ? 1 : rho),
      epsilon_(epsilon),
      weight_(parameter("weight", {channels}, Init::ones())) {
  require<ConfigError>(law != VectorNormLaw::none, "model.geomformer.norm: none is no norm");
}

Tensor VectorNorm::operator()(const Tensor& z) const {
  return vector_norm(z, weight_, rho_, epsilon_);
}

}  // namespace weyl::geomformer
