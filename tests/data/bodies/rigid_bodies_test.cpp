// The set of rigid bodies: samples, features and labels of the fixture's scenes, which are known, and what is refused.
#include "weyl/data/bodies/rigid_bodies.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "tests/data/folder.h"
#include "weyl/carriers/consistency.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/data/bodies/rigid_scenes.h"
#include "weyl/data/convert.h"
#include "weyl/data/open.h"

namespace weyl {
namespace rigid_bodies_test {

namespace fs = std::filesystem;

const std::string fixture = WEYL_SOURCE_DIR "/tests/fixtures/rigid/tetrahedra.safetensors";

std::vector<int64_t> ints(std::initializer_list<int64_t> x) {
  return x;
}

/// Two scenes, of one body and of two, that fall and turn by other angles in each of seven frames.
RigidScenes seven_frames() {
  const RigidScenesFile file(fixture);
  RigidScenes scenes{.frames = 7, .interval = 1.0 / 48, .shapes = file.shapes()};
  for (const int64_t bodies : {1, 2}) {
    RigidScene scene;
    for (int64_t body = 0; body < bodies; ++body) {
      scene.objects.push_back({0, 1 + 0.5 * static_cast<double>(body), 1, 0.4, 0.3});
      for (int frame = 0; frame < 7; ++frame) {
        const double half = 0.02 * frame * frame + 0.1 * static_cast<double>(body + bodies),
                     s = std::sin(half) / 3;
        for (const double x : {0.1 * frame, 2.0 * static_cast<double>(body), 3 - 0.05 * frame * frame, 2 * s,
                               -s, 2 * s, std::cos(half)}) {
          scene.poses.push_back(static_cast<float>(x));
        }
        scene.contacts.push_back(frame == 4 && body == 0 ? 1 : 0);
      }
    }
    scenes.add(scene);
  }
  return scenes;
}

TEST(RigidBodiesSet, MakesSamplesOfTwoFramesAndTheNext) {
  const Folder folder;
  write_rigid_scenes(folder / "train.safetensors", seven_frames(), {});
  const Splits splits = open_set(RigidBodiesDataOptions{.path = folder.path()});
  ASSERT_TRUE(splits.train && !splits.valid && !splits.test);
  const Dataset& data = *splits.train;
  EXPECT_EQ(data.size(), 2 * 5);  // t = 1 .. 5
  EXPECT_EQ(data.tokens(4), 4);
  EXPECT_EQ(data.tokens(5), 8);
  EXPECT_EQ(data.schema().interface.typical_nodes, 6);
  EXPECT_EQ(data.schema().interface.length_unit, "m");
  EXPECT_EQ(data.schema().horizon, 1);
  const Batch batch = data.batch(ints({7, 3}));  // scene 1 at t = 3, scene 0 at t = 4
  EXPECT_NO_THROW(require_consistent(batch, data.schema()));
  const auto& points = std::get<Points>(batch.input);
  EXPECT_EQ(points.graphs.offsets, ints({0, 8, 12}));
  EXPECT_EQ(points.objects.offsets, ints({0, 4, 8, 12}));
  EXPECT_EQ(points.vectors.sizes(), ints({12, 12, 3}));
  EXPECT_EQ(points.scalars.sizes(), ints({12, 1}));
  // A body touches something between t - 1 and t + 1: here in what led to frame 4.
  const auto contact = [&](int64_t sample) {
    return data.batch(ints({sample})).labels.at("contact")[0][0].item<double>();
  };
  EXPECT_EQ(contact(1), 0);  // t = 2
  EXPECT_EQ(contact(2), 1);  // t = 3
  EXPECT_EQ(contact(3), 1);  // t = 4
  EXPECT_EQ(contact(4), 0);  // t = 5
  EXPECT_EQ(batch.labels.at("vertex_count")[0][0].item<double>(), 4);
}

/// The vertices of a body at a frame, moved one by one.
Tensor vertices_at(const RigidScenes& scenes, int64_t body, int64_t frame) {
  const float* p = &scenes.all.poses[(body * scenes.frames + frame) * 7];
  const auto v = at::tensor(scenes.shapes[0].mesh.vertices, at::kDouble).reshape({-1, 3});
  const auto q = at::tensor(std::vector<double>{p[3], p[4], p[5]}, at::kDouble).expand_as(v);
  const Tensor t = 2 * at::linalg_cross(q, v);
  const auto at = at::tensor(std::vector<double>{p[0], p[1], p[2]}, at::kDouble);
  return at + scenes.all.objects[body].scale * (v + p[6] * t + at::linalg_cross(q, t));
}

Tensor matrix_of(const Tensor& turn) {
  const auto w = turn.contiguous();
  const double* x = w.const_data_ptr<double>();
  const Tensor generator =
      at::tensor(std::vector<double>{0, -x[2], x[1], x[2], 0, -x[0], -x[1], x[0], 0}, at::kDouble);
  return at::matrix_exp(generator.reshape({3, 3}));
}

TEST(RigidBodiesSet, LabelsMoveTheVerticesWhereTheyGo) {
  const Folder folder;
  const RigidScenes scenes = seven_frames();
  write_rigid_scenes(folder / "test.safetensors", scenes, {});
  const Splits splits = open_set(RigidBodiesDataOptions{.path = folder.path(), .rollout = 3});
  ASSERT_EQ(splits.test->size(), 2 * 3);
  const Batch batch = splits.test->batch(ints({4}));  // scene 1 at t = 2
  const auto& points = std::get<Points>(batch.input);
  for (int64_t body = 0; body < 2; ++body) {
    const Tensor now = vertices_at(scenes, 1 + body, 2);
    const Tensor centre = points.positions.slice(0, 4 * body, 4 * body + 4).mean(0);
    const Tensor r = now - centre;
    const auto expect_moved = [&](const Tensor& displacement, const Tensor& turn, int64_t from, int64_t to) {
      const Tensor there = vertices_at(scenes, 1 + body, from), mean = there.mean(0);
      // For a tetrahedron the mean of the corners is the mean of the triangles' centres.
      const Tensor moved = mean + displacement + at::matmul(there - mean, matrix_of(turn).t());
      EXPECT_TRUE(at::allclose(moved, vertices_at(scenes, 1 + body, to), 0, 1e-6)) << from << " to " << to;
    };
    EXPECT_EQ(batch.labels.at("displacement").sizes(), ints({2, 3, 3}));
    for (int64_t k = 0; k < 3; ++k) {
      expect_moved(batch.labels.at("displacement")[body][k], batch.labels.at("turn")[body][k], 2, 3 + k);
    }
    expect_moved(batch.labels.at("past_displacement")[body][0], batch.labels.at("past_turn")[body][0], 1, 2);
    const float* pose =
        &scenes.all.poses[((1 + body) * 7 + 2) * 7];  // of frame 2: its place is that of the centre of mass
    const Tensor mass_centre = at::tensor({pose[0], pose[1], pose[2]}, at::kFloat).to(at::kDouble);
    EXPECT_TRUE(at::allclose(centre + batch.labels.at("mass_centre")[body][0], mass_centre, 0, 1e-6));
    EXPECT_TRUE(at::allclose(batch.labels.at("vertex_mean")[body][0], r.mean(0), 0, 1e-6));
    EXPECT_TRUE(at::allclose(batch.labels.at("vertex_moment")[body][0], at::matmul(r.t(), r) / 4, 0, 1e-6));
    // A token's corners, and what they moved since frame 1.
    const auto& mesh = scenes.shapes[0].mesh;
    for (int64_t t = 0; t < 4; ++t) {
      for (int64_t k = 0; k < 3; ++k) {
        const int64_t corner = mesh.triangles[3 * t + k], token = 4 * body + t;
        const Tensor there = points.positions[token] + points.vectors[token][k];
        EXPECT_TRUE(at::allclose(there, now[corner], 0, 1e-6));
        EXPECT_TRUE(at::allclose(there - points.vectors[token][7 + k],
                                 vertices_at(scenes, 1 + body, 1)[corner], 0, 1e-6));
      }
    }
  }
}

// What features and labels are is what their kinds say: a scene that is turned and shifted, in its file, gives the sample that
// `transform` makes of the one that is not.
TEST(RigidBodiesSet, SamplesMoveWithTheirScenes) {
  const Folder folder;
  RigidScenes scenes = seven_frames();
  write_rigid_scenes(folder / "train.safetensors", scenes, {});
  const double angle = 0.7, c = std::cos(angle), s = std::sin(angle),
               shift[3] = {3, -1, 0};  // about the axis z
  for (size_t pose = 0; pose < scenes.all.poses.size(); pose += 7) {
    float* p = &scenes.all.poses[pose];
    const double x = p[0], y = p[1], q[4] = {p[3], p[4], p[5], p[6]};
    p[0] = static_cast<float>(c * x - s * y + shift[0]);
    p[1] = static_cast<float>(s * x + c * y + shift[1]);
    const double hc = std::cos(angle / 2), hs = std::sin(angle / 2);
    p[3] = static_cast<float>(hc * q[0] - hs * q[1]);
    p[4] = static_cast<float>(hc * q[1] + hs * q[0]);
    p[5] = static_cast<float>(hc * q[2] + hs * q[3]);
    p[6] = static_cast<float>(hc * q[3] - hs * q[2]);
  }
  write_rigid_scenes(folder / "test.safetensors", scenes, {});
  const Splits splits = open_set(RigidBodiesDataOptions{.path = folder.path()});
  const auto all = ints({0, 3, 6, 9});
  const Motions motions{at::tensor(std::vector<double>{c, -s, 0, s, c, 0, 0, 0, 1}, at::kDouble)
                            .reshape({1, 3, 3})
                            .expand({4, 3, 3}),
                        at::tensor(std::vector<double>{3, -1, 0}, at::kDouble).expand({4, 3})};
  const Batch moved = transform(splits.train->batch(all), motions, splits.train->schema());
  const Batch expected = splits.test->batch(all);
  const auto &a = std::get<Points>(moved.input), &b = std::get<Points>(expected.input);
  EXPECT_TRUE(at::allclose(a.positions, b.positions, 0, 2e-6));
  EXPECT_TRUE(at::allclose(a.vectors, b.vectors, 0, 2e-6));
  EXPECT_TRUE(at::allclose(a.scalars, b.scalars, 0, 2e-6));
  for (const auto& [name, value] : expected.labels) {
    EXPECT_TRUE(at::allclose(moved.labels.at(name), value, 0, 3e-6)) << name;
  }
  // And the check sees a scene that is not the same.
  EXPECT_FALSE(at::allclose(std::get<Points>(splits.train->batch(all).input).vectors, b.vectors, 0, 1e-2));
}

TEST(RigidBodiesSet, TakesItsOptions) {
  const Folder folder;
  write_rigid_scenes(folder / "train.safetensors", seven_frames(), {});
  const auto open = [&](RigidBodiesDataOptions o) {
    o.path = folder.path();
    return open_set(o).train;
  };
  const auto without = open({.floor = false});
  EXPECT_EQ(without->schema().interface.features.size(), 5);
  const Batch batch = without->batch(ints({0}));
  const auto& points = std::get<Points>(batch.input);
  EXPECT_EQ(points.vectors.sizes(), ints({4, 11, 3}));
  EXPECT_FALSE(points.scalars.defined());
  EXPECT_NO_THROW(require_consistent(batch, without->schema()));
  EXPECT_EQ(open({.stride = 2})->size(), 2 * 3);
  const Batch second = open({.stride = 2})->batch(ints({1}));
  EXPECT_TRUE(at::equal(std::get<Points>(second.input).positions,
                        std::get<Points>(open({})->batch(ints({2})).input).positions));
  EXPECT_EQ(open({.train = 1})->size(), 5);
  EXPECT_EQ(open({.rollout = 5})->size(), 2);
  EXPECT_EQ(declared_schema(RigidBodiesDataOptions{.rollout = 5}).labels[0].channels, 5);
  EXPECT_EQ(message_of<DataError>([&] { open({.rollout = 6}); }),
            folder / "train.safetensors: must have 8 frames or more for a rollout of 6, got 7");
  EXPECT_EQ(message_of<DataError>([&] { open({.train = 3}); }),
            folder /
                "train.safetensors: data.rigid_bodies.train must be at most 2, the scenes there are (0: "
                "all), got 3");
  EXPECT_EQ(message_of<DataError>([&] { open_set(RigidBodiesDataOptions{.path = folder / "none"}); }),
            folder / "none: there is no such folder; make it with `weyl data make rigid_bodies --out " +
                (folder / "none") + "`");
  fs::create_directory(folder / "empty");
  EXPECT_NE(message_of<DataError>([&] {
              open_set(RigidBodiesDataOptions{.path = folder / "empty"});
            }).find("holds no train.safetensors"),
            std::string::npos);
}

TEST(RigidBodiesSet, OpensAFileWithoutLabelsWhereThereIsNoNextFrame) {
  const auto data = open_file(fixture, {RigidBodiesDataOptions{.rollout = 2}});
  EXPECT_TRUE(data->schema().labels.empty());
  EXPECT_EQ(data->size(), 2 * 2);  // every frame but the first
  EXPECT_TRUE(data->batch(ints({1, 3})).labels.empty());
  EXPECT_EQ(open_file(fixture, {})->size(), 2);
  // A model that is not told of the floor is told nothing of it.
  Interface told = declared_schema(RigidBodiesDataOptions{.floor = false}).interface;
  EXPECT_EQ(open_file(fixture, {}, &told)->schema().interface.features.size(), 5);
}

TEST(RigidBodiesSet, IsSplitByScenes) {
  const Folder folder;
  RigidScenes scenes = seven_frames();
  for (int i = 0; i < 4; ++i) {  // ten scenes
    const RigidScenes more = seven_frames();
    const int64_t before = scenes.offsets.back();
    scenes.add(more.all);
    scenes.offsets.insert(scenes.offsets.end() - 1, before + 1);
  }
  write_rigid_scenes(folder / "all.safetensors", scenes, {{"seed", "5"}});
  ASSERT_EQ(RigidScenesFile(folder / "all.safetensors").scenes(), 10);
  const SplitIndices parts =
      split_file(folder / "all.safetensors", folder / "parts", {.train = 0.6, .valid = 0.2});
  EXPECT_EQ(parts.train.size(), 6);
  const RigidScenesFile whole(folder / "all.safetensors"), train(folder / "parts/train.safetensors");
  EXPECT_EQ(train.scenes(), 6);
  EXPECT_EQ(train.metadata().at("seed"), "5");
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(train.scene(i), whole.scene(parts.train[i]));
  }
  EXPECT_EQ(open_set(RigidBodiesDataOptions{.path = folder / "parts"}).test->size(), 2 * 5);
}

}  // namespace rigid_bodies_test
}  // namespace weyl
