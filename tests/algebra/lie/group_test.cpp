// The laws of the six groups in both precisions, and what they take from outside.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "tests/algebra/lie/operations.h"
#include "tests/laws.h"
#include "tests/lie_groups.h"
#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace group_test {

TYPED_TEST_SUITE(LieLaws, LiePrecisions);

TYPED_TEST(LieLaws, ComposeAndInverseMakeAGroup) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    Of<TypeParam> of(group);
    using Numbers = typename Of<TypeParam>::Numbers;
    laws::Operations<Numbers> operations;
    operations.compose = [&](const Numbers& a, const Numbers& b) { return of.product(a, b); };
    operations.inverse = [&](const Numbers& a) { return of.back(a); };
    operations.identity.resize(of.size);
    of.identity(operations.identity);
    operations.distance = [&](const Numbers& a, const Numbers& b) {
      return Of<TypeParam>::distance(of, a, b);
    };
    std::vector<Numbers> samples;
    for (int k = 0; k < 6; ++k) {
      samples.push_back(of.random());
    }
    laws::expect_group_laws(operations, samples, 200 * this->eps);
    // Between is a^-1 b, and moving points is an action.
    for (const Numbers& a : samples) {
      for (const Numbers& b : samples) {
        Numbers relative(of.size), p(dimension_of(group), TypeParam(0.7)), first = p, both = p, twice = p;
        of.between(a, b, relative);
        EXPECT_LE(operations.distance(relative, of.product(of.back(a), b)), 200 * this->eps);
        of.act(b, p, first);
        of.act(a, first, twice);
        of.act(of.product(a, b), p, both);
        EXPECT_LE(largest_difference(both, twice), 200 * this->eps);
      }
    }
  }
}

TYPED_TEST(LieLaws, MatricesAreARepresentation) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    Of<TypeParam> of(group);
    for (int k = 0; k < 10; ++k) {
      const auto a = of.random(), b = of.random(), x = of.matrix(a);
      EXPECT_LE(largest_difference(of.matrix(of.product(a, b)), times(x, of.matrix(b))), 100 * this->eps);
      std::vector<TypeParam> again(of.size);
      of.from_matrix(x, again);
      EXPECT_LE(Of<TypeParam>::distance(of, a, again), 10 * this->eps);
      EXPECT_LE(of.Lie<TypeParam>::distance(x), 10 * this->eps);
    }
  }
}

TYPED_TEST(LieLaws, AdjointIsAHomomorphismAndMovesTheExponential) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    Of<TypeParam> of(group);
    double control = 0;
    for (int k = 0; k < 10; ++k) {
      const auto a = of.random(), b = of.random(), w = of.tangent(0.3);
      const auto Ad = of.square(&Lie<TypeParam>::adjoint, a), other = of.square(&Lie<TypeParam>::adjoint, b);
      const auto both = of.square(&Lie<TypeParam>::adjoint, of.product(a, b));
      double size = 1;
      for (const auto x : both) {
        size = worst_of(size, std::abs(x));
      }
      EXPECT_LE(largest_difference(both, times(Ad, other)), size * 200 * this->eps);
      control = worst_of(control, largest_difference(both, times(other, Ad)));
      const auto moved = of.product(of.product(a, of.exp_of(w)), of.back(a));
      EXPECT_LE(Of<TypeParam>::distance(of, moved, of.exp_of(times(Ad, w))), size * 200 * this->eps);
    }
    if (group != LieGroup::so2) {
      EXPECT_GT(control, 0.1) << "the reversed order is a homomorphism too";
    }
  }
}

TYPED_TEST(LieLaws, OrthonormalCoordinatesHaveTheFrobeniusNorm) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    Of<TypeParam> of(group);
    auto w = of.tangent(1);
    const auto physical = w;
    std::vector<TypeParam> X(of.m * of.m);
    of.hat(w, X);
    of.to_orthonormal(w);
    const double matrix = std::inner_product(X.begin(), X.end(), X.begin(), 0.0);
    EXPECT_NEAR(std::inner_product(w.begin(), w.end(), w.begin(), 0.0), matrix, 20 * this->eps * matrix);
    of.from_orthonormal(w);
    EXPECT_LE(largest_difference(w, physical), 4 * this->eps);
    // The blocks tile the coordinates.
    int at = 0;
    for (const LieBlock& block : blocks_of(group)) {
      EXPECT_EQ(block.begin, at);
      at += block.size;
    }
    EXPECT_EQ(at, degrees_of_freedom(group));
  }
}

