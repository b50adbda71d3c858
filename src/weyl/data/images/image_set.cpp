#include "weyl/data/images/image_set.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "weyl/carriers/consistency.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
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

namespace {

constexpr int64_t kChunk = 1024;  // samples at a time

/// Pixels as float32 in [0, 1].
Tensor unit(const Tensor& values) {
  return values.scalar_type() == at::kByte ? values.to(at::kFloat) / 255 : values;
}

void require_labels(const Tensor& labels, int64_t classes, const std::string& where, const char* name) {
  if (!labels.defined() || labels.numel() == 0) {
    return;
  }
  const auto low = labels.min().item<int64_t>(), high = labels.max().item<int64_t>();
  require<DataError>(low >= 0 && high < classes, where, ": ", name, " must be 0 .. ", classes - 1, ", got ",
                     low < 0 ? low : high);
}

}  // namespace

ImageSamples ImageSamples::slice(int64_t begin, int64_t end) const {
  const auto part = [&](const Tensor& t) { return t.defined() ? t.slice(0, begin, end) : t; };
  ImageSamples result{part(values), part(classes), part(masks), {}, grey};
  if (!files.empty()) {
    result.files.assign(files.begin() + begin, files.begin() + end);
  }
  return result;
}

Schema image_schema(const ImageKind& kind, const ImageInput& input, int64_t pixels) {
  const int64_t c = kind.channels();
  Schema schema;
  schema.interface.dimension = 2;
  Quantity feature{.name = c == 1 ? "intensity" : c == 3 ? "rgb" : "channels", .channels = c};
  if (input.carrier == ImageCarrier::points) {
    feature.channels *= input.patch_feature == PatchFeature::pixels ? input.patch * input.patch : 1;
  } else {
    schema.interface.grid = true;
    schema.channel_names = c == 1   ? std::vector<std::string>{"grey"}
                           : c == 3 ? std::vector<std::string>{"red", "green", "blue"}
                                    : std::vector<std::string>{};
  }
  schema.interface.features = {feature};
  if (input.carrier == ImageCarrier::points && input.frame) {
    schema.interface.features.push_back({.name = "frame", .kind = Kind::vector, .channels = 2});
  }
  if (pixels > 0) {
    const int64_t patch = input.carrier == ImageCarrier::points ? input.patch * input.patch : 1;
    schema.interface.typical_nodes = static_cast<double>(pixels) / static_cast<double>(patch);
  }
  if (kind.classes > 0) {
    schema.labels.push_back(
        {.name = "class", .level = Level::graph, .kind = Kind::category, .categories = kind.classes});
    if (!kind.class_names.empty()) {
      schema.category_names["class"] = kind.class_names;
    }
  }
  if (kind.mask_classes > 0) {
    schema.labels.push_back({.name = "mask", .kind = Kind::category, .categories = kind.mask_classes});
  }
  return schema;
}

ImageSet::ImageSet(ImageSamples samples, ImageKind kind, ImageInput input, const std::string& where)
    : samples_(std::move(samples)), kind_(std::move(kind)), input_(input) {
  const Tensor& x = samples_.values;
  require(x.defined() && x.dim() == 4, "images: must be (n, C, H, W)");
  require<DataError>(x.size(1) == kind_.channels(), where, ": images must have ", kind_.channels(),
                     " channels, got ", x.size(1));
  if (!samples_.classes.defined()) {
    kind_.classes = 0;
  }
  if (!samples_.masks.defined()) {
    kind_.mask_classes = 0;
  }
  require_labels(samples_.classes, kind_.classes, where, "class");
  require_labels(samples_.masks, kind_.mask_classes, where, "mask");
  const int64_t pad = input_.augment ? input_.augment->pad : 0;
  require<DataError>(pad <= std::min(x.size(2), x.size(3)), where,
                     ": augment.pad must be at most the shorter side of the ", x.size(2), " x ", x.size(3),
                     " pixels, got ", pad);
  schema_ = image_schema(kind_, input_);
  if (samples_.grey && !schema_.channel_names.empty()) {
    schema_.channel_names = {"grey"};
  }
  if (input_.normalise) {
    mean_ = at::tensor(kind_.mean, at::kFloat);
    deviation_ = at::tensor(kind_.deviation, at::kFloat);
  }
  double mean_tokens = static_cast<double>(x.size(2) * x.size(3));
  if (input_.carrier == ImageCarrier::points) {
    const int64_t p = input_.patch;
    require<DataError>(x.size(2) % p == 0 && x.size(3) % p == 0, where, ": patch must divide the images of ",
                       x.size(2), " x ", x.size(3), " pixels, got ", p);
    const int64_t h = x.size(2) / p, w = x.size(3) / p;
    const auto scale = static_cast<double>(std::max<int64_t>({h - 1, w - 1, 1}));
    const Tensor rows = (at::arange(h, at::kDouble) - 0.5 * static_cast<double>(h - 1)) / scale;
    const Tensor columns = (at::arange(w, at::kDouble) - 0.5 * static_cast<double>(w - 1)) / scale;
    positions_ = at::stack({columns.unsqueeze(0).expand({h, w}), rows.unsqueeze(1).expand({h, w})}, 2)
                     .reshape({h * w, 2})
                     .to(at::kFloat);
    mean_tokens = static_cast<double>(h * w);
    if (input_.threshold) {
      for (int64_t begin = 0; begin < size(); begin += kChunk) {
        const Tensor count =
            kept(patches(unit(x.slice(0, begin, std::min(size(), begin + kChunk))))).sum(1).contiguous();
        const auto* n = count.const_data_ptr<int64_t>();
        tokens_.insert(tokens_.end(), n, n + count.size(0));
      }
      mean_tokens = size() == 0
                        ? 1
                        : static_cast<double>(std::accumulate(tokens_.begin(), tokens_.end(), int64_t{0})) /
                              static_cast<double>(size());
    }
  }
  schema_.interface.typical_nodes = mean_tokens;
  if (size() > 0) {
    const int64_t first = 0;
    require_consistent(batch({&first, 1}), schema_);
  }
}

