#include "weyl/data/images/image_tensor.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "weyl/core/check.h"
#include "weyl/data/images/image.h"

namespace weyl {
namespace {

constexpr double k16 = 65535;

/// (C, H, W) without alpha: uint8, or float32 in [0, 1] of 16 bits.
Tensor without_alpha(const std::string& path) {
  const Array image = read_image(path);
  const bool deep = image.type == ElementType::u16;
  const int64_t h = image.shape[0], w = image.shape[1], c = image.shape[2];
  Tensor x = copy_tensor(deep ? ElementType::i16 : image.type, image.shape, image.bytes, path);
  if (deep) {  // LibTorch has few operators on uint16
    x = x.to(at::kInt).bitwise_and(0xffff).to(at::kFloat) / k16;
  }
  x = x.view({h, w, c}).permute({2, 0, 1});
  return x.slice(0, 0, c % 2 == 0 ? c - 1 : c).contiguous();
}

bool as_it_is(const Tensor& x, ImageSize size) {
  return size == ImageSize{} || (x.size(-2) == size.height && x.size(-1) == size.width);
}

/// The class with the largest share of each pixel of the new size, the least of those with one share.
Tensor resized_mask(const Tensor& x, int64_t classes, ImageSize size) {
  Tensor best = at::zeros({size.height, size.width}, at::kByte),
         most = at::full({size.height, size.width}, -1, at::kFloat);
  for (int64_t k = 0; k < classes; ++k) {
    const Tensor on = x.eq(k).to(at::kFloat).unsqueeze(0).unsqueeze(0);
    const Tensor share = at::_upsample_bilinear2d_aa(on, {size.height, size.width}, false)[0][0];
    best = best.masked_fill(share > most + 1e-6, k);
    most = share.maximum(most);
  }
  return best;
}

}  // namespace

ImageSize image_size(int64_t height, int64_t width, const char* where) {
  require<ConfigError>((height == 0) == (width == 0), where,
                       ": height and width must be both given or both 0, got ", height, " and ", width);
  return {height, width};
}

Tensor load_image(const std::string& path, int64_t channels, ImageSize size, bool* grey) {
  Tensor x = without_alpha(path);
  if (grey != nullptr) {
    *grey = x.size(0) == 1;
  }
  const bool bytes = x.scalar_type() == at::kByte;
  if (channels == 3 && x.size(0) == 1) {
    x = x.repeat({3, 1, 1});
  } else if (channels == 1 && x.size(0) == 3) {
    const Tensor luminance = at::tensor({0.299, 0.587, 0.114}, at::kFloat).view({3, 1, 1});
    x = (x.to(at::kFloat) * luminance).sum(0, true);
    x = bytes ? x.round().clamp(0, 255).to(at::kByte) : x;
  }
  if (as_it_is(x, size)) {
    return x;
  }
  x = bytes ? x.to(at::kFloat) / 255 : x;
  return at::_upsample_bilinear2d_aa(x.unsqueeze(0), {size.height, size.width}, false).squeeze(0).clamp(0, 1);
}

Tensor load_mask(const std::string& path, int64_t classes, ImageSize size, const MaskThreshold& threshold) {
  Tensor x = without_alpha(path);
  require<DataError>(x.scalar_type() == at::kByte, path, ": a mask must have 8 bits, got 16");
  require<DataError>(x.size(0) == 1 || (x[0].equal(x[1]) && x[0].equal(x[2])), path,
                     ": a mask must be grey, its values are the numbers of the classes; got colours");
  x = x[0];
  const auto most = x.max().item<int64_t>();
  if (classes == 2 && threshold.above) {
    require<DataError>(most != 1, path, ": holds 0 and 1, which are classes; ", threshold.option,
                       " is for masks of greys up to 255");
    x = x.to(at::kFloat).gt(*threshold.above * 255).to(at::kByte);
  } else if (classes == 2 && most > 1) {
    const auto between = x.gt(0).logical_and(x.lt(most)).sum().item<int64_t>();
    require<DataError>(between == 0, path, ": a mask of two classes must hold 0 and one other number, got ",
                       most, " and ", between, " pixels between; where its border is, ", threshold.option,
                       " says (0.5: half of white)");
    x = x.gt(0).to(at::kByte);
  } else {
    require<DataError>(most < classes, path, ": a mask must hold classes 0 .. ", classes - 1, ", got ", most);
  }
  return as_it_is(x, size) ? x.contiguous() : resized_mask(x, classes, size);
}

}  // namespace weyl
