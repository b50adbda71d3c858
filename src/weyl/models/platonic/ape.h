#pragma once

#include "weyl/models/platonic/options.h"
#include "weyl/nn/module.h"
#include "weyl/ops/frames/group_tables.h"

namespace weyl::platonic {

/// Absolute position encoding, the same in every frame: [cos(p . R_g w), sin(p . R_g w)] of C/2 frequencies
/// each. Parameter `freqs` (D, C/2) ~ N(0, sigma^2). ConfigError unless the channels C of a frame are even.
class FrameApe : public Module {
 public:
  FrameApe(const ApeOptions& options, int64_t channels, int64_t dimension);
  /// positions (N, D) -> (N, G C).
  Tensor operator()(const Tensor& positions, const GroupTables& tables) const;

 private:
  Tensor frequencies_;
};

}  // namespace weyl::platonic
