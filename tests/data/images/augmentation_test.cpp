#include "weyl/data/images/image_set.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "weyl/carriers/dataset.h"
#include "weyl/carriers/loader.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace augmentation_test {

constexpr Draw draw{7, 3};

/// Numbers in [0, 1] without order.
Tensor pictures(int64_t count, int64_t channels = 3, int64_t side = 8) {
  const int64_t n = count * channels * side * side;
  return ((at::arange(n, at::kDouble) * 12.9898).sin() * 43758.5453)
      .frac()
      .abs()
      .view({count, channels, side, side})
      .to(at::kFloat);
}

std::vector<int64_t> first(int64_t count) {
  std::vector<int64_t> all(count);
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

Tensor augmented(const Tensor& images, const ImageAugmentation& how) {
  return augmented_images(images, first(images.size(0)), how, draw);
}

/// Hue in [0, 1), chroma and value of a colour, by the textbook.
std::array<double, 3> hue_chroma_value(double r, double g, double b) {
  const double most = std::max({r, g, b}), chroma = most - std::min({r, g, b});
  double hue = 0;
  if (chroma > 0) {
    hue = most == r ? (g - b) / chroma : most == g ? 2 + (b - r) / chroma : 4 + (r - g) / chroma;
  }
  return {hue / 6 - std::floor(hue / 6), chroma, most};
}

TEST(ImageAugmentation, ChangesNothingByDefault) {
  const Tensor images = pictures(3);
  EXPECT_TRUE(at::equal(augmented(images, {}), images));
}

TEST(ImageAugmentation, PaddedPartsAreShiftsOfEveryDistance) {
  const Tensor images = pictures(200, 1);
  const Tensor result = augmented(images, {.pad = 2});
  std::array<int, 25> seen{};
  for (int64_t i = 0; i < images.size(0); ++i) {
    const Tensor padded = at::constant_pad_nd(images[i], {2, 2, 2, 2});
    int found = -1;
    for (int shift = 0; shift < 25 && found < 0; ++shift) {
      const Tensor part = padded.slice(1, shift / 5, shift / 5 + 8).slice(2, shift % 5, shift % 5 + 8);
      found = at::equal(part, result[i]) ? shift : -1;
    }
    ASSERT_GE(found, 0) << "image " << i << " is no part of itself";
    ++seen[found];
  }
  for (const int count : seen) {
    EXPECT_GT(count, 0);
  }
}

TEST(ImageAugmentation, HalfOfTheImagesAreMirrored) {
  const Tensor images = pictures(400, 1), result = augmented(images, {.flip = true});
  int64_t mirrored = 0;
  for (int64_t i = 0; i < images.size(0); ++i) {
    const bool same = at::equal(result[i], images[i]);
    EXPECT_TRUE(same || at::equal(result[i], at::flip(images[i], {2})));
    mirrored += same ? 0 : 1;
  }
  EXPECT_NEAR(static_cast<double>(mirrored), 200, 50);
}

TEST(ImageAugmentation, ResizedPartsHoldWhatIsInTheImage) {
  const Tensor images = pictures(50), result = augmented(images, {.resized_crop = 0.3});
  EXPECT_EQ(result.sizes(), images.sizes());
  EXPECT_LE(result.max().item<float>(), images.max().item<float>());
  EXPECT_GE(result.min().item<float>(), images.min().item<float>());
  EXPECT_FALSE(at::equal(result, images));
  const Tensor ramp = at::arange(8, at::kFloat).view({1, 1, 1, 8}).expand({50, 1, 8, 8}) / 8;
  const Tensor steps = augmented(ramp, {.resized_crop = 0.3}).diff(1, 3);
  EXPECT_GE(steps.min().item<float>(), -1e-6F);  // a ramp stays one, and is not steeper
  EXPECT_LE(steps.max().item<float>(), 0.126F);
}

/// The draws of an image that nothing else is done to before.
Stream draws_of(int64_t image) {
  return {draw.seed, "image", {static_cast<uint64_t>(draw.epoch), static_cast<uint64_t>(image)}};
}

/// (3, H, W) -> (H, W), the luminance.
Tensor grey(const Tensor& x) {
  return 0.299 * x[0] + 0.587 * x[1] + 0.114 * x[2];
}

/// Each pixel by hand, the sum over itself and its eight neighbours; beyond the edge is the mirror image.
Tensor blurred_by_hand(const Tensor& x, double sigma) {
  const auto weight = [&](int64_t d) {
    return std::exp(-0.5 * static_cast<double>(d * d) / (sigma * sigma));
  };
  const double sum = weight(0) + 2 * weight(1);
  const auto inside = [](int64_t i, int64_t n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; };
  const Tensor from = x.to(at::kDouble).contiguous(), to = at::zeros_like(from);
  const auto in = from.accessor<double, 3>();
  auto out = to.accessor<double, 3>();
  for (int64_t c = 0; c < x.size(0); ++c) {
    for (int64_t i = 0; i < x.size(1); ++i) {
      for (int64_t j = 0; j < x.size(2); ++j) {
        for (int64_t d = 0; d < 9; ++d) {
          const int64_t di = d / 3 - 1, dj = d % 3 - 1;
          out[c][i][j] += weight(di) / sum * weight(dj) / sum *
                          in[c][inside(i + di, x.size(1))][inside(j + dj, x.size(2))];
        }
      }
    }
  }
  return to.to(at::kFloat);
}

TEST(ImageAugmentation, ThreeMakesEachImageGreySolarisedOrBlurred) {
  const Tensor images = pictures(150), result = augmented(images, {.three = true});
  std::array<int, 3> seen{};
  double widest = 0;
  for (int64_t i = 0; i < images.size(0); ++i) {
    const Tensor x = images[i];
    Stream stream = draws_of(i);
    const int64_t which = stream.below(3);
    const double sigma = 0.1 + 1.9 * stream.uniform();
    const Tensor expected = which == 0   ? grey(x).expand({3, 8, 8})
                            : which == 1 ? at::where(x >= 128.0 / 255, 1 - x, x)
                                         : blurred_by_hand(x, sigma);
    EXPECT_TRUE(at::allclose(result[i], expected, 1e-6, 1e-6)) << i << ": " << which << ", " << sigma;
    ++seen[which];
    widest = which == 2 ? std::max(widest, sigma) : widest;
  }
  for (const int count : seen) {
    EXPECT_GT(count, 30);
  }
  EXPECT_GT(widest, 1.8);
}

TEST(ImageAugmentation, HueTurnsAllColoursOfAnImageAlike) {
  const Tensor images = pictures(20, 3, 4), result = augmented(images, {.hue = 0.5});
  double largest = 0;
  for (int64_t i = 0; i < images.size(0); ++i) {
    double turn = -1;
    for (int64_t p = 0; p < 16; ++p) {
      const auto colour = [&](const Tensor& x, int64_t c) { return x[i][c][p / 4][p % 4].item<double>(); };
      const auto a = hue_chroma_value(colour(images, 0), colour(images, 1), colour(images, 2));
      const auto b = hue_chroma_value(colour(result, 0), colour(result, 1), colour(result, 2));
      EXPECT_NEAR(a[1], b[1], 1e-5);
      EXPECT_NEAR(a[2], b[2], 1e-5);
      const double difference = b[0] - a[0] - std::floor(b[0] - a[0]);
      turn = turn < 0 ? difference : turn;
      EXPECT_LT(std::abs(difference - turn - std::round(difference - turn)), 1e-4) << i << ", " << p;
    }
    largest = std::max(largest, std::min(turn, 1 - turn));
  }
  EXPECT_GT(largest, 0.3);
  const Tensor grey = pictures(5, 1).expand({5, 3, 8, 8});
  EXPECT_TRUE(at::allclose(augmented(grey, {.hue = 0.5}), grey, 0, 1e-6));
}

TEST(ImageAugmentation, JitterIsBrightnessContrastAndSaturationInTheOrderDrawn) {
  constexpr double jitter = 0.3;
  const Tensor images = pictures(30), result = augmented(images, {.jitter = jitter});
  for (int64_t i = 0; i < images.size(0); ++i) {
    Tensor x = images[i].to(at::kDouble);
    Stream stream = draws_of(i);
    for (const int64_t step : stream.permutation(4)) {
      const double factor = 1 - jitter + 2 * jitter * stream.uniform();
      stream.uniform();                                               // of hue, which is off
      const Tensor about = step == 0   ? at::zeros_like(x)            // brightness
                           : step == 1 ? grey(x).mean().expand_as(x)  // contrast
                           : step == 2 ? grey(x).expand_as(x)         // saturation
                                       : x;
      x = (about + factor * (x - about)).clamp(0, 1);
    }
    EXPECT_TRUE(at::allclose(result[i], x.to(at::kFloat), 0, 1e-6)) << i;
    EXPECT_FALSE(at::allclose(result[i], images[i], 0, 1e-3)) << i;
  }
  EXPECT_THROW(augmented(pictures(2, 1), {.jitter = jitter}), ShapeError);
}

TEST(ImageAugmentation, IsAFunctionOfSeedEpochAndSampleAlone) {
  const ImageAugmentation all{
      .pad = 2, .resized_crop = 0.5, .flip = true, .three = true, .jitter = 0.3, .hue = 0.1};
  const Tensor images = pictures(6);
  const Tensor together = augmented(images, all);
  const std::vector<int64_t> some{4, 1};
  const Tensor apart =
      augmented_images(images.index_select(0, at::tensor({4, 1}, at::kLong)), some, all, draw);
  EXPECT_TRUE(at::equal(apart[0], together[4]));
  EXPECT_TRUE(at::equal(apart[1], together[1]));
  EXPECT_FALSE(at::equal(augmented_images(images, first(6), all, {7, 4}), together));
  EXPECT_FALSE(at::equal(augmented_images(images, first(6), all, {8, 3}), together));
}

TEST(ImageMixing, MixupIsTheMeanWeightedByShares) {
  const Tensor a = pictures(4000, 1, 2), b = 1 - a;
  for (const double alpha : {1e-300, 1e-3, 0.3, 1.0, 4.0}) {
    const Mixing mixing = mixed_images(a, b, first(4000), {.mixup = alpha}, draw);
    const Tensor share = mixing.shares.view({-1, 1, 1, 1}).to(at::kFloat);
    EXPECT_TRUE(at::allclose(mixing.images, share * a + (1 - share) * b, 1e-5, 1e-6));
    EXPECT_NEAR(mixing.shares.mean().item<double>(), 0.5, 0.03);
    EXPECT_NEAR(mixing.shares.var().item<double>(), 1 / (4 * (2 * alpha + 1)), 0.01)
        << alpha;  // of a Beta distribution
  }
}

TEST(ImageMixing, CutmixTakesARectangleAndCountsIt) {
  const Tensor zeros = at::zeros({500, 1, 8, 8}), ones = at::ones({500, 1, 8, 8});
  const Mixing mixing = mixed_images(zeros, ones, first(500), {.cutmix = 1}, draw);
  for (int64_t i = 0; i < 500; ++i) {
    const Tensor taken = mixing.images[i][0];
    const double area = taken.sum().item<double>();
    EXPECT_NEAR(mixing.shares[i].item<double>(), 1 - area / 64, 1e-12);
    const double rows = taken.amax(1).sum().item<double>(), columns = taken.amax(0).sum().item<double>();
    EXPECT_EQ(area, rows * columns);
  }
  EXPECT_GT(mixing.shares.std().item<double>(), 0.1);
  const Mixing both = mixed_images(zeros, ones, first(500), {.mixup = 0.8, .cutmix = 1}, draw);
  const Tensor whole = both.images.eq(0).logical_or(both.images.eq(1)).all(1).flatten(1).all(1);
  EXPECT_NEAR(whole.to(at::kDouble).mean().item<double>(), 0.5, 0.1);  // as many cut as blended
}

std::shared_ptr<const Dataset> colours(const ImageAugmentation& how,
                                       ImageCarrier carrier = ImageCarrier::grid) {
  ImageInput input;
  input.carrier = carrier;
  input.frame = carrier == ImageCarrier::points;
  input.augment = how;
  const ImageKind kind{.mean = {0.5, 0.5, 0.5}, .deviation = {1, 1, 1}, .classes = 4};
  return std::make_shared<ImageSet>(
      ImageSamples{pictures(12), at::arange(12, at::kLong).remainder(4), {}, {}}, kind, input, "set");
}

TEST(ImageMixing, LabelsAreSharesAndASampleIsTheSameInEveryBatch) {
  const auto set = colours({.flip = true, .mixup = 0.8, .cutmix = 1});
  std::vector<Batch> alone;
  Loader one(set, {.batch = 1, .shuffle = false, .augment = true, .ahead = 0}, 5);
  one.start(2);
  while (auto batch = one.next()) {
    alone.push_back(*batch);
  }
  ASSERT_EQ(alone.size(), 12U);
  Loader all(set, {.batch = 12, .shuffle = false, .augment = true, .ahead = 0}, 5);
  all.start(2);
  const Batch together = *all.next();
  const Tensor labels = together.labels.at("class");
  EXPECT_EQ(labels.sizes(), (std::vector<int64_t>{12, 4}));
  EXPECT_LT((labels.sum(1) - 1).abs().max().item<double>(), 1e-12);
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_TRUE(
        at::equal(std::get<Grid>(alone[i].input).values[0], std::get<Grid>(together.input).values[i]));
    EXPECT_TRUE(at::equal(alone[i].labels.at("class")[0], labels[i]));
  }
  EXPECT_FALSE(
      at::equal(std::get<Grid>(set->batch(first(12)).input).values, std::get<Grid>(together.input).values));
  EXPECT_EQ(set->batch(first(12)).labels.at("class").scalar_type(),
            at::kLong);  // who does not train sees them as they are
}

