#include "weyl/data/images/augmentation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

Tensor grey_of(const Tensor& image) {  // (3, H, W) -> (1, H, W), luminance
  return 0.299 * image.slice(0, 0, 1) + 0.587 * image.slice(0, 1, 2) + 0.114 * image.slice(0, 2, 3);
}

double between(Stream& stream, double low, double high) {
  return low + (high - low) * stream.uniform();
}

Tensor part_of_padded(const Tensor& image, int64_t pad, Stream& stream) {
  const int64_t top = stream.below(2 * pad + 1), left = stream.below(2 * pad + 1);
  return at::constant_pad_nd(image, {pad, pad, pad, pad})
      .slice(1, top, top + image.size(1))
      .slice(2, left, left + image.size(2));
}

/// A rectangle of a share of the area in [least, 1] and sides in a ratio of 3/4 to 4/3, both drawn up to ten times until
/// it fits; else the largest square in the middle.
Tensor resized_part(const Tensor& image, double least, Stream& stream) {
  const int64_t H = image.size(1), W = image.size(2);
  int64_t h = std::min(H, W), w = h, top = (H - h) / 2, left = (W - w) / 2;
  for (int tries = 0; tries < 10; ++tries) {
    const double area = between(stream, least, 1) * static_cast<double>(H * W);
    const double ratio = std::exp(between(stream, std::log(3.0 / 4), std::log(4.0 / 3)));
    const int64_t wide = std::llround(std::sqrt(area * ratio)), high = std::llround(std::sqrt(area / ratio));
    if (wide >= 1 && high >= 1 && wide <= W && high <= H) {
      h = high;
      w = wide;
      top = stream.below(H - h + 1);
      left = stream.below(W - w + 1);
      break;
    }
  }
  const Tensor part = image.slice(1, top, top + h).slice(2, left, left + w).unsqueeze(0);
  return at::upsample_bilinear2d(part, {H, W}, /*align_corners=*/false).squeeze(0);
}

Tensor blurred(const Tensor& image, double sigma) {  // 3 x 3 Gaussian, edges repeated in mirror image
  const double side = std::exp(-0.5 / (sigma * sigma)), sum = 1 + 2 * side;
  const Tensor line = at::tensor({side / sum, 1 / sum, side / sum}, at::kFloat);
  const Tensor kernel = (line.unsqueeze(1) * line.unsqueeze(0)).view({1, 1, 3, 3});
  const auto around = [](const Tensor& x, int64_t axis) {
    const int64_t n = x.size(axis), second = n > 1 ? 1 : 0;
    return at::cat({x.narrow(axis, second, 1), x, x.narrow(axis, n - 1 - second, 1)}, axis);
  };
  return at::conv2d(around(around(image.unsqueeze(1), 2), 3), kernel).squeeze(1);
}

Tensor one_of_three(const Tensor& image, Stream& stream) {
  switch (stream.below(3)) {
    case 0:
      return grey_of(image).expand(image.sizes());
    case 1:
      return at::where(image >= 128.0 / 255, 1 - image, image);
    default:
      return blurred(image, between(stream, 0.1, 2));
  }
}

/// Colours turned by `turns` of a full turn of hue, at the same value and chroma.
Tensor turned_hue(const Tensor& image, double turns) {
  const Tensor most = image.amax(0), least = image.amin(0), chroma = most - least;
  const Tensor r = image[0], g = image[1], b = image[2];
  const Tensor over = at::where(chroma > 0, chroma, at::ones_like(chroma));
  const Tensor sixth =
      at::where(most == r, (g - b) / over, at::where(most == g, (b - r) / over + 2, (r - g) / over + 4));
  const Tensor hue = sixth + 6 * turns;
  // A channel that is k sixths behind: most - chroma max(0, min(s, 4 - s, 1)), s = (k + hue) mod 6.
  const auto channel = [&](double k) {
    const Tensor s = at::remainder(hue + k, 6.0);
    return most - chroma * at::minimum(s, 4 - s).clamp(0, 1);
  };
  return at::stack({channel(5), channel(3), channel(1)});
}

/// Brightness, contrast, saturation and hue, in an order of their own for each image.
Tensor jittered(Tensor image, double jitter, double hue, Stream& stream) {
  for (const int64_t which : stream.permutation(4)) {
    const double factor = between(stream, std::max(0.0, 1 - jitter), 1 + jitter),
                 turns = between(stream, -hue, hue);
    switch (which) {
      case 0:
        image = (image * factor).clamp(0, 1);
        break;
      case 1:
        image = at::lerp(grey_of(image).mean().expand(image.sizes()), image, factor).clamp(0, 1);
        break;
      case 2:
        image = at::lerp(grey_of(image).expand(image.sizes()), image, factor).clamp(0, 1);
        break;
      default:
        image = hue > 0 ? turned_hue(image, turns) : image;
    }
  }
  return image;
}

