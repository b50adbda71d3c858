#pragma once

#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/lie/attention.h"

namespace weyl::lie {

// The parts of Lie-algebra attention as torch expressions over the list of all pairs, differentiable to any
// order on any device; what the kernels are measured by. Arguments are not checked again.

/// |w^(b)|^2 of each block: (P, dof) -> (P, K).
Tensor block_squares(const Tensor& coordinates, LieGroup group);

/// pairs_between without its error.
Pairs pairs_of(const Tensor& compact, const Segments& graphs, LieGroup group, ChartPolicy policy);

/// -sum_b weights_hb squares_b: (P, K), (H, K) -> (P, H), head by head in memory.
Tensor block_scores(const Tensor& squares, const Tensor& weights);

/// a_ij^h = softmax over the present j of scores (P, H): {sum_j a_ij v_j (N, H, C), sum_j a_ij w_ij (N, H,
/// dof)}, zeros where none is present. Tensors of P x H x C numbers.
Tensors attention_over_pairs(const Tensor& scores, const Tensor& coordinates, const Tensor& present,
                             const Tensor& values, const Segments& graphs);

}  // namespace weyl::lie
