#include "weyl/core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "weyl/core/check.h"

namespace weyl {
namespace random_test {

// The known answers that the authors publish with Random123 (kat_vectors, philox4x32, 10 rounds).
TEST(Philox, GivesThePublishedKnownAnswers) {
  using Counter = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t f = 0xffffffff;
  EXPECT_EQ(philox4x32({f, f, f, f}, {f, f}), (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// These numbers may never change: data sets and runs of the past are named by their seeds.
TEST(Stream, IsFixedForEver) {
  Stream s(43, "nbody", {7, 1});
  EXPECT_EQ(s.bits(), 0x3f1f930d17363594);
  EXPECT_EQ(s.bits(), 0xc23cf95993398129);
  EXPECT_EQ(s.bits(), 0xfa8d76084722b628);
  EXPECT_EQ(Stream(0, "").permutation(6), (std::vector<int64_t>{0, 3, 4, 5, 2, 1}));
}

TEST(Stream, IsAPureFunctionOfSeedNameAndIndices) {
  Stream a(1, "augment", {3, 4}), b(1, "augment", {3, 4});
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(a.bits(), b.bits());
  }
  Stream copy = a;
  EXPECT_EQ(copy.normal(), a.normal());
  EXPECT_EQ(copy.normal(), a.normal());
}

TEST(Stream, EverySeedNameAndIndexHasAStreamOfItsOwn) {
  std::set<uint64_t> firsts;
  size_t streams = 0;
  const auto add = [&](Stream s) {
    firsts.insert(s.bits());
    ++streams;
  };
  for (uint64_t seed = 0; seed < 200; ++seed) {
    for (const char* name : {"", "a", "b", "ab", "order", "augment"}) {
      add(Stream(seed, name));
      for (uint64_t i = 0; i < 5; ++i) {
        add(Stream(seed, name, {i}));
        add(Stream(seed, name, {i, 0}));
        add(Stream(seed, name, {0, 0, i + 1}));
      }
    }
  }
  EXPECT_EQ(firsts.size(), streams);
}

double correlation(Stream a, Stream b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
  }
  return 12 * sum / n;
}

TEST(Stream, NeighbouringStreamsAreUncorrelated) {
  const int n = 20000;
  const double limit = 5 / std::sqrt(n);
  EXPECT_LT(std::abs(correlation(Stream(0, "order"), Stream(1, "order"), n)), limit);
  EXPECT_LT(std::abs(correlation(Stream(0, "order"), Stream(0, "augment"), n)), limit);
  EXPECT_LT(std::abs(correlation(Stream(0, "order", {0}), Stream(0, "order", {1}), n)), limit);
  EXPECT_LT(std::abs(correlation(Stream(0, "order", {0, 1}), Stream(0, "order", {1, 0}), n)), limit);
  Stream shifted(0, "order");
  shifted.uniform();
  EXPECT_LT(std::abs(correlation(Stream(0, "order"), shifted, n)), limit);
  // The control: a stream is correlated with itself.
  EXPECT_NEAR(correlation(Stream(0, "order"), Stream(0, "order"), n), 1, 0.05);
}

// Chi squared of counts against equal ones, in standard deviations from its mean.
double deviation(const std::vector<int64_t>& counts) {
  double total = 0, chi2 = 0;
  for (const auto c : counts) {
    total += static_cast<double>(c);
  }
  const double expected = total / static_cast<double>(counts.size());
  for (const auto c : counts) {
    chi2 += (static_cast<double>(c) - expected) * (static_cast<double>(c) - expected) / expected;
  }
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (chi2 - freedom) / std::sqrt(2 * freedom);
}

TEST(Stream, UniformFillsTheIntervalEvenly) {
  Stream s(5, "uniform");
  std::vector<int64_t> counts(100);
  for (int i = 0; i < 200000; ++i) {
    const double u = s.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    ++counts[static_cast<size_t>(u * 100)];
  }
  EXPECT_LT(std::abs(deviation(counts)), 5);
  // The control: a square of a uniform number is not uniform.
  std::fill(counts.begin(), counts.end(), 0);
  for (int i = 0; i < 200000; ++i) {
    ++counts[static_cast<size_t>(std::pow(s.uniform(), 2) * 100)];
  }
  EXPECT_GT(deviation(counts), 100);
}

TEST(Stream, EveryBitIsSetHalfTheTime) {
  Stream s(6, "bits");
  std::vector<int> set(64);
  const int n = 20000;
  for (int i = 0; i < n; ++i) {
    const uint64_t b = s.bits();
    for (int j = 0; j < 64; ++j) {
      set[j] += (b >> j) & 1;
    }
  }
  for (int j = 0; j < 64; ++j) {
    EXPECT_NEAR(set[j], n / 2, 5 * std::sqrt(n) / 2) << "bit " << j;
  }
}

TEST(Stream, NormalHasTheMomentsOfAGaussian) {
  Stream s(7, "normal");
  const int n = 200000;
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, neighbours = 0, last = 0, tail = 0;
  for (int i = 0; i < n; ++i) {
    const double x = s.normal();
    ASSERT_TRUE(std::isfinite(x));
    m1 += x, m2 += x * x, m3 += x * x * x, m4 += x * x * x * x, neighbours += x * last,
        tail += std::abs(x) > 1.959964;
    last = x;
  }
  const double root = std::sqrt(n);
  EXPECT_NEAR(m1 / n, 0, 5 / root);
  EXPECT_NEAR(m2 / n, 1, 5 * std::sqrt(2) / root);
  EXPECT_NEAR(m3 / n, 0, 5 * std::sqrt(15) / root);
  EXPECT_NEAR(m4 / n, 3, 5 * std::sqrt(96) / root);
  EXPECT_NEAR(neighbours / n, 0, 5 / root);
  EXPECT_NEAR(tail / n, 0.05, 5 * std::sqrt(0.05 * 0.95) / root);
}

TEST(Stream, BelowIsUnbiasedForEveryN) {
  for (const int64_t n : {1, 2, 3, 7, 10, 100}) {
    Stream s(8, "below", {static_cast<uint64_t>(n)});
    std::vector<int64_t> counts(n);
    for (int i = 0; i < 50000; ++i) {
      const int64_t k = s.below(n);
      ASSERT_TRUE(k >= 0 && k < n);
      ++counts[k];
    }
    if (n > 1) {
      EXPECT_LT(std::abs(deviation(counts)), 6) << n;
    }
  }
  // Three quarters of 2^63: a plain remainder would favour the lower third twice.
  Stream s(9, "below");
  const int64_t n = int64_t{3} << 61;
  int low = 0;
  for (int i = 0; i < 30000; ++i) {
    low += s.below(n) < n / 3;
  }
  EXPECT_NEAR(low, 10000, 5 * std::sqrt(30000 * 2.0 / 9));
  EXPECT_THROW(s.below(0), ShapeError);
  EXPECT_THROW(s.below(-1), ShapeError);
}

TEST(Stream, EveryPermutationIsEquallyLikely) {
  std::map<std::vector<int64_t>, int64_t> counts;
  Stream s(10, "permutation");
  for (int i = 0; i < 24000; ++i) {
    ++counts[s.permutation(4)];
  }
  ASSERT_EQ(counts.size(), 24u);
  std::vector<int64_t> values;
  for (const auto& [order, count] : counts) {
    values.push_back(count);
  }
  EXPECT_LT(std::abs(deviation(values)), 5);
  EXPECT_TRUE(s.permutation(0).empty());
  EXPECT_EQ(s.permutation(1), std::vector<int64_t>{0});
  auto large = s.permutation(1000);
  EXPECT_FALSE(std::is_sorted(large.begin(), large.end()));
  std::sort(large.begin(), large.end());
  for (int64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(large[i], i);
  }
  EXPECT_THROW(s.permutation(-1), ShapeError);
}

}  // namespace random_test
}  // namespace weyl
