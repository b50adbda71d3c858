#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace weyl {

using at::Tensor;
class GroupTables;

/// A norm over the C channels of each frame by itself; the frames share weight and bias (C).
///   centred      y = weight (x - mean) / sqrt(var + epsilon) + bias
///   not centred  y = weight x / sqrt(mean of x^2 + epsilon), without bias (RMS)
/// Without a weight (undefined) there are no parameters, and the whole row is one frame, as in the plain transformer.
struct NormLaw {
  Tensor weight, bias;
  double epsilon = 1e-5;
  bool centred = true;
};

/// The factors of a branch and its bias, before they are added. An undefined factor is one.
struct BranchFactors {
  Tensor scale;  // (C), shared by the frames: layer scale
  Tensor rows;   // (N), a constant: drop path
  Tensor noise;  // (N, G C), a constant: dropout
};

// All of these are differentiable to any order. Kernels give the first two derivatives; for branches with a scale, the
// first alone. ShapeError
//   * when x, branch and noise disagree, or a width does not divide the row;
//   * for a centred norm with weight but no bias, or bias but no weight;
//   * for a bias in a norm that is not centred.

/// x (N, G C) -> (N, G C).
Tensor frame_norm(const Tensor& x, const NormLaw& law);

/// The end of a branch: x + scale rows noise (branch + branch_bias) -> (N, G C). x, branch (N, G C); branch_bias (C),
/// shared by the frames, or undefined.
Tensor add_branch(const Tensor& x, const Tensor& branch, const Tensor& branch_bias,
                  const BranchFactors& factors = {});

/// The end of one branch and the start of the next in one pass: sum = add_branch(...), normed = frame_norm(sum, law).
struct NormedSum {
  Tensor sum, normed;  // (N, G C)
};
NormedSum add_branch_and_norm(const Tensor& x, const Tensor& branch, const Tensor& branch_bias,
                              const NormLaw& law = {}, const BranchFactors& factors = {});

// The same for functions on a group (frames first) that are given and returned as the planes of their irreps
// (ops/frames/group_fourier.h); what lies between stays in the cache. x and sums are rows.

std::vector<Tensor> frame_norm_planes(const Tensor& x, const NormLaw& law, const GroupTables& tables);

Tensor add_branch_planes(const Tensor& x, const std::vector<Tensor>& branch, const GroupTables& tables,
                         const Tensor& branch_bias, const BranchFactors& factors = {});

struct NormedPlanes {
  Tensor sum;
  std::vector<Tensor> normed;
};
NormedPlanes add_branch_and_norm_planes(const Tensor& x, const std::vector<Tensor>& branch,
                                        const GroupTables& tables, const Tensor& branch_bias,
                                        const NormLaw& law, const BranchFactors& factors = {});

}  // namespace weyl
