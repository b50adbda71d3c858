#include <ATen/core/grad_mode.h>
#include <cmath>

#include "tests/gradients.h"
#include "weyl/core/segments.h"
#include "weyl/nn/activation.h"
#include "weyl/nn/drop_path.h"
#include "weyl/nn/linear.h"
#include "weyl/nn/norms.h"
#include "weyl/nn/pooling.h"

namespace weyl {
namespace layers_test {

double difference(const Tensor& a, const Tensor& b) {
  return (a - b).abs().max().item<double>();
}

TEST(Linear, StartsLikeTorchAndMultiplies) {
  at::manual_seed(1);
  const BuildOn float64(at::kCPU, at::kDouble);
  const Linear linear(64, 200);
  const auto parameters = linear.parameters();
  for (const auto& p : parameters) {
    const double bound = 1 / std::sqrt(64.0);
    EXPECT_LE(p.tensor.abs().max().item<double>(), bound);
    EXPECT_NEAR(p.tensor.std().item<double>(), bound / std::sqrt(3.0), 0.1 * bound);
  }
  const Tensor x = at::randn({5, 64}, at::kDouble);
  EXPECT_LT(difference(linear(x), at::matmul(x, parameters[0].tensor.t()) + parameters[1].tensor), 1e-13);
}

TEST(Norms, AreTheirFormulas) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(2);
  const Tensor x = at::randn({4, 3, 8}, at::kDouble) * 3 + 1;
  const LayerNorm layer(8);
  const RmsNorm rms(8);
  {
    const at::NoGradGuard quiet;
    layer.law().weight.copy_(at::randn({8}, at::kDouble));
    layer.law().bias.copy_(at::randn({8}, at::kDouble));
    rms.parameters()[0].tensor.copy_(at::randn({8}, at::kDouble));
  }
  const Tensor centre = x - x.mean(-1, true);
  const Tensor plain = centre / (centre.pow(2).mean(-1, true) + 1e-5).sqrt();
  EXPECT_LT(difference(normalise_layer(x), plain), 1e-13);
  EXPECT_LT(difference(layer(x), plain * layer.law().weight + layer.law().bias), 1e-13);
  EXPECT_LT(difference(rms(x), x / (x.pow(2).mean(-1, true) + 1e-5).sqrt() * rms.parameters()[0].tensor),
            1e-13);
  for (const auto* norm : {static_cast<const Norm*>(&layer), static_cast<const Norm*>(&rms)}) {
    for (const auto& p : norm->parameters()) {
      EXPECT_FALSE(p.decay);
    }
  }
}

TEST(Norms, HaveFiniteGradientsOfConstantsToSecondOrder) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const LayerNorm layer(4);
  const RmsNorm rms(4);
  expect_finite_gradients([&](const auto& x) { return layer(x[0]); }, {at::ones({2, 4}, at::kDouble)});
  expect_finite_gradients([&](const auto& x) { return rms(x[0]); }, {at::zeros({2, 4}, at::kDouble)});
}

TEST(Norms, RmsIsComputedInFloat32AtLeast) {
  const BuildOn half(at::kCPU, at::kHalf);
  const RmsNorm rms(2);
  const Tensor x = at::full({1, 2}, 300.0, at::kHalf);  // its square is no half number
  EXPECT_NEAR(rms(x)[0][0].item<double>(), 1, 1e-3);
}

TEST(Activation, IsWhatItsNameSays) {
  const Tensor x = at::linspace(-3, 3, 13, at::kDouble);
  EXPECT_LT(difference(activate(x, Activation::gelu), x * 0.5 * (1 + at::erf(x / std::sqrt(2.0)))), 1e-15);
  EXPECT_LT(difference(activate(x, Activation::silu), x / (1 + at::exp(-x))), 1e-15);
  EXPECT_EQ(difference(activate(x, Activation::relu), at::clamp_min(x, 0)), 0);
  EXPECT_LT(difference(activate(x, Activation::mish), x * at::tanh(at::log1p(at::exp(x)))), 1e-14);
}

