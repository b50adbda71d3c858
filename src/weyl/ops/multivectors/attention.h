// The kernels of the features of attention (attention.h), as ops call them. CPU tensors of float or double alone.
#pragma once

#include <ATen/core/Tensor.h>
#include <vector>

#include "weyl/core/segments.h"
#include "weyl/kernels/multivectors/features.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/multivectors/kernel_rows.h"

namespace weyl {

/// How H heads of C channels and S scalars lie in a token's row of channels and of scalars: `head_fastest`: channel c of
/// head h at c H + h, else at h C + c.
struct HeadLayout {
  int64_t heads = 1, channels = 0, scalars = 0;
  bool head_fastest = true;
};

struct FeatureGradients {
  Tensor x, scalars, weights, gy;
};
struct FeatureDirections {
  Tensor x, scalars, weights;  // undefined where zero
};
struct WantedFeatureGradients {
  bool x = false, scalars = false, weights = false, gy = false;
};

class FeatureKernels {
 public:
  FeatureKernels(kernels::FeatureRole role, double epsilon, const HeadLayout& layout);

  /// x (16, N, C H), scalars (N, S H) or undefined, weights (C H), as channels lie, or undefined -> (N, H, F C + S).
  Tensor forward(const Tensor& x, const Tensor& scalars, const Tensor& weights) const;

  /// From gy (N, H, F C + S). x may be undefined for values.
  FeatureGradients backward(const Tensor& x, const Tensor& weights, const Tensor& gy,
                            const WantedFeatureGradients& wanted) const;

  /// The derivative of `backward` along `directions`.
  FeatureGradients second(const Tensor& x, const Tensor& weights, const Tensor& gy,
                          const FeatureDirections& directions, const WantedFeatureGradients& wanted) const;

 private:
  template <class T>
  kernels::MultivectorFeaturesInput<T> arguments(const ComponentRows& x, const Tensor& weights) const;
  int64_t all_channels() const { return layout_.heads * layout_.channels; }
  int64_t all_scalars() const { return layout_.heads * layout_.scalars; }
  double cost() const;

  kernels::FeatureRole role_;
  double epsilon_;
  HeadLayout layout_;
  int64_t width_;  // of a head
  std::vector<int64_t> places_, scalar_places_;
};

using at::Tensor;

/// Multivectors (16, N, M) and scalars (N, S) of the same tokens. Without scalars undefined.
struct MultivectorsAndScalars {
  Tensor multivectors, scalars;
};

// What the heads of multivector_attention (encoder.h) see of tokens, for attention over other groups of tokens than
// it has: ragged_attention (ops/attention) of these. Of H heads with C channels and S scalars each: multivectors
// (16, N, C H), channel c of head h at c H + h, scalars (N, S H) likewise. Differentiable to any order, at least
// float32 also under autocast. ShapeError unless `heads` divides the channels.

/// (N, H, 12 C + S): components 0, 2, 3, 4, 8, 9, 10, then of the trivector u = t v / (v^2 + epsilon), v its e123,
/// exp(log_weights) (|u|^2, u_3^2, u_0 u_3, u_1 u_3, u_2 u_3), |u|^2 of the first three, then the scalars.
/// log_weights (H, C) or (H, 1, C).
Tensor multivector_queries(const MultivectorsAndScalars& q, const Tensor& log_weights, int64_t heads,
                           double epsilon = 1e-3);
/// The same with (-u_3^2, -|u|^2, 2 u_0 u_3, 2 u_1 u_3, 2 u_2 u_3).
Tensor multivector_keys(const MultivectorsAndScalars& k, int64_t heads, double epsilon = 1e-3);
/// (N, H, 16 C + S).
Tensor multivector_values(const MultivectorsAndScalars& v, int64_t heads);
/// What heads have found, (N, H, 16 C + S) -> multivectors (16, N, H C), channel c of head h at h C + c, and scalars
/// (N, H S).
MultivectorsAndScalars of_multivector_heads(const Tensor& y, int64_t channels);

/// Attention of Geometric Algebra Transformers (eq. 7 and 8, as the authors' code has them): softmax attention inside
/// each graph with, for a query i and a key j of C multivector channels and S scalars a head, the logit
///   1/sqrt(12 C + S) [ sum_c sum_(b in 0,2,3,4,8,9,10) q_cb k_cb  +  sum_c w_hc D_c  +  sum_s q_s k_s ],
///   D_c = -|t_3 s - s_3 t|^2,  t and s the trivectors of q_c and k_c, each times v / (v^2 + epsilon), v its e123,
/// which for points is minus their squared distance; w = exp(log_weights). Values are all 16 components and scalars.
///
/// q of H heads: multivectors (16, N, C H), channel c of head h at c H + h, scalars (N, S H) likewise, as the authors
/// lay them out; k and v of H heads, or of one that all queries share (multi-query): (16, N, C), (N, S).
/// log_weights (H, C) or (H, 1, C). -> multivectors (16, N, H C), channel c of head h at h C + c, and scalars (N, H S).
/// Memory grows with N, never with its square. Distances are in at least float32, also under autocast; they are sums
/// of squares that cancel, so that far from the origin digits are lost. Differentiable to any order. ShapeError unless
/// shapes agree.
MultivectorsAndScalars multivector_attention(const MultivectorsAndScalars& q, const MultivectorsAndScalars& k,
                                             const MultivectorsAndScalars& v, const Tensor& log_weights,
                                             const Segments& graphs, int64_t heads, double epsilon = 1e-3);

/// 1 / sqrt(12 C + S).
double multivector_attention_scale(int64_t channels, int64_t scalars);

}  // namespace weyl
