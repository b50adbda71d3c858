#pragma once

#include "weyl/kernels/attention/attention.h"

namespace weyl::kernels {

/// Linear attention in every graph g and head by itself,
///   y_i = q_i^T M_g,   M_g = sum_{j in g} k_j v_j^T / norm_g.
///   rows   as in AttentionInput: null keys are ones, biases are added, angles rotate; without pairs, shared heads or rows in
///          parts, and `scale` is not read.
///   norm   (B); null: ones. It has no derivative here.
/// Work comes in the units of AttentionInput, and takes time of the order of the rows. T is float or double.
template <class T>
struct LinearAttentionInput {
  AttentionInput<T> rows;
  const T* norm = nullptr;
};

template <class T>
struct LinearAttention {
  /// Numbers of scratch memory that a call of the function for the derivative of this order, 0 to 2, needs: some matrices
  /// (K, V) for each head.
  int64_t (*scratch)(const LinearAttentionInput<T>& in, int derivative);

  void (*forward)(const LinearAttentionInput<T>& in, HeadRows<T> y, T* scratch, int64_t first, int64_t last);

  void (*backward)(const LinearAttentionInput<T>& in, HeadRows<const T> y, HeadRows<const T> gy,
                   const AttentionGradients<T>& gradients, T* scratch, int64_t first, int64_t last);

  /// The derivative of `backward` without biases and angles: given the directions d of its results, the gradients of q, k,
  /// v and gy.
  void (*second)(const LinearAttentionInput<T>& in, HeadRows<const T> gy, const AttentionTangents<T>& d,
                 const AttentionGradients<T>& gradients, HeadRows<T> ggy, T* scratch, int64_t first,
                 int64_t last);
};

}  // namespace weyl::kernels