TYPED_TEST(LieLaws, NewtonsStepRestoresTheNorm) {
  for (const LieGroup group : {LieGroup::so2, LieGroup::se2, LieGroup::so3, LieGroup::se3}) {
    Of<TypeParam> of(group);
    auto g = of.random();
    for (auto& x : g) {
      x *= TypeParam(1.001);
    }
    of.normalise(g);
    double square = 0;
    for (size_t i = g.size() - (dimension_of(group) == 2 ? 2 : 4); i < g.size(); ++i) {
      square += static_cast<double>(g[i]) * g[i];
    }
    EXPECT_NEAR(square, 1, 4e-6);  // 3 (1e-3)^2 and rounding: quadratic
    EXPECT_GT(std::abs(1.001 * 1.001 - 1), 1e-3);
  }
}

TEST(LieInput, OffTheGroupSaysByHowMuch) {
  const Lie<double> se2(LieGroup::se2), so3(LieGroup::so3), aff2(LieGroup::aff2);
  std::vector<double> g(4), q(4), a(6);
  const auto message = [](auto run) {
    try {
      run();
    } catch (const ShapeError& e) {
      return std::string(e.what());
    }
    return std::string("nothing thrown");
  };
  EXPECT_EQ(message([&] { se2.from_matrix(std::vector<double>{1, 0.5, 2, 0, 1, 3, 0, 0, 1}, g); }),
            "Lie::from_matrix: matrix must be in se2, but it is not orthogonal, off by 0.5 (at most 0.0001)");
  EXPECT_EQ(
      message([&] { se2.from_matrix(std::vector<double>{1, 0, 2, 0, 1, 3, 0, 0.25, 1}, g); }),
      "Lie::from_matrix: matrix must be in se2, but it has a last row that is not 0 .. 0 1, off by 0.25 (at "
      "most 0.0001)");
  EXPECT_EQ(message([&] { so3.from_matrix(std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, -1}, q); }),
            "Lie::from_matrix: matrix must be in so3, but it is a reflection");
  EXPECT_EQ(message([&] { aff2.from_matrix(std::vector<double>{1, 2, 0, 2, 4, 0, 0, 0, 1}, a); }),
            "Lie::from_matrix: matrix must be in aff2, but it is singular");
  EXPECT_EQ(message([&] { so3.from_matrix(std::vector<double>{NAN, 0, 0, 0, 1, 0, 0, 0, 1}, q); }),
            "Lie::from_matrix: matrix must be in so3, but it has numbers that are not finite");
  EXPECT_EQ(message([&] { so3.from_matrix(std::vector<double>(4), q); }),
            "Lie::from_matrix: matrix must have 9 numbers, got 4");
  aff2.from_matrix(std::vector<double>{1, 0, 5, 0, -1, 6, 0, 0, 1}, a);  // a reflection is an affine map
  EXPECT_EQ(a, (std::vector<double>{1, 0, 0, -1, 5, 6}));
}

TEST(LieInput, NearestRotationMinimisesTheDistance) {
  Of<double> of(LieGroup::so3);
  for (int k = 0; k < 40; ++k) {
    std::vector<double> m(9), q(4);
    std::ranges::generate(m, [&] { return of.stream.normal(); });
    of.nearest(m, q);
    const auto best = of.matrix(q);
    const double found = std::inner_product(m.begin(), m.end(), best.begin(), 0.0);
    for (int other = 0; other < 50; ++other) {
      auto w = of.tangent(other % 2 ? 1e-3 : 1.0);
      const auto r = of.matrix(of.product(q, of.exp_of(w)));
      EXPECT_LE(std::inner_product(m.begin(), m.end(), r.begin(), 0.0), found + 1e-12);
    }
  }
  // To rounding, the nearest rotation of a rotation is itself.
  const auto g = of.random(), x = of.matrix(g);
  std::vector<double> q(4);
  of.nearest(x, q);
  EXPECT_LE(Of<double>::distance(of, g, q), 1e-15);
}

// The angle of uniform rotations has density (1 - cos theta)/pi; its mean is pi/2 + 2/pi.
TEST(LieInput, RandomRotationsAreUniform) {
  Of<double> of(LieGroup::so3);
  double sum = 0;
  const int count = 4000;
  for (int k = 0; k < count; ++k) {
    sum += std::numbers::pi - of.chart_margin(of.random());
  }
  const double mean = std::numbers::pi / 2 + 2 / std::numbers::pi, deviation = 0.65;
  EXPECT_NEAR(sum / count, mean, 4 * deviation / std::sqrt(count));
  Of<double> flat(LieGroup::so2);
  double c = 0, s = 0;
  for (int k = 0; k < count; ++k) {
    const auto g = flat.random();
    c += g[0];
    s += g[1];
  }
  EXPECT_LE(std::hypot(c, s) / count, 4 / std::sqrt(count));
}

}  // namespace group_test
}  // namespace weyl