/// The recipe of CIFAR-10's paper config, in every number of threads.
TEST(ImageMixing, ThreadsOfTheLoaderMakeTheSameBits) {
  const auto set = colours({.pad = 1,
                            .resized_crop = 0.08,
                            .flip = true,
                            .three = true,
                            .jitter = 0.3,
                            .hue = 0.1,
                            .mixup = 0.8,
                            .cutmix = 1});
  const auto made = [&](int64_t threads, int64_t epoch) {
    Loader loader(set, {.batch = 2, .augment = true, .ahead = 2, .threads = threads}, 5);
    loader.start(epoch);
    std::vector<Tensor> all;
    while (const auto batch = loader.next()) {
      all.push_back(std::get<Grid>(batch->input).values);
      all.push_back(batch->labels.at("class"));
    }
    return all;
  };
  const auto one = made(1, 2), other = made(1, 3);
  ASSERT_EQ(one.size(), 12U);
  for (const int64_t threads : {2, 3}) {
    const auto several = made(threads, 2);
    ASSERT_EQ(several.size(), one.size());
    for (size_t i = 0; i < one.size(); ++i) {
      EXPECT_TRUE(at::equal(several[i], one[i])) << threads << " threads";
    }
  }
  EXPECT_FALSE(at::equal(other[0], one[0]));
}