std::shared_ptr<const ImageSet> ImageSet::joined(const ImageSet& first, const ImageSet& second) {
  const ImageSamples &a = first.samples_, &b = second.samples_;
  require<DataError>(a.values.sizes().slice(1) == b.values.sizes().slice(1),
                     "images of training and validation must have one size to be cut into folds, got ",
                     shape_text(a.values.sizes().slice(1)), " and ", shape_text(b.values.sizes().slice(1)));
  const auto both = [](const Tensor& x, const Tensor& y) {
    return x.defined() && y.defined() ? at::cat({x, y}) : Tensor();
  };
  const bool bytes = a.values.scalar_type() == at::kByte && b.values.scalar_type() == at::kByte;
  ImageSamples all{bytes ? both(a.values, b.values) : both(unit(a.values), unit(b.values)),
                   both(a.classes, b.classes),
                   both(a.masks, b.masks),
                   {},
                   a.grey && b.grey};
  if (!a.files.empty() && !b.files.empty()) {
    all.files = a.files;
    all.files.insert(all.files.end(), b.files.begin(), b.files.end());
  }
  return std::make_shared<const ImageSet>(std::move(all), first.kind_, first.input_, "images");
}

Splits folded_images(const Splits& splits, const Folds& folds, int64_t seed) {
  const auto images = [](const std::shared_ptr<const Dataset>& set) {
    return std::dynamic_pointer_cast<const ImageSet>(set);
  };
  const auto train = images(splits.train), valid = images(splits.valid);
  require<DataError>(train != nullptr || valid != nullptr,
                     "data.folds: there must be images for training, got none");
  const auto all = train == nullptr ? valid : valid == nullptr ? train : ImageSet::joined(*train, *valid);
  const FoldIndices fold = draw_fold(all->size(), folds, seed);
  const auto part = [&](const std::vector<int64_t>& samples) {
    double tokens = 0;
    for (const int64_t i : samples) {
      tokens += static_cast<double>(all->tokens(i));
    }
    Schema schema = all->schema();
    schema.interface.typical_nodes = tokens / static_cast<double>(samples.size());
    return std::make_shared<Subset>(all, samples, std::move(schema));
  };
  return {part(fold.train), part(fold.valid), splits.test};
}

std::string ImageSet::source(int64_t index) const {
  require(index >= 0 && index < size(), "data set: sample ", index, " is not one of 0 .. ", size() - 1);
  return samples_.files.empty() ? "" : samples_.files[index];
}

int64_t ImageSet::tokens(int64_t index) const {
  require(index >= 0 && index < size(), "data set: sample ", index, " is not one of 0 .. ", size() - 1);
  if (!tokens_.empty()) {
    return tokens_[index];
  }
  return positions_.defined() ? positions_.size(0) : samples_.values.size(2) * samples_.values.size(3);
}

Tensor ImageSet::patches(const Tensor& images) const {
  const int64_t p = input_.patch, b = images.size(0), c = images.size(1);
  const int64_t h = images.size(2) / p, w = images.size(3) / p;
  return images.reshape({b, c, h, p, w, p}).permute({0, 2, 4, 1, 3, 5}).reshape({b, h * w, c, p * p});
}

Tensor ImageSet::kept(const Tensor& patches) const {
  const Tensor brightest = patches.flatten(2).amax(2);
  return (brightest > *input_.threshold) | (at::arange(patches.size(1)) == brightest.argmax(1, true));
}

