#include "weyl/core/permutation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace permutation_test {

Permutation of(int64_t n, uint64_t seed, uint64_t epoch = 0) {
  return {n, Stream(seed, "order", {epoch})};
}

std::vector<int64_t> all_of(const Permutation& p) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < p.size(); ++i) {
    all.push_back(p(i));
  }
  return all;
}

TEST(Permutation, HasEachNumberOnce) {
  std::vector<int64_t> sizes{255, 256, 257, 1000, 4095, 4097, 65537, 100003};
  for (int64_t n = 1; n <= 130; ++n) {
    sizes.push_back(n);
  }
  for (const int64_t n : sizes) {
    std::vector<int64_t> every(static_cast<size_t>(n));
    std::iota(every.begin(), every.end(), 0);
    auto all = all_of(of(n, 7));
    EXPECT_TRUE(n < 20 || all != every) << n;
    std::ranges::sort(all);
    EXPECT_EQ(all, every) << n;
  }
}

TEST(Permutation, DependsOnTheStreamAlone) {
  EXPECT_EQ(all_of(of(1000, 3)), all_of(of(1000, 3)));
  EXPECT_NE(all_of(of(1000, 3)), all_of(of(1000, 4)));
  EXPECT_NE(all_of(of(1000, 3)), all_of(of(1000, 3, 1)));
  EXPECT_THROW(of(0, 1), ShapeError);
  EXPECT_THROW(of(5, 1)(5), ShapeError);
  EXPECT_THROW(of(5, 1)(-1), ShapeError);
}

TEST(Permutation, ReachesPlacesOfThirtyFourMillion) {
  constexpr int64_t n = 34'000'001;
  const Permutation p = of(n, 1);
  double sum = 0;
  for (int64_t i = 0; i < 20000; ++i) {
    const int64_t x = p(i * (n / 20000));
    ASSERT_GE(x, 0);
    ASSERT_LT(x, n);
    sum += static_cast<double>(x) / static_cast<double>(n);
  }
  EXPECT_NEAR(sum / 20000, 0.5, 5 / std::sqrt(12 * 20000.0));  // five standard errors of a uniform mean
}

/// The sum over cells of (seen - expected)^2 / expected, less its mean, in its standard deviations.
template <class Cell>
double chi_square_excess(int64_t n, int64_t cells, int64_t seeds, const Cell& cell) {
  std::vector<double> seen(static_cast<size_t>(cells), 0);
  double draws = 0;
  for (int64_t seed = 0; seed < seeds; ++seed) {
    draws += cell(of(n, static_cast<uint64_t>(seed)), seen);
  }
  const double expected = draws / static_cast<double>(cells);
  double sum = 0;
  for (const double count : seen) {
    sum += (count - expected) * (count - expected) / expected;
  }
  const auto freedom = static_cast<double>(cells - 1);
  return (sum - freedom) / std::sqrt(2 * freedom);
}

// Over seeds each number is as often at each place, each pair as often at two neighbouring places, and neighbours are as far apart
// as in a uniform order. The identity fails.
TEST(Permutation, IsUniformEnough) {
  constexpr int64_t n = 23;
  EXPECT_LT(std::abs(chi_square_excess(n, n * n, 20000,
                                       [](const Permutation& p, std::vector<double>& seen) {
                                         for (int64_t i = 0; i < n; ++i) {
                                           ++seen[static_cast<size_t>(i * n + p(i))];
                                         }
                                         return static_cast<double>(n);
                                       })),
            5);
  EXPECT_LT(std::abs(chi_square_excess(n, n * (n - 1), 20000,
                                       [](const Permutation& p, std::vector<double>& seen) {
                                         const int64_t a = p(0), b = p(1);
                                         ++seen[static_cast<size_t>(a * (n - 1) + b - (b > a ? 1 : 0))];
                                         return 1.0;
                                       })),
            5);
  constexpr int64_t many = 100003;
  EXPECT_LT(std::abs(chi_square_excess(many, 64, 1,
                                       [](const Permutation& p, std::vector<double>& seen) {
                                         for (int64_t i = 0; i + 1 < many; ++i) {  // on a ring
                                           const int64_t apart = (p(i + 1) - p(i) + many) % many;
                                           ++seen[static_cast<size_t>(apart * 64 / many)];
                                         }
                                         return static_cast<double>(many - 1);
                                       })),
            5);
  EXPECT_GT(chi_square_excess(n, n * n, 100,
                              [](const Permutation&, std::vector<double>& seen) {
                                for (int64_t i = 0; i < n; ++i) {
                                  ++seen[static_cast<size_t>(i * n + i)];
                                }
                                return static_cast<double>(n);
                              }),
            5);
}

}  // namespace permutation_test
}  // namespace weyl
