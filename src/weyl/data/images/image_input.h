#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "weyl/config/fields.h"

namespace weyl {

/// Random changes of the images in training, those of the Platonic Transformer's image experiments (3-Augment of
/// Touvron et al., 2022, mixup, cutmix). The default changes nothing.
struct ImageAugmentation {
  int64_t pad = 0;  // pixels of zeros put around the image before a part of its own size is cut out
  std::optional<double> resized_crop;  // the least share of the area that is cut out and scaled to full size
  bool flip = false;
  bool three = false;
  double jitter = 0, hue = 0;
  double mixup = 0, cutmix = 0;  // alpha of the Beta distribution; 0: off

  bool mixes() const { return mixup > 0 || cutmix > 0; }
  bool colours() const { return three || jitter > 0 || hue > 0; }
};
void fields(Fields& f, ImageAugmentation& o);

/// What an image is to a model: a grid of pixels, or a point for each patch.
enum class ImageCarrier { grid, points };
constexpr auto names_of(ImageCarrier) {
  return std::array<std::string_view, 2>{"grid", "points"};
}

/// The features of a patch: all its pixels, in the order channel, row, column; or the mean of each channel, which is
/// invariant, to rounding, when the image turns.
enum class PatchFeature { pixels, mean };
constexpr auto names_of(PatchFeature) {
  return std::array<std::string_view, 2>{"pixels", "mean"};
}

/// How the images of a set are given, the same for all sets of images.
struct ImageInput {
  ImageCarrier carrier = ImageCarrier::grid;
  int64_t patch = 4;  // side in pixels; with carrier points
  PatchFeature patch_feature = PatchFeature::pixels;
  std::optional<double> threshold;  // patches whose brightest pixel is not above it are left out
  bool normalise = false;           // (x - mean) / deviation by the constants of the set
  bool frame = false;               // two vectors a patch, the axes of the image; with carrier points
  std::optional<ImageAugmentation> augment;  // of training images with classes
};
void fields(Fields& f, ImageInput& o);

}  // namespace weyl
