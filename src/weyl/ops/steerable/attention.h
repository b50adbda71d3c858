#pragma once

#include <memory>
#include <vector>

#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/steerable/positions.h"

namespace weyl::steerable {

/// Which numbers a head of steerable attention has (see kernels/steerable/attention.h).
struct Heads {
  Heads(const SteerableType& type, int64_t heads);
  int64_t heads = 1, width = 0, multiplicity = 0, multiplicity_of_all = 0,
          components = 0;                // H, F, S, S of all, M
  std::vector<int64_t> features;         // (H, F): among those of all
  std::vector<int64_t> component, copy;  // (F)
  std::vector<int64_t> copy_of_all;      // (H, S)
};

// Steerable attention (ops/steerable/attention.h) as torch expressions, differentiable to any order on any
// device. Inputs q, k, v, key weights, value weights; positions null: none; `taking_part` as `attention` has it.
// Arguments are not checked again.

/// The definition, as the authors compute it: every k_ij and v_ij, B N^2 F numbers each.
Tensor attention_of_pairs(const Tensors& in, const Heads& heads, double scale, const Positions* positions,
                          const Tensor& taking_part = {});

/// The softmax a_ij alone (B, H, N, N), by query and key, positional vectors contracted: of in[0], in[1] and in[3].
Tensor attention_weights(const Tensors& in, const Heads& heads, double scale, const Positions* positions,
                         const Tensor& taking_part = {});

/// The same with positional vectors contracted: N^2 (B H + M) numbers a few times, and B H N R M.
Tensor attention_contracted(const Tensors& in, const Heads& heads, double scale, const Positions* positions,
                            const Tensor& taking_part = {});

/// Self-attention of complex steerable features on a grid (paper, section 3.1, eqs. 10 to 15). For head h and
/// tokens i, j, over irreps rho, components m and the channels c of the head:
///   s_ij = scale sum_(rho m c) conj(q_i) (k_j + w^K_(rho c) P_rho m(x_i - x_j)),   a_ij = softmax_j |s_ij|,
///   y_i  = sum_j a_ij (v_j + w^V_(rho c) P_rho m(x_i - x_j)).
/// It turns with the grid, for P does.
///
/// q, k, v (B, 2 F, N) in the order of SteerableType, N the tokens of the grid, row-major; head h has the
/// h-th share of the channels of each irrep. key_weights, value_weights (R, S, 2): complex w of each radius and
/// irrep, with its multiplicity (S, in the order irrep, channel); undefined without positions. taking_part (B, N) bool:
/// the tokens that attend and are attended to, undefined: all; y_i = 0 of the others. Result (B, 2 F, N).
///
/// Never takes memory of N^2 times channels: sum_c conj(q_c) w_c meets P once for each component. On the CPU
/// in float32 and float64 scores of a few queries at a time, memory O(N) a thread, forward and backward;
/// elsewhere, and for second derivatives, N^2 (a few numbers a pair). Where s_ij = 0 its |.| has gradient 0.
/// ShapeError unless shapes fit and heads divide the channels of each irrep.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const SteerableType& type, int64_t heads,
                 double scale, const std::shared_ptr<const Positions>& positions = nullptr,
                 const Tensor& key_weights = {}, const Tensor& value_weights = {},
                 const Tensor& taking_part = {});

}  // namespace weyl::steerable
