#include "weyl/models/features.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weyl {
namespace features_test {

/// Two graphs of two and three nodes on the first axis, with the marks 1 or 0 as a feature of this name.
Points marked(double far) {
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{2, 3});
  points.positions = at::zeros({5, 3}, at::kDouble);
  points.positions.select(1, 0) = at::tensor({1.0, 3.0, far, far + 2, 100.0}, at::kDouble);
  points.scalars = at::tensor({1.0, 1.0, 1.0, 1.0, 0.0}, at::kDouble).unsqueeze(1);
  return points;
}

Interface with_feature(const std::string& name) {
  Interface interface;
  interface.features = {{name, Level::node, Kind::scalar, 1}};
  return interface;
}

Tensor along_first_axis(const Points& points, const std::string& name) {
  return centred_positions(points, with_feature(name)).select(1, 0);
}

TEST(CentredPositions, ImagesAreNoPartOfTheMean) {
  const Points points = marked(5);
  EXPECT_TRUE(
      at::equal(along_first_axis(points, "real"), at::tensor({-1.0, 1.0, -1.0, 1.0, 94.0}, at::kDouble)));
  // Another feature of the same numbers marks nothing: the second graph's mean is (4 + 6 + 98) / 3 = 36.
  Points unmarked = points;
  unmarked.positions = points.positions.clone();
  unmarked.positions.select(1, 0) = at::tensor({1.0, 3.0, 4.0, 6.0, 98.0}, at::kDouble);
  EXPECT_TRUE(at::equal(along_first_axis(unmarked, "other"),
                        at::tensor({-1.0, 1.0, -32.0, -30.0, 62.0}, at::kDouble)));
}

TEST(CentredPositions, OfFarGraphsKeepWhatTellsNodesApart) {
  Points points =
      marked(double{1 << 24} + 1);  // in float32 the sum of two such numbers has lost their last digits
  points.scalars = at::ones({5, 1}, at::kDouble);
  points.scalars[4] = 0;
  points.positions = points.positions.to(at::kFloat);
  const Tensor x = points.positions.to(at::kDouble).select(1, 0), mean = (x[2] + x[3]) / 2;
  const Tensor found = along_first_axis(points, "real");
  EXPECT_EQ(found.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::equal(found.slice(0, 2, 4), (x.slice(0, 2, 4) - mean).to(at::kFloat)));
}

TEST(CentredPositions, OfAGraphOfImagesAloneStandWhereTheyAre) {
  Points points = marked(5);
  points.scalars.zero_();
  EXPECT_TRUE(at::equal(centred_positions(points, with_feature("real")), points.positions));
}

}  // namespace features_test
}  // namespace weyl
