#pragma once

#include <optional>

#include "weyl/algebra/lie/chart_policy.h"
#include "weyl/algebra/lie/group_list.h"
#include "weyl/core/segments.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/edges/edges.h"

namespace weyl::lie {

/// The geometry of the pairs that attention uses: all ordered ones, rows in the order of all_pairs (ops/edges/edges.h), or
/// those of `near` alone.
struct Pairs {
  Tensor coordinates;  // (P, dof) w_ij, orthonormal, by the chart policy; w_ii = 0
  Tensor squares;      // (P, K) what the score weighs: |w_ij|^2 of each block of the algebra
  Tensor present;      // (P) bool: j != i, and the policy does not mask the pair
  Tensor outside;      // (N) int64: how many j that i may see are outside the chart of the logarithm
  std::optional<Edges> near = {};  // the pairs of neighbours, all of them present; not given: all pairs

  /// The pairs that the rows stand for.
  Edges edges(const Segments& graphs) const { return near ? *near : all_pairs(graphs); }
};

/// The pairs of elements compact (N, c), see elements.h. When they are made once and shared by all layers, they save
/// the logarithms, at the price of memory O(sum n^2): for small graphs, and for scores of one's own. ShapeError under
/// ChartPolicy::error when a pair is outside the chart. `causal`: present are the pairs with j before i in their graph.
Pairs pairs_between(const Tensor& compact, const Segments& graphs, LieGroup group, ChartPolicy policy,
                    bool causal = false);

/// The pairs of each token i with its neighbours j: those with |w_ij| < radius, the norm of all coordinates with equal weights
/// (0: all that are present), and of them the `nearest` so many (0: all). Tokens as far away as the last of these, |w|^2 the same
/// to 1e-4, count as well: an index would break symmetry under the order of tokens, and rounding would choose among steps of
/// equal length. So "j is near i" need not go both ways.
///
/// Which they are is decided in the elements' dtype and without derivatives; coordinates and squares are differentiable as those
/// of pairs_between. Of SE(2) and SE(3), where |w_ij| is at least the distance of the translations, they are found by a list of
/// cells, in time and memory that grow with the tokens and their neighbours (of `nearest` alone by cells of a width that a sample
/// of tokens suggests; the few that lack some then look at all of their graph); of the other groups among all pairs. The errors of
/// pairs_between, of these pairs, and of `neighbours` (ops/edges/neighbours.h). ShapeError unless radius or nearest is positive.
Pairs pairs_near(const Tensor& compact, const Segments& graphs, LieGroup group, ChartPolicy policy,
                 double radius, int64_t nearest = 0, bool causal = false);

/// What makes scores differ in the two directions of a pair. Rows of a graph stand in their order, token j - i behind i.
struct Directions {
  Tensor linear;        // (H, dof + 2): s_ij += linear_h . (w_ij, j - i, |j - i|); undefined: nothing
  bool causal = false;  // a token attends to those before it in its graph, and nothing of others reaches it
};

struct Attention {
  Tensor mixed;        // (N, H, C) sum_j a_ij^h v_j^h
  Tensor coordinates;  // (N, H, dof) sum_j a_ij^h w_ij, orthonormal
  Tensor outside;      // (N) int64, see Pairs
};

/// Lie-algebra attention inside each graph: for every head h
///   s_ij = -sum_b weights_hb |w_ij^(b)|^2 + linear_h . (w_ij, j - i, |j - i|),  a_ij = softmax over the present j of s_ij,
/// with w_ij = log(g_i^-1 g_j) in orthonormal coordinates and b over the K blocks of the algebra. A token that may
/// attend to none (alone in its graph, or all masked) gets zeros.
///
/// compact (N, c) in float64 or the values' dtype, values (N, H, C), weights (H, K) = lambda/tau.
///
/// Logarithms, squares and scores are computed in float64. They are rounded to the values' dtype only as differences
/// from the largest score of their row, so that scores of -6000 keep all digits of those differences. One pass over
/// tiles of j computes relative poses on the fly: memory O(N) for each thread, forward and backward (float32 and
/// float64 on the CPU). Other devices and second derivatives take O(sum n^2); so do gradients by the elements under
/// `frobenius` and `polar`.
Attention attention(const Tensor& compact, const Tensor& values, const Tensor& weights,
                    const Segments& graphs, LieGroup group, ChartPolicy policy,
                    const Directions& directions = {});

/// ShapeError unless `outside` (N) of Pairs is zero everywhere; the message names the first token and its graph.
void require_inside(const char* where, const Tensor& outside, const Segments& graphs, LieGroup group);

/// Attention from pairs that are made already.
Attention attention(const Pairs& pairs, const Tensor& values, const Tensor& weights, const Segments& graphs);

/// Attention with one's own scores (P, H) in place of s_ij.
Attention attention_scored(const Tensor& scores, const Pairs& pairs, const Tensor& values,
                           const Segments& graphs);

// All of these are differentiable to any order by values, weights, scores and elements (of Aff(3): to third order). For
// a given number of threads, results are the same bits each time. Elements are treated as by pair_logs (log.h): a
// singular affine map attends to none and none attends to it, under every policy but `error`.

// The parts of Lie-algebra attention as torch expressions over the list of all pairs, differentiable to any order on
// any device. The kernels are compared with them. They do not check their arguments again.

/// |w^(b)|^2 of each block: (P, dof) -> (P, K).
Tensor block_squares(const Tensor& coordinates, LieGroup group);

/// pairs_between without its error.
Pairs pairs_of(const Tensor& compact, const Segments& graphs, LieGroup group, ChartPolicy policy,
               bool causal = false);

/// -sum_b weights_hb squares_b: (P, K), (H, K) -> (P, H), head by head in memory.
Tensor block_scores(const Tensor& squares, const Tensor& weights);

/// linear_h . (w_ij, j - i, |j - i|): (P, dof), (H, dof + 2) -> (P, H), head by head in memory.
Tensor linear_scores(const Tensor& coordinates, const Tensor& linear, const Edges& pairs);

/// {sum_j a_ij v_j (N, H, C), sum_j a_ij w_ij (N, H, dof)} with a_ij^h = softmax over the present j of scores (P, H);
/// zeros where none is present. It makes tensors of P x H x C numbers.
Tensors attention_over_pairs(const Tensor& scores, const Tensor& coordinates, const Tensor& present,
                             const Tensor& values, const Edges& pairs);

}  // namespace weyl::lie
