// Splines through values: they pass through them, keep constants up to the edge, and are linear in the
// middle.
#include "weyl/algebra/irreps/ring_filters.h"

#include <gtest/gtest.h>

#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace spline_interpolant_test {

TEST(SplineInterpolant, PassesThroughItsValues) {
  for (int64_t degree = 0; degree <= 5; ++degree) {
    for (const int64_t size : {2, 3, 5, 8}) {
      const SplineInterpolant spline(degree, size);
      for (int64_t i = 0; i < size; ++i) {
        const auto w = spline.weights(static_cast<double>(i));
        for (int64_t k = 0; k < size; ++k) {
          EXPECT_NEAR(w[k], i == k ? 1 : 0, 1e-13) << degree << " " << size;
        }
      }
    }
  }
}

TEST(SplineInterpolant, KeepsConstantsUpToTheEdge) {
  for (int64_t degree = 0; degree <= 5; ++degree) {
    for (const int64_t size : {2, 3, 5, 8}) {
      const SplineInterpolant spline(degree, size);
      for (double x = 0; x <= static_cast<double>(size - 1); x += 0.125) {
        double sum = 0;
        for (const double w : spline.weights(x)) {
          sum += w;
        }
        EXPECT_NEAR(sum, 1, 1e-13) << degree << " " << size << " " << x;
      }
    }
  }
}

TEST(SplineInterpolant, IsTheStraightLineBetweenNeighboursAtDegreeOne) {
  const auto w = SplineInterpolant(1, 4).weights(1.25);
  EXPECT_NEAR(w[1], 0.75, 1e-15);
  EXPECT_NEAR(w[2], 0.25, 1e-15);
  EXPECT_EQ(w[0], 0);
}

TEST(SplineInterpolant, FollowsACosineWithTheOrderOfItsDegree) {
  // cos(pi x / (size - 1)) is even about both ends, as mirrors have it.
  const int64_t size = 17;
  const auto worst = [&](int64_t degree) {
    const SplineInterpolant spline(degree, size);
    double off = 0;
    for (double x = 0; x <= 16; x += 0.25) {
      const auto w = spline.weights(x);
      double y = 0;
      for (int64_t i = 0; i < size; ++i) {
        y += w[i] * std::cos(M_PI * static_cast<double>(i) / 16);
      }
      off = worst_of(off, std::abs(y - std::cos(M_PI * x / 16)));
    }
    return off;
  };
  EXPECT_GT(worst(1), 1e-3);
  EXPECT_LT(worst(3), 1e-4);
  EXPECT_LT(worst(5), 1e-5);
}

TEST(SplineInterpolant, RefusesWhatIsNone) {
  EXPECT_THROW(SplineInterpolant(6, 4), ShapeError);
  EXPECT_THROW(SplineInterpolant(1, 1), ShapeError);
}

}  // namespace spline_interpolant_test
}  // namespace weyl
