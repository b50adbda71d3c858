#include "weyl/core/numpy_random.h"

#include <gtest/gtest.h>

namespace weyl {
namespace numpy_random_test {

TEST(NumpyRandom, IsNumpysLegacyStream) {
  // numpy.random.RandomState(43): random_sample(3), then randn(3); made with numpy 2.
  NumpyRandom random(43);
  EXPECT_EQ(random.uniform(), 0.11505456638977896);
  EXPECT_EQ(random.uniform(), 0.6090665392794814);
  EXPECT_EQ(random.uniform(), 0.13339096418598828);
  EXPECT_NEAR(random.normal(), -0.762324775442468, 1e-15);
  EXPECT_NEAR(random.normal(), -1.1440117988208052, 1e-15);
  EXPECT_NEAR(random.normal(), 0.406094210414111, 1e-15);
}

TEST(NumpyRandom, PermutesAsNumpyDoes) {
  // numpy.random.RandomState(seed).permutation(n).tolist(), made with numpy 2.4.6
  using Order = std::vector<int64_t>;
  EXPECT_EQ(NumpyRandom(42).permutation(10), (Order{8, 1, 5, 0, 7, 2, 9, 4, 3, 6}));
  EXPECT_EQ(NumpyRandom(0).permutation(17),
            (Order{1, 6, 8, 9, 13, 4, 2, 14, 10, 7, 16, 11, 3, 0, 5, 15, 12}));
  EXPECT_EQ(NumpyRandom(4294967295U).permutation(5), (Order{4, 1, 0, 2, 3}));
  EXPECT_EQ(NumpyRandom(42).permutation(1), Order{0});
  EXPECT_EQ(NumpyRandom(42).permutation(0), Order{});
  EXPECT_EQ(NumpyRandom(42).permutation(256)[0], 228);
  EXPECT_EQ(NumpyRandom(42).permutation(257)[0], 165);
  const Order qm9 = NumpyRandom(42).permutation(130831);
  EXPECT_EQ(Order(qm9.begin(), qm9.begin() + 5), (Order{112526, 100113, 55940, 12786, 34071}));
  EXPECT_EQ(Order(qm9.begin() + 110000, qm9.begin() + 110003), (Order{90042, 89438, 45073}));
  EXPECT_EQ(Order(qm9.end() - 3, qm9.end()), (Order{860, 15795, 121958}));
  int64_t sum = 0;
  for (size_t i = 0; i < qm9.size(); ++i) {
    sum += static_cast<int64_t>(i) * qm9[i];
  }
  EXPECT_EQ(sum, 560067296573472);
}

TEST(NumpyRandom, DiscardingIsDrawingWithoutLooking) {
  for (const int64_t before : {0, 1, 2}) {
    for (const int64_t skipped : {0, 1, 2, 7, 10}) {
      NumpyRandom a(5), b(5);
      for (int64_t i = 0; i < before; ++i) {
        a.normal();
        b.normal();
      }
      a.discard_normals(skipped);
      for (int64_t i = 0; i < skipped; ++i) {
        b.normal();
      }
      EXPECT_EQ(a.normal(), b.normal()) << before << " " << skipped;
      EXPECT_EQ(a.normal(), b.normal());
    }
  }
}

}  // namespace numpy_random_test
}  // namespace weyl
