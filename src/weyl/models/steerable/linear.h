#pragma once

#include <vector>

#include "weyl/algebra/irreps/steerable_type.h"
#include "weyl/models/work.h"
#include "weyl/nn/derived.h"
#include "weyl/nn/module.h"

namespace weyl::steerable {

/// A complex matrix for each irrep, the same for all its components, at every pixel alone (paper,
/// section 3.1: W_Q, W_K, W_V, eqs. 10 to 12, and W_O; section 3.3: the layers of the MLP): y_{l m o} = sum_c W^l_{o c} x_{l m c}. No bias.
/// Parameter `weight` (n, 2) complex, in the order irrep, channel out, channel in; initialised as complex normal
/// numbers of variance 1 / channels in, so that features keep their size.
class Linear : public Module {
 public:
  /// ShapeError unless both types have one dimension and as many irreps, and each irrep channels.
  Linear(const SteerableType& in, const SteerableType& out);
  Tensor operator()(const Tensor& x) const;  // (B, 2 F_in, pixels...) -> (B, 2 F_out, pixels...)
  Work work() const;                         // of a pixel
  const SteerableType& in() const { return in_; }
  const SteerableType& out() const { return out_; }

 protected:
  void mode_changed() override;

 private:
  /// Irreps that are one matrix product: in the plane all whose channels are the same, in space one.
  struct Part {
    int64_t first, irreps, weight;  // first irrep, how many, first weight
  };
  Tensor matrices(const Part& part) const;  // (irreps, 2 C_out, 2 C_in), ((Re, -Im), (Im, Re))

  SteerableType in_, out_;
  std::vector<Part> parts_;
  Tensor weight_;
  std::vector<Derived> matrices_;  // of each part
};

}  // namespace weyl::steerable
