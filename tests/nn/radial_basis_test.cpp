#include "weyl/nn/radial_basis.h"

#include <cmath>
#include <memory>
#include <numbers>

#include "tests/gradients.h"
#include "weyl/core/check.h"

namespace weyl {
namespace radial_basis_test {

constexpr double pi = std::numbers::pi;
const Tensor lengths = at::tensor({0.3, 1.1, 2.5, 4.2, 4.999, 5.0, 7.5}, at::kDouble);

std::vector<std::string> names_of(const Module& module) {
  std::vector<std::string> names;
  for (const Parameter& p : module.parameters()) {
    names.push_back(p.name);
  }
  return names;
}

TEST(ExpNormalBasis, IsItsFormula) {
  const BuildOn float64(at::kCPU, at::kDouble);
  for (const double lower : {0.0, 0.5}) {
    const ExpNormalBasis basis(6, 5, lower);
    const Tensor y = basis(lengths);
    const double start = std::exp(lower - 5), beta = std::pow(2.0 / 6 * (1 - start), -2);
    for (int64_t e = 0; e < lengths.size(0); ++e) {
      const double d = lengths[e].item<double>(), cutoff = d < 5 ? 0.5 * (std::cos(pi * d / 5) + 1) : 0;
      for (int k = 0; k < 6; ++k) {
        const double mean = start + (1 - start) * k / 5;
        const double t = std::exp(5 / (5 - lower) * (lower - d)) - mean;
        EXPECT_NEAR(y[e][k].item<double>(), cutoff * std::exp(-beta * t * t), 1e-13);
      }
    }
    EXPECT_EQ(names_of(basis), (std::vector<std::string>{"means", "betas"}));
    EXPECT_EQ(basis.parameter_count(), 0);
  }
  EXPECT_EQ(ExpNormalBasis(6, 5, 0, true).parameter_count(), 12);
}

TEST(BesselBasis, IsItsFormulaAndItsLimitAtZero) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const BesselBasis basis(4, 5);
  const Tensor y = basis(lengths), limit = basis(at::tensor({0.0, 1e-7}, at::kDouble));
  for (int k = 0; k < 4; ++k) {
    const double f = (k + 1) * pi / 5;
    for (int64_t e = 0; e < lengths.size(0); ++e) {
      const double d = lengths[e].item<double>();
      EXPECT_NEAR(y[e][k].item<double>(), std::sin(f * d) / d, 1e-14);
    }
    EXPECT_EQ(limit[0][k].item<double>(), f);
    EXPECT_NEAR(limit[1][k].item<double>(), f, 1e-10);
  }
  EXPECT_EQ(names_of(basis), (std::vector<std::string>{"freqs"}));
}

TEST(GaussianSmearing, IsItsFormula) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const GaussianSmearing basis(5, 5, 1);
  const Tensor y = basis(lengths);
  for (int64_t e = 0; e < lengths.size(0); ++e) {
    for (int k = 0; k < 5; ++k) {
      EXPECT_NEAR(y[e][k].item<double>(), std::exp(-0.5 * std::pow(lengths[e].item<double>() - 1 - k, 2)),
                  1e-14);
    }
  }
  EXPECT_EQ(names_of(basis), (std::vector<std::string>{"coeff", "offset"}));
}

TEST(RadialBasis, DerivativesAreRightAndFiniteAtZero) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const std::vector<std::shared_ptr<RadialBasis>> all{std::make_shared<ExpNormalBasis>(6, 5),
                                                      std::make_shared<BesselBasis>(4, 5),
                                                      std::make_shared<GaussianSmearing>(5, 5)};
  for (const auto& basis : all) {
    const auto f = [&](const auto& in) { return (*basis)(in[0]); };
    expect_second_gradients(f, {at::tensor({0.3, 1.1, 2.5, 4.2}, at::kDouble)});
    expect_finite_gradients(f, {at::tensor({0.0, 5.0, 9.0}, at::kDouble)});
    EXPECT_EQ((*basis)(at::zeros({0}, at::kDouble)).size(0), 0);
    EXPECT_THROW((*basis)(at::zeros({2, 1}, at::kDouble)), ShapeError);
  }
  EXPECT_THROW(ExpNormalBasis(0, 5), ShapeError);
  EXPECT_THROW(ExpNormalBasis(4, 5, 5), ShapeError);
  EXPECT_THROW(BesselBasis(4, 0), ShapeError);
  EXPECT_THROW(GaussianSmearing(1, 5), ShapeError);
}