TEST(DropPath, DropsWholeGraphsOrSingleNodesAndKeepsTheMean) {
  at::manual_seed(3);
  const std::vector<int64_t> sizes(2000, 3);
  const auto graphs = Segments::of_sizes(sizes);
  const Tensor x = at::ones({6000, 2}, at::kDouble);
  for (const auto by : {DropPathBy::graph, DropPathBy::node}) {
    const Tensor y = drop_path(x, graphs, 0.25, by);
    EXPECT_NEAR(y.mean().item<double>(), 1, 0.05);
    EXPECT_LT(difference(y * (y - 1 / 0.75), at::zeros_like(y)), 1e-12);  // each row is 0 or 1 / (1 - rate)
    const double spread_in_graphs = y.view({2000, 3, 2}).std(1).max().item<double>();
    EXPECT_EQ(spread_in_graphs > 0.5, by == DropPathBy::node) << spread_in_graphs;
  }
  EXPECT_TRUE(drop_path(x, graphs, 0, DropPathBy::graph).is_same(x));
}

TEST(BatchNorm, TakesMeanAndVarianceOfTheBatchAndKeepsThem) {
  const BuildOn float64(at::kCPU, at::kDouble);
  BatchNorm norm(1, /*epsilon=*/0);
  const auto p = norm.parameters();
  p[0].tensor.detach().fill_(2);    // weight
  p[1].tensor.detach().fill_(0.5);  // bias
  const Tensor x = at::tensor({1., 3.}, at::kDouble).view({2, 1});
  EXPECT_LT(difference(norm(x), at::tensor({-1.5, 2.5}, at::kDouble).view({2, 1})), 1e-12);
  EXPECT_EQ(p[2].name, "running_mean");
  EXPECT_NEAR(p[2].tensor.item<double>(), 0.9 * 0 + 0.1 * 2, 1e-12);
  EXPECT_NEAR(p[3].tensor.item<double>(), 0.9 * 1 + 0.1 * 2, 1e-12);  // of a sample: divided by B - 1
  // One row, or none, has no variance: by what is kept, which stays.
  EXPECT_NEAR(norm(x.narrow(0, 1, 1)).item<double>(), 2 * 2.8 / std::sqrt(1.1) + 0.5, 1e-12);
  EXPECT_EQ(norm(x.narrow(0, 0, 0)).size(0), 0);
  norm.train(false);
  EXPECT_NEAR(norm(x)[1].item<double>(), 2 * 2.8 / std::sqrt(1.1) + 0.5, 1e-12);
  EXPECT_NEAR(p[2].tensor.item<double>(), 0.2, 1e-12);
}

TEST(BatchNorm, HasTheDerivativesOfDifferences) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const BatchNorm norm(3);
  expect_gradients([&](const std::vector<Tensor>& x) { return norm(x[0]); },
                   {at::randn({5, 3}, at::kDouble)});
}

TEST(Pooling, OfEmptyAndOtherGraphs) {
  const auto graphs = Segments::of_sizes(std::vector<int64_t>{2, 0, 1});
  const Tensor x = at::tensor({1., 3., 5.}, at::kDouble).view({3, 1});
  const auto numbers = [](const Tensor& t) {
    return std::vector<double>(t.const_data_ptr<double>(), t.const_data_ptr<double>() + t.numel());
  };
  EXPECT_EQ(numbers(pool_nodes(x, graphs, Pooling::sum, 2)), (std::vector<double>{2, 0, 2.5}));
  EXPECT_EQ(numbers(pool_nodes(x, graphs, Pooling::mean, 2)), (std::vector<double>{2, 0, 5}));
  EXPECT_EQ(numbers(counts_of(graphs, x)), (std::vector<double>{2, 1, 1}));
  EXPECT_EQ(numbers(spread(at::tensor({7., 8., 9.}, at::kDouble), graphs)), (std::vector<double>{7, 7, 9}));
  EXPECT_EQ(pool_nodes(at::zeros({0, 4}), Segments::of_sizes({}), Pooling::mean, 2).sizes(),
            at::IntArrayRef({0, 4}));
}

}  // namespace layers_test
}  // namespace weyl
