#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"

namespace weyl {

/// Random changes of grids in training, images and volumes: which there are, how strong, and how often. What they do is in
/// carriers/augmented_grid.h. The default changes nothing.

/// About which axes a grid turns: any axis of space, or one of its own. In the plane there is one turn alone.
enum class TurnAxis { any, x, y, z };
constexpr auto names_of(TurnAxis) {
  return std::array<std::string_view, 4>{"any", "x", "y", "z"};
}

struct GridRotation {
  double degrees = 30;  // the largest angle, either way
  TurnAxis axis = TurnAxis::any;
  double probability = 0.2;
};
void fields(Fields& f, GridRotation& o);

struct GridElastic {
  double deviation =
      1;  // of the displacements of control points along each axis, in cells of the finest axis
  double distance = 16;  // of the control points, in the same cells
  double probability = 0.1;
};
void fields(Fields& f, GridElastic& o);

struct GridMirror {
  std::vector<int64_t> axes;  // by number, from 0; none: all
  double probability = 0.5;   // of each axis by itself
};
void fields(Fields& f, GridMirror& o);

/// A factor, drawn uniformly.
struct RandomFactor {
  double low, high, probability;
};
void fields(Fields& f, RandomFactor& o);
struct GridScale : RandomFactor {
  GridScale() : RandomFactor{0.7, 1.4, 0.2} {}
};
struct GridGamma : RandomFactor {
  GridGamma() : RandomFactor{0.7, 1.5, 0.3} {}
};
struct GridBrightness : RandomFactor {
  GridBrightness() : RandomFactor{0.75, 1.25, 0.15} {}
};
struct GridContrast : RandomFactor {
  GridContrast() : RandomFactor{0.75, 1.25, 0.15} {}
};
struct GridBlur : RandomFactor {
  GridBlur() : RandomFactor{0.5, 1, 0.2} {}
};
struct GridLowResolution : RandomFactor {
  GridLowResolution() : RandomFactor{0.5, 1, 0.25} {}
};

struct GridNoise {
  double deviation = 0.3;  // the largest, in standard deviations of the channel
  double probability = 0.1;
};
void fields(Fields& f, GridNoise& o);

struct GridAugmentation {
  std::optional<GridRotation> rotation;
  std::optional<GridScale> scale;
  std::optional<GridElastic> elastic;
  std::optional<GridMirror> mirror;
  std::optional<GridNoise> noise;
  std::optional<GridBlur> blur;
  std::optional<GridBrightness> brightness;
  std::optional<GridContrast> contrast;
  std::optional<GridLowResolution> low_resolution;
  std::optional<GridGamma> gamma;

  bool moves() const { return rotation || scale || elastic || mirror; }  // cells, and with them labels
  bool recolours() const { return noise || blur || brightness || contrast || low_resolution || gamma; }
  bool any() const { return moves() || recolours(); }
};
void fields(Fields& f, GridAugmentation& o);

/// ConfigError: a lower bound above the upper one. `where` is the table, "train.grids".
void check(const GridAugmentation& options, std::string_view where);

}  // namespace weyl
