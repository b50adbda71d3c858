#pragma once

#include <ATen/core/Tensor.h>

#include "weyl/carriers/dataset.h"
#include "weyl/data/images/augmentation_options.h"

namespace weyl {

/// Images of which each was mixed with another, its partner.
struct Mixing {
  Tensor images;  // (B, C, H, W), mixed
  Tensor shares;  // (B) float64, what is left of each image's own class
};

/// Images (B, C, H, W) float32 in [0, 1] as training sees them in that epoch, all but the mixing, each by draws of its
/// own: `samples` are their indices. In this order: a random part, the mirror image, one of grey, solarised and blurred,
/// colours. ShapeError: options of colour for other than three channels.
Tensor augmented_images(const Tensor& images, std::span<const int64_t> samples, const ImageAugmentation& how,
                        const Draw& draw);

/// Each image x_b mixed with its partner p_b (both augmented before), by mixup or cutmix, either as likely where both are
/// on; share s from a Beta distribution (alpha, alpha):
///   mixup (Zhang et al., 2018)   s x_b + (1 - s) p_b
///   cutmix (Yun et al., 2019)    x_b with a rectangle of p_b, sides sqrt(1 - s) of the image's, cut off at its edges;
///                                its share is then what is left of x_b
/// ShapeError: partners of another shape.
Mixing mixed_images(const Tensor& images, const Tensor& partners, std::span<const int64_t> samples,
                    const ImageAugmentation& how, const Draw& draw);

}  // namespace weyl
