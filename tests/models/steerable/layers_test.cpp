// Layers of the steerable system, each under the turns of its grid.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/gradients.h"
#include "tests/models/steerable/turns.h"
#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/steerable/layers.h"

namespace weyl::steerable {
namespace layers_test {

const SteerableType plane{2, {3, 3, 3, 3, 3}}, space{3, {2, 2, 2}}, mixed{3, {3, 2, 1}};

TEST(SteerableConvs, TurnWithTheGrid) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const int64_t stride : {1, 2}) {
    ConvOptions options;
    options.stride = stride;
    const Conv in_plane({2, {1}}, plane, options), in_space(mixed, space, options);
    EXPECT_LT(turning_error(in_plane, {2, {1}}, plane, 9), 1e-13) << stride;
    EXPECT_LT(turning_error(in_space, mixed, space, 7), 1e-13) << stride;
  }
  ConvOptions valid;
  valid.same = false;
  valid.dilation = 2;
  EXPECT_LT(turning_error(Conv(plane, plane, valid), plane, plane, 11), 1e-13);
}

TEST(SteerableConvs, DoNotTurnWhenStridesCutARow) {
  const BuildOn wide(at::kCPU, at::kDouble);
  ConvOptions options;
  options.stride = 2;
  EXPECT_GT(turning_error(Conv(plane, plane, options), plane, plane, 8), 1e-2);
}

TEST(SteerableConvs, HaveComplexWeights) {
  const Conv conv({2, {3}}, {2, {8, 8, 8, 8}}, {});
  EXPECT_EQ(conv.parameter_count_real(), 2 * conv.parameter_count());
}

TEST(SteerableConvs, GiveTheSameInEvaluationMode) {
  const BuildOn wide(at::kCPU, at::kDouble);
  Conv conv(plane, plane, {});
  const Tensor x = at::randn({2, 2 * plane.width(), 6, 6}, at::kDouble), y = conv(x);
  conv.train(false);
  EXPECT_TRUE(at::equal(conv(x), y));
  EXPECT_TRUE(at::equal(conv(x), y));
  EXPECT_THROW(conv(at::randn({2, 3, 6, 6}, at::kDouble)), ShapeError);
}

TEST(SteerableConvs, ForgetWhatFollowedFromOldWeights) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const int64_t dilation : {1, 2}) {  // 2: the expanded kernel
    ConvOptions options;
    options.dilation = dilation;
    Conv conv(plane, plane, options);
    const Tensor x = at::randn({2, 2 * plane.width(), 9, 9}, at::kDouble);
    conv.train(false);
    const Tensor y = conv(x);
    conv.train(true);
    conv.parameters()[0].tensor.detach().mul_(2);
    conv.train(false);
    EXPECT_LT((conv(x) - 2 * y).abs().max().item<double>(), 1e-12) << dilation;
  }
}

TEST(SteerableConvs, GiveWeightsGradientsWhereTheyRequireThemInBothOrders) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const int64_t dilation : {1, 2}) {
    ConvOptions options;
    options.dilation = dilation;
    Conv conv(space, space, options);
    const Tensor x = at::randn({1, 2 * space.width(), 9, 9, 9}, at::kDouble).requires_grad_(true);
    EXPECT_TRUE(conv(x).requires_grad());
    const Tensor weight = conv.parameters()[0].tensor;
    conv(x).square().sum().backward();
    const Tensor in_training = weight.grad().clone();
    weight.mutable_grad().reset();
    conv.train(false);
    conv(x).square().sum().backward();
    EXPECT_LT((weight.grad() - in_training).abs().max().item<double>(),
              1e-12 * in_training.abs().max().item<double>())
        << dilation;
    weight.mutable_grad().reset();
    weight.set_requires_grad(false);
    conv(x).square().sum().backward();
    EXPECT_TRUE(x.grad().defined());
    EXPECT_FALSE(weight.grad().defined()) << dilation;
  }
}

