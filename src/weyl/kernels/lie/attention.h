#pragma once

#include <cstdint>

#include "weyl/algebra/lie/chart_policy.h"
#include "weyl/kernels/lie/pairs.h"

namespace weyl::kernels {

/// Attention of tokens that are group elements (ops/lie/attention.h), a_ij = softmax over j of
///   s_ij = -sum_b weights_hb squares_b(g_i^-1 g_j)   (elements given), or
///   s_ij = scores                                    (pairs given),
/// in one pass over tiles of j. Coordinates are orthonormal. Rows are nodes of all graphs.
template <class T>
struct LieAttentionInput {
  const int64_t* offsets = nullptr;  // (B+1) first row of each graph, and the end
  int64_t graphs = 0, heads = 0, width = 0, dof = 0, blocks = 0;
  const T* values = nullptr;  // (N, heads, width)

  LieElements<T> elements;  // of all N rows; planes null: pairs are given
  ChartPolicy policy = ChartPolicy::mask;
  const T* weights = nullptr;  // (heads, blocks)

  int64_t pairs = 0;               // P
  const T* scores = nullptr;       // (heads, P)
  const T* coordinates = nullptr;  // (dof, P)
  const bool* present = nullptr;   // (P)
};

/// Numbers of scratch memory for graphs of up to `longest` nodes.
template <class T>
int64_t lie_attention_scratch(const LieAttentionInput<T>& in, int64_t longest);

/// mixed (N, heads, width), coordinates (N, heads, dof), logsum (N, heads), and, where elements are given,
/// outside (N): how many others are outside the chart.
template <class T>
struct LieAttentionOutput {
  T *mixed, *coordinates, *logsum, *outside;
};
template <class T>
void lie_attention(const LieAttentionInput<T>& in, const LieAttentionOutput<T>& out, T* scratch,
                   int64_t first, int64_t last);

/// What is wanted of the gradient; null: not wanted. Added to: values (N, heads, width), weights (heads,
/// blocks), left and right (dof, elements.stride): those by e of g exp(e) as first and as second of a pair.
/// Overwritten: scores (heads, P), pairs (dof, P).
template <class T>
struct LieAttentionGradients {
  T* values = nullptr;
  double* weights = nullptr;
  T *left = nullptr, *right = nullptr;
  T *scores = nullptr, *pairs = nullptr;
};
/// y holds the results of lie_attention; g_mixed and g_coordinates are gradients by them.
template <class T>
void lie_attention_backward(const LieAttentionInput<T>& in, const LieAttentionOutput<const T>& y,
                            const T* g_mixed, const T* g_coordinates, const LieAttentionGradients<T>& to,
                            T* scratch, int64_t first, int64_t last);

}  // namespace weyl::kernels
