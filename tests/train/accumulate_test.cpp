// A step that is cut into several batches, or among several processes, has the loss and the gradients of one batch that holds
// them all, whatever the labels of each batch are.
#include "weyl/train/loop/accumulate.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/data/folder.h"
#include "tests/parallel/processes.h"
#include "tests/tasks/force_field.h"
#include "tests/tasks/rigid_scenes.h"
#include "tests/toy_grid.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/random.h"
#include "weyl/ops/segment.h"
#include "weyl/tasks/classification.h"
#include "weyl/tasks/completion.h"
#include "weyl/tasks/property.h"
#include "weyl/tasks/rigid_motion.h"
#include "weyl/tasks/segmentation.h"
#include "weyl/tasks/trajectory.h"

namespace weyl {
namespace accumulate_test {

const bool one_thread = [] {  // processes are forked from this one
  at::set_num_threads(1);
  return true;
}();

using Cuts = std::vector<std::vector<int64_t>>;

struct Gradients {
  double loss = 0;
  std::vector<Tensor> by;
};

Gradients gradients_of(Model& model, const Task& task, const std::vector<Batch>& batches,
                       GradientSums* ranks = nullptr) {
  for (const Parameter& p : model.parameters()) {
    p.tensor.mutable_grad() = Tensor();
  }
  StepTimes times;
  Gradients found;
  found.loss = accumulate_gradients(model, task, batches, {}, times, ranks).item<double>();
  for (const Parameter& p : model.parameters()) {
    found.by.push_back(p.tensor.grad().defined() ? p.tensor.grad().clone() : at::zeros_like(p.tensor));
  }
  return found;
}

/// Of the graphs of a batch all at once, and cut. `unequal`: the mean of the parts' losses by graphs is another number, so
/// that the test can fail.
void expect_cut_like_whole(Model& model, const Task& task, const Batch& all, const Schema& schema,
                           const Cuts& cuts, bool unequal = true) {
  std::vector<Batch> parts;
  double by_graphs = 0;
  for (const auto& cut : cuts) {
    parts.push_back(take(all, cut, schema));
    by_graphs += gradients_of(model, task, {parts.back()}).loss * static_cast<double>(cut.size()) /
                 static_cast<double>(all.count());
  }
  const Gradients whole = gradients_of(model, task, {all}), cut = gradients_of(model, task, parts);
  EXPECT_NEAR(cut.loss, whole.loss, 1e-10 * std::abs(whole.loss));
  EXPECT_EQ(std::abs(by_graphs - whole.loss) > 1e-6 * std::abs(whole.loss), unequal) << by_graphs;
  double size = 0;
  for (size_t i = 0; i < whole.by.size(); ++i) {
    size = std::max(size, whole.by[i].abs().max().item<double>());
  }
  EXPECT_GT(size, 0);
  for (size_t i = 0; i < whole.by.size(); ++i) {
    EXPECT_LE((cut.by[i] - whole.by[i]).abs().max().item<double>(), 1e-10 * size) << i;
  }
  // A process for each part, and one that has none.
  const Folder folder;
  const int ranks = static_cast<int>(cuts.size()) + 1;
  const auto codes = run_ranks(ranks, folder / "meet", [&](const std::shared_ptr<Ranks>& all) {
    GradientSums sums(all, model.parameters(), 8);  // a bucket for each parameter
    const auto own = static_cast<size_t>(all->rank());
    const std::vector<Batch> batches =
        own < parts.size() ? std::vector<Batch>{parts[own]} : std::vector<Batch>();
    for (int again = 0; again < 2; ++again) {
      const Gradients found = gradients_of(model, task, batches, &sums);
      EXPECT_NEAR(found.loss, whole.loss, 1e-10 * std::abs(whole.loss));
      for (size_t i = 0; i < whole.by.size(); ++i) {
        EXPECT_LE((found.by[i] - whole.by[i]).abs().max().item<double>(), 1e-10 * size) << i;
      }
    }
  });
  EXPECT_EQ(codes, std::vector<int>(static_cast<size_t>(ranks), 0));
}

/// A network of points in float64: numbers of graphs and vectors of nodes, by two weights.
class Sums : public PointsModel {
 public:
  explicit Sums(const Interface& interface) : PointsModel(interface) {
    const BuildOn wide(at::kCPU, at::kDouble);
    a_ = parameter("a", at::full({1}, 0.3, at::kDouble));
    b_ = parameter("b", at::full({1}, -0.2, at::kDouble));
  }
  Named forward(const Points& p) override {
    const Tensor r2 = p.positions.square().sum(1, true);
    Named outputs;
    for (const Quantity& q : interface.outputs) {
      outputs[q.name] = q.kind == Kind::vector ? (p.positions * (a_ + b_ * r2)).unsqueeze(1)
                                               : segment_sum(a_ * r2 + b_ * r2.sin(), p.graphs);
    }
    return outputs;
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }

 private:
  Tensor a_, b_;
};

TEST(Accumulate, ForceFieldsByKnownLabels) {
  for (const ForceLaw law : {ForceLaw::l2, ForceLaw::norm}) {
    ForceFieldOptions o;
    o.stress = true;
    o.energy_loss = ErrorLaw::l1;
    o.force_loss = law;
    Schema schema = atoms();
    schema.labels.push_back(
        {.name = "stress", .level = Level::graph, .kind = Kind::symmetric_tensor, .unit = "eV/\u00c5^3"});
    const auto data = set();
    Batch all = periodic(data);
    all.labels["stress"] = at::randn({4, 1, 3, 3}, at::kDouble) * 0.01;
    ForceField task(o);
    task.fit(InMemory(all, schema));
    Springs model(task.interface(schema));
    expect_cut_like_whole(model, task, all, schema, {{0, 1}, {2, 3}});
    all.labels["energy"][1] = NAN;
    all.labels["forces"].slice(0, 0, 3) = NAN;
    all.labels["forces"][6][0][1] = NAN;
    all.labels["stress"][2] = NAN;
    expect_cut_like_whole(model, task, all, schema, {{0, 1}, {2, 3}});
    expect_cut_like_whole(model, task, all, schema,
                          {{1}, {0, 2}, {3}});  // the first has no energy, and so on
  }
}

TEST(Accumulate, PropertiesByKnownLabels) {
  PropertyOptions o;
  o.targets = {"gap", "U0"};
  o.reference = Reference::mean;
  Schema schema;
  schema.interface.types = 2;
  schema.labels = {{.name = "gap", .level = Level::graph}, {.name = "U0", .level = Level::graph}};
  at::manual_seed(3);
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{2, 3, 1, 4});
  p.positions = at::randn({10, 3}, at::kDouble);
  p.types = at::randint(0, 2, {10}, at::kLong);
  Batch all{p, {{"gap", at::randn({4, 1}, at::kDouble)}, {"U0", at::randn({4, 1}, at::kDouble)}}};
  Property task(o);
  task.fit(InMemory(all, schema));
  Sums model(task.interface(schema));
  all.labels["gap"][0] = NAN;
  all.labels["gap"][1] = NAN;
  all.labels["U0"][0] = NAN;
  expect_cut_like_whole(model, task, all, schema, {{0, 1}, {2, 3}});
  expect_cut_like_whole(model, task, all, schema, {{0}, {1, 2}, {3}});
}

TEST(Accumulate, TrajectoriesByNumbers) {
  Schema schema;
  schema.labels = {{.name = "displacement", .kind = Kind::vector, .role = Role::offset}};
  at::manual_seed(4);
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{2, 7, 1, 3});
  p.positions = at::randn({13, 3}, at::kDouble);
  const Batch all{p, {{"displacement", at::randn({13, 1, 3}, at::kDouble)}}};
  Trajectory task(TrajectoryOptions{.baseline = Baseline::none});
  task.fit(InMemory(all, schema));
  Sums model(task.interface(schema));
  expect_cut_like_whole(model, task, all, schema, {{0, 1}, {2, 3}});
  expect_cut_like_whole(model, task, all, schema, {{3}, {0}, {1, 2}});
}

/// Logits of cells, or of whole grids, by two weights a class.
class Logits : public GridModel {
 public:
  explicit Logits(const Interface& interface) : GridModel(interface) {
    const BuildOn wide(at::kCPU, at::kDouble);
    const int64_t classes = this->interface.outputs[0].channels;
    at::manual_seed(8);
    a_ = parameter("a", at::randn({classes}, at::kDouble));
    b_ = parameter("b", at::randn({classes}, at::kDouble));
  }
  Named forward(const Grid& grid) override {
    const Tensor cells = grid.values * a_.view({1, -1, 1, 1}) + grid.values.square() * b_.view({1, -1, 1, 1});
    return {{"logits", interface.outputs[0].level == Level::node ? cells : cells.mean({2, 3})}};
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }

 private:
  Tensor a_, b_;
};

TEST(Accumulate, ClassesByTheirWeights) {
  at::manual_seed(5);
  const Tensor classes = at::tensor({0, 0, 1, 2, 1, 2}, at::kLong).view({6, 1});
  const Batch all{Grid{at::randn({6, 1, 4, 4}, at::kDouble)}, {{"class", classes}}};
  const Schema schema = toy_schema(2, 1, "class", 3);
  for (const bool weighted : {false, true}) {
    for (const ClassLoss loss : {ClassLoss::cross_entropy, ClassLoss::binary}) {
      if (weighted && loss == ClassLoss::binary) {
        continue;
      }
      ClassificationOptions o;
      o.loss = loss;
      o.label_smoothing = 0.1;
      if (weighted) {
        o.class_weights = {5, 1, 0.2};
      }
      const Classification task(o);
      Logits model(task.interface(schema));
      expect_cut_like_whole(model, task, all, schema, {{0, 1, 2}, {3, 4, 5}}, weighted);
      expect_cut_like_whole(model, task, all, schema, {{3, 5}, {0}, {1, 2, 4}}, weighted);
    }
  }
}