/// Beta (alpha, alpha), by two Gamma variables (Marsaglia and Tsang, 2000), a / (a + b). Of each there is the logarithm:
/// for alpha below 1 Gamma (alpha) is Gamma (alpha + 1) u^(1 / alpha), which no double holds where alpha is small.
double beta(double alpha, Stream& stream) {
  struct Logarithm {
    double of_u, rest;  // of_u / alpha + rest
  };
  const auto gamma = [&]() -> Logarithm {
    const double of_u = alpha < 1 ? std::log(1 - stream.uniform()) : 0;
    const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = stream.normal(), v = std::pow(1 + c * x, 3);
      if (v > 0 && std::log(1 - stream.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
        return {of_u, std::log(d * v)};
      }
    }
  };
  const Logarithm a = gamma(), b = gamma();
  return 1 / (1 + std::exp((b.of_u - a.of_u) / alpha + (b.rest - a.rest)));
}

Stream stream_of(const Draw& draw, const char* name, int64_t sample) {
  return {draw.seed, name, {static_cast<uint64_t>(draw.epoch), static_cast<uint64_t>(sample)}};
}

}  // namespace

Tensor augmented_images(const Tensor& images, std::span<const int64_t> samples, const ImageAugmentation& how,
                        const Draw& draw) {
  require(images.dim() == 4 && images.size(0) == static_cast<int64_t>(samples.size()),
          "augmented_images: images must be (", samples.size(), ", C, H, W), got ", images.sizes());
  require(!how.colours() || images.size(1) == 3, "augmented_images: colours need three channels, got ",
          images.size(1));
  const Tensor result = at::empty_like(images);
  for (size_t b = 0; b < samples.size(); ++b) {
    Stream stream = stream_of(draw, "image", samples[b]);
    Tensor image = images[static_cast<int64_t>(b)];
    if (how.pad > 0) {
      image = part_of_padded(image, how.pad, stream);
    }
    if (how.resized_crop) {
      image = resized_part(image, *how.resized_crop, stream);
    }
    if (how.flip && stream.below(2) == 1) {
      image = at::flip(image, {2});
    }
    if (how.three) {
      image = one_of_three(image, stream);
    }
    if (how.jitter > 0 || how.hue > 0) {
      image = jittered(image, how.jitter, how.hue, stream);
    }
    result[static_cast<int64_t>(b)].copy_(image);
  }
  return result;
}

Mixing mixed_images(const Tensor& images, const Tensor& partners, std::span<const int64_t> samples,
                    const ImageAugmentation& how, const Draw& draw) {
  require(images.sizes() == partners.sizes(), "mixed_images: images and partners must be of one shape, got ",
          images.sizes(), " and ", partners.sizes());
  const int64_t H = images.size(2), W = images.size(3);
  Mixing mixing{images.clone(), at::empty({images.size(0)}, at::kDouble)};
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto b = static_cast<int64_t>(i);
    Stream stream = stream_of(draw, "mix", samples[i]);
    const bool cut = how.cutmix > 0 && (how.mixup <= 0 || stream.below(2) == 1);
    double share = beta(cut ? how.cutmix : how.mixup, stream);
    if (!cut) {
      mixing.images[b].copy_(at::lerp(partners[b], images[b], share));
    } else {
      const double side = std::sqrt(1 - share);
      const auto half = [&](int64_t n) { return static_cast<int64_t>(side * static_cast<double>(n)) / 2; };
      const int64_t y = stream.below(H), x = stream.below(W);
      const int64_t top = std::max<int64_t>(y - half(H), 0), bottom = std::min(y + half(H), H),
                    left = std::max<int64_t>(x - half(W), 0), right = std::min(x + half(W), W);
      const auto within = [&](const Tensor& image) {
        return image[b].slice(1, top, bottom).slice(2, left, right);
      };
      within(mixing.images).copy_(within(partners));
      share = 1 - static_cast<double>((bottom - top) * (right - left)) / static_cast<double>(H * W);
    }
    mixing.shares.mutable_data_ptr<double>()[b] = share;
  }
  return mixing;
}

}  // namespace weyl
