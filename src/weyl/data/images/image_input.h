#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "weyl/config/fields.h"
#include "weyl/data/images/augmentation_options.h"

namespace weyl {

/// What an image is to a model: a grid of pixels, or a point for each patch.
enum class ImageCarrier { grid, points };
constexpr auto names_of(ImageCarrier) {
  return std::array<std::string_view, 2>{"grid", "points"};
}

/// What a patch says of itself: all its pixels, in the order channel, row, column, or the mean of each
/// channel, which turns with the image to rounding.
enum class PatchFeature { pixels, mean };
constexpr auto names_of(PatchFeature) {
  return std::array<std::string_view, 2>{"pixels", "mean"};
}

/// How the images of a set are given, the same for all sets of images.
struct ImageInput {
  ImageCarrier carrier = ImageCarrier::grid;
  int64_t patch = 4;  // pixels; of points
  PatchFeature patch_feature = PatchFeature::pixels;
  std::optional<double> threshold;           // patches whose brightest pixel is not above it are left out
  bool normalise = false;                    // (x - mean) / deviation by the constants of the set
  bool frame = false;                        // two vectors a patch, the axes of the image; of points
  std::optional<ImageAugmentation> augment;  // of training images with classes
};
void fields(Fields& f, ImageInput& o);

}  // namespace weyl
