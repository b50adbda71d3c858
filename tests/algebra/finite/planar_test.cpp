#include "weyl/algebra/finite/point_groups.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/laws.h"
#include "weyl/core/check.h"

namespace weyl {
namespace planar_test {

TEST(Planar, TurnsAreCosinesAndSines) {
  for (int64_t n = 1; n <= 64; ++n) {
    for (int64_t k = -n; k <= 2 * n; ++k) {
      const auto [c, s] = turn(k, n);
      const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      EXPECT_NEAR(c, std::cos(angle), 3e-15);
      EXPECT_NEAR(s, std::sin(angle), 3e-15);
    }
  }
}

TEST(Planar, TurnsAreExactWhereTheyCanBe) {
  using Pair = std::pair<double, double>;
  EXPECT_EQ(turn(1, 4), (Pair{0, 1}));
  EXPECT_EQ(turn(2, 4), (Pair{-1, 0}));
  EXPECT_EQ(turn(3, 4), (Pair{0, -1}));
  EXPECT_EQ(turn(1, 6).first, 0.5);
  EXPECT_EQ(turn(2, 6).first, -0.5);
  EXPECT_EQ(turn(1, 12).second, 0.5);
  EXPECT_EQ(turn(1, 8).first, turn(1, 8).second);
  for (int64_t n = 2; n <= 64; ++n) {
    for (int64_t k = 0; k < n; ++k) {
      EXPECT_EQ(turn(k, n).first, turn(n - k, n).first);
      EXPECT_EQ(turn(k, n).second, -turn(n - k, n).second);
    }
  }
  EXPECT_THROW(turn(1, 0), ConfigError);
}

TEST(Planar, DihedralIsRotationsThenRotationsOfTheFlip) {
  const auto group = dihedral(6);
  EXPECT_FALSE(group.abelian());
  const auto flip = group.element(6);
  EXPECT_EQ((std::vector<double>{flip.begin(), flip.end()}), (std::vector<double>{1, 0, 0, -1}));
  for (int64_t k = 0; k < 6; ++k) {
    EXPECT_EQ(group.product(k, 6), 6 + k);
    EXPECT_EQ(group.determinant(6 + k), -1);
  }
}

TEST(Planar, FlopsFlipTheCoordinateOfTheAuthors) {
  EXPECT_EQ(laws::matrix(flop_2d(1), 1), (std::vector<double>{1, 0, 0, -1}));
  EXPECT_EQ(laws::matrix(flop_2d(2), 1), (std::vector<double>{-1, 0, 0, 1}));
  EXPECT_THROW(flop_2d(3), ConfigError);
}

}  // namespace planar_test
}  // namespace weyl
