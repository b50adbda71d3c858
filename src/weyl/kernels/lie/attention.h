#pragma once

#include <cstdint>
#include <type_traits>

#include "weyl/algebra/lie/chart_policy.h"
#include "weyl/kernels/lie/pairs.h"

namespace weyl::kernels {

/// Attention of tokens that are group elements (ops/lie/attention.h), a_ij = softmax over j of
///   s_ij = -sum_b weights_hb squares_b(g_i^-1 g_j) + linear_h . (w_ij, j - i, |j - i|)   (elements given), or
///   s_ij = scores                                    (pairs given),
/// in one pass over tiles of j. Coordinates are orthonormal. Rows are nodes of all graphs. Logarithms, squares and
/// scores made of elements are float64 whatever T: scores are large and nearly equal where it matters, so they are
/// rounded to T as differences from the largest of their row (and squares from the least), of which a softmax keeps all.
template <class T>
struct LieAttentionInput {
  const int64_t* offsets = nullptr;  // (B+1) first row of each graph, and the end
  int64_t graphs = 0, heads = 0, width = 0, dof = 0, blocks = 0;
  const T* values = nullptr;  // (N, heads, width)

  LieElements<double> elements;  // of all N rows; planes null: pairs are given
  ChartPolicy policy = ChartPolicy::mask;
  const T* weights = nullptr;  // (heads, blocks)
  const T* linear = nullptr;   // (heads, dof + 2); null: nothing of the kind
  bool causal = false;         // tokens attend to those before them in their graph, and see no others

  int64_t pairs = 0;               // P
  const T* scores = nullptr;       // (heads, P)
  const T* coordinates = nullptr;  // (dof, P)
  const bool* present = nullptr;   // (P)
};

/// mixed (N, heads, width), coordinates (N, heads, dof), logsum (N, heads), and, where elements are given,
/// outside (N): how many others are outside the chart, and least (N, blocks): the least of each row's squares.
template <class T>
struct LieAttentionOutput {
  using Wide = std::conditional_t<std::is_const_v<T>, const double, double>;
  T *mixed, *coordinates;
  Wide* logsum;
  T* outside;
  Wide* least;
};

template <class T>
struct LieAttention {
  /// Numbers of scratch memory, of this function and of LieAttentionBackward, for graphs of up to `longest`
  /// nodes.
  int64_t (*scratch)(const LieAttentionInput<T>& in, int64_t longest);

  /// Rows first <= i < last.
  void (*forward)(const LieAttentionInput<T>& in, const LieAttentionOutput<T>& out, T* scratch, int64_t first,
                  int64_t last);
};

/// What is wanted of the gradient; null: not wanted. Added to: values (N, heads, width), weights (heads,
/// blocks), linear (heads, dof + 2), left and right (dof, elements.stride): those by e of g exp(e) as first and as second of a pair.
/// Overwritten: scores (heads, P), pairs (dof, P).
template <class T>
struct LieAttentionGradients {
  T* values = nullptr;
  double *weights = nullptr, *linear = nullptr;
  double *left = nullptr, *right = nullptr;
  T *scores = nullptr, *pairs = nullptr;
};

template <class T>
struct LieAttentionBackward {
  /// y holds the results of LieAttention::forward; g_mixed and g_coordinates are gradients by them.
  void (*backward)(const LieAttentionInput<T>& in, const LieAttentionOutput<const T>& y, const T* g_mixed,
                   const T* g_coordinates, const LieAttentionGradients<T>& to, T* scratch, int64_t first,
                   int64_t last);
};

}  // namespace weyl::kernels
