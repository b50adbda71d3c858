// Nets of multivectors that embed places as points: exact under rotations, translations and permutations, and nearly so under
// mirrors, which an audit measures and never takes for a control (docs/papers/equivariance-at-scale.md, "Reflections").
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <set>
#include <utility>

#include "tests/data/folder.h"
#include "weyl/carriers/loader.h"
#include "weyl/data/open.h"
#include "weyl/makers/particles/nbody.h"
#include "weyl/makers/particles/planets.h"
#include "weyl/models/systems.h"
#include "weyl/study/audit/audit.h"
#include "weyl/tasks/task.h"
#include "weyl/train/loop/optimiser.h"
#include "weyl/train/recipe.h"

namespace weyl {
namespace audit_mirrors_test {

/// configs/<config>, its net made small.
Recipe small(const std::string& config, std::vector<std::string> overrides) {
  for (const char* more :
       {"model.gatr.width=4", "model.gatr.scalars=16", "model.gatr.heads=2", "model.gatr.blocks=2"}) {
    overrides.emplace_back(more);
  }
  return read_recipe(std::string(WEYL_SOURCE_DIR) + "/configs/" + config, overrides);
}

/// Eighty steps: what is asked is that the weights are no longer those of the start.
void train_briefly(Model& model, const Task& task, std::shared_ptr<const Dataset> data) {
  OptimiserOptions adam;
  adam.rate = 5e-3;
  adam.clip = 1;
  Optimiser optimiser(model.parameters(), adam);
  LoaderOptions options;
  options.batch = 16;
  options.ahead = 0;
  options.centre = Centre::mean;
  Loader loader(std::move(data), options, 1);
  double first = 0, last = 0;
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    loader.start(epoch);
    double sum = 0;
    for (auto batch = loader.next(); batch; batch = loader.next()) {
      const Tensor loss = task.step(model, *batch).loss;
      sum += loss.item<double>();
      loss.backward();
      optimiser.clip_gradients();
      optimiser.step();
      optimiser.clear_gradients();
    }
    (epoch == 0 ? first : last) = sum;
  }
  EXPECT_LT(last, first);
}

const std::vector<at::ScalarType> both{at::kFloat, at::kDouble};

/// The largest error under mirrors.
double expect_passed(const std::string& name, Model& model, const Task& task, const Dataset& data,
                     std::vector<at::ScalarType> dtypes = both) {
  SCOPED_TRACE(name);
  AuditOptions quick;
  quick.elements = 6;
  quick.dtypes = std::move(dtypes);
  const AuditReport report =
      audit(model, &task, data.batch(std::vector<int64_t>{0, 1, 2, 3}), data.schema(), quick);
  for (const AuditClaim& c : report.claims) {
    EXPECT_TRUE(c.passed) << c.group << " " << c.output << " " << c.dtype << " " << c.error;
  }
  std::set<std::string> controls, measured;
  for (const AuditControl& c : report.controls) {
    EXPECT_TRUE(c.passed) << c.transformation << " " << c.error;
    controls.insert(c.transformation);
  }
  EXPECT_TRUE(report.passed);
  EXPECT_EQ(controls, std::set<std::string>{"shear"});
  double worst = 0;
  for (const AuditMeasure& m : report.measures) {
    EXPECT_EQ(m.group, "O(3)");
    EXPECT_TRUE(std::isfinite(m.error)) << m.output;
    EXPECT_TRUE(measured.insert(m.output).second) << m.output;
    worst = std::max(worst, m.error);
  }
  for (const Quantity& q : model.interface.outputs) {
    EXPECT_TRUE(measured.contains(q.name)) << q.name;
  }
  for (const Quantity& q : task.predictions(model.interface)) {
    EXPECT_TRUE(measured.contains("prediction." + q.name)) << q.name;
  }
  std::cout << name << ": largest error under mirrors " << worst << "\n";
  return worst;
}

void expect_audits(const std::string& name, const Recipe& recipe, const std::shared_ptr<const Dataset>& data,
                   const std::vector<at::ScalarType>& untrained = both) {
  const auto task = make_task(recipe.task);
  task->fit(*data);
  at::manual_seed(1);
  const auto model = build(recipe.model, task->interface(data->schema()));
  const double before = expect_passed(name + ", untrained", *model, *task, *data, untrained);
  train_briefly(*model, *task, data);
  const double after = expect_passed(name + ", trained", *model, *task, *data);
  EXPECT_GT(before, 1e-9);  // no exact symmetry
  EXPECT_GT(after, 1e-9);
}

TEST(AuditOfMirrors, PassesChargedParticles) {
  const Folder folder;
  ASSERT_TRUE(make_nbody({.train = 64, .valid = 0, .test = 0, .threads = 1}, folder.path()));
  const Recipe recipe = small("nbody/gatr.toml", {"data.nbody.path=" + folder.path()});
  expect_audits("charged particles", recipe, open_splits(recipe.data).train);
}

TEST(AuditOfMirrors, PassesPlanets) {
  const Folder folder;
  ASSERT_TRUE(make_planets({.train = 64, .valid = 0, .test = 0, .threads = 1}, folder.path()));
  const Recipe recipe =
      small("planets/gatr.toml", {"data.planets.path=" + folder.path(), "data.planets.train=0"});
  expect_audits("planets", recipe, open_splits(recipe.data).train);
}

/// Nothing but positions, of which each is pulled towards the centroid: everything that comes in is a point. Linear maps of
/// a point give no way to go, so that an untrained net moves its nodes by a thousandth of where they are: too little for
/// float32, which rounds places by 6e-8 of them.
TEST(AuditOfMirrors, PassesPositionsAlone) {
  at::manual_seed(4);
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>(64, 5));
  points.positions = at::randn({320, 3}, at::kDouble);
  const Tensor arms = points.positions.view({64, 5, 3}) - points.positions.view({64, 5, 3}).mean(1, true);
  const Tensor pulled = (-0.5 * arms * arms.norm(2, 2, true)).view({320, 1, 3});
  Schema schema;
  schema.interface.typical_nodes = 5;
  schema.labels = {{.name = "displacement", .kind = Kind::vector, .role = Role::offset}};
  const auto data = std::make_shared<InMemory>(Batch{points, {{"displacement", pulled}}}, schema);
  expect_audits(
      "positions alone",
      small("nbody/gatr.toml", {"task.trajectory.baseline=none", "task.trajectory.normalise=false"}), data,
      {at::kDouble});
}

}  // namespace audit_mirrors_test
}  // namespace weyl
