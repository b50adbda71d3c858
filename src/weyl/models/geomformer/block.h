#pragma once

#include <memory>

#include "weyl/models/geomformer/attention.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/nn/mlp.h"
#include "weyl/nn/module.h"
#include "weyl/nn/norms.h"

namespace weyl::geomformer {

/// The equivariant norm of GeoMFormer (Equ-LN) and its robust family, z (N, 3, d) -> (N, 3, d):
///   A = z - mean over channels,  C = A A^T / d,  t = tr C / 3,
///   whiten  ((1 - rho) C + (rho t + epsilon) I)^(-1/2) A weight   (rho = 0, epsilon -> 0: the paper's)
///   rms     A weight / sqrt(t + epsilon)                          (what whiten is at rho = 1).
/// Matrices in float64. Isotropic in space, so exactly O(3)-equivariant; first and second derivatives are
/// right for flat, linear and vanishing A too. Parameter `weight` (d).
class VectorNorm : public Module {
 public:
  VectorNorm(int64_t channels, VectorNormLaw law, double rho, double epsilon);
  Tensor operator()(const Tensor& z) const;

 private:
  double rho_, epsilon_;
  Tensor weight_;
};

/// The feed-forward networks of GeoMFormer, equ gated by inv (its values before inv's own network):
///   inv_ffn(i) = (act(i W1)) W2,   equ_ffn(e, i) = ((e We1) act(i Wg)) We3.   No bias.
/// Children: inv_in (W1 and Wg, one below the other), inv_out, equ_in, equ_out.
class GatedFeedForward : public Module {
 public:
  explicit GatedFeedForward(const Options& options);
  StreamAttention::Streams operator()(const Tensor& i, const Tensor& e) const;
  Work work() const;  // of one node

 private:
  Activation activation_;
  double dropout_;
  std::shared_ptr<Linear> inv_in_, inv_out_, equ_in_, equ_out_;
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

/// One layer on both streams, i = norm(inv), e = norm(equ):
///   (inv, equ) += interaction(i, e);   (inv, equ) += feed_forward(norm(inv), norm(equ))
/// in the sequential order self-attention first, then, normalised anew, cross-attention. Children: [inv_norm,
/// equ_norm, inv_norm_2, equ_norm_2], messages, attention or both, [ffn or mixing], [bias or bias_<module>].
class Block : public Module {
 public:
  explicit Block(const Options& options);
  /// What its first interaction reads of the streams.
  StreamAttention::Streams normed(const StreamAttention::Streams& streams) const { return before_(streams); }
  /// `read`: normed(streams). `joined` (N, 3, 2 d): the vectors that the same layer of both towers reads, side by side, or
  /// undefined but with towers = joined. `shared_bias` (E, H) or undefined.
  StreamAttention::Streams operator()(StreamAttention::Streams streams, const StreamAttention::Streams& read,
                                      const Tensor& joined, const Segments& graphs, const Neighbourhood& near,
                                      const Tensor& shared_bias) const;
  /// Of one node. `equ_learns`: the vectors that come in depend on parameters.
  Work work(const Around& around, bool equ_learns) const;
  Work work_of_bias(const Around& around) const;  // of its own ones, which `work` leaves out

 private:
  struct Norms {
    std::shared_ptr<LayerNorm> inv;
    std::shared_ptr<VectorNorm> equ;
    StreamAttention::Streams operator()(const StreamAttention::Streams& streams) const;
  };
  Norms norms(const char* suffix, bool inv_read, bool equ_read);  // of the streams that are read
  StreamAttention::Streams sum(const StreamAttention::Streams& streams, const StreamAttention::Streams& add,
                               const Segments& graphs) const;

  Options options_;
  Norms before_, between_;
  std::shared_ptr<StreamAttention> attention_;
  std::shared_ptr<FilteredMessages> messages_;
  std::shared_ptr<GatedFeedForward> gated_;
  std::shared_ptr<StreamMixing> mixing_;
  std::array<std::shared_ptr<StructuralBias>, 4> bias_;  // one for the layer stands four times
};

}  // namespace weyl::geomformer
