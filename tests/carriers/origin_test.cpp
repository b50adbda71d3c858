#include "weyl/carriers/origin.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "weyl/core/check.h"

namespace weyl {
namespace origin_test {

Points cloud(const std::vector<int64_t>& sizes, const std::vector<double>& places) {
  Points points;
  points.graphs = Segments::of_sizes(sizes);
  points.positions = at::tensor(places, at::kDouble).view({-1, 3});
  return points;
}

Tensor places(const Batch& batch) {
  return std::get<Points>(batch.input).positions;
}

double largest(const Tensor& x) {
  return x.abs().max().item<double>();
}

Schema bare() {
  Schema schema;
  schema.interface.dimension = 3;
  return schema;
}

TEST(Origin, SamplesNearItStayAsTheyAre) {
  const Points points = cloud({3}, {0.1, 0.2, 0.3, 1.5, -0.4, 0, -1.2, 0.7, 2});
  EXPECT_TRUE(to_origin(points).none());
  const Batch batch{points, {}};
  EXPECT_TRUE(places(shifted(batch, {}, bare())).is_same(points.positions));
}

TEST(Origin, FarSamplesComeWithinThreeTimesTheirExtent) {
  const Points points = cloud({3, 2, 1}, {1e4, 0, 0, 1e4 + 1, 2, 0, 1e4, 0, 3,  //
                                          0, 0, 0, 1, 1, 1,                     //
                                          5e7, 3, 9});
  const Shift shift = to_origin(points);
  const Tensor moved = places(shifted({points, {}}, shift, bare()));
  EXPECT_LE(largest(moved.slice(0, 0, 3)), 9);
  EXPECT_EQ(moved.scalar_type(), at::kDouble);
  EXPECT_TRUE(at::equal(moved.slice(0, 3, 5), points.positions.slice(0, 3, 5)));
  EXPECT_LE(largest(moved.slice(0, 5, 6)), 1);  // a node alone
  const auto from_first = [](const Tensor& x) { return x - x.slice(0, 0, 1); };
  EXPECT_TRUE(at::equal(from_first(moved.slice(0, 0, 3)), from_first(points.positions.slice(0, 0, 3))));
}

TEST(Origin, DoesNotDependOnTheBatch) {
  const Points alone = cloud({2}, {1e5, 2, 3, 1e5 + 2, 2, 4});
  const Points among = cloud({1, 2}, {-9e9, 1, 2, 1e5, 2, 3, 1e5 + 2, 2, 4});
  EXPECT_TRUE(at::equal(to_origin(alone).graphs[0], to_origin(among).graphs[1]));
}

// By its first node a sample moves the same way whatever the others are; by their mean it does not.
TEST(Origin, OfTheFirstNodeDoesNotDependOnTheOthers) {
  const Points one = cloud({1, 2}, {3, 0, -7, 1e5, 2, 3, 1e5 + 2, 2, 4}),
               other = cloud({1, 2}, {3, 0, -7, 1e5, 2, 3, 1e5 + 2e4, 2, -9});
  EXPECT_TRUE(to_origin(one, Centre::none).none());
  const Shift shift = to_origin(one, Centre::first);
  EXPECT_TRUE(at::equal(shift.graphs, to_origin(other, Centre::first).graphs));
  EXPECT_FALSE(at::equal(to_origin(one).graphs, to_origin(other).graphs));
  const Tensor moved = places(shifted({one, {}}, shift, bare()));
  EXPECT_TRUE(at::equal(moved, at::tensor({0., 0., 0., 0., 0., 0., 2., 0., 1.}, at::kDouble).view({3, 3})));
  EXPECT_TRUE(at::equal(places(shifted({shifted({one, {}}, shift, bare()).input, {}}, shift.back(), bare())),
                        one.positions));
}

TEST(Origin, DoesNotDependOnAGraphThatIsNotFinite) {
  const Points alone = cloud({2}, {1e5, 2, 3, 1e5 + 2, 2, 4});
  const Points among = cloud({1, 2}, {NAN, 1, 2, 1e5, 2, 3, 1e5 + 2, 2, 4});
  const Shift shift = to_origin(among);
  ASSERT_FALSE(shift.none());
  EXPECT_TRUE(at::equal(to_origin(alone).graphs[0], shift.graphs[1]));
  EXPECT_EQ(largest(shift.graphs[0]), 0);
}

// Their extent is far below what float64 resolves where they are.
TEST(Origin, PlacesThatDifferByNextToNothingComeToTheOrigin) {
  for (const double apart : {1e-310, 5e-324, 1e-200}) {
    const Points points = cloud({2}, {1e5, 0, 0, 1e5, 0, apart});
    const Tensor moved = places(shifted({points, {}}, to_origin(points), bare()));
    EXPECT_LT(largest(moved), 1e-9) << apart;
    EXPECT_EQ((moved[1][2] - moved[0][2]).item<double>(), apart);
  }
}

TEST(Origin, PlacesWhoseExtentOverflowsStay) {
  EXPECT_TRUE(to_origin(cloud({2}, {1.7e308, 0, 0, -1.7e308, 0, 0})).none());
  EXPECT_TRUE(to_origin(cloud({2}, {1.7e308, 0, 0, 1.7e308, 1, 0})).none());
}

TEST(Origin, KnowsTheExtents) {
  const Shift shift = to_origin(cloud({2, 1, 2}, {1e5, 2, 3, 1e5 + 2, 2, 4, 1e6, 0, 0, 0, 0, 0, 0, -7, 0}));
  EXPECT_TRUE(at::equal(shift.extents, at::tensor({2.0, 1.0, 7.0}, at::kDouble)));
  EXPECT_TRUE(at::equal(shift.back().extents, shift.extents));
}

TEST(Origin, WrapsNodesThatAreFarOutsideTheirCell) {
  Points points = cloud({2}, {0.25, 0.25, 0, 0.75, 0.75, 0.5});
  points.cell = at::tensor({2.0, 0.0, 0.0, 1.0, 3.0, 0.0, 7.0, 7.0, 7.0}, at::kDouble).view({1, 3, 3});
  points.pbc = at::tensor({1, 1, 0}, at::kInt).to(at::kBool).view({1, 3});
  EXPECT_TRUE(to_origin(points).none());
  Points far = points;
  far.positions = points.positions.clone();
  far.positions[1].add_(at::tensor({2.0 * 400000 + 1.0 * -3000, 3.0 * -3000, 0.0}, at::kDouble));
  const Tensor moved = places(shifted({far, {}}, to_origin(far), bare()));
  EXPECT_LT(largest(moved - points.positions), 1e-9);
  // Along the third vector nothing repeats: there they stay apart.
  far.positions = points.positions.clone();
  far.positions[1].add_(at::tensor({0.0, 0.0, 64.0}, at::kDouble));
  const Tensor apart = places(shifted({far, {}}, to_origin(far), bare()));
  EXPECT_NEAR((apart[1][2] - apart[0][2]).item<double>(), 64.5, 1e-12);
}

TEST(Origin, MovesWhatHasAPlaceAndNothingElse) {
  Schema schema = bare();
  schema.interface.features = {{"velocity", Level::node, Kind::vector},
                               {"target", Level::node, Kind::vector, 1, Role::point},
                               {"exit", Level::graph, Kind::vector, 1, Role::point}};
  schema.labels = {{"seen", Level::node, Kind::vector, 1, Role::point}, {"speed", Level::node, Kind::vector}};
  Points points = cloud({2}, {1024, 0, 0, 1025, 0, 0});
  points.vectors = at::ones({2, 2, 3}, at::kFloat);
  points.of_graphs["exit"] = at::zeros({1, 1, 3}, at::kDouble);
  const Batch batch{
      points, {{"seen", at::zeros({2, 1, 3}, at::kDouble)}, {"speed", at::ones({2, 1, 3}, at::kDouble)}}};
  const Shift shift = to_origin(batch.input);
  const Batch moved = shifted(batch, shift, schema);
  const auto& p = std::get<Points>(moved.input);
  const double by = shift.graphs[0][0].item<double>();
  EXPECT_LE(std::abs(by + 1024.5), 1);
  EXPECT_EQ(p.vectors[0][0][0].item<double>(), 1);
  EXPECT_EQ(p.vectors[1][1][0].item<double>(), 1 + by);
  EXPECT_EQ(p.of_graphs.at("exit")[0][0][0].item<double>(), by);
  EXPECT_EQ(moved.labels.at("seen")[1][0][0].item<double>(), by);
  EXPECT_TRUE(moved.labels.at("speed").is_same(batch.labels.at("speed")));
  const Named back = shifted(moved.labels, schema.labels, shift.back(), moved.input);
  EXPECT_EQ(largest(back.at("seen")), 0);
}

// The point e123 - x e023 + y e013 - z e012 that stands at (x, y, z).
Tensor embedded(const Tensor& places) {
  const Tensor x = at::zeros({places.size(0), 1, 16}, at::kDouble);
  x.select(2, 14).fill_(1);
  x.select(2, 13).copy_(-places.slice(1, 0, 1));
  x.select(2, 12).copy_(places.slice(1, 1, 2));
  x.select(2, 11).copy_(-places.slice(1, 2, 3));
  return x;
}

TEST(Origin, MovesMultivectorsOfEveryLevelWithThePositions) {
  Schema schema = bare();
  schema.interface.features = {{"tag", Level::node, Kind::multivector, 1},
                               {"plane", Level::graph, Kind::multivector, 1},
                               {"body", Level::object, Kind::multivector, 1}};
  schema.labels = {{"later", Level::node, Kind::multivector, 1},
                   {"centre", Level::object, Kind::multivector, 1}};
  Points points = cloud({2, 1}, {1024, 3, 0, 1025, 0, 7, 0.5, 0.25, 1});
  points.objects = Segments::of_sizes(std::vector<int64_t>{1, 1, 1});
  points.multivectors = embedded(points.positions).to(at::kFloat);
  points.of_objects["body"] = embedded(points.positions);
  points.of_graphs["plane"] = at::zeros({2, 1, 16}, at::kDouble);
  points.of_graphs["plane"].select(2, 2).fill_(1);  // x = 1000: n = (1, 0, 0), -n . p in e0
  points.of_graphs["plane"].select(2, 1).fill_(-1000);
  const Batch batch{points, {{"later", embedded(points.positions)}, {"centre", embedded(points.positions)}}};
  const Shift shift = to_origin(batch.input);
  ASSERT_FALSE(shift.none());
  const Batch moved = shifted(batch, shift, schema);
  const auto& p = std::get<Points>(moved.input);
  const Tensor expected = embedded(p.positions);
  EXPECT_GT(largest(points.positions - p.positions), 1000);
  EXPECT_TRUE(at::equal(p.multivectors, expected));
  EXPECT_TRUE(at::equal(p.of_objects.at("body"), expected));
  EXPECT_TRUE(at::equal(moved.labels.at("later"), expected));
  EXPECT_TRUE(at::equal(moved.labels.at("centre"), expected));
  const double by = shift.graphs[0][0].item<double>();
  EXPECT_EQ(p.of_graphs.at("plane")[0][0][1].item<double>(), -1000 - by);
  EXPECT_EQ(p.of_graphs.at("plane")[1][0][1].item<double>(), -1000);  // the second graph is near and stays
  const Named back = shifted(moved.labels, schema.labels, shift.back(), moved.input);
  EXPECT_TRUE(at::equal(back.at("later"), embedded(points.positions)));
}

TEST(Origin, MovesPosesByTheirTranslations) {
  Schema schema;
  schema.interface.group = LieGroup::se3;
  schema.labels = {{"element", Level::graph, Kind::element}};
  Poses poses;
  poses.group = LieGroup::se3;
  poses.graphs = Segments::of_sizes({{2}});
  poses.elements = at::eye(4, at::kDouble).repeat({2, 1, 1});
  poses.elements.slice(1, 0, 3).select(2, 3).add_(1e6);
  poses.elements[1][2][3].add_(3);
  const Batch batch{poses, {{"element", poses.elements.slice(0, 1, 2).clone()}}};
  const Shift shift = to_origin(batch.input);
  const Batch moved = shifted(batch, shift, schema);
  const Tensor& g = std::get<Poses>(moved.input).elements;
  EXPECT_LE(largest(g), 9);
  EXPECT_TRUE(at::equal(g.slice(2, 0, 3), poses.elements.slice(2, 0, 3)));
  EXPECT_EQ((g[1][2][3] - g[0][2][3]).item<double>(), 3);
  EXPECT_TRUE(at::equal(moved.labels.at("element")[0], g[1]));
  poses.group = LieGroup::so3;
  poses.elements = at::eye(3, at::kDouble).repeat({2, 1, 1});
  EXPECT_TRUE(to_origin(poses).none());
}

TEST(Origin, LeavesWhatIsNotFinite) {
  Points points = cloud({2}, {1e5, 0, 0, 1e5, 0, 0});
  points.positions[0][1] = NAN;
  EXPECT_TRUE(to_origin(points).none());
  EXPECT_TRUE(to_origin(Grid{at::zeros({1, 1, 2, 2})}).none());
}

}  // namespace origin_test
}  // namespace weyl
