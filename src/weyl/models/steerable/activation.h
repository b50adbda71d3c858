#pragma once

#include "weyl/models/steerable/layer.h"

namespace weyl::steerable {

/// Acts on the length of each copy of an irrep alone (paper, 3.3): n = |f|, f <- f relu(n + b) / n, or f <- f
/// (gelu(n + b) - gelu(b)) / n: without the second term, which the paper leaves out, a bias of either sign
/// would blow up short vectors, whose direction is noise. Parameter `bias` (S), one for each copy of an
/// irrep, initialised at `init`, zero or less for ReLU's sake, which blows them up above zero; training may
/// take it there.
class NormActivation : public Layer {
 public:
  enum class Law { relu, gelu };
  NormActivation(const SteerableType& type, Law law, double init = 0);
  Tensor operator()(const Tensor& x) const override;

 private:
  SteerableType type_;
  Law law_;
  Tensor bias_;
};

/// Gates (Weiler et al. 2018): f <- f sigmoid(gate), a gate for each copy of an irrep. Features carry them as
/// (S + 1) / 2 more channels of the trivial irrep, real parts the first gates, imaginary parts the others. No
/// parameters.
class GatedActivation : public Layer {
 public:
  explicit GatedActivation(const SteerableType& out);
  const SteerableType& in() const { return in_; }  // `out` with the gates' channels, the last trivial ones
  Tensor operator()(const Tensor& x) const override;

 private:
  SteerableType in_, out_;
};

/// `joint`: f / |f| over all irreps of a channel (paper, section 3.4, whose equation has no number; all irreps have the
/// same channels); `irrep`:
/// irrep by irrep (as the authors' code has it in space). No parameters. `layer`: by the root mean square of
/// the lengths of all irreps at the pixel, each with its multiplicity, and a parameter `weight` (S), which
/// keeps what is strong. Zero stays zero.
class Norm : public Layer {
 public:
  enum class Law { joint, irrep, layer };
  Norm(const SteerableType& type, Law law);
  Tensor operator()(const Tensor& x) const override;

 private:
  SteerableType type_;
  Law law_;
  Tensor weight_;
};

/// Batch norm that turns: each copy of an irrep by the root of its mean square over batch, pixels and
/// components, then times `weight` (S); the trivial irrep's also plus `bias` (C_0, 2), complex. In training
/// by the batch and kept as `mean_square` (S, no trainable parameter, momentum 0.1), in evaluation by that.
class BatchNorm : public Layer {
 public:
  explicit BatchNorm(const SteerableType& type);
  Tensor operator()(const Tensor& x) const override;

 private:
  SteerableType type_;
  Tensor weight_, bias_, mean_square_;
  std::vector<double> components_;  // of each copy
};

}  // namespace weyl::steerable
