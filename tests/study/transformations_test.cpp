#include "weyl/study/audit/transformations.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "weyl/core/check.h"
#include "weyl/study/samples/random_samples.h"

namespace weyl {
namespace transformations_test {

Schema schema_of(int64_t dimension) {
  Schema schema;
  schema.interface.dimension = dimension;
  schema.interface.features = {{"velocity", Level::node, Kind::vector}};
  return schema;
}

const Points& points_of(const Batch& batch) {
  return std::get<Points>(batch.input);
}

TEST(Transformations, MoveInputsAndOutputsAlike) {
  for (const int64_t d : {1, 2, 3}) {
    const Schema schema = schema_of(d);
    const Batch batch = on_grid(random_tokens(schema, 4, 5, 3));
    const std::vector<Quantity> outputs{{"place", Level::node, Kind::vector, 1, Role::point}};
    for (const Transformation& t : {rotations(schema, true, "O"), mirrors(schema), shears(schema),
                                    translations(schema), permutations(schema)}) {
      Stream stream(1, t.name);
      const Moved moved = t.apply(batch, 0, stream);
      const Named places = moved.act({{"place", points_of(batch).positions.unsqueeze(1)}}, outputs);
      EXPECT_TRUE(at::equal(places.at("place").squeeze(1), points_of(moved.batch).positions)) << t.name << d;
      EXPECT_FALSE(at::equal(points_of(moved.batch).positions, points_of(batch).positions)) << t.name << d;
    }
  }
}

TEST(Transformations, MirrorsTurnVolumesRound) {
  const Batch batch = random_tokens(schema_of(3), 4, 5, 3);
  Stream stream(1, "mirrors");
  const Moved moved = mirrors(schema_of(3)).apply(batch, 0, stream);
  const std::vector<Quantity> outputs{{"volume", Level::node, Kind::pseudoscalar}};
  const Tensor one = at::ones({20, 1}, at::kDouble);
  EXPECT_TRUE(at::allclose(moved.act({{"volume", one}}, outputs).at("volume"), -one));
}

TEST(Transformations, TranslationsAreExactInFloat32) {
  const Schema schema = schema_of(3);
  const Batch batch = on_grid(random_tokens(schema, 4, 5, 3));
  Stream stream(1, "translations");
  const Tensor x = points_of(batch).positions;
  const Tensor y = points_of(translations(schema).apply(batch, 0, stream).batch).positions;
  EXPECT_TRUE(at::equal(x.to(at::kFloat).to(at::kDouble), x));
  EXPECT_TRUE(at::equal(y.to(at::kFloat).to(at::kDouble), y));
  // The control: off the grid they are not.
  const Tensor raw = points_of(random_tokens(schema, 4, 5, 3)).positions;
  EXPECT_FALSE(at::equal(raw.to(at::kFloat).to(at::kDouble), raw));
}

TEST(Transformations, PermuteInsideObjects) {
  Batch batch = random_tokens(schema_of(2), 2, 6, 3);
  auto& points = std::get<Points>(batch.input);
  points.objects = Segments::of_sizes(std::vector<int64_t>{2, 4, 3, 3});
  Stream stream(1, "permutations");
  const Moved moved = permutations(schema_of(2)).apply(batch, 0, stream);
  const Tensor objects = points.objects.index.to(at::kDouble).unsqueeze(1);
  const std::vector<Quantity> outputs{{"object"}};
  EXPECT_TRUE(at::equal(moved.act({{"object", objects}}, outputs).at("object"), objects));
}

TEST(Transformations, OfGridsPermuteTheirCellsAndTheOutputsAlike) {
  Schema schema;
  schema.interface.grid = true;
  schema.interface.dimension = 2;
  schema.interface.features = {{"grey"}};
  const Batch batch = random_grids(schema, 6, std::vector<int64_t>{3, 3}, 2);
  const auto& values = std::get<Grid>(batch.input).values;
  EXPECT_EQ(values.sizes(), (at::IntArrayRef{6, 1, 3, 3}));
  const std::vector<Quantity> outputs{{"cells"}, {"whole", Level::graph}};
  for (const auto& transformation : {grid_shears(schema), grid_mirrors(schema)}) {
    Stream stream(1, "test");
    const Moved moved = transformation.apply(batch, 0, stream);
    const Tensor& after = std::get<Grid>(moved.batch.input).values;
    EXPECT_FALSE(after.equal(values));
    EXPECT_TRUE(std::get<0>(after.flatten(1).sort(1)).equal(std::get<0>(values.flatten(1).sort(1))));
    const Tensor sums = values.flatten(1).sum(1, true);
    const Named acted = moved.act({{"cells", values}, {"whole", sums}}, outputs);
    EXPECT_TRUE(acted.at("cells").equal(after));
    EXPECT_TRUE(acted.at("whole").equal(sums));
  }
  Stream stream(1, "test");
  const Tensor sheared = std::get<Grid>(grid_shears(schema).apply(batch, 0, stream).batch.input).values;
  EXPECT_EQ(sheared[0][0][1][2].item<double>(), values[0][0][1][1].item<double>());
}

TEST(Transformations, OfAFiniteGroupNeedTheGroup) {
  EXPECT_THROW(transformation_of({Claim::Of::finite, "nameless", nullptr}, schema_of(3)), ShapeError);
}

}  // namespace transformations_test
}  // namespace weyl