TEST(ImageMixing, PartnersOfAPartAreOfThatPart) {
  const auto set = colours({.mixup = 1});
  const auto part =
      std::make_shared<Subset>(set, std::vector<int64_t>{0, 4, 8}, set->schema());  // class 0 alone
  Loader loader(part, {.batch = 3, .augment = true, .ahead = 0}, 5);
  loader.start(0);
  const Tensor labels = loader.next()->labels.at("class");
  EXPECT_LT((labels.select(1, 0) - 1).abs().max().item<double>(), 1e-12);
}

TEST(ImagePoints, FramesAreTheAxesOfTheImageAndTurnWithIt) {
  const auto set = colours({.pad = 1}, ImageCarrier::points);
  const Batch batch = set->batch(first(2));
  const auto& points = std::get<Points>(batch.input);
  EXPECT_TRUE(at::equal(points.vectors, at::eye(2).repeat({8, 1, 1})));
  Tensor quarter = at::tensor({0., -1., 1., 0.}, at::kDouble).view({1, 2, 2}).expand({2, 2, 2});
  const auto turned = std::get<Points>(transform(batch, {quarter, {}}, set->schema()).input);
  EXPECT_TRUE(at::allclose(turned.vectors[0], at::tensor({0.F, 1.F, -1.F, 0.F}).view({2, 2})));
}

}  // namespace augmentation_test
}  // namespace weyl
