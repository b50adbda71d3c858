#pragma once

#include "weyl/models/platonic/attention.h"
#include "weyl/nn/norms.h"
#include "weyl/ops/frames/frame_norm.h"

namespace weyl::platonic {

/// One block (paper, appendix F), with norms before its parts
///   x <- x + drop(gamma_1 dropout(attention(norm1 x)))
///   x <- x + drop(gamma_2 dropout(W2 dropout(act(W1 norm2 x))))
/// or after them
///   x <- norm1(x + drop(gamma_1 dropout(attention(x))))
///   x <- norm2(x + drop(gamma_2 dropout(W2 dropout(act(W1 x))))).
/// Norms and gammas act on the C channels of a frame and are shared by the frames. Names in the authors'
/// order: [gamma_1, gamma_2], interaction, linear1, linear2, norm1, norm2.
class FrameBlock : public Module {
 public:
  FrameBlock(const Options& options, const GroupTablesPtr& tables);
  Tensor operator()(const Tensor& x, const FrameInput& input) const;  // (N, G C) -> (N, G C)
  Work work(double graph_nodes, LinearForm form) const;               // of one token; angles apart

 private:
  /// The definition, step by step.
  Tensor composed(const Tensor& x, const FrameInput& input) const;
  /// The same by ops of several steps, for maps by dense matrices and by irreps.
  Tensor by_rows(const Tensor& x, const FrameInput& input) const;
  Tensor by_planes(const Tensor& x, const FrameInput& input) const;

  Tensor normalised(const Norm& norm, const Tensor& x) const;
  Tensor residual(const Tensor& x, const Tensor& branch, const BranchFactors& factors) const;
  /// Of a branch, drawn anew where the block trains; x: the stream.
  BranchFactors factors(const Tensor& gamma, const Tensor& x, const FrameInput& input) const;
  Tensor hidden_noise(const Tensor& x) const;

  Options options_;
  GroupTablesPtr tables_;
  int64_t order_, hidden_;
  Tensor gamma_1_, gamma_2_;
  std::shared_ptr<FrameAttention> attention_;
  std::shared_ptr<GroupLinear> linear_1_, linear_2_;
  std::shared_ptr<Norm> norm_1_, norm_2_;
};

}  // namespace weyl::platonic
