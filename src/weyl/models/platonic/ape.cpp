#include "weyl/models/platonic/ape.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sin.h>

#include "weyl/core/check.h"
#include "weyl/models/platonic/rope.h"

namespace weyl::platonic {

FrameApe::FrameApe(const ApeOptions& options, int64_t channels, int64_t dimension) {
  require<ConfigError>(channels % 2 == 0, "model.platonic.ape: the channels of a frame must be even, got ",
                       channels);
  const std::vector<int64_t> shape{dimension, channels / 2};
  const auto in_float64 = at::TensorOptions().dtype(at::kDouble);
  const Tensor init = BuildOn::device().is_meta() ? at::empty(shape, in_float64.device(at::kMeta))
                                                  : at::randn(shape, in_float64) * options.sigma;
  frequencies_ = parameter("freqs", init, /*decay=*/false, options.learned);
}

Tensor FrameApe::operator()(const Tensor& positions, const GroupTables& tables) const {
  const int64_t n = positions.size(0), order = tables.group().order(), half = frequencies_.size(1);
  const Tensor angles = frame_angles(positions, frequencies_.t(), tables).view({n, order, half});
  return at::cat({at::cos(angles), at::sin(angles)}, 2).view({n, order * 2 * half});
}

}  // namespace weyl::platonic
