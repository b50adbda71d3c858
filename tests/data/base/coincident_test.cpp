#include "weyl/data/base/coincident.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/sanitized.h"

namespace weyl {
namespace coincident_test {

/// What the words say, pair by pair.
bool by_definition(const std::vector<double>& x, int64_t dimension) {
  double low = INFINITY, high = -INFINITY;
  for (const double v : x) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  const auto n = static_cast<int64_t>(x.size()) / dimension;
  for (int64_t a = 0; a < n; ++a) {
    for (int64_t b = 0; b < a; ++b) {
      bool near = true;
      for (int64_t d = 0; d < dimension; ++d) {
        near = near && std::abs(x[a * dimension + d] - x[b * dimension + d]) <= coincidence * (high - low);
      }
      if (near) {
        return true;
      }
    }
  }
  return false;
}

TEST(Coincident, IsWhatItsDefinitionSays) {
  std::mt19937 random(1);
  int found = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const int64_t dimension = 1 + trial % 3;
    const int64_t n = 2 + trial % 12;
    // Two corners set the extent to 1; the rest lies on a lattice as fine as the tolerance, jittered.
    std::vector<double> x(static_cast<size_t>(2 * dimension), 0.0);
    std::fill(x.begin() + dimension, x.end(), 1.0);
    std::uniform_int_distribution<int> cell(0, 8);
    std::uniform_real_distribution<double> jitter(-0.3e-9, 0.3e-9);
    for (int64_t i = 0; i < n * dimension; ++i) {
      x.push_back(0.5 + 1.2e-9 * cell(random) + jitter(random));
    }
    const bool expected = by_definition(x, dimension);
    found += expected ? 1 : 0;
    ASSERT_EQ(has_coincident(x, dimension), expected) << "trial " << trial;
  }
  EXPECT_GT(found, 300);  // both answers are asked for
  EXPECT_LT(found, 2700);
}

TEST(Coincident, OfFewOrOfNoFinitePoints) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(has_coincident({}, 3));
  EXPECT_FALSE(has_coincident(std::vector<double>{1, 2, 3}, 3));
  EXPECT_TRUE(has_coincident(std::vector<double>{1, 1, 1, 1, 1, 1}, 3));
  EXPECT_FALSE(has_coincident(std::vector<double>{nan, 0, 0, nan, 0, 0}, 3));
  EXPECT_TRUE(has_coincident(std::vector<double>{0, 0, 5, 1, nan, 2, 0, 0}, 2));
  EXPECT_FALSE(has_coincident(std::vector<double>{-1e308, 1e308}, 1));
  EXPECT_TRUE(has_coincident(std::vector<double>{-1e308, 1e308, 1e308}, 1));
}

// A flat sheet of 100,000 points took a minute: all had the same first coordinate. This one would take a quarter of an
// hour, and CTest allows five minutes.
TEST(Coincident, EndsForPointsThatShareCoordinates) {
  constexpr int64_t n = under_sanitizers(40'000, 400'000);
  std::vector<double> sheet, chain;
  std::mt19937 random(2);
  std::uniform_real_distribution<double> anywhere(0, 1);
  for (int64_t i = 0; i < n; ++i) {
    sheet.insert(sheet.end(), {0, static_cast<double>(i), anywhere(random)});
    // Neighbours of a chain are within the tolerance in every coordinate but one, in turn.
    const double step = 0.6e-9 * static_cast<double>(i);
    chain.insert(chain.end(), {step, i % 2 == 0 ? 0 : 1.5e-9, (i / 2) % 2 == 0 ? 0 : 1.5e-9});
  }
  chain.insert(chain.end(), {1, 1, 1});
  for (auto* x : {&sheet, &chain}) {
    EXPECT_FALSE(has_coincident(*x, 3));
  }
}

}  // namespace coincident_test
}  // namespace weyl