Tensor ImageSet::normalised(const Tensor& values) const {
  if (!mean_.defined()) {
    return values;
  }
  std::vector<int64_t> shape(values.dim(), 1);
  shape[1] = kind_.channels();
  return (values - mean_.view(shape)) / deviation_.view(shape);
}

Batch ImageSet::points(const Tensor& images, Tensor masks) const {
  const Tensor all = patches(images);
  const int64_t b = all.size(0), n = all.size(1);
  Tensor features = normalised(all.reshape({b * n, all.size(2), all.size(3)}));
  features = input_.patch_feature == PatchFeature::mean ? features.mean(2) : features.flatten(1);
  Points result;
  result.positions = positions_.repeat({b, 1});
  Batch batch;
  if (masks.defined()) {
    const Tensor pixels = patches(masks.unsqueeze(1)).reshape({b * n, -1});
    Tensor best = at::zeros({b * n}, at::kLong), most = (pixels == 0).sum(1);
    for (int64_t k = 1; k < kind_.mask_classes; ++k) {
      const Tensor count = (pixels == k).sum(1);
      best = best.masked_fill(count > most, k);
      most = count.maximum(most);
    }
    masks = best.unsqueeze(1);
  }
  std::vector<int64_t> sizes(b, n);
  if (input_.threshold) {
    const Tensor keep = kept(all);
    const Tensor count = keep.sum(1).contiguous();
    std::copy_n(count.const_data_ptr<int64_t>(), b, sizes.begin());
    const Tensor rows = keep.flatten().nonzero().squeeze(1);
    features = at::index_select(features, 0, rows);
    result.positions = at::index_select(result.positions, 0, rows);
    if (masks.defined()) {
      masks = at::index_select(masks, 0, rows);
    }
  }
  result.scalars = features;
  if (input_.frame) {
    result.vectors = at::eye(2, at::kFloat).repeat({result.positions.size(0), 1, 1});
  }
  result.graphs = Segments::of_sizes(sizes);
  batch.input = std::move(result);
  if (masks.defined()) {
    batch.labels["mask"] = masks;
  }
  return batch;
}

Tensor ImageSet::rows(std::span<const int64_t> indices) const {
  Tensor rows = at::empty({static_cast<int64_t>(indices.size())}, at::kLong);
  for (size_t i = 0; i < indices.size(); ++i) {
    require(indices[i] >= 0 && indices[i] < size(), "data set: sample ", indices[i], " is not one of 0 .. ",
            size() - 1);
    rows.mutable_data_ptr<int64_t>()[i] = indices[i];
  }
  return rows;
}

Batch ImageSet::given(const Tensor& images, const Tensor& masks) const {
  Batch batch;
  if (input_.carrier == ImageCarrier::points) {
    batch = points(images, masks);
  } else {
    batch.input = Grid{normalised(images)};
    if (masks.defined()) {
      batch.labels["mask"] = masks.to(at::kLong).unsqueeze(1);
    }
  }
  return batch;
}

Batch ImageSet::batch(std::span<const int64_t> indices) const {
  const Tensor which = rows(indices);
  Batch batch = given(unit(at::index_select(samples_.values, 0, which)),
                      samples_.masks.defined() ? at::index_select(samples_.masks, 0, which) : Tensor());
  if (samples_.classes.defined()) {
    batch.labels["class"] = at::index_select(samples_.classes, 0, which).unsqueeze(1);
  }
  return batch;
}

Batch ImageSet::augmented(std::span<const int64_t> indices, std::span<const int64_t> partners,
                          const Draw& draw) const {
  if (!input_.augment) {
    return batch(indices);
  }
  require(samples_.classes.defined() && !samples_.masks.defined() && !input_.threshold,
          "images: augmentation needs classes, no masks and no threshold");
  const ImageAugmentation& how = *input_.augment;
  const auto images = [&](const Tensor& which, std::span<const int64_t> samples) {
    return augmented_images(unit(at::index_select(samples_.values, 0, which)), samples, how, draw);
  };
  const Tensor which = rows(indices), own = images(which, indices);
  const Tensor classes = at::index_select(samples_.classes, 0, which).unsqueeze(1);
  if (!how.mixes()) {
    Batch batch = given(own, {});
    batch.labels["class"] = classes;
    return batch;
  }
  const Tensor others = rows(partners);
  const Mixing mixing = mixed_images(own, images(others, partners), indices, how, draw);
  Batch batch = given(mixing.images, {});
  const Tensor shares = mixing.shares.unsqueeze(1);
  batch.labels["class"] =
      at::zeros({own.size(0), kind_.classes}, at::kDouble)
          .scatter_add_(1, classes, shares)
          .scatter_add_(1, at::index_select(samples_.classes, 0, others).unsqueeze(1), 1 - shares);
  return batch;
}

}  // namespace weyl
