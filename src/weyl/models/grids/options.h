#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"

namespace weyl {

struct Interface;

}  // namespace weyl

namespace weyl::grids {

/// Norms after convolutions: each channel over the cells of a sample, or over those of the whole batch.
enum class NormLaw { instance, batch };
constexpr auto names_of(NormLaw) {
  return std::array<std::string_view, 2>{"instance", "batch"};
}

/// One resolution of a net. `kernel` and `stride` have one number for all axes, or one for each.
struct Stage {
  int64_t blocks = 1;
  std::vector<int64_t> kernel{3}, stride{2};
};
void fields(Fields& f, Stage& o);

/// A residual net that gives numbers of whole grids (cnn.h).
struct CnnOptions {
  static constexpr const char* name_in_config = "cnn";
  int64_t base = 16;
  std::vector<Stage> stages{{1, {3}, {1}}, {}, {}};
  NormLaw norm = NormLaw::batch;
};
void fields(Fields& f, CnnOptions& o);

/// A U-Net, which gives numbers of cells (unet.h).
struct UnetOptions {
  static constexpr const char* name_in_config = "unet";
  int64_t base = 32;
  std::vector<Stage> stages{{1, {3}, {1}}, {}, {}, {}};
  bool residual = false, deep_supervision = false;
};
void fields(Fields& f, UnetOptions& o);

/// Both read values, and no option keeps them from that (models/system_options.h).
inline std::string blinding(const CnnOptions&) {
  return "";
}
inline std::string blinding(const UnetOptions&) {
  return "";
}

/// Channels of a stage: `base`, doubled from stage to stage up to 512 on images and 320 on volumes, as nnU-Net has them
/// (Isensee et al. 2021).
int64_t channels_of(int64_t base, size_t stage, int64_t dimension);

/// The numbers of all axes, of a list that has one number or `dimension` of them.
std::vector<int64_t> along_axes(const std::vector<int64_t>& list, int64_t dimension);

/// ConfigError for options that no net of this dimension has, naming the key.
void check(const CnnOptions& options, int64_t dimension);
void check(const UnetOptions& options, int64_t dimension);

/// ConfigError for an option that nothing reads as the others stand (config/unused_options.h).
void require_effects(const UnetOptions& options, const Interface* interface);

}  // namespace weyl::grids
