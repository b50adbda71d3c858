#pragma once

#include <cstdint>

namespace weyl::kernels {

/// Rows of nodes, of one or three components of H h channels each: number c of a component stands at
/// at[row * row_apart + component * component_apart + c]. `slope` has their derivatives along a direction at the same
/// places; null: not read.
template <class T>
struct NodeRows {
  const T *at = nullptr, *slope = nullptr;
  int64_t row_apart = 0, component_apart = 0;
};
/// Where rows are added to; null: not wanted.
template <class T>
struct NodeSums {
  T *at = nullptr, *slope = nullptr;
  int64_t row_apart = 0, component_apart = 0;
};

/// One attention of several over the same edges: queries and gradients of its output belong to centres, keys and values to
/// neighbours. Scores are sums over `components` and the channels of a head.
template <class T>
struct AttentionPart {
  int64_t components = 1;
  T scale = 1;
  NodeRows<T> q, k, v, g;
  NodeSums<T> out, gq, gk, gv;
};

/// P attentions over E edges. With scores s = scale q_i . k_j + bias, the weight a_e >= 0 of an edge (1 without them), and
/// the sum over the edges of a centre, for each part and head
///   u_e = exp(s_e) / (least + sum_l a_l exp(s_l)),   out_i = sum_e a_e u_e v_j.
/// Arrays of edges are (E, P, H) but for the bias, (E, H) for all parts alike or (E, P, H), and the weights (E).
template <class T>
struct EdgeAttention {
  int64_t heads = 1, channels = 1;  // H, and h of a head
  const AttentionPart<T>* parts = nullptr;
  int64_t part_count = 0;
  const int64_t *centre = nullptr, *neighbour = nullptr;  // (E)
  const int64_t* begins = nullptr;                        // (N + 1), of the edges of each centre
  const int64_t *incoming = nullptr,
                *incoming_begins = nullptr;        // the edges of each neighbour, and where they begin
  const T *bias = nullptr, *bias_slope = nullptr;  // null: none
  bool bias_of_parts = false;
  const T *edge_weights = nullptr, *weight_slopes = nullptr;  // a; null: none
  T least = 0;                                                // read with weights alone
  T* shares = nullptr;                                        // u
  // What `centres` leaves for `neighbours`: a u and the gradients of the scores, and their derivatives.
  T *passed = nullptr, *passed_slopes = nullptr, *by_score = nullptr, *by_score_slopes = nullptr;
  T *by_bias = nullptr, *by_weight = nullptr;  // results; null: not wanted
};

/// Of vectors x (N, 3, d), and vectors or numbers y (N, 3, d) or (N, d): <x, y> (N, d), or x y (N, 3, d), channel by channel,
/// is added to `to`, and its derivative along the slopes to the slope of that.
template <class T>
struct NodeProduct {
  int64_t width = 0;         // d
  int64_t y_components = 1;  // 3: the first
  NodeRows<T> x, y;
  NodeSums<T> to;
};

template <class T>
struct EdgeAttentions {
  void (*product)(const NodeProduct<T>& p, int64_t first, int64_t last);

  /// Sets shares, adds to out. Of all functions: rows first <= n < last, which no other call adds to.
  void (*forward)(const EdgeAttention<T>& a, int64_t first, int64_t last);

  /// The gradients of sum_i g_i . out_i: those of centres (gq, by_bias, by_weight). After it `neighbours` adds gk and gv.
  void (*centres)(const EdgeAttention<T>& a, int64_t first, int64_t last);
  /// In its place, the derivatives of all these along the direction that slopes say (g has none): into gq's slope, by_bias and
  /// by_weight; that of out into out's slope. `neighbours` then adds to the slopes of gk and gv too.
  void (*second_centres)(const EdgeAttention<T>& a, int64_t first, int64_t last);
  void (*neighbours)(const EdgeAttention<T>& a, int64_t first, int64_t last);
};

}  // namespace weyl::kernels
