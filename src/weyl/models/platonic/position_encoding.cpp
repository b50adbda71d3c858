#include "weyl/models/platonic/position_encoding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sin.h>
#include <cmath>
#include <numbers>

#include "weyl/core/check.h"
#include "weyl/ops/autograd/full_precision.h"

namespace weyl::platonic {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;

void spiral_in_space(double* w, int64_t heads, int64_t pairs, double sigma) {
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t i = 0; i < pairs; ++i, w += 3) {
      const double step = static_cast<double>(i) + 0.5, f = static_cast<double>(pairs);
      const double magnitude = sigma * static_cast<double>(i + 1) / f;
      const double y = 1 - 2 * step / f, radius = std::sqrt(1 - y * y);
      const double angle = two_pi * (step / std::numbers::phi + static_cast<double>(h) / heads);
      w[0] = magnitude * radius * std::cos(angle);
      w[1] = magnitude * y;
      w[2] = magnitude * radius * std::sin(angle);
    }
  }
}

void spiral_in_plane(double* w, int64_t heads, int64_t pairs, double sigma) {
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t i = 0; i < pairs; ++i, w += 2) {
      const double radius = sigma * std::sqrt(static_cast<double>(i + 1) / pairs);
      const double angle =
          static_cast<double>(i) * std::numbers::pi * (3 - std::sqrt(5.0)) + two_pi * h / heads;
      w[0] = radius * std::cos(angle);
      w[1] = radius * std::sin(angle);
    }
  }
}

Tensor initial_frequencies(const RopeOptions& options, int64_t heads, int64_t pairs, int64_t dimension) {
  const auto in_float64 = at::TensorOptions().dtype(at::kDouble);
  if (options.init == FrequencyInit::spiral) {
    return spiral_frequencies(heads, pairs, dimension, options.sigma);
  }
  return BuildOn::device().is_meta() ? at::empty({heads, pairs, dimension}, in_float64.device(at::kMeta))
                                     : at::randn({heads, pairs, dimension}, in_float64) * options.sigma;
}

}  // namespace

Tensor spiral_frequencies(int64_t heads, int64_t pairs, int64_t dimension, double sigma) {
  require<ConfigError>(dimension == 2 || dimension == 3,
                       "model.platonic.rope.init: a spiral needs 2 or 3 dimensions, got ", dimension);
  Tensor frequencies = at::empty({heads, pairs, dimension}, at::TensorOptions().dtype(at::kDouble));
  auto* w = frequencies.mutable_data_ptr<double>();
  dimension == 3 ? spiral_in_space(w, heads, pairs, sigma) : spiral_in_plane(w, heads, pairs, sigma);
  return frequencies;
}

Tensor frame_angles(const Tensor& positions, const Tensor& frequencies, const GroupTables& tables) {
  const FullPrecision no_autocast;
  const auto dtype = at_least_float32(positions.scalar_type());
  const int64_t order = tables.group().order(), m = frequencies.size(0), dimension = frequencies.size(1);
  const Tensor elements = tables.elements(positions.device(), dtype);
  // (R_g w)[d] = sum_e R_g[d][e] w[e]: rows g, m.
  const Tensor steered = at::matmul(frequencies.to(dtype).unsqueeze(0), elements.transpose(1, 2))
                             .reshape({order * m, dimension});
  return at::matmul(positions.to(dtype), steered.t());
}

FrameRope::FrameRope(const RopeOptions& options, int64_t heads, int64_t pairs, int64_t dimension)
    : frequencies_(parameter("freqs", initial_frequencies(options, heads, pairs, dimension), /*decay=*/false,
                             options.learned)) {}

Tensor FrameRope::angles(const Tensor& positions, const GroupTables& tables) const {
  const int64_t heads = frequencies_.size(0), pairs = frequencies_.size(1), order = tables.group().order();
  return frame_angles(positions, frequencies_.view({heads * pairs, frequencies_.size(2)}), tables)
      .view({positions.size(0), order * heads, pairs});
}

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