TEST(NormActivations, TurnWithTheGrid) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const auto law : {NormActivation::Law::relu, NormActivation::Law::gelu}) {
    NormActivation in_plane(plane, law), in_space(mixed, law);
    for (Module* m : {static_cast<Module*>(&in_plane), static_cast<Module*>(&in_space)}) {
      m->parameters()[0].tensor.detach().uniform_(-1, 0);
    }
    EXPECT_LT(turning_error(in_plane, plane, plane, 5), 1e-13);
    EXPECT_LT(turning_error(in_space, mixed, mixed, 4), 1e-13);
  }
}

/// What a layer makes of one vector of order 1, (3, 4) times `length` / 5, with a bias: its gain.
double gain(NormActivation::Law law, double bias, double length) {
  NormActivation act({2, {0, 1}}, law);
  act.parameters()[0].tensor.detach().fill_(bias);
  const Tensor x = at::tensor({0.6 * length, 0.8 * length}, at::kDouble).view({1, 2, 1, 1}), y = act(x);
  EXPECT_NEAR((y[0][1] / x[0][1] - y[0][0] / x[0][0]).item<double>(), 0, 1e-12);
  return (y[0][0] / x[0][0]).item<double>();
}

TEST(NormActivations, ActOnLengths) {
  const BuildOn wide(at::kCPU, at::kDouble);
  // relu(5 - 2) / 5; gelu(x) = x Phi(x), Phi(1) = 0.841344746, Phi(2) = 0.977249868.
  EXPECT_NEAR(gain(NormActivation::Law::relu, -2, 5), 0.6, 1e-9);
  EXPECT_EQ(gain(NormActivation::Law::relu, -2, 1), 0);
  EXPECT_NEAR(gain(NormActivation::Law::gelu, 0, 2), 0.977249868, 1e-8);
  // gelu(1) - gelu(-1) = Phi(1) + Phi(-1) = 1, over the length.
  EXPECT_NEAR(gain(NormActivation::Law::gelu, -1, 2), 0.5, 1e-8);
}

TEST(NormActivations, OfShortVectorsDoNotBlowThemUp) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const double bias : {-2.0, -1.0, -0.5, 0.0, 0.5}) {
    for (const double length : {1e-4, 1e-2}) {
      // The slope of gelu lies between -0.13 and 1.13.
      EXPECT_LT(std::abs(gain(NormActivation::Law::gelu, bias, length)), 1.13) << bias << " " << length;
    }
  }
  EXPECT_GT(gain(NormActivation::Law::relu, 0.5, 1e-4), 1000);  // and why biases start at zero or below
}

TEST(SteerableNorms, GiveVectorsOfLengthOneAndTurn) {
  const Norm joint(plane, Norm::Law::joint), each(mixed, Norm::Law::irrep);
  const Tensor x = at::randn({2, 2 * plane.width(), 4, 4}, at::kDouble), y = joint(x);
  const Tensor of_channels = y.view({2, 2, 5, 3, 4, 4}).square().sum({1, 2});
  EXPECT_LT((of_channels - 1).abs().max().item<double>(), 1e-6);
  EXPECT_LT(turning_error(joint, plane, plane, 5), 1e-13);
  EXPECT_LT(turning_error(each, mixed, mixed, 4), 1e-13);
  EXPECT_THROW(Norm(mixed, Norm::Law::joint), ShapeError);
}

/// Features of one pixel from their real and imaginary parts.
Tensor pixel(const std::vector<double>& re, const std::vector<double>& im, int64_t dimension) {
  std::vector<int64_t> shape(static_cast<size_t>(dimension) + 2, 1);
  shape[1] = static_cast<int64_t>(re.size() + im.size());
  return at::cat({at::tensor(re, at::kDouble), at::tensor(im, at::kDouble)}).view(shape);
}

void expect_pixel(const Tensor& y, const std::vector<double>& re, const std::vector<double>& im) {
  const Tensor expected = at::cat({at::tensor(re, at::kDouble), at::tensor(im, at::kDouble)});
  EXPECT_LT((y.flatten() - expected).abs().max().item<double>(), 1e-9) << y.flatten() << expected;
}

