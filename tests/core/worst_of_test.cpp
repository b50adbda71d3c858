#include "weyl/core/worst_of.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace weyl {
namespace worst_of_test {

TEST(WorstOf, IsTheLargerAndKeepsNaN) {
  EXPECT_EQ(worst_of(1, 2), 2);
  EXPECT_EQ(worst_of(2, 1), 2);
  EXPECT_EQ(worst_of(-1, -2), -1);
  EXPECT_EQ(worst_of(3, INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(worst_of(1, NAN)));
  EXPECT_TRUE(std::isnan(worst_of(NAN, 1)));
  EXPECT_TRUE(std::isnan(worst_of(INFINITY, NAN)));
  EXPECT_TRUE(std::isnan(worst_of(0, std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(std::max(1.0, static_cast<double>(NAN)), 1);  // why there is one
}

}  // namespace worst_of_test
}  // namespace weyl
