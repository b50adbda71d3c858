#include "weyl/ops/constants.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace weyl {
namespace constants_test {

TEST(Constants, AreTheNumbersGiven) {
  EXPECT_TRUE(at::equal(constant({3, -1, 4}, at::kCPU), at::tensor({3, -1, 4}, at::kLong)));
  const std::vector<double> halves{0.5, -1.5};
  EXPECT_TRUE(at::equal(constant(halves, at::kFloat, at::kCPU), at::tensor(halves, at::kFloat)));
  EXPECT_EQ(constant(at::IntArrayRef{}, at::kCPU).sizes(), at::IntArrayRef({0}));
}

// The meta device stands for any that is not the CPU: lists are told apart by numbers, kinds and device.
TEST(Constants, OfADeviceAreMadeOnce) {
  const auto of = [](const std::vector<double>& x, at::ScalarType type) {
    return constant(x, type, at::kMeta);
  };
  EXPECT_TRUE(of({1, 2}, at::kFloat).is_same(of({1, 2}, at::kFloat)));
  EXPECT_FALSE(of({1, 2}, at::kFloat).is_same(of({1, 2}, at::kDouble)));
  EXPECT_FALSE(of({1, 2}, at::kFloat).is_same(of({1, 3}, at::kFloat)));
  EXPECT_FALSE(constant({1, 2}, at::kCPU).is_same(constant({1, 2}, at::kCPU)));
}

}  // namespace constants_test
}  // namespace weyl
