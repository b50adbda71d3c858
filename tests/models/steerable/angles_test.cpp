// Rotations by any angle: the central pixel of convolutions, of images that are turned by formula. Pixels are
// no rotation's own, so this holds up to what interpolation between them is off.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "tests/models/steerable/turns.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/steerable/layers.h"

namespace weyl::steerable {
namespace angles_test {

constexpr double sigma = 3;  // pixels, of the blobs

/// (B, 1 + 1, n, n[, n]) real and imaginary part of sums of Gaussian blobs of width `width`, turned by R
/// about the centre: the value at p is that of the unturned image at R^-1 p.
Tensor blobs(int64_t dimension, int64_t pixels, double width, const Tensor& r) {
  at::manual_seed(21);
  const int64_t images = 16, each = 6;
  const Tensor centres = at::randn({images, each, dimension}, at::kDouble) * width;
  const Tensor heights = at::randn({images, each}, at::kDouble);
  const Tensor turned = at::matmul(centres, r.t());
  const Tensor axis = at::arange(pixels, at::kDouble) - static_cast<double>(pixels - 1) / 2;
  Tensor squares = at::zeros({1}, at::kDouble);
  for (int64_t a = 0; a < dimension; ++a) {
    std::vector<int64_t> along(static_cast<size_t>(dimension) + 2, 1), of(along);
    along[a + 2] = pixels;
    of[0] = images;
    of[1] = each;
    squares = squares + (axis.view(along) - turned.select(2, a).view(of)).square();
  }
  std::vector<int64_t> of(static_cast<size_t>(dimension) + 2, 1);
  of[0] = images;
  of[1] = each;
  const Tensor values = ((squares * (-0.5 / (width * width))).exp() * heights.view(of)).sum(1, true);
  return at::cat({values, at::zeros_like(values)}, 1);
}

Tensor rotation(int64_t dimension, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  if (dimension == 2) {
    return at::tensor({c, -s, s, c}, at::kDouble).view({2, 2});
  }
  // About (1, 2, 2) / 3, Rodrigues' formula.
  const Tensor n = at::tensor({1.0, 2.0, 2.0}, at::kDouble) / 3;
  const Tensor cross =
      at::tensor({0.0, -2.0, 2.0, 2.0, 0.0, -1.0, -2.0, 1.0, 0.0}, at::kDouble).view({3, 3}) / 3;
  return at::eye(3, at::kDouble) * c + cross * s + at::outer(n, n) * (1 - c);
}

/// |f(g x) - D(g) f(x)| / |f(x)| at the central pixel, in the root mean square over images, features and
/// five draws of the weights, the largest over the angles; f: `depth` convolutions without padding.
double error_of(const SteerableType& type, int64_t depth, double width,
                const ConvOptions& options = {.same = false}) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const at::NoGradGuard quiet;
  at::manual_seed(1);
  constexpr int draws = 5;
  std::vector<std::vector<std::shared_ptr<Conv>>> nets(draws);
  for (auto& net : nets) {
    for (int64_t i = 0; i < depth; ++i) {
      net.push_back(
          std::make_shared<Conv>(i == 0 ? SteerableType{type.dimension, {1}} : type, type, options));
    }
  }
  const auto centre = [&](int draw, const Tensor& r) {
    Tensor x = blobs(type.dimension, 1 + 4 * depth, width, r);
    for (const auto& layer : nets[draw]) {
      x = (*layer)(x);
    }
    return x.flatten(1);  // one pixel is left
  };
  double worst = 0;
  for (const double angle : {0.3, 0.25 * M_PI, 1.0}) {
    const Tensor r = rotation(type.dimension, angle).contiguous();
    const Tensor d = as_real(turn_of(type, std::span<const double>(r.data_ptr<double>(), r.numel())));
    double squares = 0;
    for (int draw = 0; draw < draws; ++draw) {
      const Tensor y = centre(draw, at::eye(type.dimension, at::kDouble));
      const double off = ((centre(draw, r) - at::matmul(y, d.t())).norm() / y.norm()).item<double>();
      squares += off * off / draws;
    }
    worst = worst_of(worst, std::sqrt(squares));
  }
  return worst;
}

SteerableType orders(int64_t count) {
  return {2, std::vector<int64_t>(static_cast<size_t>(count), 4)};
}

TEST(SteerableAngles, ImagesAreTurnedByTheirFormula) {
  const Tensor r = rotation(2, 0.5 * M_PI).contiguous();
  const Tensor turned = pixels_turned(blobs(2, 7, sigma, at::eye(2, at::kDouble)),
                                      std::span<const double>(r.data_ptr<double>(), 4));
  EXPECT_LT((turned - blobs(2, 7, sigma, r)).abs().max().item<double>(), 1e-14);
}

TEST(SteerableAngles, OneConvolutionTurnsUpToItsPixels) {
  EXPECT_LT(error_of(orders(4), 1, sigma), 0.01);
  EXPECT_LT(error_of(orders(8), 1, sigma), 0.015);
}

ConvOptions with(int64_t spline, bool cut) {
  ConvOptions options{.same = false};
  options.kernel.rings.spline = spline;
  options.kernel.rings.cut = cut;
  return options;
}

TEST(SteerableAngles, SoDoConvolutionsWithoutCut) {
  EXPECT_LT(error_of(orders(8), 1, sigma, with(1, false)), 0.015);
  EXPECT_LT(error_of(orders(8), 2, sigma, with(1, false)), 0.02);
}

TEST(SteerableAngles, SplinesOfAnyDegreeTurnUpToTheirPixels) {
  for (int64_t spline = 2; spline <= 5; ++spline) {
    for (const int64_t depth : {1, 2}) {
      const double rough = error_of(orders(4), depth, sigma, with(spline, true));
      EXPECT_LT(rough, 0.012) << spline << " " << depth;
      EXPECT_LT(error_of(orders(4), depth, 2 * sigma, with(spline, true)), 0.8 * rough) << spline;
    }
  }
}

TEST(SteerableAngles, TwoConvolutionsTurnUpToTheirPixels) {
  EXPECT_LT(error_of(orders(4), 2, sigma), 0.01);
  EXPECT_LT(error_of(orders(8), 2, sigma), 0.02);
}

TEST(SteerableAngles, SmootherImagesTurnBetter) {
  for (const int64_t k : {4, 8}) {
    for (const int64_t depth : {1, 2}) {
      const double rough = error_of(orders(k), depth, sigma), smooth = error_of(orders(k), depth, 2 * sigma);
      EXPECT_LT(smooth, rough) << k << " " << depth;
    }
  }
}

TEST(SteerableAngles, VolumesTurnUpToTheirPixels) {
  const SteerableType type{3, {2, 2, 2}};
  for (const int64_t depth : {1, 2}) {
    const double rough = error_of(type, depth, sigma), smooth = error_of(type, depth, 2 * sigma);
    EXPECT_LT(rough, 0.001);
    EXPECT_LT(smooth, rough);
  }
}

TEST(SteerableAngles, TheCyclicFormDoesNotTurnByThem) {
  ConvOptions cyclic{.same = false};
  cyclic.kernel.coupling = OrderCoupling::cyclic;
  const double exact = error_of(orders(4), 2, sigma), wrapped = error_of(orders(4), 2, sigma, cyclic);
  EXPECT_GT(wrapped, 2 * exact);
}

}  // namespace angles_test
}  // namespace weyl::steerable
