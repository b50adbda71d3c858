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

/// A small block of noise in a large empty grid, off its middle, on a background other than zero.
Grid mostly_empty(const std::vector<int64_t>& shape) {
  Grid grid = random_grid(shape, at::kDouble);
  Tensor part = at::zeros_like(grid.values);
  Tensor inner = part;
  for (int64_t axis = 2; axis < part.dim(); ++axis) {
    inner = inner.narrow(axis, 1, 3);
  }
  inner.fill_(1);
  grid.values = part * (grid.values + 0.1) - 0.7;
  return grid;
}

TEST(SteerableNets, LeaveEmptyTokensOutOfAttention) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const auto& [dimension, level] :
       {std::pair{2, Level::graph}, {2, Level::node}, {3, Level::graph}, {3, Level::node}}) {
    Options o = small();
    o.stages = {{0, 4, 3, 1, 2}, {0, 4, 3, 1, 1}};
    o.low_pass = dimension == 2;
    o.bias_init = -0.5;  // rounding has a direction where all is background: no bias may blow it up
    std::vector<int64_t> shape{2, dimension == 2 ? 3 : 2};
    shape.insert(shape.end(), static_cast<size_t>(dimension), 14);
    const Grid grid = mostly_empty(shape);
    std::vector<Tensor> outputs;
    for (const bool skip : {false, true}) {
      o.encoder.skip_empty = skip;
      at::manual_seed(3);
      Net net(o, images(dimension, level));
      wear(net, grid);
      EXPECT_LT(error_of(net, grid), 1e-12) << dimension << skip;
      outputs.push_back(net(grid).at("logits"));
      // Maps have a weight at each cell; tokens that take no part have none above zero.
      const std::vector<Tensor> maps = net.attention_maps(grid);
      ASSERT_EQ(maps.size(), 1U);
      EXPECT_EQ(maps[0].sizes().slice(2), grid.values.sizes().slice(2));
      EXPECT_EQ(maps[0].eq(0).any().item<bool>(), skip);
      EXPECT_LE(maps[0].max().item<double>(), 1 + 1e-12);
      // An input that is background all over is none of attention's, and no NaN.
      const Grid nothing{at::full_like(grid.values, 0.3)};
      EXPECT_TRUE(at::isfinite(net(nothing).at("logits")).all().item<bool>());
    }
    EXPECT_GT((outputs[0] - outputs[1]).abs().max().item<double>(), 1e-6);
  }
}

/// Of volumes that are normalised over their object the background stays 0, and the object's darker half lies below.
TEST(SteerableNets, TakeForBackgroundWhatMostOfTheBorderIs) {
  const BuildOn wide(at::kCPU, at::kDouble);
  Options o = small();
  o.stages = {{0, 4, 3, 1, 2}};
  o.encoder.skip_empty = true;
  Net net(o, images(2, Level::node));
  net.train(false);
  const Tensor bright = mostly_empty({1, 3, 16, 16}).values + 0.7;
  ASSERT_EQ(bright[0][0][0][0].item<double>(), 0);
  const auto left_out = [&](const Tensor& values) { return net.attention_maps(Grid{values}).at(0).eq(0); };
  const Tensor of_bright = left_out(bright);
  EXPECT_TRUE(of_bright.any().item<bool>());
  EXPECT_TRUE(left_out(-bright).equal(of_bright));
  EXPECT_TRUE(left_out(bright * (at::arange(16) % 2 * 2 - 1)).equal(of_bright));
}

/// What is far away does not matter to tokens that see something: a larger empty grid gives the same attention.
TEST(SteerableNets, AttentionDoesNotDependOnHowMuchIsEmpty) {
  const BuildOn wide(at::kCPU, at::kDouble);
  Options o = small();
  o.stages = {{0, 4, 3, 1, 2}};
  o.norm = NormLaw::layer;
  const auto framed = [&](bool skip) {
    o.encoder.skip_empty = skip;
    at::manual_seed(3);
    Net net(o, images(2, Level::node));
    net.train(false);
    const Grid grid = mostly_empty({1, 3, 16, 16});
    const Tensor more = at::constant_pad_nd(grid.values + 0.7, {0, 8, 0, 8}) - 0.7;
    const Tensor a = net.attention_maps(grid).at(0), b = net.attention_maps(Grid{more}).at(0);
    return (a.narrow(2, 0, 8).narrow(3, 0, 8) - b.narrow(2, 0, 8).narrow(3, 0, 8)).abs().max().item<double>();
  };
  EXPECT_LT(framed(true), 1e-12);
  EXPECT_GT(framed(false), 1e-4);  // the control
}

TEST(SteerableNets, SayHowManyTokensAttendAndWhatTheyMiss) {
  Interface interface = images(3, Level::graph);
  interface.typical_nodes = 32 * 32 * 32;
  Options o = small();
  o.stages = {{0, 4, 6, 2, 2, false}, {4, 4, 3, 1, 1, false}};
  const Net whole(o, interface);
  EXPECT_TRUE(whole.warnings("").empty());
  EXPECT_NE(whole.facts().at(0).find(
                "9 x 9 x 9 = 729 tokens of 32 cells along an axis, 4 cells apart, 531441 pairs"),
            std::string::npos)
      << whole.facts().at(0);
  o.margin = 0;
  const Net window(o, interface);
  EXPECT_NE(window.facts().at(0).find("5 x 5 x 5 = 125 tokens"), std::string::npos);
  ASSERT_EQ(window.warnings("").size(), 1U);
  EXPECT_NE(window.warnings("").at(0).find("of 32 cells along an axis tokens stand over cells 6 to 25"),
            std::string::npos)
      << window.warnings("").at(0);
}

}  // namespace net_test
}  // namespace weyl::steerable
