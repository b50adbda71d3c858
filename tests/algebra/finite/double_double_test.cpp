#include "weyl/algebra/finite/double_double.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numbers>

namespace weyl {
namespace double_double_test {

// |x - y| for y given by its two leading parts.
double error(const DoubleDouble& x, double high, double low) {
  return std::abs((x - DoubleDouble(high) - DoubleDouble(low)).high);
}

TEST(DoubleDouble, KeepsWhatADoubleLoses) {
  const DoubleDouble small(1e-25);
  EXPECT_EQ(((DoubleDouble(1) + small) - 1).high, 1e-25);
  EXPECT_EQ((1.0 + 1e-25) - 1, 0);  // control
  const DoubleDouble third = DoubleDouble(1) / 3;
  EXPECT_LT(std::abs((third * 3 - 1).high), 1e-31);
  EXPECT_EQ(rounded(third), 1.0 / 3);
  const DoubleDouble product = DoubleDouble(1, 1e-20) * DoubleDouble(1, -1e-20);
  EXPECT_LT(std::abs((product - 1).high), 1e-31);
  EXPECT_TRUE(DoubleDouble(1) < DoubleDouble(1, 1e-20));
  EXPECT_TRUE(DoubleDouble(1, 1e-20) > DoubleDouble(1));
  EXPECT_EQ(abs(DoubleDouble(-2)).high, 2);
}

TEST(DoubleDouble, RootsToAllDigits) {
  EXPECT_LT(error(sqrt(DoubleDouble(2)), 1.4142135623730951, -9.667293313452913e-17), 1e-31);
  EXPECT_EQ(sqrt(DoubleDouble(0)).high, 0);
  for (const double x : {3.0, 0.1, 1e-10, 7e12}) {
    const DoubleDouble root = sqrt(DoubleDouble(x));
    EXPECT_LT(std::abs((root * root - x).high), 1e-30 * x);
  }
}

TEST(DoubleDouble, CosinesOfTurnsToAllDigits) {
  EXPECT_EQ(cosine_of_turn(0, 1).high, 1);
  EXPECT_LT(std::abs(cosine_of_turn(1, 4).high), 1e-31);
  EXPECT_LT(std::abs((cosine_of_turn(1, 3) + 0.5).high), 1e-31);
  EXPECT_LT(std::abs((cosine_of_turn(1, 5) * 4 + 1 - sqrt(DoubleDouble(5))).high), 1e-30);
  EXPECT_LT(std::abs((cosine_of_turn(3, 8) + sqrt(DoubleDouble(0.5))).high), 1e-31);
  for (const int64_t n : {7, 12, 64, 240}) {
    DoubleDouble sum;
    for (int64_t k = -n; k < n; ++k) {
      const DoubleDouble c = cosine_of_turn(k, n);
      EXPECT_NEAR(c.high, std::cos(2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n)),
                  1e-15);
      EXPECT_LT(std::abs((c * c * 2 - 1 - cosine_of_turn(2 * k, n)).high), 1e-30);
      sum += c;
    }
    EXPECT_LT(std::abs(sum.high), 1e-29);
  }
}

TEST(DoubleDouble, RoundsRemaindersToZero) {
  EXPECT_EQ(rounded(DoubleDouble(1e-25)), 0);
  EXPECT_FALSE(std::signbit(rounded(DoubleDouble(-1e-25))));
  EXPECT_EQ(rounded(DoubleDouble(0.5, 1e-31)), 0.5);
}

}  // namespace double_double_test
}  // namespace weyl
