#pragma once

#include <memory>

#include "weyl/models/geomformer/attention.h"
#include "weyl/nn/mlp.h"

namespace weyl::geomformer {

/// The feed-forward networks of GeoMFormer, equ gated by inv (its values before inv's own network):
///   inv_ffn(i) = (act(i W1)) W2,   equ_ffn(e, i) = ((e We1) act(i Wg)) We3.   No bias.
/// Children: inv_in, inv_out, equ_in, gate, equ_out.
class GatedFeedForward : public Module {
 public:
  explicit GatedFeedForward(const Options& options);
  StreamAttention::Streams operator()(const Tensor& i, const Tensor& e) const;
  Work work() const;  // of one node

 private:
  Activation activation_;
  double dropout_;
  std::shared_ptr<Linear> inv_in_, inv_out_, equ_in_, gate_, equ_out_;
};

/// PaiNN's update: with (p, w) = e W (no bias) and n = sqrt(<p, p> + 1e-8), (a, b, c) = MLP([i, n]):
///   di = a + c <p, w>,   de = b w.   Children: vectors, mlp.
class StreamMixing : public Module {
 public:
  explicit StreamMixing(const Options& options);
  StreamAttention::Streams operator()(const Tensor& i, const Tensor& e) const;
  Work work() const;  // of one node

 private:
  int64_t width_;
  std::shared_ptr<Linear> vectors_;
  std::shared_ptr<Mlp> mlp_;
};

/// Vectors (N, 3, d) dropped whole, in training: each (node, channel) with probability `rate`, the others
/// scaled by 1 / (1 - rate).
Tensor drop_vectors(const Tensor& x, double rate);

}  // namespace weyl::geomformer
