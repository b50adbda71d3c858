#pragma once

#include "weyl/models/gatr/linear.h"

namespace weyl::gatr {

/// The bilinear layer (Geometric Algebra Transformer, sec. 3.2): in half of O hidden channels geometric products, in the
/// other half joins, of linear maps of the same input, then a linear map of them and of the input scalars:
///   Y = W [ L X . R X,  reference J(A X, B X) ].
/// Children linear_left, linear_right (which starts near 1), linear_join_left, linear_join_right, linear_out.
/// ConfigError unless `channels.out` is even.
class Bilinear : public Module {
 public:
  explicit Bilinear(const EquiChannels& channels);
  /// reference (N): component e123 of a multivector of each node's graph.
  Streams operator()(const Streams& x, const Tensor& reference) const;
  double flops() const;  // of one token; 192 terms of a product and 81 of a join
  double nominal_flops() const;

 private:
  std::shared_ptr<EquiLinear> left_, right_, join_left_, join_right_, out_;
};

}  // namespace weyl::gatr
