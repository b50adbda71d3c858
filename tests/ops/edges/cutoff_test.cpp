#include "weyl/ops/edges/cutoff.h"

#include <cmath>
#include <functional>
#include <numbers>

#include "tests/gradients.h"
#include "weyl/core/check.h"

namespace weyl {
namespace cutoff_test {

using at::Tensor;

struct Law {
  CutoffLaw law;
  double lower;
  int64_t power;
  std::function<double(double)> formula;  // between lower and upper = 4
  int smooth;                             // continuous derivatives at the cutoff
};

const std::vector<Law>& laws() {
  constexpr double pi = std::numbers::pi;
  static const std::vector<Law> all{
      {CutoffLaw::cosine, 0, 6, [](double d) { return 0.5 * (std::cos(pi * d / 4) + 1); }, 1},
      {CutoffLaw::cosine, 1.5, 6,
       [](double d) { return 0.5 * (std::cos(pi * (2 * (d - 1.5) / 2.5 + 1)) + 1); }, 1},
      {CutoffLaw::polynomial, 0, 6,
       [](double d) {
         return 1 - 28 * std::pow(d / 4, 6) + 48 * std::pow(d / 4, 7) - 21 * std::pow(d / 4, 8);
       },
       2},
      {CutoffLaw::polynomial, 0, 3,
       [](double d) {
         return 1 - 10 * std::pow(d / 4, 3) + 15 * std::pow(d / 4, 4) - 6 * std::pow(d / 4, 5);
       },
       2},
      {CutoffLaw::polynomial, 0, 2,
       [](double d) { return 1 - 6 * std::pow(d / 4, 2) + 8 * std::pow(d / 4, 3) - 3 * std::pow(d / 4, 4); },
       2},
      {CutoffLaw::smooth, 0, 6, [](double d) { return std::exp(-d * d / (16 - d * d)); }, 3}};
  return all;
}

Tensor of(const Law& law, const Tensor& d) {
  return cutoff_weights(d, law.law, 4, law.lower, law.power);
}

TEST(Cutoff, LawsAreTheirFormulasAndZeroBeyond) {
  for (const Law& law : laws()) {
    for (int i = 0; i <= 120; ++i) {
      const double d = 0.05 * i, want = d < 4 && (law.lower == 0 || d > law.lower) ? law.formula(d) : 0;
      EXPECT_NEAR(of(law, at::full({}, d, at::kDouble)).item<double>(), want, 1e-14) << d;
    }
    EXPECT_EQ(of(law, at::tensor({4.0, 1e30}, at::kFloat)).abs().max().item<double>(), 0);
    EXPECT_TRUE(std::isnan(of(law, at::full({}, std::nan(""), at::kDouble)).item<double>()));
  }
}

/// The derivative of some order of f at d.
double derivative(const Law& law, double d, int order) {
  const Tensor x = at::full({}, d, at::kDouble).requires_grad_();
  Tensor y = of(law, x);
  for (int k = 0; k < order; ++k) {
    y = torch::autograd::grad({y}, {x}, {}, true, true)[0];
  }
  return y.item<double>();
}

TEST(Cutoff, DerivativesAreRightAndContinuousAtTheCutoff) {
  for (const Law& law : laws()) {
    expect_second_gradients([&](const auto& in) { return of(law, in[0]); },
                            {at::tensor({1.7, 2.2, 3.9, 4.5, 1.0}, at::kDouble)});
    for (int order = 0; order <= law.smooth; ++order) {
      EXPECT_NEAR(derivative(law, 4 - 1e-6, order), 0, 1e-4) << order;
      EXPECT_EQ(derivative(law, 4, order), 0) << order;
      EXPECT_EQ(derivative(law, 4 + 1e-6, order), 0) << order;
    }
    for (const double edge : {0.0, law.lower, 4.0}) {
      expect_finite_gradients([&](const auto& in) { return of(law, in[0]); },
                              {at::full({3}, edge, at::kDouble)});
    }
    EXPECT_NEAR(derivative(law, law.lower, 1), 0, 1e-12);
  }
  // The next derivative jumps: the test sees what it says.
  EXPECT_GT(std::abs(derivative(laws()[0], 4 - 1e-6, 2)), 0.1);
  EXPECT_GT(std::abs(derivative(laws()[2], 4 - 1e-6, 3)), 0.1);
}

// d / R of the last length below R can be 1 after rounding.
TEST(Cutoff, IsFiniteAtTheLastLengthsBelowTheCutoff) {
  const auto check = [](at::ScalarType dtype, double radius, double last) {
    for (const auto law : {CutoffLaw::cosine, CutoffLaw::polynomial, CutoffLaw::smooth}) {
      const Tensor d = at::full({}, last, dtype).requires_grad_();
      Tensor y = cutoff_weights(d, law, radius);
      EXPECT_LT(y.abs().item<double>(), 1e-4);
      for (int order = 1; order <= 3; ++order) {
        y = torch::autograd::grad({y}, {d}, {}, true, true)[0];
        EXPECT_TRUE(std::isfinite(y.item<double>())) << radius << " order " << order;
      }
    }
  };
  for (const double radius : {3.6, 3.9, 6.9, 7.2, 7.8, 5.0}) {
    check(at::kDouble, radius, std::nextafter(radius, 0.0));
  }
  for (const float radius : {3.4F, 3.5F, 3.9F, 6.3F, 6.8F, 7.0F, 7.5F, 7.8F, 5.0F}) {
    check(at::kFloat, radius, std::nextafter(radius, 0.0F));
  }
}

TEST(Cutoff, WrongRangesAreRefused) {
  const Tensor d = at::ones({2});
  EXPECT_THROW(cutoff_weights(d, CutoffLaw::cosine, 0), ShapeError);
  EXPECT_THROW(cutoff_weights(d, CutoffLaw::cosine, 4, 4), ShapeError);
  EXPECT_THROW(cutoff_weights(d, CutoffLaw::cosine, 4, -1), ShapeError);
  EXPECT_THROW(cutoff_weights(d, CutoffLaw::smooth, 4, 1), ShapeError);
  EXPECT_THROW(cutoff_weights(d, CutoffLaw::polynomial, 4, 0, 1), ShapeError);
  EXPECT_THROW(cutoff_weights(d.to(at::kLong), CutoffLaw::smooth, 4), ShapeError);
}

}  // namespace cutoff_test
}  // namespace weyl
