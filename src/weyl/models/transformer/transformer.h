#pragma once

#include "weyl/core/segments.h"
#include "weyl/models/features.h"
#include "weyl/models/model.h"
#include "weyl/models/transformer/options.h"
#include "weyl/models/work.h"
#include "weyl/nn/derived.h"
#include "weyl/nn/fourier_features.h"
#include "weyl/nn/mlp.h"
#include "weyl/nn/order_encoding.h"
#include "weyl/ops/frames/frame_norm.h"

namespace weyl::transformer {

/// What every block of one forward pass knows of the nodes. `objects` are read with hierarchical attention alone; `angles` are
/// undefined without `rotary`.
struct Nodes {
  const Segments& graphs;
  const Segments& objects;
  OrderAngles angles;                   // of a node's number in its graph
  std::optional<NearestNodes> nearest;  // whom nodes attend to, where that is not their whole graph
};

/// Self-attention inside each graph, or of the `nearest` nodes, multi-head or multi-query, scale 1/sqrt(head_width); hierarchical, half of the heads
/// inside objects. The last axis of the query projection (and of `linear`) is laid out (head_width, heads), heads
/// fastest, as the authors have it; the output projection reads (heads, head_width). The rows of the matrices are put
/// into the second order before the product, which costs a matrix and not its results: queries, keys and values are
/// read where the product wrote them. Children: qkv_linear.{q_linear, k_linear, v_linear} with multi_query,
/// qkv_linear.linear (q, k, v one after the other) without; out_linear.
class SelfAttention : public Module {
 public:
  explicit SelfAttention(const Options& options);
  /// (N, C) -> (N, C). ShapeError: hierarchical attention without objects.
  Tensor operator()(const Tensor& x, const Nodes& nodes) const;
  /// The same before the bias of the output projection is added.
  Tensor without_bias(const Tensor& x, const Nodes& nodes) const;
  const Tensor& output_bias() const { return out_->bias(); }
  /// Of a token, in a graph and an object of so many.
  Work work(double graph_nodes, double object_nodes) const;

 protected:
  void mode_changed() override;

 private:
  /// The rows (P, head_width, heads) of a projection's weight or bias as (P, heads, head_width).
  Tensor heads_first(const Derived& kept, const Tensor& rows) const;
  Tensor mix(const Tensor& x, const Nodes& nodes) const;  // (N, heads head_width)

  AttentionScope scope_;
  int64_t nearest_, heads_, head_width_;
  std::shared_ptr<Linear> q_, k_, v_, qkv_, out_;
  Derived weight_, bias_;  // of the query or joint projection, heads first
};

/// x <- x + attention(LN x); x <- x + W2 act(W1 LN x). Layer norms have no parameters. Norms, biases, residual sums and
/// activations are done by ops of several steps. Children: attention, mlp.
class Block : public Module {
 public:
  explicit Block(const Options& options);
  /// (N, C) -> (N, C).
  Tensor operator()(const Tensor& x, const Nodes& nodes) const;
  /// Of a token, in a graph and an object of so many; with none of its weights alone.
  Work work(double graph_nodes, double object_nodes) const;

 private:
  /// The definition, step by step.
  Tensor composed(const Tensor& x, const Nodes& nodes) const;
  Tensor residual(const Tensor& x, const Tensor& branch, const BranchFactors& factors) const;
  /// Of a branch, drawn anew where the block trains.
  BranchFactors factors(const Tensor& x, const Segments& graphs) const;

  Options options_;
  std::shared_ptr<SelfAttention> attention_;
  std::shared_ptr<Mlp> mlp_;
};

/// The plain transformer, control of every comparison: it reads coordinates as numbers and knows no symmetry
/// but the order of nodes (which `rotary` reads) and translations, when positions are centred. Each node's numbers are its
/// scalars, its position and its vectors (or random Fourier features of position and vectors together). Names
/// are those of the public baseline: linear_in, blocks.<i>.attention, blocks.<i>.mlp, linear_out; there is no
/// final norm. `linear_out` gives all outputs in the order of the interface, one after the other; outputs of
/// graphs and of objects are pooled after it (output_rows.h).
class Transformer : public PointsModel {
 public:
  using Options = transformer::Options;
  Transformer(const Options& options, const Interface& interface);
  Named forward(const Points& points) override;
  Symmetry symmetry() const override;
  Work work(double nodes) const override;
  std::vector<std::string> warnings(std::string_view differentiated_by) const override;
  bool looks_inside_objects() const override { return options.attention == AttentionScope::hierarchical; }
  /// The names of the public baseline are ours; the frequencies of its rotary encoding are left out.
  ForeignWeights translated(const NamedTensors& state_dict, const ForeignRecord& record) const override;

  const Options options;

 private:
  InputColumns columns_;
  int64_t inputs_ = 0, outputs_ = 0;
  std::shared_ptr<FourierFeatures> fourier_;
  std::shared_ptr<Linear> in_, out_;
  std::vector<std::shared_ptr<Block>> blocks_;
};

}  // namespace weyl::transformer
