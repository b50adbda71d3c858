#pragma once

#include <cstdint>
#include <optional>

#include "weyl/config/fields.h"

namespace weyl {

/// How training changes images at random: what the Platonic Transformer's image experiments use (3-Augment of Touvron et
/// al., 2022, mixup, cutmix). Nothing by default.
struct ImageAugmentation {
  int64_t pad = 0;  // pixels of zeros around the image, of which a part of its size is taken
  std::optional<double> resized_crop;  // the least share of the area that is taken and brought to full size
  bool flip = false;
  bool three = false;
  double jitter = 0, hue = 0;
  double mixup = 0, cutmix = 0;  // alpha of the Beta distribution; 0: off

  bool mixes() const { return mixup > 0 || cutmix > 0; }
  bool colours() const { return three || jitter > 0 || hue > 0; }
};
void fields(Fields& f, ImageAugmentation& o);

}  // namespace weyl
