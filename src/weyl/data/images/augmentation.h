#pragma once

#include <ATen/core/Tensor.h>

#include "weyl/carriers/dataset.h"
#include "weyl/data/images/augmentation_options.h"

namespace weyl {

/// Which image of a batch may be mixed into which, and how: image b becomes
///   mixup   share x_b + (1 - share) x_partner,
///   cutmix  x_b with a rectangle of x_partner, share the part of x_b that is left.
struct Mixing {
  Tensor images;  // (B, C, H, W), mixed
  Tensor shares;  // (B) float64, what is left of each image's own class
};

/// Images (B, C, H, W) float32 in [0, 1] as training sees them in that epoch, all but the mixing, each by draws of its
/// own: `samples` are their indices. In this order: a random part, the mirror image, one of grey, solarised and blurred,
/// colours. ShapeError: options of colour for other than three channels.
Tensor augmented_images(const Tensor& images, std::span<const int64_t> samples, const ImageAugmentation& how,
                        const Draw& draw);

/// Each mixed with its partner (Zhang et al., 2018; Yun et al., 2019): by mixup or cutmix, either as likely where both are
/// on, share from a Beta distribution (alpha, alpha). Both augmented before.
Mixing mixed_images(const Tensor& images, const Tensor& partners, std::span<const int64_t> samples,
                    const ImageAugmentation& how, const Draw& draw);

}  // namespace weyl
