#pragma once

#include "weyl/core/segments.h"
#include "weyl/models/transformer/options.h"
#include "weyl/nn/mlp.h"

namespace weyl::transformer {

/// Self-attention inside each graph, multi-head or multi-query, scale 1/sqrt(head_width). The last axis of
/// the query projection (and of `linear`) is laid out (head_width, heads), heads fastest; the output
/// projection reads (heads, head_width). Children: qkv_linear.{q_linear, k_linear, v_linear} with
/// multi_query, qkv_linear.linear (q, k, v one after the other) without; out_linear.
class SelfAttention : public Module {
 public:
  explicit SelfAttention(const Options& options);
  Tensor operator()(const Tensor& x, const Segments& graphs) const;  // (N, C) -> (N, C)
  int64_t head_width() const { return head_width_; }

 private:
  int64_t heads_, head_width_;
  std::shared_ptr<Linear> q_, k_, v_, qkv_, out_;
};

/// x <- x + attention(LN x); x <- x + W2 act(W1 LN x). Layer norms have no parameters. Children: attention,
/// mlp.
class Block : public Module {
 public:
  explicit Block(const Options& options);
  Tensor operator()(const Tensor& x, const Segments& graphs) const;  // (N, C) -> (N, C)
  double flops(double typical_nodes) const;                          // of one token

 private:
  Tensor residual(const Tensor& x, const Tensor& branch, const Segments& graphs) const;

  Options options_;
  std::shared_ptr<SelfAttention> attention_;
  std::shared_ptr<Mlp> mlp_;
};

}  // namespace weyl::transformer
