// How a batch is cut among ranks and gradients into buckets.
#include "weyl/parallel/shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace shares_test {

/// Sizes as of OMol's molecules: lognormal, 2 to 350 atoms.
std::vector<int64_t> molecules(int64_t count, uint64_t batch) {
  Stream stream(3, "molecules", {batch});
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < count; ++i) {
    sizes.push_back(std::clamp<int64_t>(std::lround(std::exp(3.7 + 0.7 * stream.normal())), 2, 350));
  }
  return sizes;
}

TEST(Shares, HoldEachSampleOnceInOrder) {
  for (const int ranks : {1, 2, 3, 8}) {
    const auto work = molecules(20, 0);
    const auto shares = shares_of(work, ranks);
    ASSERT_EQ(static_cast<int>(shares.size()), ranks);
    std::multiset<int64_t> seen;
    for (const auto& share : shares) {
      EXPECT_TRUE(std::ranges::is_sorted(share));
      seen.insert(share.begin(), share.end());
    }
    EXPECT_EQ(seen.size(), 20U);
    EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 20U);
  }
}

TEST(Shares, GoByWorkAndTiesByIndex) {
  const std::vector<int64_t> work{1, 9, 4, 4, 2};
  // 9 | 4 4 2 1 is cut 9, 1 | 4, 4, 2.
  EXPECT_EQ(shares_of(work, 2), (std::vector<std::vector<int64_t>>{{0, 1}, {2, 3, 4}}));
  EXPECT_EQ(shares_of(std::vector<int64_t>{5, 5, 5}, 2), (std::vector<std::vector<int64_t>>{{0, 2}, {1}}));
  EXPECT_EQ(shares_of(std::vector<int64_t>{7}, 3), (std::vector<std::vector<int64_t>>{{0}, {}, {}}));
  EXPECT_EQ(shares_of(std::vector<int64_t>{}, 2), (std::vector<std::vector<int64_t>>{{}, {}}));
  EXPECT_THROW(shares_of(work, 0), ShapeError);
}

// Eight samples a rank: cut by their number alone ranks of 64 would work half of the time.
TEST(Shares, AreBalanced) {
  for (const int ranks : {2, 3, 8, 64}) {
    double balance = 0, by_number = 0;
    constexpr int batches = 20;
    for (uint64_t b = 0; b < batches; ++b) {
      const auto work = molecules(8 * ranks, b);
      balance += balance_of(work, shares_of(work, ranks)) / batches;
      std::vector<std::vector<int64_t>> cut(static_cast<size_t>(ranks));
      for (int64_t i = 0; i < 8 * ranks; ++i) {
        cut[static_cast<size_t>(i / 8)].push_back(i);
      }
      by_number += balance_of(work, cut) / batches;
    }
    EXPECT_GE(balance, 0.97) << ranks << " ranks";
    EXPECT_LT(by_number, 0.93) << ranks << " ranks";
  }
}

// Where a token's pairs cost as much as its maps in a graph of 400: by tokens alone the rank with the largest molecule is late.
TEST(Shares, OfPairsAreBalancedByThemAlone) {
  double balance = 0, by_tokens = 0;
  constexpr int batches = 20, ranks = 8;
  for (uint64_t b = 0; b < batches; ++b) {
    const auto tokens = molecules(8 * ranks, b);
    std::vector<int64_t> work;
    for (const int64_t n : tokens) {
      work.push_back(400 * n + n * n);
    }
    balance += balance_of(work, shares_of(work, ranks)) / batches;
    by_tokens += balance_of(work, shares_of(tokens, ranks)) / batches;
  }
  EXPECT_GE(balance, 0.95);
  EXPECT_LT(by_tokens, 0.92);
}

TEST(Buckets, GoFromTheLastParameterBySizesAlone) {
  const std::vector<int64_t> bytes{10, 4, 4, 30, 1, 1};
  const auto buckets = buckets_of(bytes, 10);
  ASSERT_EQ(buckets.size(), 4U);
  EXPECT_EQ(buckets[0].parameters, (std::vector<size_t>{4, 5}));
  EXPECT_EQ(buckets[1].parameters, (std::vector<size_t>{3}));  // larger than a bucket
  EXPECT_EQ(buckets[2].parameters, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(buckets[3].parameters, (std::vector<size_t>{0}));
  EXPECT_EQ(buckets[2].bytes, 8);
  EXPECT_TRUE(buckets_of({}, 10).empty());
}

}  // namespace shares_test
}  // namespace weyl
