#pragma once

#include <optional>

#include "weyl/core/segments.h"
#include "weyl/models/platonic/group_linear.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/platonic/position_encoding.h"
#include "weyl/models/work.h"
#include "weyl/nn/norms.h"
#include "weyl/ops/edges/nearest.h"

namespace weyl::platonic {

/// What every block of one forward pass shares.
struct FrameInput {
  Tensor positions;  // (N, D)
  const Segments& graphs;
  double typical_nodes;
  std::optional<NearestNodes> nearest{};  // whom nodes attend to, where that is not their whole graph
};

/// Attention in every frame at once (paper, eqs. 5 to 7 and 11): queries, keys and values are functions on
/// the group, so each of the G frames has heads/G heads of its own, rotated by the frame's view of the
/// positions. Children in the authors' order: q_proj, v_proj, [k_proj], [rope_emb], out_proj; then ours: [q_norm],
/// [k_norm]. Without learned keys the key is constant before its rotation (remark 1); `linear` replaces the softmax
/// (eq. 9); `scores = invariant` sums the scores over the frames first (eq. 12); `values = invariant` gives all frames
/// the mean of their values (end of section 4.2), before these are rotated; `nearest` lets softmax attention see no more than the
/// nearest nodes.
class FrameAttention : public Module {
 public:
  FrameAttention(const Options& options, GroupTablesPtr tables);
  Tensor operator()(const Tensor& x, const FrameInput& input) const;  // (N, G C) -> (N, G C)

  /// The same before the bias of the output projection is added, in the form of that projection (GroupLinear::products), by one
  /// op for softmax attention of each frame by itself with nothing between projections, rotation and weights.
  std::vector<Tensor> products(const std::vector<Tensor>& x, const FrameInput& input) const;
  const Tensor& output_bias() const { return out_->bias(); }
  Work work(double graph_nodes, LinearForm form) const;  // of one token; angles apart

 protected:
  void mode_changed() override { joint_.drop(); }

 private:
  bool has_fused() const;
  /// The projections of x, a function in the form of the maps, without biases, side by side: (N, 2 G C), or 3 with keys that are
  /// learned.
  Tensor joint(const std::vector<Tensor>& x) const;
  /// Queries, values and keys (undefined where they are not learned), each (N, G C).
  std::vector<Tensor> projections(const std::vector<Tensor>& x) const;
  /// What the output projection reads, (N, G C).
  Tensor mixed(const std::vector<Tensor>& x, const FrameInput& input) const;
  Tensor mixed_by_one_op(const std::vector<Tensor>& x, const FrameInput& input) const;
  bool drops_weights() const { return training() && options_.attention_dropout > 0; }
  /// What linear attention divides by, (B).
  Tensor norm_of(const Tensor& q, const FrameInput& input) const;
  Tensor mix(const Tensor& q, const Tensor& k, const Tensor& v, const FrameInput& input) const;

  Options options_;
  GroupTablesPtr tables_;
  int64_t order_, head_width_;
  std::shared_ptr<GroupLinear> q_, v_, k_, out_;
  std::shared_ptr<FrameRope> rope_;
  std::shared_ptr<RmsNorm> q_norm_, k_norm_;
  DerivedTensors
      joint_;  // the dense matrices of q, v and k, one below the other, or their blocks, stacked along O
};

}  // namespace weyl::platonic