TEST(Accumulate, CellsByTheWeightsOfTheirClasses) {
  at::manual_seed(6);
  const Tensor mask = at::randint(0, 3, {4, 1, 4, 4}, at::kLong);
  mask.slice(0, 0, 1) = 0;
  const Batch all{Grid{at::randn({4, 1, 4, 4}, at::kDouble)}, {{"mask", mask}}};
  const Schema schema = toy_schema(2, 1, "mask", 3);
  SegmentationOptions o{.cross_entropy = 1, .focal = 0.5, .dice = 0.7};
  for (const bool weighted : {false, true}) {
    if (weighted) {
      o.class_weights = {0.1, 1, 4};
    }
    const Segmentation task(o);
    Logits model(task.interface(schema));
    expect_cut_like_whole(model, task, all, schema, {{0}, {1, 2, 3}}, weighted);
    expect_cut_like_whole(model, task, all, schema, {{0, 1}, {2}, {3}}, weighted);
  }
}

/// A gap and a correction for each token, by two weights.
class Gaps : public PosesModel {
 public:
  explicit Gaps(const Interface& interface) : PosesModel(interface) {
    const BuildOn wide(at::kCPU, at::kDouble);
    a_ = parameter("a", at::full({1}, 0.7, at::kDouble));
    b_ = parameter("b", at::full({1}, -0.2, at::kDouble));
  }
  Named forward(const Poses& poses) override {
    const Tensor x = poses.elements.flatten(1), n = x.slice(1, 0, degrees_of_freedom(poses.group));
    return {{"gap", a_ * x.sum(1, true).sin()}, {"correction", b_ * n}};
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }

 private:
  Tensor a_, b_;
};

TEST(Accumulate, SequencesOfPosesByTheirNumber) {
  Stream stream(5, "accumulate test");
  Schema schema;
  schema.interface.group = LieGroup::se2;
  schema.interface.dimension = 2;
  schema.labels = {{.name = "element", .level = Level::graph, .kind = Kind::element},
                   {.name = "flank", .kind = Kind::category}};
  Poses poses;
  poses.group = LieGroup::se2;
  poses.elements = random_elements(poses.group, 17, 1, stream);
  poses.graphs = Segments::of_sizes(std::vector<int64_t>{4, 5, 3, 5});
  Tensor flank = at::zeros({17, 1}, at::kLong);
  for (const int64_t row : {0, 1, 5, 6, 9, 13, 14}) {
    flank[row] = 1;
  }
  const Batch all{poses, {{"element", random_elements(poses.group, 4, 1, stream)}, {"flank", flank}}};
  const Completion task({});
  Gaps model(task.interface(schema));
  expect_cut_like_whole(model, task, all, schema, {{0, 1, 2}, {3}}, false);
}

/// The same four parts of a motor for every object.
class Motor : public PointsModel {
 public:
  explicit Motor(const Interface& interface) : PointsModel(interface) {
    const BuildOn wide(at::kCPU, at::kDouble);
    parts_ = parameter("parts", at::linspace(-0.2, 0.3, 8, at::kDouble));
  }
  Named forward(const Points& p) override {
    const Tensor all = parts_.expand({p.objects.count(), 8});
    return {{"motor_scalar", all.slice(1, 0, 1)},
            {"motor_pseudoscalar", all.slice(1, 1, 2)},
            {"motor_ideal", all.slice(1, 2, 5).unsqueeze(1)},
            {"motor_bivector", all.slice(1, 5, 8).unsqueeze(1)}};
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }

 private:
  Tensor parts_;
};

TEST(Accumulate, RigidMotionByScenesWithAKnownObject) {
  const Schema schema = rigid::schema(1);
  Batch all = rigid::batch_of(rigid::random_scenes(4, 2), 1);
  RigidMotion task({});
  task.fit(InMemory(all, schema));
  const auto& points = std::get<Points>(all.input);
  const int64_t first = points.graphs.offsets[1];
  int64_t objects = 0;  // of the first scene
  while (points.objects.offsets[objects] < first) {
    ++objects;
  }
  all.labels["displacement"].slice(0, 0, objects) = NAN;
  Motor model(task.interface(schema));
  expect_cut_like_whole(model, task, all, schema, {{0, 1}, {2, 3}});
  expect_cut_like_whole(model, task, all, schema, {{0}, {1, 2, 3}});
}

}  // namespace accumulate_test
}  // namespace weyl
