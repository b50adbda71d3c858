// Steerable nets: whole nets turn exactly where check_geometry says so, and where it names a layer they do
// not.
#include <gtest/gtest.h>

#include "tests/models/steerable/nets.h"

namespace weyl::steerable {
namespace net_test {

TEST(SteerableNets, TurnExactlyWithTheirGrid) {
  for (const Case& c : cases()) {
    for (const auto dtype : {at::kDouble, at::kFloat}) {
      const BuildOn on(at::kCPU, dtype);
      at::manual_seed(3);
      Net net(c.options, images(c.dimension, c.level));
      const Grid grid = random_grid(c.shape, dtype);
      EXPECT_TRUE(net.findings({c.shape.data() + 2, c.shape.size() - 2}).empty()) << c.name;
      wear(net, grid);
      EXPECT_LT(error_of(net, grid), dtype == at::kDouble ? 1e-12 : 1e-5) << c.name << " " << dtype;
      ASSERT_EQ(net.symmetry_for(grid).exact.size(), 1U) << c.name;
      EXPECT_EQ(net.symmetry_for(grid).exact[0].finite->order(), c.dimension == 2 ? 4 : 24);
    }
  }
}

TEST(SteerableNets, DoNotTurnWhereCheckGeometryNamesALayer) {
  const BuildOn wide(at::kCPU, at::kDouble);
  Options o = small();
  o.stages = {{2, 4, 3, 1, 8}};
  Net net(o, images(2, Level::node));
  const Grid grid = random_grid({1, 3, 29, 29}, at::kDouble);
  wear(net, grid);
  const auto findings = net.findings(std::vector<int64_t>{29, 29});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].layer, "stages[0].pool");
  EXPECT_EQ(findings[0].below, 24);
  EXPECT_EQ(findings[0].above, 32);
  EXPECT_GT(error_of(net, grid), 1e-3);
  EXPECT_TRUE(net.symmetry_for(grid).exact.empty());
  EXPECT_EQ(net.symmetry_for(grid).obstacles, (std::vector<std::string>{findings[0].text}));
  EXPECT_LT(error_of(net, random_grid({1, 3, 32, 32}, at::kDouble)), 1e-12);
}

TEST(SteerableNets, ClaimNothingOfUnevenSpacingAndTheCyclicForm) {
  const Net net(small(), images(3, Level::node));
  Grid grid = random_grid({1, 2, 8, 8, 8}, at::kFloat);
  EXPECT_EQ(net.symmetry_for(grid).exact.size(), 1U);
  EXPECT_EQ(net.symmetry_for(grid).approximate.size(), 1U);
  grid.spacing = {1, 1 + 1e-8, 1 - 1e-8};  // rounded by an affine in 32 bits
  EXPECT_EQ(net.symmetry_for(grid).exact.size(), 1U);
  EXPECT_EQ(net.symmetry_for(grid).approximate.size(), 1U);
  for (const double far : {1.01, 3.0}) {
    grid.spacing = {1, 1, far};
    EXPECT_TRUE(net.symmetry_for(grid).exact.empty()) << far;
    EXPECT_TRUE(net.symmetry_for(grid).approximate.empty()) << far;
    EXPECT_EQ(net.symmetry_for(grid).obstacles.size(), 1U) << far;
  }
  Options o = small();
  o.orders = 4;
  o.coupling = OrderCoupling::cyclic;
  o.cut = false;
  const Net cyclic(o, images(2, Level::node));
  EXPECT_TRUE(cyclic.symmetry().approximate.empty());
  EXPECT_EQ(cyclic.symmetry_for(random_grid({1, 3, 8, 8}, at::kFloat)).exact.size(), 1U);
}

}  // namespace net_test
}  // namespace weyl::steerable
