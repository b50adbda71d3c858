#pragma once

#include "weyl/models/platonic/group_linear.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/platonic/rope.h"

namespace weyl {

/// What every block of one forward pass shares.
struct FrameInput {
  Tensor positions;  // (N, D)
  const Segments& graphs;
  double typical_nodes;
};

/// Attention in every frame at once (paper, eqs. 5 to 7 and 11): queries, keys and values are functions on
/// the group, so each of the G frames has heads/G heads of its own, rotated by the frame's view of the
/// positions. Children in the authors' order: q_proj, v_proj, [k_proj], [rope_emb], out_proj. Without learned
/// keys the key is constant before its rotation (remark 1); `linear` replaces the softmax (eq. 9); `scores =
/// invariant` sums the scores over the frames first (eq. 12).
class FrameAttention : public Module {
 public:
  FrameAttention(const PlatonicOptions& options, GroupTablesPtr tables);
  Tensor operator()(const Tensor& x, const FrameInput& input) const;  // (N, G C) -> (N, G C)
  double flops(double typical_nodes) const;                           // of one token

 private:
  Tensor mix(const Tensor& q, const Tensor& k, const Tensor& v, const FrameInput& input) const;

  PlatonicOptions options_;
  GroupTablesPtr tables_;
  int64_t order_, head_width_;
  std::shared_ptr<GroupLinear> q_, v_, k_, out_;
  std::shared_ptr<FrameRope> rope_;
};

}  // namespace weyl
