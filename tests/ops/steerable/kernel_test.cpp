// Kernels of steerable convolutions: the constraint at every pixel, the convolution that commutes with turns
// of the grid, weights without dead ones, and starts that keep the size of features.
#include "weyl/ops/steerable/kernel.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/models/steerable/turns.h"
#include "weyl/core/check.h"
#include "weyl/ops/steerable/conv.h"

namespace weyl::steerable {
namespace kernel_test {

Tensor random_weights(const Kernel& kernel, int64_t seed = 1) {
  at::manual_seed(seed);
  return at::randn({kernel.weights(), 2}, at::kDouble);
}

Tensor convolved(const Tensor& x, const Tensor& kernel) {
  return x.dim() == 4 ? at::conv2d(x, kernel) : at::conv3d(x, kernel);
}

double equivariance_error(const Kernel& kernel, int64_t pixels = 7) {
  const Tensor w = kernel.expand(random_weights(kernel));
  return turning_error([&](const Tensor& x) { return convolved(x, w); }, kernel.in, kernel.out, pixels);
}

KernelOptions with(RingProfile profile, bool cut, bool restricted = false) {
  KernelOptions options;
  options.rings.profile = profile;
  options.rings.cut = cut;
  options.restricted = restricted;
  return options;
}

TEST(SteerableKernels, CommuteWithQuarterTurns) {
  for (const auto profile : {RingProfile::interpolated, RingProfile::gaussian, RingProfile::analytic}) {
    for (const bool restricted : {false, true}) {
      const SteerableType in{2,
                             restricted ? std::vector<int64_t>(5, 2) : std::vector<int64_t>{3, 2, 1, 2, 1}};
      const Kernel kernel(in, {2, {2, 1, 3}}, with(profile, false, restricted));
      EXPECT_LT(equivariance_error(kernel), 1e-13);
    }
  }
}

// All 19 couplings of degree 2 where 15 have filters up to degree 2; a middle of its own.
TEST(SteerableKernels, MayHaveAllDegreesAndAMiddle) {
  const SteerableType type{3, {1, 1, 1}}, plane{2, {1, 1, 1}};
  for (const auto profile : {RingProfile::interpolated, RingProfile::gaussian, RingProfile::analytic}) {
    KernelOptions options = with(profile, true);
    options.rings.rings = 1;
    options.rings.size = 7;
    EXPECT_EQ(Kernel(type, type, options).weights(), 15);
    options.all_degrees = true;
    const Kernel all(type, type, options);
    EXPECT_EQ(all.weights(), 19);
    EXPECT_LT(equivariance_error(all, 9), 1e-13);
    options.rings.centre = true;
    const Kernel with_middle(type, type, options);
    EXPECT_EQ(with_middle.weights(), 22);  // one from each irrep to itself
    EXPECT_LT(equivariance_error(with_middle, 9), 1e-13);
    ASSERT_NE(with_middle.plan(), nullptr);
    EXPECT_EQ(with_middle.plan()->weights, 22);
    const Kernel in_plane(plane, plane, options);
    EXPECT_EQ(in_plane.weights(), 9 + 3);
    EXPECT_LT(equivariance_error(in_plane), 1e-13);
    options.rings.size = 4;  // the middle is a corner of eight pixels
    EXPECT_LT(equivariance_error({{3, {1, 1}}, {3, {1, 1}}, options}, 6), 1e-13);
  }
}

TEST(SteerableKernels, CommuteWithTheRotationsOfTheCube) {
  for (const auto profile : {RingProfile::interpolated, RingProfile::gaussian, RingProfile::analytic}) {
    for (const bool restricted : {false, true}) {
      const Kernel kernel({3, {2, 1, 1}}, {3, {1, 2, 1}}, with(profile, true, restricted));
      EXPECT_LT(equivariance_error(kernel, 6), 1e-13);
    }
  }
  KernelOptions even = with(RingProfile::interpolated, false);
  even.rings.size = 4;
  EXPECT_LT(equivariance_error({{3, {1, 1}}, {3, {1, 1}}, even}, 6), 1e-13);
}

TEST(SteerableKernels, CoupleAsTheAuthorsDoOnlyWhenAsked) {
  KernelOptions cyclic = with(RingProfile::interpolated, false);
  cyclic.coupling = OrderCoupling::cyclic;
  const auto orders = [&](int64_t k, const KernelOptions& options) {
    const std::vector<int64_t> channels(static_cast<size_t>(k), 2);
    return equivariance_error({{2, channels}, {2, channels}, options});
  };
  EXPECT_LT(orders(4, cyclic), 1e-13);
  EXPECT_LT(orders(8, cyclic), 1e-13);
  EXPECT_GT(orders(6, cyclic), 1e-3);  // the turn by pi/2 is no multiple of 2 pi/6
  KernelOptions triangular = cyclic;
  triangular.coupling = OrderCoupling::triangular;
  EXPECT_LT(orders(6, triangular), 1e-13);
  const Kernel half({2, {1, 1, 1}}, {2, {1, 1, 1}}, triangular),
      whole({2, {1, 1, 1}}, {2, {1, 1, 1}}, cyclic);
  EXPECT_EQ(half.weights(), 6 * 2);
  EXPECT_EQ(whole.weights(), 9 * 2);
}

TEST(SteerableKernels, HaveTheCountsOfThePaper) {
  const KernelOptions options = with(RingProfile::interpolated, false);
  for (const int64_t k : {4, 8}) {
    const auto type = [&](int64_t channels) { return SteerableType{2, std::vector<int64_t>(k, channels)}; };
    EXPECT_EQ(Kernel({2, {3}}, type(8), options).weights(), 8 * 3 * k * 2);
    EXPECT_EQ(Kernel(type(8), type(16), options).weights(), 8 * 16 * k * k * 2);
    EXPECT_EQ(Kernel(type(8), type(16), with(RingProfile::interpolated, false, true)).weights(),
              8 * 16 * k * 2);
  }
}

TEST(SteerableKernels, HaveNoDeadWeights) {
  for (const bool cut : {false, true}) {
    for (const SteerableType& type :
         {SteerableType{2, {1, 2, 1, 1, 1, 1, 1, 1}}, SteerableType{3, {1, 2, 1}}}) {
      const Kernel kernel(type, type, with(RingProfile::interpolated, cut));
      const Tensor w = random_weights(kernel).requires_grad_(true);
      kernel.expand(w).square().sum().backward();
      EXPECT_GT(w.grad().abs().sum(1).min().item<double>(), 1e-12);
    }
  }
}

TEST(SteerableKernels, HaveNoDeadWeightsBetweenAnyTypes) {
  const auto orders = [](int64_t k) { return SteerableType{2, std::vector<int64_t>(k, 1)}; };
  for (const bool restricted : {false, true}) {
    for (const auto& [in, out] : {std::pair{orders(1), orders(8)},
                                  {orders(3), orders(8)},
                                  {orders(8), orders(1)},
                                  {orders(8), orders(8)}}) {
      const Kernel kernel(in, out, with(RingProfile::interpolated, true, restricted));
      const Tensor w = random_weights(kernel).requires_grad_(true);
      const Tensor k = kernel.expand(w);
      k.square().sum().backward();
      EXPECT_GT(w.grad().abs().sum(1).min().item<double>(), 1e-12) << in.irreps() << " " << out.irreps();
      EXPECT_GT(k.flatten(1).abs().amax(1).min().item<double>(), 1e-9) << "an output is never reached";
    }
  }
}

TEST(SteerableKernels, StartsKeepTheSizeOfFeatures) {
  for (const SteerableType& type : {SteerableType{2, {6, 6, 6, 6}}, SteerableType{3, {4, 3, 2}}}) {
    const Kernel kernel(type, type, with(RingProfile::interpolated, true));
    const Tensor w = random_weights(kernel) * kernel.standard_deviations().unsqueeze(1) * std::sqrt(0.5);
    std::vector<int64_t> shape{4, 2 * type.width()};
    shape.insert(shape.end(), static_cast<size_t>(type.dimension), 9);
    const Tensor y = convolved(at::randn(shape, at::kDouble), kernel.expand(w));
    for (int64_t l = 0; l < type.irreps(); ++l) {
      const Tensor part = y.narrow(1, type.offset(l), type.width(l));
      EXPECT_NEAR(part.square().mean().item<double>(), 1, 0.4) << l;
    }
  }
}

TEST(SteerableKernels, RefuseWhatIsNone) {
  EXPECT_THROW(Kernel({2, {1}}, {3, {1}}, {}), ShapeError);
  EXPECT_THROW(Kernel({2, {}}, {2, {1}}, {}), ShapeError);
  EXPECT_THROW(Kernel({2, {1, 2}}, {2, {1}}, with(RingProfile::analytic, true, true)), ShapeError);
  const Kernel kernel({2, {1}}, {2, {1}}, {});
  EXPECT_THROW(kernel.expand(at::zeros({kernel.weights() + 1, 2})), ShapeError);
}

}  // namespace kernel_test
}  // namespace weyl::steerable
