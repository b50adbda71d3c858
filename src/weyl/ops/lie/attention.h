#pragma once

#include "weyl/algebra/lie/chart_policy.h"
#include "weyl/algebra/lie/group_list.h"
#include "weyl/core/segments.h"

namespace weyl::lie {

/// What attention takes from the geometry of all ordered pairs, rows in the order of all_pairs (ops/edges/edges.h).
struct Pairs {
  Tensor coordinates;  // (P, dof) w_ij, orthonormal, by the chart policy; w_ii = 0
  Tensor squares;      // (P, K) what the score weighs: |w_ij|^2 of each block of the algebra
  Tensor present;      // (P) bool: j != i, and not masked by the policy
  Tensor outside;      // (N) int64: the j != i whose relative pose is outside the chart of the logarithm
};

/// compact (N, c), see elements.h. Made once and shared by all layers it saves the logarithms, at the
/// price of memory O(sum n^2): for small graphs, and for scores of one's own. ShapeError under
/// ChartPolicy::error when a pair is outside the chart.
Pairs pairs_between(const Tensor& compact, const Segments& graphs, LieGroup group, ChartPolicy policy);

struct Attention {
  Tensor mixed;        // (N, H, C) sum_j a_ij^h v_j^h
  Tensor coordinates;  // (N, H, dof) sum_j a_ij^h w_ij, orthonormal
  Tensor outside;      // (N) int64, see Pairs
};

/// Lie-algebra attention inside each graph: for every head h
///   s_ij = -sum_b weights_hb |w_ij^(b)|^2,  a_ij = softmax over the present j of s_ij,
/// w_ij = log(g_i^-1 g_j) in orthonormal coordinates, b over the K blocks of the algebra. A token that may
/// attend to none (alone in its graph, or all masked) gets zeros.
///
/// compact (N, c) in float64 or the values' dtype, values (N, H, C), weights (H, K) = lambda/tau. Logarithms, squares
/// and scores are made in float64 and rounded to the values' dtype as differences from the largest score of their row:
/// of scores of -6000 those differences keep all digits. In one pass over tiles of j, relative poses computed on the
/// fly: memory O(N) for each thread, forward and backward (float32 and float64 on the CPU; other devices and second
/// derivatives take O(sum n^2)). Gradients by the elements stream under `mask` and `error` alone.
Attention attention(const Tensor& compact, const Tensor& values, const Tensor& weights,
                    const Segments& graphs, LieGroup group, ChartPolicy policy);

/// ShapeError unless `outside` (N), see Pairs, is zero everywhere; it names the first token and its graph.
void require_inside(const char* where, const Tensor& outside, const Segments& graphs, LieGroup group);

/// The same from pairs that are at hand.
Attention attention(const Pairs& pairs, const Tensor& values, const Tensor& weights, const Segments& graphs);

/// The same with scores (P, H) of one's own in place of s_ij.
Attention attention_scored(const Tensor& scores, const Pairs& pairs, const Tensor& values,
                           const Segments& graphs);

// All: differentiable to any order by values, weights, scores, and elements (of Aff(3): to third order). For
// a given number of threads results are the same bits each time. Elements are taken as by pair_logs
// (log.h): singular affine maps attend to none and are attended by none under every policy but `error`.

}  // namespace weyl::lie
