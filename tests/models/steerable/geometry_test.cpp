#include "weyl/models/steerable/geometry.h"

#include <gtest/gtest.h>

#include "weyl/core/check.h"

namespace weyl::steerable {
namespace geometry_test {

/// The stem of the volumes' net in the paper: kernel 7 with stride 2 and no padding, pools 8 and 4.
Options of_volumes() {
  Options o;
  o.stages = {{8, 16, 7, 2, 8, false}, {32, 64, 5, 1, 4}};
  o.margin = 0;
  return o;
}

std::vector<GeometryFinding> on(const Options& o, std::vector<int64_t> shape, bool segmentation = true) {
  return check_geometry(o, segmentation, shape);
}

TEST(CheckGeometry, NamesTheLayersThatLeaveRowsOver) {
  const auto findings = on(of_volumes(), {240, 240, 240});
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].layer, "stages[0].convolution");
  EXPECT_EQ(findings[1].layer, "stages[0].pool");
  EXPECT_EQ(findings[2].layer, "stages[1].pool");
  for (const auto& f : findings) {
    EXPECT_EQ(f.below, 197) << f.text;
    EXPECT_EQ(f.above, 261) << f.text;
    EXPECT_EQ(f.text.find('\n'), std::string::npos);
  }
  EXPECT_NE(findings[1].text.find("leaves over 5 of the 117 pixels"), std::string::npos) << findings[1].text;
  EXPECT_TRUE(on(of_volumes(), {197, 197, 197}).empty());
  EXPECT_TRUE(on(of_volumes(), {261, 261, 261}).empty());
}

TEST(CheckGeometry, WantsSquaresAndCubes) {
  Options o;
  o.stages = {{8, 16, 5, 1, 8}, {32, 64, 5, 1, 8}};
  EXPECT_TRUE(on(o, {576, 576}).empty());
  const auto findings = on(o, {578, 770});
  ASSERT_EQ(findings.size(), 3U);  // no square; both sides at the first pool
  EXPECT_EQ(findings[0].layer, "input");
  EXPECT_EQ(findings[0].below, 576);
  EXPECT_EQ(findings[0].above, 832);
  EXPECT_EQ(on(o, {576, 640}).size(), 1U);
}

TEST(CheckGeometry, KnowsTheCyclicCouplingAndTheHead) {
  Options o;
  o.stages = {{8, 16, 5, 1, 2}};
  o.coupling = OrderCoupling::cyclic;
  o.orders = 6;
  EXPECT_EQ(on(o, {8, 8}).at(0).layer, "coupling");
  o.orders = 8;
  EXPECT_TRUE(on(o, {8, 8}).empty());
  o.head.kernel = 5;
  EXPECT_TRUE(on(o, {8, 8}).empty());  // segmentation has no such convolution
  const auto findings = on(o, {8, 8}, false);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].layer, "head.convolution");
  EXPECT_EQ(findings[0].above, 10);
  EXPECT_EQ(smallest_side(grid_layers(o, false)), 10);
}

TEST(CheckGeometry, KnowsTheSpacing) {
  Options o;
  o.stages = {{8, 16, 5, 1, 2}};
  const std::vector<int64_t> cube{8, 8, 8};
  const auto with = [&](std::vector<double> spacing) { return check_geometry(o, true, cube, spacing); };
  EXPECT_TRUE(with({0.5, 0.5, 0.5}).empty());
  const auto findings = with({1, 1, 3});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].layer, "input");
  EXPECT_NE(findings[0].text.find("1 x 1 x 3"), std::string::npos);
  EXPECT_THROW(with({1, 1}), ShapeError);
  // Affines in 32 bits differ by rounding; a part in a hundred is another spacing, whichever axes have it.
  EXPECT_TRUE(with({0.9, 0.9 * (1 + 1e-8), 0.9 * (1 - 1e-8)}).empty());
  EXPECT_EQ(with({1, 1.01, 1}).size(), 1U);
  EXPECT_EQ(with({1, 1.0008, 0.9992}).size(), 1U);
}

/// Tokens of the net of solids stand at -8 .. 8 of 32 voxels; with the margin over all of them, in steps of 4.
TEST(CheckGeometry, SurroundsInputsByWhatConvolutionsCut) {
  Options o;
  o.stages = {{0, 8, 6, 2, 2, false}, {8, 16, 3, 1, 1, false}};
  EXPECT_EQ(margin_of(o, false, 32), 8);  // 2.5 and 4 are cut; 7 would leave a row over
  EXPECT_TRUE(on(o, {32, 32, 32}, false).empty());
  EXPECT_EQ(margin_of(o, false, 33), 7);  // 47, 48, 49 and 50 voxels are exact no more than it
  EXPECT_FALSE(on(o, {33, 33, 33}, false).empty());
  o.margin = 3;
  EXPECT_EQ(margin_of(o, false, 32), 3);
  EXPECT_FALSE(on(o, {32, 32, 32}, false).empty());  // 38
  o.stages = {{2, 4, 5, 1, 2}, {2, 4, 5, 1, 2}};
  o.margin.reset();
  EXPECT_EQ(margin_of(o, false, 31), 0);  // nothing is cut
}

TEST(CheckGeometry, KnowsWhereTokensStand) {
  Options o;
  o.stages = {{0, 8, 6, 2, 2, false}, {8, 16, 3, 1, 1, false}};
  const TokenRow covering = tokens_of(o, false, 32);
  EXPECT_EQ(covering.tokens, 9);
  EXPECT_EQ(covering.spacing, 4);
  EXPECT_EQ(covering.before, -2);  // the first token stands over cells -2 .. 1
  EXPECT_EQ(covering.after, -2);
  o.margin = 0;
  const TokenRow window = tokens_of(o, false, 32);  // at 7.5, 11.5, .. 23.5
  EXPECT_EQ(window.tokens, 5);
  EXPECT_EQ(window.before, 6);
  EXPECT_EQ(window.after, 6);
  o.stages = {{2, 4, 5, 1, 2}, {2, 4, 5, 1, 2}};
  const TokenRow whole = tokens_of(o, false, 33);  // a cell is left over at the end
  EXPECT_EQ(whole.tokens, 8);
  EXPECT_EQ(whole.before, 0);
  EXPECT_EQ(whole.after, 1);
  EXPECT_EQ(tokens_of(of_volumes(), true, 20).tokens, 0);  // too few cells
}

TEST(CheckGeometry, GivesTheSmallestSide) {
  const auto layers = grid_layers(of_volumes(), true);
  const int64_t least = smallest_side(layers);
  EXPECT_EQ(least, 69);
  for (int64_t side : {least - 1, least}) {
    int64_t n = side;
    for (const auto& layer : layers) {
      n = layer.after(n);
      if (n == 0) {
        break;
      }
    }
    EXPECT_EQ(n > 0, side == least);
  }
}

}  // namespace geometry_test
}  // namespace weyl::steerable
