#include "weyl/algebra/finite/finite_group.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "tests/laws.h"
#include "tests/sanitized.h"
#include "weyl/algebra/finite/point_groups.h"
#include "weyl/core/check.h"

namespace weyl {
namespace finite_group_test {

using Matrices = std::vector<std::vector<double>>;

std::string message_of(const std::function<void()>& make) {
  try {
    make();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no ConfigError";
}

TEST(FiniteGroup, RefusesElementsThatAreNoGroup) {
  const std::vector<double> one{1, 0, 0, 1}, quarter{0, -1, 1, 0}, flip{1, 0, 0, -1};
  const auto message = [](Matrices elements) {
    return message_of([&] { FiniteGroup("mine", 2, std::move(elements)); });
  };
  EXPECT_EQ(
      message({one, quarter}),
      "group 'mine': must be closed under products, got element 1 times element 1 which is none of the 2");
  EXPECT_EQ(message({one, flip, one}), "group 'mine': elements must differ, got elements 0 and 2 alike");
  EXPECT_EQ(message({one, {1, 0, 0, 2}}),
            "group 'mine': element 1 must be orthogonal to 1e-06, got |R^T R - 1| = 3");
  EXPECT_EQ(message({one, {1, 0, 0}}), "group 'mine': element 1 must have 2 x 2 entries, got 3");
  EXPECT_EQ(message({quarter}), "group 'mine': must hold the identity, got 1 elements without it");
  EXPECT_EQ(message({}), "group 'mine': must have at least one element, got none");
  EXPECT_EQ(message({one, {1, 0, 0, std::numeric_limits<double>::infinity()}}),
            "group 'mine': element 1 must be finite, got NaN or infinity");
  EXPECT_EQ(message_of([] { FiniteGroup("mine", 0, {{}}); }),
            "group 'mine': dimension must be 1 to 16, got 0");
}

TEST(FiniteGroup, AcceptsAnyOrderOfItsElementsAndAnyIdentity) {
  const FiniteGroup group("mine", 2, {{0, -1, 1, 0}, {-1, 0, 0, -1}, {1, 0, 0, 1}, {0, 1, -1, 0}});
  EXPECT_EQ(group.identity(), 2);
  EXPECT_EQ(group.product(0, 1), 3);
  EXPECT_EQ(group.inverse(0), 3);
  laws::expect_finite_group(group);
}

TEST(FiniteGroup, SignsAreAGroupInOneDimension) {
  const FiniteGroup group("signs", 1, {{1}, {-1}});
  EXPECT_TRUE(group.has_reflections());
  EXPECT_TRUE(group.abelian());
  laws::expect_finite_group(group);
}

TEST(FiniteGroup, NegativeZeroBecomesZero) {
  const FiniteGroup group("mine", 2, {{1, -0.0, -0.0, 1}});
  EXPECT_FALSE(std::signbit(group.element(0)[1]));
}

TEST(FiniteGroup, GeneratesTheIcosahedralGroupFromTwoTurns) {
  const double p = std::numbers::phi / 2, q = (std::numbers::phi - 1) / 2;
  const Matrices generators{{p, q, 0.5, q, 0.5, -p, -0.5, p, q}, {0, 0, 1, 1, 0, 0, 0, 1, 0}};
  const auto group = FiniteGroup::from_generators("icosahedral", 3, generators);
  EXPECT_EQ(group.order(), 60);
  EXPECT_EQ(group.identity(), 0);
  laws::expect_finite_group(group, 1e-14, 1e-14);
  // The same set of matrices as the exact table.
  const auto exact = icosahedron();
  const auto matrices = laws::orthogonal_matrices(3);
  for (int64_t g = 0; g < 60; ++g) {
    double nearest = INFINITY;
    for (int64_t h = 0; h < 60; ++h) {
      nearest = std::min(nearest, matrices.distance(laws::matrix(group, g), laws::matrix(exact, h)));
    }
    EXPECT_LT(nearest, 1e-14);
  }
}

TEST(FiniteGroup, GeneratesTheSymmetryOfAHexagonalPrism) {
  const double c = 0.5, s = std::sqrt(0.75);
  const auto group = FiniteGroup::from_generators(
      "D6h", 3, {{c, -s, 0, s, c, 0, 0, 0, 1}, {1, 0, 0, 0, -1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, -1}});
  EXPECT_EQ(group.order(), 24);
  EXPECT_TRUE(group.has_reflections());
  laws::expect_finite_group(group, 1e-14, 1e-14);
}

TEST(FiniteGroup, RefusesGeneratorsWithoutAFiniteGroup) {
  const auto message = [](Matrices generators) {
    return message_of([&] { FiniteGroup::from_generators("mine", 2, generators); });
  };
  EXPECT_EQ(
      message({{std::cos(1.0), -std::sin(1.0), std::sin(1.0), std::cos(1.0)}}),
      "group 'mine': generators must generate at most 240 elements, got more (no finite group, a larger one, "
      "or too few digits)");
  EXPECT_EQ(message({{1, 0, 0, 1}, {1, std::nan(""), 0, 1}}),
            "group 'mine': generator 1 must be finite, got NaN or infinity");
  EXPECT_NE(message({{1, 1, 0, 1}}).find("generator 0 must be orthogonal"), std::string::npos);
  EXPECT_EQ(FiniteGroup::from_generators("none", 2, {}).order(), 1);
}

TEST(FiniteGroup, KnowsWhetherItIsAbelian) {
  EXPECT_TRUE(octahedron_reflections().abelian());
  EXPECT_FALSE(tetrahedron().abelian());
}

// The control that laws.h promises: on an abelian group the reversed order is a homomorphism too, so a law
// test there could not tell left from right.
TEST(Laws, ControlCannotFailOnAnAbelianGroup) {
  const auto abelian = octahedron_reflections(), twisted = tetrahedron();
  const auto defect = [](const FiniteGroup& group) {
    const std::function<std::vector<double>(const int64_t&)> rho = [&](const int64_t& g) {
      return laws::matrix(group, g);
    };
    return laws::homomorphism_defect(rho, laws::operations(group), laws::orthogonal_matrices(3),
                                     laws::indices(group), true);
  };
  EXPECT_EQ(defect(abelian), 0);
  EXPECT_EQ(defect(twisted), 2);
}

TEST(Laws, HoldForOrthogonalMatricesAndTheirControlsFail) {
  const auto group = octahedron();
  std::vector<std::vector<double>> samples;
  for (int64_t g = 0; g < group.order(); ++g) {
    samples.push_back(laws::matrix(group, g));
  }
  laws::expect_group_laws(laws::orthogonal_matrices(3), samples, 1e-15);
  const std::function<std::vector<double>(const int64_t&)> rho = [&](const int64_t& g) { return samples[g]; };
  laws::expect_homomorphism(rho, laws::operations(group), laws::orthogonal_matrices(3), laws::indices(group),
                            1e-15);
}

// Each product is found by a search: to look for it among all elements would take 3.2e10 comparisons of matrices.
TEST(FiniteGroup, MayHaveThousandsOfElements) {
  EXPECT_EQ(named_group("icosahedron_full")->order(), 120);  // the largest that has a name
  constexpr int64_t n = under_sanitizers(400, 2000);
  const double c = std::cos(2 * std::numbers::pi / n), s = std::sin(2 * std::numbers::pi / n);
  const auto group = FiniteGroup::from_generators("mine", 2, {{c, -s, s, c}, {1, 0, 0, -1}}, 2 * n);
  ASSERT_EQ(group.order(), 2 * n);
  for (int64_t g = 0; g < 2 * n; ++g) {
    ASSERT_EQ(group.product(g, group.inverse(g)), group.identity());
    ASSERT_EQ(group.determinant(group.product(g, 1)), group.determinant(g));
  }
}

}  // namespace finite_group_test
}  // namespace weyl
