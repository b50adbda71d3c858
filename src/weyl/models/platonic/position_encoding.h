#pragma once

#include "weyl/models/platonic/options.h"
#include "weyl/nn/module.h"
#include "weyl/ops/frames/group_tables.h"

namespace weyl::platonic {

/// Frequencies on a golden spiral, float64 (H, F, D), D = 2 or 3 (ConfigError otherwise). In space, with i' =
/// i + 1/2: y = 1 - 2 i'/F, direction (sqrt(1-y^2) cos t, y, sqrt(1-y^2) sin t), t = 2 pi (i'/golden + h/H),
/// and magnitudes evenly from sigma/F to sigma. In the plane: radius sigma sqrt((i+1)/F) at angle i pi (3 -
/// sqrt 5) + 2 pi h/H.
Tensor spiral_frequencies(int64_t heads, int64_t pairs, int64_t dimension, double sigma);

/// Angles of positions against frequencies as every frame sees them (paper, eq. 6 and appendix D):
///   angle = p . (R_g w) = (R_g^-1 p) . w,   positions (N, D), frequencies (M, D) -> (N, G M), frames first,
/// never below float32.
Tensor frame_angles(const Tensor& positions, const Tensor& frequencies, const GroupTables& tables);

/// Rotary position encoding whose frequencies are shared by the frames. Parameter `freqs` (H, F, D), H heads
/// a frame, 2F numbers a head.
class FrameRope : public Module {
 public:
  FrameRope(const RopeOptions& options, int64_t heads, int64_t pairs, int64_t dimension);
  /// positions (N, D) -> (N, G H, F), for rotary_table.
  Tensor angles(const Tensor& positions, const GroupTables& tables) const;

 private:
  Tensor frequencies_;
};

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
