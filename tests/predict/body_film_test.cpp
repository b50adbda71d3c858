#include "weyl/predict/body_film.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/tasks/rigid_scenes.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"

namespace weyl {
namespace body_film_test {

/// A fitted task on a data set, with an untrained transformer.
Predictor predictor_of(TaskOptions task, const Dataset& data) {
  SavedModel saved;
  saved.recipe.task = task;
  saved.task = make_task(task);
  saved.task->fit(data);
  transformer::Options o;
  o.width = 8;
  o.heads = 2;
  o.blocks = 1;
  at::manual_seed(1);
  saved.model = build({o}, saved.task->interface(data.schema()));
  return Predictor(std::move(saved));
}

Batch sample_of(const Dataset& data, int64_t i) {
  return data.batch({&i, 1});
}

TEST(BodyFilm, OfRigidObjectsShowsTheirEdges) {
  Stream stream(3, "boxes");
  std::vector<std::vector<rigid::Body>> scenes(1);
  while (scenes[0].size() < 2) {
    const rigid::Body body = rigid::random_body(stream);
    if (body.mesh.triangles.size() == 12) {
      scenes[0].push_back(body);
    }
  }
  const InMemory data(rigid::batch_of(scenes, 9), rigid::schema(9));
  const Predictor predictor = predictor_of({RigidMotionOptions{}}, data);
  const auto film = film_of(predictor, sample_of(data, 0), 0);
  ASSERT_TRUE(film.has_value());
  EXPECT_EQ(film->times, (std::vector<std::string>{"start", "step 2", "step 5", "step 7", "step 9"}));
  EXPECT_EQ(film->unit, "m");
  // Twelve edges of each box: no diagonals.
  EXPECT_EQ(film->truth.sizes(), at::IntArrayRef({5, 24, 4}));
  EXPECT_TRUE(at::equal(film->truth[0], film->prediction[0]));
  EXPECT_GT((film->truth[4] - film->prediction[4]).abs().max().item<double>(), 1e-3);
  // Rigid, seen from one side: opposite edges of a box stay parallel, here in fours.
  const Tensor ways = film->truth.slice(2, 2, 4) - film->truth.slice(2, 0, 2);  // (F, 24, 2)
  for (int64_t f = 0; f < 5; ++f) {
    int64_t parallel = 0;
    for (int64_t e = 1; e < 12; ++e) {
      const Tensor a = ways[f][0], b = ways[f][e];
      parallel += (a[0] * b[1] - a[1] * b[0]).abs().item<double>() < 1e-4;
    }
    EXPECT_EQ(parallel, 3) << f;
  }
  EXPECT_EQ(film->ground.size(1), 4);
}

TEST(BodyFilm, OfAttractedBodiesShowsStartAndEnd) {
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{4, 4});
  at::manual_seed(2);
  p.positions = at::randn({8, 3}, at::kDouble) * at::tensor({3.0, 1e-3, 2.0}, at::kDouble);
  Schema schema;
  schema.labels = {{.name = "displacement", .kind = Kind::vector, .role = Role::offset}};
  const Tensor d = at::tensor({0.5, 0.0, 0.1}, at::kDouble).expand({8, 1, 3}).contiguous();
  const InMemory data({p, {{"displacement", d}}}, schema);
  const Predictor predictor = predictor_of({TrajectoryOptions{}}, data);
  const auto film = film_of(predictor, sample_of(data, 1), 0.1);
  ASSERT_TRUE(film.has_value());
  EXPECT_EQ(film->times, (std::vector<std::string>{"start", "after 0.1"}));
  EXPECT_EQ(film->truth.sizes(), at::IntArrayRef({2, 4, 2}));
  // Seen along the axis of least spread, which leaves lengths in the plane as they are.
  const Tensor moved = (film->truth[1] - film->truth[0]).square().sum(1).sqrt();
  EXPECT_LT((moved - std::sqrt(0.26)).abs().max().item<double>(), 1e-3);
  EXPECT_FALSE(film->ground.defined());
}

// A time has the unit that velocities are told by.
TEST(BodyFilm, SaysItsTimeAndUnit) {
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{4, 4});
  at::manual_seed(2);
  p.positions = at::randn({8, 3}, at::kDouble);
  p.vectors = at::randn({8, 1, 3}, at::kDouble);
  Schema schema;
  schema.interface.features = {{.name = "velocity", .kind = Kind::vector, .unit = "Å/ps"}};
  schema.labels = {{.name = "displacement", .kind = Kind::vector, .role = Role::offset, .unit = "Å"}};
  const InMemory data({p, {{"displacement", at::randn({8, 1, 3}, at::kDouble)}}}, schema);
  const auto film = film_of(predictor_of({TrajectoryOptions{}}, data), sample_of(data, 1), 0.1);
  ASSERT_TRUE(film.has_value());
  EXPECT_EQ(film->times, (std::vector<std::string>{"start", "after 0.1 ps"}));
  EXPECT_EQ(film->unit, "Å");
  const auto boxes = rigid::data(2, 1);
  const auto rigid_film = film_of(predictor_of({RigidMotionOptions{}}, *boxes), sample_of(*boxes, 0), 1);
  ASSERT_TRUE(rigid_film.has_value());
  EXPECT_TRUE(rigid_film->step.starts_with("1")) << rigid_film->step;
}

TEST(BodyFilm, GoesOnBeyondTheStepsThatWereTrained) {
  const auto data = rigid::data(2, 1);
  Predictor predictor = predictor_of({RigidMotionOptions{}}, *data);
  predictor.roll_out(3);
  const Named said = predictor(sample_of(*data, 0).input);
  EXPECT_EQ(said.at("displacement").size(1), 3);
  EXPECT_EQ(find_quantity(predictor.outputs(), "turn")->channels, 3);
  PropertyOptions options;
  options.targets = {"energy"};
  Schema schema;
  schema.labels = {{.name = "energy", .level = Level::graph}};
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{4, 4});
  p.positions = at::randn({8, 3}, at::kDouble);
  Predictor other =
      predictor_of({options}, InMemory({p, {{"energy", at::randn({2, 1}, at::kDouble)}}}, schema));
  try {
    other.roll_out(3, "--rollout");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("--rollout: needs a model of task rigid_motion"),
              std::string::npos);
  }
}

TEST(BodyFilm, OfOtherTasksThereIsNone) {
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{4, 4});
  p.positions = at::randn({8, 3}, at::kDouble);
  Schema schema;
  schema.labels = {{.name = "energy", .level = Level::graph}};
  const InMemory data({p, {{"energy", at::randn({2, 1}, at::kDouble)}}}, schema);
  PropertyOptions options;
  options.targets = {"energy"};
  EXPECT_FALSE(film_of(predictor_of({options}, data), sample_of(data, 0), 0).has_value());
}

}  // namespace body_film_test
}  // namespace weyl