TEST(RadialBasis, HasNoDenormalNumbers) {
  const Tensor d = at::linspace(0, 6, 2000, at::kFloat), types = at::zeros({2000}, at::kLong);
  at::manual_seed(4);
  const ExpNormalBasis normal(32, 5);
  const GaussianSmearing smearing(32, 5);
  const GaussianBasis gaussian(32, 1);
  for (const Tensor& y : {normal(d), smearing(d), gaussian(d, types)}) {
    EXPECT_FALSE(((y != 0) & (y.abs() < 1.2e-38)).any().item<bool>());
    EXPECT_TRUE((y == 0).any().item<bool>());
  }
}

TEST(RadialBasis, TrainedParametersHaveGradients) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const ExpNormalBasis basis(6, 5, 0, true);
  std::vector<Tensor> parameters;
  for (const Parameter& p : basis.parameters()) {
    parameters.push_back(p.tensor);
  }
  for (const Tensor& g : torch::autograd::grad({basis(lengths).sum()}, parameters)) {
    EXPECT_GT(g.abs().min().item<double>(), 0);
  }
}

TEST(GaussianBasis, IsItsFormulaForEachPairOfTypes) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(3);
  const GaussianBasis basis(5, 3, 1e-2);
  EXPECT_EQ(names_of(basis),
            (std::vector<std::string>{"means.weight", "stds.weight", "mul.weight", "bias.weight"}));
  std::vector<Tensor> p;
  for (const Parameter& parameter : basis.parameters()) {
    p.push_back(parameter.tensor);
  }
  EXPECT_GE(p[0].min().item<double>(), 0);
  EXPECT_LE(p[1].max().item<double>(), 3);
  EXPECT_TRUE(at::equal(p[2], at::ones({3, 1}, at::kDouble)));
  {
    const at::NoGradGuard quiet;
    p[1].select(1, 2).neg_();  // a negative deviation counts by its size
    p[2].copy_(at::randn({3, 1}, at::kDouble));
    p[3].copy_(at::randn({3, 1}, at::kDouble));
  }
  const Tensor types = at::tensor({0, 1, 2, 2, 1, 0, 0}, at::kLong), y = basis(lengths, types);
  for (int64_t e = 0; e < lengths.size(0); ++e) {
    const int64_t t = types[e].item<int64_t>();
    const double u = p[2][t][0].item<double>() * lengths[e].item<double>() + p[3][t][0].item<double>();
    for (int k = 0; k < 5; ++k) {
      const double s = std::abs(p[1][0][k].item<double>()) + 1e-2, z = (u - p[0][0][k].item<double>()) / s;
      EXPECT_NEAR(y[e][k].item<double>(), std::exp(-0.5 * z * z) / (std::sqrt(2 * pi) * s), 1e-12);
    }
  }
  expect_second_gradients([&](const auto& in) { return basis(in[0], types); }, {lengths});
  EXPECT_EQ(basis(at::zeros({0}, at::kDouble), at::zeros({0}, at::kLong)).sizes(), at::IntArrayRef({0, 5}));
  EXPECT_THROW(basis(lengths, types.slice(0, 1)), ShapeError);
  EXPECT_THROW(basis(lengths, types.to(at::kInt)), ShapeError);
  EXPECT_THROW(GaussianBasis(0, 1), ShapeError);
}

}  // namespace radial_basis_test
}  // namespace weyl
