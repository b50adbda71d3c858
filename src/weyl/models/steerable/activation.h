#pragma once

#include "weyl/core/steerable_type.h"
#include "weyl/nn/module.h"

namespace weyl {

/// Acts on the length of each copy of an irrep alone (paper, 3.3): n = |f|, f <- f g(n + b) / n with g ReLU
/// or GELU. Parameter `bias` (S), one for each copy of an irrep, started at zero: above zero short vectors
/// would be blown up, whose direction is noise.
class NormActivation : public Module {
 public:
  enum class Law { relu, gelu };
  NormActivation(const SteerableType& type, Law law);
  Tensor operator()(const Tensor& x) const;  // (B, 2 F, pixels...)

 private:
  SteerableType type_;
  Law law_;
  Tensor bias_;
};

/// f / |f|, `joint` over all irreps of a channel (paper, eq. 9; all irreps have the same channels) or irrep
/// by irrep (as the authors' code has it in space). No parameters. Zero stays zero.
class SteerableNorm : public Module {
 public:
  SteerableNorm(const SteerableType& type, bool joint);
  Tensor operator()(const Tensor& x) const;  // (B, 2 F, pixels...)

 private:
  SteerableType type_;
  bool joint_;
};

}  // namespace weyl
