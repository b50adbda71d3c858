#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/algebra/irreps/ring_filters.h"
#include "weyl/algebra/irreps/steerable_type.h"
#include "weyl/config/fields.h"
#include "weyl/ops/steerable/options.h"

namespace weyl {

struct Interface;

}  // namespace weyl

namespace weyl::steerable {

/// Between the two convolutions of a stage: on lengths (ReLU or GELU of them), Clebsch-Gordan products, gates
/// made by the first convolution, or nothing but a norm, which must not be linear: joint, irrep, layer.
enum class Activation { relu, gelu, cg, gated, none };
constexpr auto names_of(Activation) {
  return std::array<std::string_view, 5>{"relu", "gelu", "cg", "gated", "none"};
}

/// After convolutions, and before the parts of a block.
enum class NormLaw { joint, irrep, layer, batch, none };
constexpr auto names_of(NormLaw) {
  return std::array<std::string_view, 5>{"joint", "irrep", "layer", "batch", "none"};
}

/// How a decoder joins what the encoder had at the same size.
enum class SkipLaw { add, concatenate };
constexpr auto names_of(SkipLaw) {
  return std::array<std::string_view, 2>{"add", "concatenate"};
}

/// What the last convolution gives: all irreps, or the trivial one alone.
enum class HeadIrreps { all, trivial };
constexpr auto names_of(HeadIrreps) {
  return std::array<std::string_view, 2>{"all", "trivial"};
}

/// One stage: convolution to `middle` channels, activation, convolution to `channels`, norm, average pooling;
/// with cg a norm before and after the activation too, with none one in its place. The decoder of a
/// segmentation net mirrors it.
struct Stage {
  int64_t middle = 16, channels = 32;
  int64_t kernel = 5, stride = 1, pool = 2;
  bool same = true;
  Activation activation = Activation::relu, decoder = Activation::relu;
};
void fields(Fields& f, Stage& o);

void fields(Fields& f, PositionOptions& o);

struct EncoderOptions {
  int64_t depth = 2, heads = 8, hidden = 2;
  NormLaw norm = NormLaw::layer;
  Activation activation = Activation::relu;
  ScoreScale scale = ScoreScale::head;
  PositionOptions positions;
  bool skip_empty = false;  // tokens that see background alone
};
void fields(Fields& f, EncoderOptions& o);

struct HeadOptions {
  int64_t channels = 0, kernel = 0, hidden = 128;
  HeadIrreps irreps = HeadIrreps::all;
  bool batch_norm = true, scale_and_bias = true;
  double dropout = 0;
};
void fields(Fields& f, HeadOptions& o);

/// Channels are of each order in the plane, of degree 0 in space (see `ratio`).
struct Options {
  static constexpr const char* name_in_config = "steerable";
  int64_t orders = 4, degree = 2;
  std::vector<int64_t> ratio;
  std::optional<int64_t> margin;  // cells on each side; absent: what convolutions cut (geometry.h)
  bool low_pass = false;          // before strides and pools
  std::vector<Stage> stages{{12, 24}, {24, 48}};
  int64_t rings = 0, spline = 1;
  bool cut = true;
  RingProfile profile = RingProfile::interpolated;
  OrderCoupling coupling = OrderCoupling::exact;
  bool restricted = false;
  bool all_degrees = false, centre = false;  // of filters
  NormLaw norm = NormLaw::batch;
  double bias_init = 0;
  bool attention = true;
  EncoderOptions encoder;
  SkipLaw skips = SkipLaw::add;
  HeadOptions head;
};
void fields(Fields& f, Options& o);

/// Reads values, and no option keeps it from that (models/system_options.h).
inline std::string blinding(const Options&) {
  return "";
}

/// Each irrep that the options keep with multiplicity `channels`, by their ratio. ConfigError, naming `where`, for
/// channels that the ratio does not divide.
SteerableType type_of(const Options& options, int64_t dimension, int64_t channels, const std::string& where);

/// Rings of a kernel: the option's, or half the kernel's size.
RingOptions rings_of(const Options& options, int64_t kernel);

/// ConfigError for options that no net has, naming the key.
void check(const Options& options, int64_t dimension, bool segmentation);

/// ConfigError for an option that nothing reads as the others stand (config/unused_options.h). `interface`: the model's, null
/// where it is not known yet.
void require_effects(const Options& options, const Interface* interface);

}  // namespace weyl::steerable