TEST(SteerableNorms, DivideByLengths) {
  const BuildOn wide(at::kCPU, at::kDouble);
  // Lengths 5 and 3; both channels of order 0 and 1 together 5.
  expect_pixel(Norm({3, {1, 1}}, Norm::Law::irrep)(pixel({3, 1, 2, 2}, {4, 0, 0, 0}, 3)),
               {0.6, 1.0 / 3, 2.0 / 3, 2.0 / 3}, {0.8, 0, 0, 0});
  expect_pixel(Norm({2, {1, 1}}, Norm::Law::joint)(pixel({1, 2}, {2, 4}, 2)), {0.2, 0.4}, {0.4, 0.8});
}

TEST(GatedActivations, MultiplyByTheSigmoidsOfGates) {
  // One channel of order 0 with its gates 0 and log 3, of sigmoids 1/2 and 3/4; the second is order 1's.
  const GatedActivation act({2, {1, 1}});
  expect_pixel(act(pixel({1, 0, 3}, {2, std::log(3.0), 4}, 2)), {0.5, 2.25}, {1, 3});
}

TEST(SteerableBatchNorms, MultiplyByWeightsAndAddToTheTrivialIrrep) {
  const BuildOn wide(at::kCPU, at::kDouble);
  BatchNorm norm({2, {1, 1}});
  const auto p = norm.parameters();
  p[0].tensor.detach().copy_(at::tensor({2.0, 3.0}, at::kDouble));                // weight
  p[1].tensor.detach().copy_(at::tensor({0.5, -1.0}, at::kDouble).view({1, 2}));  // bias
  p[2].tensor.detach().copy_(at::tensor({4.0, 9.0}, at::kDouble));                // mean_square
  norm.train(false);
  expect_pixel(norm(pixel({1, 6}, {2, 3}, 2)), {1.5, 6}, {1, 3});
}

TEST(SteerableBatchNorms, OfAnEmptyBatchKeepTheirMeanSquares) {
  const BatchNorm norm(mixed);
  EXPECT_EQ(norm(at::zeros({0, 2 * mixed.width(), 2, 2, 2})).size(0), 0);
  EXPECT_TRUE(norm.parameters()[2].tensor.eq(1).all().item<bool>());
}

TEST(SteerableLinears, TurnWithTheGrid) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const SteerableType wider{3, {4, 1, 3}}, halves{2, {2, 2, 1, 1, 3}};
  const Linear in_space(mixed, wider), in_plane(plane, halves);
  EXPECT_LT(turning_error(in_space, mixed, wider, 3), 1e-13);
  EXPECT_LT(turning_error(in_plane, plane, halves, 4), 1e-13);
  EXPECT_EQ(in_space.parameter_count(), 3 * 4 + 2 * 1 + 1 * 3);
}

TEST(SteerableLinears, AreOneComplexMatrixForEachIrrep) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const auto& [in, out] :
       {std::pair{mixed, SteerableType{3, {2, 4, 3}}}, std::pair{plane, SteerableType{2, {2, 2, 2, 4, 4}}}}) {
    Linear layer(in, out);
    const Tensor x = at::randn({2, 2 * in.width(), 3, 4}, at::kDouble), y = layer(x);
    const Tensor w = layer.parameters()[0].tensor.detach();
    int64_t first = 0;
    for (int64_t l = 0; l < in.irreps(); ++l) {
      const int64_t o = out.channels[l], c = in.channels[l];
      const Tensor matrix = at::view_as_complex(w.narrow(0, first, o * c).contiguous()).view({o, c});
      first += o * c;
      for (int64_t m = 0; m < in.components(l); ++m) {
        const auto of = [&](const Tensor& features, const SteerableType& type) {
          const int64_t at_m = type.offset(l) + m * type.channels[l];
          return at::complex(features.narrow(1, at_m, type.channels[l]).contiguous(),
                             features.narrow(1, type.width() + at_m, type.channels[l]).contiguous());
        };
        const Tensor expected = at::matmul(matrix, of(x, in).flatten(2)).view({2, o, 3, 4});
        EXPECT_LT((of(y, out) - expected).abs().max().item<double>(), 1e-13) << l << " " << m;
      }
    }
    layer.train(false);
    EXPECT_TRUE(at::equal(layer(x), y));
    EXPECT_THROW(layer(at::randn({2, 3, 4, 4}, at::kDouble)), ShapeError);
  }
  EXPECT_THROW(Linear(plane, mixed), ShapeError);
}

