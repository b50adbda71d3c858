// ScanObjectNN's and ModelNet40's files as h5py writes them (tools/goldens/scan_fixtures.py): read, sampled, and changed at
// random in training by seed, epoch and sample alone.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "tests/data/clouds/cloud_samples.h"
#include "tests/data/folder.h"
#include "weyl/carriers/consistency.h"
#include "weyl/carriers/loader.h"
#include "weyl/core/check.h"
#include "weyl/data/clouds/cloud_view.h"
#include "weyl/data/clouds/clouds.h"
#include "weyl/data/clouds/modelnet.h"
#include "weyl/data/open.h"
#include "weyl/makers/shapes/solids.h"

namespace weyl {
namespace scans_test {

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/";

ModelnetDataOptions scans() {
  return {.path = fixtures + "scans/main_split",
          .variant = "objectdataset_augmentedrot_scale75",
          .carrier = ShapeCarrier::points,
          .points = 48,
          .classes = 15};
}

CloudInput all_inputs() {
  return {.centres = 8,
          .neighbours = 4,
          .frame = CloudFrame::up,
          .augment = CloudAugmentation{.draw = true, .rotate = Turning::z, .scale = 1.25, .jitter = 0.02}};
}

/// Number n of a fixture's places.
float place(int64_t n) {
  return static_cast<float>(n * 7919 % 4099) / 2048 - 1;
}

TEST(Scans, OfScanObjectNNAreReadByVariant) {
  const Splits splits = open_set(scans());
  EXPECT_EQ(splits.train->size(), 27);
  EXPECT_EQ(splits.valid->size(), 3);
  ASSERT_EQ(splits.test->size(), 15);
  EXPECT_EQ(splits.test->schema().labels.at(0).categories, 15);
  for (int64_t i = 0; i < 15; ++i) {
    const Batch batch = sample(splits.test, i);
    EXPECT_EQ(batch.labels.at("class").item<int64_t>(), i);
    const Tensor x = points_of(batch).positions.contiguous();
    ASSERT_EQ(x.sizes(), (std::vector<int64_t>{48, 3}));
    for (int64_t k = 0; k < 144; ++k) {
      ASSERT_EQ(x.const_data_ptr<float>()[k], place(144 * i + k + 6));
    }
  }
  auto other = scans();
  other.variant = "objectdataset";
  const Tensor first = points_of(sample(open_set(other).test, 0)).positions;
  EXPECT_EQ(first[0][0].item<float>(), place(1));
  other.variant = "";
  EXPECT_NE(message_of<DataError>([&] { open_set(other); }).find("data.modelnet.variant must say which"),
            std::string::npos);
  other = scans();
  other.classes = 14;
  EXPECT_EQ(
      message_of<DataError>([&] { open_set(other); }),
      scans().path +
          "/training_objectdataset_augmentedrot_scale75.h5: labels must be 0 .. 13 (data.modelnet.classes), "
          "sample 14 has 14");
}

TEST(Scans, OfModelNet40AreReadFromTheirParts) {
  const Splits splits = open_set(ModelnetDataOptions{.path = fixtures + "modelnet40",
                                                     .carrier = ShapeCarrier::points,
                                                     .points = 0,
                                                     .classes = 40,
                                                     .valid = 20});
  EXPECT_EQ(splits.train->size(), 40);
  EXPECT_EQ(splits.valid->size(), 20);
  ASSERT_EQ(splits.test->size(), 40);
  EXPECT_EQ(classes_of(splits.test).back(), 39);
  EXPECT_EQ(points_of(sample(splits.test, 39)).positions[23][2].item<float>(), place(40 * 72 - 1 + 3));
}

TEST(Scans, HaveCentresNeighboursAndTheUpwardAxis) {
  auto o = scans();
  o.input = {.centres = 8, .neighbours = 4, .frame = CloudFrame::up};
  const auto all = open_set(scans()).test, few = open_set(o).test;
  EXPECT_EQ(few->schema().interface, declared_schema({o}).interface);
  EXPECT_EQ(few->schema().interface.typical_nodes, 8);
  EXPECT_EQ(few->tokens(0), 8);
  const std::vector<int64_t> three{4, 0, 11};
  const Batch batch = few->batch(three), whole = all->batch(three);
  require_consistent(batch, few->schema());
  const Points &seen = points_of(batch), &given = points_of(whole);
  ASSERT_EQ(seen.vectors.sizes(), (std::vector<int64_t>{24, 5, 3}));
  for (int64_t i = 0; i < 24; ++i) {
    const Tensor cloud = given.positions.slice(0, i / 8 * 48, (i / 8 + 1) * 48);
    const Tensor offsets = cloud - seen.positions[i], order = offsets.norm(2, 1).argsort();
    EXPECT_EQ(offsets[order[0].item<int64_t>()].abs().max().item<float>(), 0);  // a node is one of the points
    for (int64_t k = 0; k < 4; ++k) {
      EXPECT_TRUE(
          at::allclose(seen.vectors[i][k].norm(), offsets[order[k + 1].item<int64_t>()].norm(), 1e-6));
    }
    EXPECT_TRUE(at::equal(seen.vectors[i][4], at::tensor({0.F, 1.F, 0.F})));  // y is up
  }
  o.rotate = Turning::so3;  // the axis is that of the turned sample
  const Points turned = points_of(open_set(o).test->batch(three));
  EXPECT_TRUE(at::allclose(turned.vectors.select(1, 4).norm(2, 1), at::ones({24}), 1e-6));
  EXPECT_FALSE(at::allclose(turned.vectors[0][4], seen.vectors[0][4], 0, 0.1));
  EXPECT_TRUE(at::allclose(at::linalg_cross(turned.positions[0], turned.vectors[0][4]).norm(),
                           at::linalg_cross(seen.positions[0], seen.vectors[0][4]).norm(), 1e-5));
}

/// Epoch 2 of the samples in their order, by batches of any size.
std::vector<Points> epoch(const std::shared_ptr<const Dataset>& data, int64_t size, uint64_t seed = 5,
                          int64_t number = 2) {
  Loader loader(data, {.batch = size, .shuffle = false, .augment = true, .ahead = 0}, seed);
  loader.start(number);
  std::vector<Points> all;
  while (auto batch = loader.next()) {
    all.push_back(points_of(*batch));
  }
  return all;
}

Tensor joined(const std::vector<Points>& batches, Tensor Points::* field) {
  std::vector<Tensor> parts;
  for (const Points& p : batches) {
    parts.push_back(p.*field);
  }
  return at::cat(parts);
}

/// Folders of two classes with clouds of `points` points, their height as a number, their place as a vector.
CloudsDataOptions own_clouds(const Folder& folder, int64_t points) {
  for (int k = 0; k < 12; ++k) {
    Stream stream(7, "cloud", {static_cast<uint64_t>(k)});
    std::string rows = "x y z height v_x v_y v_z\n";
    for (int64_t p = 0; p < points; ++p) {
      const double x = stream.uniform(), y = stream.normal(), z = stream.normal();
      rows += text(x, " ", y, " ", z, " ", z, " ", x, " ", y, " ", z, "\n");
    }
    write(folder / text(k % 2 == 0 ? "ball/" : "rod/", k, ".txt"), rows);
  }
  return {.path = folder.path(),
          .features = {{.key = "height"}, {.key = "v", .kind = CloudFeatureKind::vector}},
          .classes = 2,
          .points = 0,
          .fit = false,
          .train_fraction = 1,
          .valid_fraction = 0};
}

TEST(Scans, AreChangedByTheirSeedEpochAndSampleAlone) {
  const Folder folder;
  make_solids({.train = 20, .test = 10, .format = SolidsFormat::off}, folder / "off");
  auto hdf5 = scans(), meshes = scans();
  hdf5.points = 40;
  hdf5.input = meshes.input = all_inputs();
  meshes.path = folder / "off";
  meshes.variant = "";
  meshes.classes = 10;
  auto own = own_clouds(folder, 30);
  own.path = folder.path();
  std::filesystem::create_directory(folder / "own");
  std::filesystem::rename(folder / "ball", folder / "own/ball");
  std::filesystem::rename(folder / "rod", folder / "own/rod");
  own.path = folder / "own";
  own.points = 20;
  own.input = all_inputs();
  for (const DataOptions& options : {DataOptions{hdf5}, DataOptions{meshes}, DataOptions{own}}) {
    const auto data = open_splits(options).train;
    const auto alone = epoch(data, 1), together = epoch(data, 7);
    for (const auto field : {&Points::positions, &Points::vectors}) {
      EXPECT_TRUE(at::equal(joined(alone, field), joined(together, field)));
      EXPECT_FALSE(at::equal(joined(alone, field), joined(epoch(data, 1, 5, 3), field)));
      EXPECT_FALSE(at::equal(joined(alone, field), joined(epoch(data, 1, 6, 2), field)));
    }
    // Evaluation sees them as it would without.
    DataOptions plain = options;
    std::visit(
        [](auto& o) {
          if constexpr (requires { o.input.augment->draw; }) {
            o.input.augment.reset();
          }
        },
        plain.set);
    const auto as_they_are = open_splits(plain).train;
    for (int64_t i = 0; i < data->size(); ++i) {
      EXPECT_TRUE(
          at::equal(points_of(sample(data, i)).positions, points_of(sample(as_they_are, i)).positions));
      EXPECT_TRUE(at::equal(points_of(sample(data, i)).vectors, points_of(sample(as_they_are, i)).vectors));
    }
    EXPECT_TRUE(at::equal(joined(epoch(as_they_are, 7), &Points::positions),
                          joined(epoch(as_they_are, 1, 6, 9), &Points::positions)));
  }
}

TEST(Scans, AreDrawnFromAllPointsThatThereAre) {
  auto o = scans();
  o.points = 40;
  o.fit = true;
  o.input.augment = CloudAugmentation{.draw = true};
  const auto data = open_set(o).train;
  o.fit = false;
  const auto raw = open_set(o).train;
  std::set<float> seen;  // first coordinates of the sample, over epochs
  for (int64_t number = 0; number < 30; ++number) {
    const Tensor x = epoch(raw, 27, 5, number).front().positions.slice(0, 0, 40).select(1, 0).contiguous();
    seen.insert(x.const_data_ptr<float>(), x.const_data_ptr<float>() + 40);
    EXPECT_NEAR(epoch(data, 1, 5, number).front().positions.norm(2, 1).max().item<float>(), 1, 1e-5);
  }
  EXPECT_EQ(seen.size(), 48U);
  EXPECT_TRUE(raw->schema().warnings.empty());
  o.points = 48;
  EXPECT_EQ(
      open_set(o).train->schema().warnings.at(0),
      "data.modelnet.augment.draw draws nothing: the training samples have no more than 48 points, and all "
      "of them are nodes");
}

TEST(OwnClouds, FeaturesFollowTheirPointsAndVectorsTurn) {
  const Folder folder;
  auto o = own_clouds(folder, 30);
  o.points = 20;
  o.input = all_inputs();
  o.input.augment->scale = 1;
  o.input.augment->jitter = 0;
  const auto data = open_set(o).train;
  for (const Points& p : epoch(data, 5)) {
    ASSERT_EQ(p.vectors.size(1), 6);  // v, four neighbours, the upward axis
    EXPECT_TRUE(at::allclose(p.positions, p.vectors.select(1, 0), 1e-6, 1e-6));
    EXPECT_TRUE(at::allclose(p.positions.select(1, 2), p.scalars.select(1, 0), 1e-6, 1e-6));  // z is up
  }
  const Tensor upright = points_of(sample(data, 0)).positions;
  EXPECT_TRUE(at::equal(upright, points_of(sample(data, 0)).vectors.select(1, 0)));
  EXPECT_FALSE(at::allclose(upright, epoch(data, 1).front().positions.to(at::kDouble), 0, 0.1));
  o.up = Axis::x;  // then heights along z change
  const Points other = epoch(open_set(o).train, 12).front();
  EXPECT_FALSE(at::allclose(other.positions.select(1, 2), other.scalars.select(1, 0), 0, 0.1));
}

TEST(Scans, HaveTheMomentsOfTheirNeighboursAsClouds) {
  auto o = scans();
  o.input = {.centres = 8, .neighbours = 5, .neighbours_as = NeighboursAs::moments};
  const auto few = open_set(o).test;
  EXPECT_EQ(few->schema().interface, declared_schema({o}).interface);
  const std::vector<int64_t> three{4, 0, 11};
  const Batch batch = few->batch(three);
  require_consistent(batch, few->schema());
  const Points& seen = points_of(batch);
  ASSERT_EQ(seen.scalars.sizes(), (std::vector<int64_t>{24, moment_numbers}));
  ASSERT_EQ(seen.vectors.sizes(), (std::vector<int64_t>{24, moment_vectors, 3}));
  EXPECT_TRUE(at::allclose(seen.vectors.select(1, 0).norm(2, 1), seen.scalars.select(1, 1), 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(seen.vectors.select(1, 2).norm(2, 1), seen.scalars.select(1, 8), 1e-5, 1e-6));

  const Folder folder;
  auto own = own_clouds(folder, 30);
  const auto before = open_set(own).train;
  own.input = o.input;
  const auto after = open_set(own).train;
  require_consistent(sample(after, 0), after->schema());
  const Points plain = points_of(sample(before, 0)), more = points_of(sample(after, 0));
  const int64_t scalars = plain.scalars.size(1),
                vectors = plain.vectors.size(1);  // of the files, which come first
  ASSERT_EQ(more.scalars.size(1), scalars + moment_numbers);
  ASSERT_EQ(more.vectors.size(1), vectors + moment_vectors);
  EXPECT_TRUE(at::allclose(more.vectors.select(1, vectors).norm(2, 1), more.scalars.select(1, scalars + 1)));
  own.features.front().key = "surroundings";
  EXPECT_EQ(message_of<ConfigError>([&] { declared_schema(own); }),
            "data.clouds.features: 'surroundings' is the name of what data.clouds.neighbours gives");
}

/// Numbers such as a laser's time of flight or raw intensities, beside places within 1.
TEST(OwnClouds, FeaturesFarFromOneAreSaidOnce) {
  const Folder folder;
  auto o = own_clouds(folder, 30);
  EXPECT_TRUE(open_set(o).train->schema().warnings.empty());
  for (int k = 0; k < 4; ++k) {
    write(folder / text("far/", k % 2 == 0 ? "ball/" : "rod/", k, ".txt"),
          "x y z height t none faint\n0 0 0 1 3000 0 .001\n1 0 0 -1 4000 0 .002\n");
  }
  o.path = folder / "far";
  o.features = {{.key = "height"}, {.key = "t"}, {.key = "none"}, {.key = "faint"}};
  const auto warnings = open_set(o).train->schema().warnings;
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[1].find("'faint' is read as it is"), std::string::npos) << warnings[1];
  EXPECT_EQ(
      warnings[0].substr(0, warnings[0].find(';')),
      "data.clouds.features: 't' is read as it is and has a root mean square of 3536 over the training points");
}

TEST(OwnClouds, SmallOnesKeepAllTheirPoints) {
  const Folder folder;
  auto o = own_clouds(folder, 5);
  o.input = {.centres = 8, .neighbours = 4};
  const auto data = open_set(o).train;
  EXPECT_EQ(data->tokens(0), 5);
  EXPECT_EQ(data->schema().interface.typical_nodes, 5);
  EXPECT_EQ(points_of(sample(data, 0)).vectors.size(1), 5);
  o.input.neighbours = 5;
  EXPECT_EQ(
      message_of<DataError>([&] { open_set(o); }),
      folder / "ball/0.txt: data.clouds.neighbours must be less than 5, the points of the cloud, got 5");
  o.features.front().key = "neighbours";
  EXPECT_EQ(message_of<ConfigError>([&] { declared_schema(o); }),
            "data.clouds.features: 'neighbours' is the name of what data.clouds.neighbours gives");
}

TEST(Scans, AModelOfThemSeesOtherFilesOfCloudsAsThem) {
  const Folder folder;
  std::string ply = "ply\nformat ascii 1.0\nelement vertex 30\n";
  for (const char* name : {"x", "y", "z"}) {
    ply += text("property float ", name, "\n");
  }
  ply += "end_header\n";
  for (int64_t n = 0; n < 90; ++n) {
    ply += text(place(n), n % 3 == 2 ? "\n" : " ");
  }
  write(folder / "one.ply", ply);
  auto o = scans();
  o.input = all_inputs();
  const Interface interface = declared_schema({o}).interface;
  EXPECT_EQ(message_of<ConfigError>([&] { open_file(folder / "one.ply", {o}, &interface); }),
            folder / "one.ply: data.modelnet.up must say which of its axes is upwards");
  o.up = Axis::x;
  const auto data = open_file(folder / "one.ply", {o}, &interface);
  EXPECT_EQ(data->schema().interface.features, interface.features);
  EXPECT_EQ(data->tokens(0), 8);
  EXPECT_TRUE(at::equal(points_of(sample(data, 0)).vectors[0][4], at::tensor({1., 0., 0.})));
  const Tensor raw = points_of(sample(data, 0)).positions;
  EXPECT_GT(raw.norm(2, 1).max().item<float>(), 1.2);
  o.fit = true;  // in the ball as those that it learned from, which its farthest points fill
  const Tensor fitted = points_of(sample(open_file(folder / "one.ply", {o}, &interface), 0)).positions;
  EXPECT_NEAR(fitted.norm(2, 1).max().item<float>(), 1, 0.2);
  EXPECT_LE(fitted.norm(2, 1).max().item<float>(), 1 + 1e-6);
}

// Meshes are in the ball before points are drawn on them: `fit` makes no difference, in no split.
TEST(Scans, OfMeshesAreFittedOnce) {
  const Folder folder;
  make_solids({.train = 20, .test = 10, .format = SolidsFormat::off}, folder / "off");
  ModelnetDataOptions o{.path = folder / "off", .carrier = ShapeCarrier::points, .points = 20, .classes = 10};
  o.input.augment = CloudAugmentation{.draw = true};
  const Splits once = open_set(o);
  o.fit = true;
  const Splits asked = open_set(o);
  for (const auto part : {&Splits::train, &Splits::test}) {
    for (int64_t i = 0; i < (once.*part)->size(); ++i) {
      EXPECT_TRUE(
          at::equal(points_of(sample(once.*part, i)).positions, points_of(sample(asked.*part, i)).positions));
    }
  }
}

TEST(Scans, RefuseWhatTheyCannotGive) {
  auto o = scans();
  const auto refusal = [&] { return message_of<ConfigError>([&] { require_effects({o}); }); };
  o.carrier = ShapeCarrier::grid;
  o.input.frame = CloudFrame::axes;
  EXPECT_NE(refusal().find("data.modelnet.frame"), std::string::npos);
  o.input = {.augment = CloudAugmentation{.jitter = 0.1}};
  o.fill = VoxelFill::surface;  // which has no points
  EXPECT_NE(refusal().find("data.modelnet.augment.jitter"), std::string::npos);
  o = scans();
  o.points = 0;  // all: how many, the files say
  o.input.neighbours = 48;
  require_effects({o});
  EXPECT_EQ(
      message_of<DataError>([&] { open_set(o); }),
      o.path +
          "/training_objectdataset_augmentedrot_scale75.h5: data.modelnet.neighbours must be less than 48, "
          "the points of a sample, got 48");
  require_effects({CloudsDataOptions{.up = Axis::y}});  // by itself, too: `eval --rotate z` turns about it
}

}  // namespace scans_test
}  // namespace weyl
