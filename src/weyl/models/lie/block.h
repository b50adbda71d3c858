#pragma once

#include "weyl/core/segments.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/lie/relations.h"
#include "weyl/models/lie/score.h"
#include "weyl/nn/linear.h"
#include "weyl/nn/norms.h"

namespace weyl::lie {

/// The stream of a block: h (N, d) and its layer norm by whatever reads it next.
struct Stream {
  Tensor h, normed;
};

/// h <- h + W_O attention(LN h), h <- h + W_2 gelu(W_1 LN h) (paper, section 4.2, whose equations have no numbers). With
/// x = LN h, head by head:
///   G and C   o_i = sum_j a_ij W_V [x_j; w_ij], a_ij = softmax_j s_ij over j != i; a token alone has o_i = 0
///   A         o_i = sum_j a_ij W_V x_j, a_ij = softmax_j q_i . k_j / sqrt(d / H), j = i included (section 4.5)
/// Children: norm1, [query, key], value, out, norm2, ffn.0, ffn.2. Channels of a head are contiguous.
class Block : public Module {
 public:
  /// `pair_width`: the coordinates of w, 0 for A.
  Block(const Options& options, int64_t pair_width);

  const LayerNorm& entry_norm() const { return *norm1_; }
  /// `in.normed` is norm1 of `in.h`; the result's is `next` of its h. `score` is null for A.
  Stream operator()(const Stream& in, const LayerNorm& next, const LayerScore* score,
                    const Relations& relations, const Segments& graphs) const;
  /// Of one token, scores of poses apart. `moved`: as in Score::work.
  Work work(double graph_nodes, bool moved) const;

 private:
  Tensor attention(const Tensor& x, const LayerScore* score, const Relations& relations,
                   const Segments& graphs) const;

  int64_t width_, heads_, pair_width_, hidden_;
  std::shared_ptr<LayerNorm> norm1_, norm2_;
  std::shared_ptr<Linear> query_, key_, value_, out_, first_, second_;
};

}  // namespace weyl::lie
