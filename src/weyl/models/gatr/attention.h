#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "weyl/carriers/points.h"
#include "weyl/core/segments.h"
#include "weyl/models/gatr/layers.h"
#include "weyl/models/gatr/options.h"
#include "weyl/nn/order_encoding.h"
#include "weyl/ops/edges/nearest.h"

namespace weyl::gatr {

/// Groups of nodes that need not lie side by side: row `order[i]` of the nodes is row i of the groups, row `back[n]`
/// of the groups is node n. (N) int64.
struct Regrouped {
  Tensor order, back;
  Segments groups;
};

/// The nodes of each graph by their number in their object: the n-th nodes of all its objects are one group.
Regrouped across_objects(const Points& points);

/// What every block of one forward pass shares.
struct Scene {
  const Segments& graphs;
  const Segments& objects;
  Tensor reference;           // (N), for joins; undefined where it is given (Embedding::reference)
  Streams again;              // input channels that are inserted again; undefined where there are none
  OrderAngles angles;         // of a node's number in its graph; in its object, where blocks are axial
  Regrouped across;           // for axial blocks that attend across objects
  OrderAngles angles_across;  // of the number of a node's object in its graph
  std::optional<NearestNodes> nearest;  // whom nodes attend to, where that is not their whole graph
};

/// `input`: the embedded points, whose mean is the reference of their graph. ShapeError: hierarchical or axial
/// attention without objects. DataError: `nearest` without positions. Valid as long as `points` live.
Scene scene_of(const Points& points, const Streams& input, const Options& options);

/// Geometric self-attention (ops/multivectors/attention.h), of all nodes of a graph or of the `nearest`: with `multi_query` all heads share keys and values; what is
/// inserted again (`Scene::again`) is read by queries and keys beside x, without multi_query by values too. Children in
/// the authors' order: qkv_module.{q,k,v}_linear or qkv_module.in_linear; out_linear, which starts small. Parameter
/// attention.log_weights (H, 1, C), logarithms of the weights of distances, which start at zero.
class SelfAttention : public Module {
 public:
  explicit SelfAttention(const Options& options);
  /// `across`: this block attends across objects (axial blocks in turn).
  Streams operator()(const Streams& x, const Scene& scene, bool across = false) const;
  /// Of a token, in a graph and an object of so many.
  double flops(double graph_nodes, double object_nodes = 0, bool across = false) const;
  double nominal_flops() const;

 private:
  struct Heads {
    Streams q, k, v;
  };
  Heads heads_of(const Streams& x, const Scene& scene, bool across) const;
  /// (N, H, 16 C + S).
  Tensor attended(const Heads& heads, const Scene& scene, bool across) const;
  int64_t stored_heads() const { return options_.multi_query ? 1 : options_.heads; }

  Options options_;
  HeadChannels head_;
  std::shared_ptr<EquiLinear> q_, k_, v_, qkv_, out_;
  Tensor log_weights_;
};

}  // namespace weyl::gatr
