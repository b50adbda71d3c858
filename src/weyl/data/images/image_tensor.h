#pragma once

#include <optional>
#include <string>

#include "weyl/core/tensor_file.h"

namespace weyl {

/// Height and width that images are brought to; 0 and 0: as they are.
struct ImageSize {
  int64_t height = 0, width = 0;

  bool operator==(const ImageSize&) const = default;
};

/// Both or neither: ConfigError naming `where`, the table of the options.
ImageSize image_size(int64_t height, int64_t width, const char* where);

/// An image file (images/image.h) as (C, H, W): uint8, or float32 in [0, 1] when it had 16 bits or was
/// resized (bilinear, smoothed by the scale where it shrinks). Alpha is dropped; `channels` 1 makes grey of
/// rgb by the luminance 0.299 r + 0.587 g + 0.114 b, 3 repeats grey, 0 keeps what is there; `grey`, where given, says
/// whether the file was. DataError: a broken file.
Tensor load_image(const std::string& path, int64_t channels, ImageSize size, bool* grey = nullptr);

/// What makes two classes of a mask of greys.
struct MaskThreshold {
  std::optional<double> above;         // in [0, 1), of white
  const char* option = "a threshold";  // its name in messages
};

/// A mask file as (H, W) uint8 class numbers 0 .. classes - 1; where it is resized, each pixel is of the
/// class that covers most of it. It must be grey (or rgb of equal channels, of 8 bits). Of two classes it may
/// hold another number than 1 for the second, as black and white do: 0 and one number at most. Masks of more
/// values (edges smoothed, or saved as JPEG) need a threshold: all values are greys then, and those above
/// threshold * 255 are the second class. DataError: colours, a value that is no class, more than two values
/// without a threshold, a threshold where the largest value is 1 (0 and 1 are classes, not greys), a broken
/// file.
Tensor load_mask(const std::string& path, int64_t classes, ImageSize size,
                 const MaskThreshold& threshold = {});

}  // namespace weyl