/// A random rotation (D, D), row-major.
Tensor random_rotation(int64_t dimension) {
  const Tensor q = std::get<0>(at::linalg_qr(at::randn({dimension, dimension}, at::kDouble))).contiguous();
  if (at::linalg_det(q).item<double>() < 0) {
    q[0].neg_();
  }
  return q;
}

/// The largest |f(D x) - D f(x)| / max |f(x)| for random turns D of the features, pixels staying in place.
template <class F>
double fibre_error(const F& f, const SteerableType& in, const SteerableType& out) {
  std::vector<int64_t> shape{2, 2 * in.width()};
  shape.insert(shape.end(), static_cast<size_t>(in.dimension), 2);
  at::manual_seed(9);
  const Tensor x = at::randn(shape, at::kDouble), y = f(x);
  double worst = 0;
  for (int i = 0; i < 5; ++i) {
    const Tensor r = random_rotation(in.dimension);
    const std::span<const double> matrix(r.data_ptr<double>(), static_cast<size_t>(r.numel()));
    const auto acted = [&](const Tensor& features, const SteerableType& type) {
      return at::matmul(as_real(turn_of(type, matrix)), features.flatten(2)).view(features.sizes());
    };
    const Tensor off = f(acted(x, in)) - acted(y, out);
    worst = worst_of(worst, off.abs().max().item<double>() / y.abs().max().item<double>());
  }
  return worst;
}

TEST(CgActivations, TurnByAnyAngleAtEachPixel) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const CgActivation in_plane(plane), in_space(mixed);
  EXPECT_LT(fibre_error(in_plane, plane, plane), 1e-12);
  EXPECT_LT(fibre_error(in_space, mixed, mixed), 1e-12);
  const auto control = [](const Tensor& x) { return x * x; };
  EXPECT_GT(fibre_error(control, mixed, mixed), 1e-2);
  EXPECT_GT(fibre_error(control, plane, plane), 1e-2);
}

TEST(CgActivations, InThePlaneAreTheSumOfProducts) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const SteerableType type{2, {2, 2, 2}};
  const CgActivation act(type);
  at::manual_seed(4);
  const Tensor x = at::randn({1, 12, 1, 1}, at::kDouble), y = act(x).detach().flatten();
  const Tensor f = at::complex(x.flatten().slice(0, 0, 6), x.flatten().slice(0, 6)).view({3, 2});
  const Tensor w = at::view_as_complex(act.parameters()[0].tensor.detach().contiguous());  // (pair, channel)
  int64_t pair = 0;
  for (int64_t l = 0; l < 3; ++l) {
    Tensor sum = at::zeros({2}, at::kComplexDouble);
    for (int64_t m = 0; m <= l; ++m) {
      sum = sum + w[pair++] * f[m] * f[l - m];
    }
    const Tensor ours = at::complex(y.slice(0, 2 * l, 2 * l + 2), y.slice(0, 6 + 2 * l, 8 + 2 * l));
    EXPECT_LT((ours - sum).abs().max().item<double>(), 1e-13) << l;
  }
}

