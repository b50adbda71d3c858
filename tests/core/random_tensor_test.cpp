#include "weyl/core/random_tensor.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace weyl {
namespace random_tensor_test {

TEST(RandomTensor, IsItsStreamInRowMajorOrder) {
  Stream stream(3, "tensor"), same(3, "tensor");
  const at::Tensor x = normal_tensor({2, 3}, stream), u = uniform_tensor({4}, -2, 6, stream);
  EXPECT_EQ(x.scalar_type(), at::kDouble);
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(x[i / 3][i % 3].item<double>(), same.normal());
  }
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(u[i].item<double>(), -2 + 8 * same.uniform());
  }
  EXPECT_EQ(normal_tensor({0, 3}, stream).sizes(), (std::vector<int64_t>{0, 3}));
}

TEST(RandomTensor, FollowsItsLaw) {
  Stream stream(4, "tensor");
  const at::Tensor x = normal_tensor({20000}, stream), u = uniform_tensor({20000}, -2, 6, stream);
  EXPECT_NEAR(x.mean().item<double>(), 0, 0.03);
  EXPECT_NEAR(x.square().mean().item<double>(), 1, 0.05);
  EXPECT_NEAR(u.mean().item<double>(), 2, 0.08);
  EXPECT_GE(u.min().item<double>(), -2);
  EXPECT_LT(u.max().item<double>(), 6);
}

}  // namespace random_tensor_test
}  // namespace weyl
