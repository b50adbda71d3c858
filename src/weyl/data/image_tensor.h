#pragma once

#include <string>

#include "weyl/core/tensor_file.h"

namespace weyl {

/// Height and width that images are brought to; 0 and 0: as they are.
struct ImageSize {
  int64_t height = 0, width = 0;

  bool operator==(const ImageSize&) const = default;
};

/// An image file (formats/image.h) as (C, H, W): uint8, or float32 in [0, 1] when it had 16 bits or was
/// resized (bilinear, smoothed by the scale where it shrinks). Alpha is dropped; `channels` 1 makes grey of
/// rgb by the luminance 0.299 r + 0.587 g + 0.114 b, 3 repeats grey, 0 keeps what is there. DataError: a
/// broken file.
Tensor load_image(const std::string& path, int64_t channels, ImageSize size);

/// A mask file as (H, W) uint8 class numbers 0 .. classes - 1, resized to the nearest pixel. It must be grey
/// (or rgb of equal channels, of 8 bits); where there are two classes and it holds more than 0 and 1, it is 1
/// from the middle of its range on (black and white). DataError: colours, a value that is no class, a broken
/// file.
Tensor load_mask(const std::string& path, int64_t classes, ImageSize size);

}  // namespace weyl