TEST(CgActivations, CoupleDegreesWithoutWeightsThatDoNothing) {
  const BuildOn wide(at::kCPU, at::kDouble);
  // Pairs l1 <= l2 that reach degree 0: 00, 11, 22; 1: 01, 12; 2: 02, 11, 12, 22. One channel each.
  const CgActivation act(mixed);
  EXPECT_EQ(act.parameter_count(), (3 + 2 + 1) + (3 * 3 + 2 * 2 + 4 * 1));
  at::manual_seed(4);
  act(at::randn({2, 2 * mixed.width(), 3, 3, 3}, at::kDouble)).square().sum().backward();
  for (const auto& p : act.parameters()) {
    EXPECT_EQ((p.tensor.grad() == 0).sum().item<int64_t>(), 0) << p.name;
  }
}

TEST(GatedActivations, TurnByAnyAngleAtEachPixel) {
  const GatedActivation in_plane(plane), in_space(mixed);
  EXPECT_LT(fibre_error(in_plane, in_plane.in(), plane), 1e-13);
  EXPECT_LT(fibre_error(in_space, in_space.in(), mixed), 1e-13);
  EXPECT_EQ(in_space.in().channels, (std::vector<int64_t>{6, 2, 1}));
}

TEST(NormActivations, HaveBiasesThatStartAtZeroOrBelow) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const NormActivation act(mixed, NormActivation::Law::relu, -0.5);
  EXPECT_EQ(act.parameters()[0].tensor.max().item<double>(), -0.5);
  EXPECT_THROW(NormActivation(mixed, NormActivation::Law::relu, 0.1), ShapeError);
  EXPECT_LT(fibre_error(act, mixed, mixed), 1e-13);
}

TEST(SteerableNorms, LayerKeepsWhatIsStrong) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const Norm norm(mixed, Norm::Law::layer);
  const Tensor x = at::randn({1, 2 * mixed.width(), 2, 2, 2}, at::kDouble), y = norm(x);
  const Tensor ratio = y / x;  // one number at each pixel
  EXPECT_LT((ratio - ratio.narrow(1, 0, 1)).abs().max().item<double>(), 1e-12);
  // The mean square length over the multiplicity 3 + 2 + 1 is one.
  EXPECT_LT((y.square().sum(1) - 6).abs().max().item<double>(), 1e-6);
  EXPECT_LT(fibre_error(norm, mixed, mixed), 1e-13);
}

TEST(SteerableBatchNorms, TurnAndKeepRunningMeanSquares) {
  const BuildOn wide(at::kCPU, at::kDouble);
  BatchNorm norm(mixed);
  at::manual_seed(2);
  const Tensor x = at::randn({4, 2 * mixed.width(), 3, 3, 3}, at::kDouble) * 5, y = norm(x);
  EXPECT_NEAR(y.square().mean().item<double>(), 0.5, 1e-9);  // of complex numbers the mean square is one
  const auto kept = norm.parameters()[2];
  EXPECT_EQ(kept.name, "mean_square");
  EXPECT_FALSE(kept.trainable);
  EXPECT_NEAR(kept.tensor.mean().item<double>(), 0.9 + 0.1 * 50, 0.5);
  EXPECT_LT(fibre_error(norm, mixed, mixed), 1e-12);
  norm.train(false);
  const Tensor before = kept.tensor.clone(), alone = norm(x.narrow(0, 0, 1)), together = norm(x);
  EXPECT_TRUE(at::equal(kept.tensor, before));
  EXPECT_LT((alone - together.narrow(0, 0, 1)).abs().max().item<double>(), 1e-14);
  EXPECT_LT(fibre_error(norm, mixed, mixed), 1e-12);
}

