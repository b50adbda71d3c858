// Sums over nodes of extensive numbers: what float32 would lose.
#include "weyl/nn/pooling.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "weyl/core/segments.h"

namespace weyl {
namespace pooling_test {

constexpr int64_t kAtoms = 10000;

// 10^4 atoms of -1 eV: in float32 the sum has steps of 1e-3 eV.
TEST(SumNodes, SeesSmallChangesOfLargeSums) {
  const Segments graph = Segments::of_sizes(std::vector<int64_t>{kAtoms});
  const at::Tensor energies = at::full({kAtoms, 1}, -1.0F), changed = energies.clone();
  changed[1234] = changed[1234] + 1e-5F;
  const at::Tensor before = sum_nodes(energies, graph), after = sum_nodes(changed, graph);
  ASSERT_EQ(before.scalar_type(), at::kDouble);
  EXPECT_EQ(before.item<double>(), -1e4);
  EXPECT_NEAR((after - before).item<double>(), 1e-5, 1e-7);  // of -1 + 1e-5 in float32
  // The control: the same sums rounded to float32 are the same number.
  EXPECT_EQ(before.to(at::kFloat).item<float>(), after.to(at::kFloat).item<float>());
}

TEST(SumNodes, GivesAGraphTheSameBitsAloneAndInABatch) {
  at::manual_seed(4);
  const std::vector<int64_t> sizes{300, 0, 7, 4000, 1};
  const Segments all = Segments::of_sizes(sizes);
  const at::Tensor x = at::randn({4308, 2}) * 1e3;
  const at::Tensor together = sum_nodes(x, all);
  int64_t begin = 0;
  for (size_t g = 0; g < sizes.size(); ++g) {
    const at::Tensor alone =
        sum_nodes(x.narrow(0, begin, sizes[g]), Segments::of_sizes(std::vector<int64_t>{sizes[g]}));
    EXPECT_TRUE(at::equal(alone[0], together[static_cast<int64_t>(g)])) << g;
    begin += sizes[g];
  }
}

TEST(SumNodes, GradientsComeBackInTheDtypeOfTheNodes) {
  const at::Tensor x = at::randn({5, 1}).requires_grad_();
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{2, 3});
  (sum_nodes(x, graphs) * at::tensor({2.0, 3.0}, at::kDouble).view({2, 1})).sum().backward();
  ASSERT_EQ(x.grad().scalar_type(), at::kFloat);
  EXPECT_TRUE(at::equal(x.grad().flatten(), at::tensor({2.0F, 2.0F, 3.0F, 3.0F, 3.0F})));
}

}  // namespace pooling_test
}  // namespace weyl
