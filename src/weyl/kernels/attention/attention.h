#pragma once

#include <cstdint>

namespace weyl::kernels {

/// An array (rows, heads, width) of numbers: (i, h, c) is at data[i row + h head + c]. head = 0: one shared
/// head. With `parts` above 1 a row lies in as many pieces of width / parts numbers each, `part` apart; heads
/// are then not shared.
template <class T>
struct HeadRows {
  T* data = nullptr;
  int64_t row = 0, head = 0, parts = 1, part = 0;
  [[gnu::always_inline]] T* at(int64_t i, int64_t h) const { return data + i * row + h * head; }
};

/// Softmax attention in every graph and head by itself,
///   y_i = sum_j softmax_j(scale q_i . k_j + pairs_ij) v_j.
///   offsets   (B+1) rows of each graph; H heads; widths K of q and k, V of v.
///   k         where its data is null: keys of ones.
///   *_bias    (channels) added to column h K + c of q, k or v, modulo `channels`; null: none.
///   angles    (N, H, K/2) contiguous: q and k (and v when rotate_values, then V = K) are first rotated by
///             them in interleaved pairs, and y last by their negatives when rotate_values; null: none.
///   pairs     (sum n^2, H) contiguous, rows in the order graph, query, key; null: none.
/// Work comes in units, graph by graph and head by head: unit g H + h. T is float or double.
template <class T>
struct AttentionInput {
  const int64_t* offsets = nullptr;
  int64_t graphs = 0, heads = 0, key_width = 0, value_width = 0;
  T scale = 1;
  HeadRows<const T> q, k, v;
  const T *q_bias = nullptr, *k_bias = nullptr, *v_bias = nullptr;
  int64_t channels = 1;
  const T* angles = nullptr;
  bool rotate_values = false;
  const T* pairs = nullptr;
};

/// What is wanted of a derivative; null: not wanted. q, k and v are written, or added to when their head is
/// shared (they must then start as zeros, and whole graphs must be given to one call). The biases (H K and H
/// V numbers, by column; not yet summed over frames) are added to.
template <class T>
struct AttentionGradients {
  HeadRows<T> q, k, v;
  T *q_bias = nullptr, *k_bias = nullptr, *v_bias = nullptr;
  T *angles = nullptr, *pairs = nullptr;
};

template <class T>
struct Attention {
  /// Numbers of scratch memory that a call of the function for the derivative of this order, 0 to 2, needs for graphs of
  /// up to `longest` nodes: of their order, as keys come in tiles.
  int64_t (*scratch)(const AttentionInput<T>& in, int64_t longest, int derivative);

  /// y and, for the derivatives, sums (N, H, 2): the largest score, and 1 over the sum of exponentials of scores less
  /// that (null: not wanted). One logarithm in their place would lose digits where scores are large.
  void (*forward)(const AttentionInput<T>& in, HeadRows<T> y, T* sums, T* scratch, int64_t first,
                  int64_t last);

  void (*backward)(const AttentionInput<T>& in, HeadRows<const T> y, const T* sums, HeadRows<const T> gy,
                   const AttentionGradients<T>& gradients, T* scratch, int64_t first, int64_t last);
};

/// Gradients of the results gq, gk, gv, gpairs of Attention::backward; zeros where data is null.
template <class T>
struct AttentionTangents {
  HeadRows<const T> q, k, v;
  const T* pairs = nullptr;
};

template <class T>
struct AttentionSecond {
  /// The derivative of Attention::backward for attention without biases and angles: given d, writes the
  /// gradients of q, k, v and pairs (as in AttentionGradients) and of gy.
  void (*second)(const AttentionInput<T>& in, HeadRows<const T> gy, const AttentionTangents<T>& d,
                 const AttentionGradients<T>& gradients, HeadRows<T> ggy, T* scratch, int64_t first,
                 int64_t last);
};

}  // namespace weyl::kernels