TEST(Resampling, TurnsWithTheGridWhereItLeavesNothingOver) {
  const SteerableType trivial{2, {3}}, solid{3, {2}};
  const auto pool = [](const Tensor& x) { return average_pool(x, 3); };
  const auto up = [](const Tensor& x) { return upsample(x, std::vector<int64_t>(x.dim() - 2, 7)); };
  EXPECT_LT(turning_error(pool, trivial, trivial, 9), 1e-14);
  EXPECT_LT(turning_error(pool, solid, solid, 6), 1e-14);
  EXPECT_GT(turning_error(pool, trivial, trivial, 8), 1e-2);
  for (const int64_t pixels : {3, 4, 7, 10}) {
    EXPECT_LT(turning_error(up, trivial, trivial, pixels), 1e-13) << pixels;
    EXPECT_LT(turning_error(up, solid, solid, pixels), 1e-13) << pixels;
  }
  const Tensor flat = at::ones({1, 2, 5, 5}, at::kDouble);
  EXPECT_TRUE(at::equal(average_pool(flat, 2), at::ones({1, 2, 2, 2}, at::kDouble)));
  const auto smooth_pool = [](const Tensor& x) { return average_pool(x, 3, /*low_pass=*/true); };
  const auto smooth = [](const Tensor& x) { return smoothed(x, 2); };
  for (const auto& [f, pixels] :
       std::vector<std::pair<std::function<Tensor(const Tensor&)>, int64_t>>{{smooth_pool, 9}, {smooth, 8}}) {
    EXPECT_LT(turning_error(f, trivial, trivial, pixels), 1e-14);
    EXPECT_LT(turning_error(f, solid, solid, pixels), 1e-14);
    EXPECT_LT((f(at::ones({1, 2, 9, 9}, at::kDouble)) - 1).abs().max().item<double>(), 1e-15);
  }
  EXPECT_TRUE(at::allclose(average_pool(smoothed(flat, 2), 2), average_pool(flat, 2, true)));
  EXPECT_THROW(average_pool(flat, 6), ShapeError);
}

/// The finest wave that a grid carries is not on the next, twice as coarse: a low-pass takes it away, where an average of
/// two pixels is as large at one phase as nothing at the other.
TEST(Resampling, LowPassTakesAwayWhatTheNextGridCannotCarry) {
  const Tensor i = at::arange(32, at::kDouble);
  const auto of_phase = [&](double phase, bool low_pass) {
    const Tensor wave = (i * 2.2 + phase).cos().view({1, 1, 32, 1}).expand({1, 1, 32, 32});
    return average_pool(wave, 2, low_pass).narrow(2, 4, 8).abs().max().item<double>();
  };
  EXPECT_GT(of_phase(0.5, false), 0.4);
  EXPECT_LT(of_phase(0.5, true), 0.1);
  const Tensor slow = (i * 0.2).cos().view({1, 1, 32, 1}).expand({1, 1, 32, 32});
  EXPECT_GT(average_pool(slow, 2, true).abs().max().item<double>(), 0.9);  // what it can is kept
}

TEST(SteerableLayers, HaveTheDerivativesOfDifferences) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const SteerableType flat{2, {2, 2, 2}}, solid{3, {2, 1}};
  at::manual_seed(6);
  const auto check = [](const Layer& layer, const SteerableType& type) {
    std::vector<int64_t> shape{2, 2 * type.width()};
    shape.insert(shape.end(), static_cast<size_t>(type.dimension), 2);
    expect_gradients([&](const std::vector<Tensor>& x) { return layer(x[0]); },
                     {at::randn(shape, at::kDouble)});
  };
  check(NormActivation(flat, NormActivation::Law::gelu, -0.2), flat);
  check(Norm(flat, Norm::Law::joint), flat);
  check(Norm(solid, Norm::Law::irrep), solid);
  check(Norm(solid, Norm::Law::layer), solid);
  check(BatchNorm(solid), solid);
  check(CgActivation(flat), flat);
  check(CgActivation(solid), solid);
}

TEST(SteerableLayers, AreFiniteAtZeroWithTheirGradients) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const NormActivation act(plane, NormActivation::Law::gelu);
  const Norm norm(plane, Norm::Law::joint);
  const Tensor x = at::zeros({1, 2 * plane.width(), 3, 3}, at::kDouble).requires_grad_(true);
  const Tensor y = act(x) + norm(x);
  EXPECT_EQ(y.abs().max().item<double>(), 0);
  y.sum().backward();
  EXPECT_TRUE(at::isfinite(x.grad()).all().item<bool>());
}

}  // namespace layers_test
}  // namespace weyl::steerable
