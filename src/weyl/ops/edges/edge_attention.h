#pragma once

#include <functional>
#include <vector>

#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/edges/edges.h"

namespace weyl {

/// One attention over edges, whose queries, keys and values are columns of two tensors, inv (N, a d) and equ (N, 3, b d), maps
/// of invariant and of equivariant features, each d wide and counted from 0. `vectors`: queries, and what is given, are of equ.
/// A key (value alike) is a map of the same tensor as the query, or with a factor (>= 0) a product of two maps, channel by channel:
///   numbers  <equ[key], equ[key_factor]>, sums over xyz        vectors  equ[key] inv[key_factor].
struct StreamPart {
  bool vectors = false;
  int64_t query = 0, key = 0, value = 0, key_factor = -1, value_factor = -1;
  double scale = 1;  // of scores
};

/// The query, key and value of a part from the maps of inv and of equ, each split d columns at a time.
struct PartOperands {
  Tensor query, key, value;
};
PartOperands operands_of(const StreamPart& part, const Tensors& inv, const Tensors& equ);

struct EdgeAttention {
  int64_t heads = 1, width = 1;  // H, d
  std::vector<StreamPart> parts;
  double least = 1e-12;  // what the sum of weighted exponentials is at least, where edges have weights
  /// Weights of edges from scores (E, P H) and edge_weights (E) or undefined, in place of softmax. Holds no tensor.
  std::function<Tensor(const Tensor& scores, const Tensor& edge_weights, const Edges& edges)> weigh;
};

/// P attentions over the same edges, all in one pass: between and within two streams of features (GeoMFormer, eq. 5 to 7). Inputs
/// are inv (N, a d) and equ (N, 3, b d), either undefined where no part reads it, bias (E, H) for all parts or (E, P H), and
/// edge_weights w (E) >= 0; both may be undefined. Of the edge e from i to j, for each part and head, with sums over the head's
/// channels (and xyz of vectors),
///   s_e = scale q_i . k_j + bias,   a_e = w_e exp(s_e) / (least + sum_l w_l exp(s_l)),   y_i = sum_e a_e v_j;
/// without weights w = 1 and nothing is added. Returns what parts of numbers give side by side in their order, (N, p d), and
/// those of vectors, (N, 3, p d); what no part gives is left out. Differentiable to any order; the same bits for any number of
/// threads. ShapeError unless shapes and dtypes agree.
Tensors edge_attention(const EdgeAttention& form, const Tensors& inputs, const Edges& edges);

}  // namespace weyl
