#include "weyl/models/grids/options.h"

#include <algorithm>
#include <string>

#include "weyl/config/unused_options.h"
#include "weyl/core/check.h"

namespace weyl::grids {
namespace {

constexpr int64_t most_channels_of_images = 512, most_channels_of_volumes = 320;

constexpr const char* base_help =
    "channels of the first stage; each stage has twice those of the one before, up to 512 on images and 320 "
    "on volumes";

void also_called(Fields& f) {
  f.also_called("base", {"width", "channels", "base_channels", "features", "n_filters", "base_num_features"});
}

void check_stages(const char* system, const std::vector<Stage>& stages, int64_t dimension) {
  require<ConfigError>(!stages.empty(), "model.", system, ".stages: must have a stage, got none");
  for (size_t s = 0; s < stages.size(); ++s) {
    const std::string where = text("model.", system, ".stages[", s, "]");
    const auto require_axes = [&](const char* key, const std::vector<int64_t>& list) {
      const auto n = static_cast<int64_t>(list.size());
      require<ConfigError>(n == 1 || n == dimension, where, key, ": must be one number, or ", dimension,
                           ", one an axis, got ", n);
    };
    require_axes(".kernel", stages[s].kernel);
    require_axes(".stride", stages[s].stride);
    for (const int64_t k : stages[s].kernel) {
      require<ConfigError>(k % 2 == 1, where, ".kernel: must be odd, got ", k);
    }
  }
}

}  // namespace

void fields(Fields& f, Stage& o) {
  f.also_called("blocks", {"depth", "n_blocks", "num_blocks", "layers"});
  f("blocks", o.blocks, "blocks of two convolutions", {1, 1000});
  f("kernel", o.kernel, "cells of a kernel, odd: one number for all axes, or one an axis ([1, 3, 3])",
    {1, 31});
  f("stride", o.stride,
    "of the first convolution, by which this stage is coarser than the one before: one number, or one an axis",
    {1, 64});
}

void fields(Fields& f, CnnOptions& o) {
  also_called(f);
  f("base", o.base, base_help, {1, 320});
  f("stages", o.stages, "from the input on: residual blocks at one resolution each");
  f("norm", o.norm,
    "after convolutions: each channel over the cells of a sample (instance), or of the batch, in evaluation by "
    "running statistics (batch)");
}

void fields(Fields& f, UnetOptions& o) {
  also_called(f);
  f("base", o.base, base_help, {1, 320});
  f("stages", o.stages,
    "of the encoder, from the input on; the first has the resolution of the input (stride = [1]), and the "
    "decoder goes back through them");
  f("residual", o.residual, "the encoder's blocks are residual ones");
  f("deep_supervision", o.deep_supervision,
    "the loss also sees outputs at the lower resolutions of the decoder, but for the lowest: weights 1, 1/2, "
    "1/4, ..., over their sum");
}

int64_t channels_of(int64_t base, size_t stage, int64_t dimension) {
  const int64_t most = dimension == 2 ? most_channels_of_images : most_channels_of_volumes;
  int64_t channels = base;
  for (size_t s = 0; s < stage && channels < most; ++s) {
    channels *= 2;
  }
  return std::min(channels, most);
}

std::vector<int64_t> along_axes(const std::vector<int64_t>& list, int64_t dimension) {
  return list.size() == 1 ? std::vector<int64_t>(static_cast<size_t>(dimension), list.front()) : list;
}

void check(const CnnOptions& options, int64_t dimension) {
  check_stages(CnnOptions::name_in_config, options.stages, dimension);
}

void check(const UnetOptions& options, int64_t dimension) {
  check_stages(UnetOptions::name_in_config, options.stages, dimension);
  require<ConfigError>(options.stages.size() > 1, "model.unet.stages: must be two at least, got one");
  for (const int64_t stride : options.stages.front().stride) {
    require<ConfigError>(
        stride == 1, "model.unet.stages[0].stride: must be [1], the resolution of the outputs, got ", stride);
  }
}

void require_effects(const UnetOptions& options, const Interface*) {
  const Conditional conditional[] = {
      {"deep_supervision", options.stages.size() > 3,
       "with fewer than four stages: the decoder's lowest resolution is left out"}};
  refuse_unused("model.unet", options, UnetOptions{}, conditional);
}

}  // namespace weyl::grids
