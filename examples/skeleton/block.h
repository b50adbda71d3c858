#pragma once

#include <weyl/core/segments.h>
#include <weyl/nn/mlp.h>

#include "options.h"

namespace skeleton {

using weyl::Tensor;

/// x <- x + attention(LN x); x <- x + MLP(LN x). The scores of the attention are q_i . k_j / sqrt(C) + b_ij,
/// the bias b a linear function of the shells of the pair. Nothing but distances: what goes in and comes out
/// is invariant.
class DistanceBlock : public weyl::Module {
 public:
  explicit DistanceBlock(const SkeletonOptions& options);
  /// x (N, width), shells (P, shells) -> (N, width)
  Tensor operator()(const Tensor& x, const Tensor& shells, const weyl::Segments& graphs) const;
  static double flops(const SkeletonOptions& options, double typical_nodes);  // of one token

 private:
  int64_t heads_, head_width_;
  std::shared_ptr<weyl::Linear> qkv_, bias_, out_;
  std::shared_ptr<weyl::Mlp> mlp_;
};

}  // namespace skeleton
