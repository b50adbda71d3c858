#pragma once

#include "weyl/models/geomformer/feed_forward.h"
#include "weyl/models/geomformer/messages.h"
#include "weyl/models/geomformer/vector_norm.h"
#include "weyl/nn/norms.h"

namespace weyl::geomformer {

/// One layer on both streams, i = norm(inv), e = norm(equ):
///   (inv, equ) += interaction(i, e);   (inv, equ) += feed_forward(norm(inv), norm(equ))
/// in the sequential order self-attention first, then, normalised anew, cross-attention. Children: [inv_norm,
/// equ_norm, inv_norm_2, equ_norm_2], attention or messages, [ffn or mixing], [bias or bias_<module>].
class Block : public Module {
 public:
  explicit Block(const Options& options);
  /// `shared_bias` (E, H) or undefined.
  StreamAttention::Streams operator()(StreamAttention::Streams streams, const Segments& graphs,
                                      const Neighbourhood& near, const Tensor& shared_bias) const;
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
