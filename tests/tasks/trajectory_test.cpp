#include "weyl/tasks/trajectory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <numeric>

#include "weyl/core/check.h"

namespace weyl {
namespace trajectory_test {

/// Answers a v + b r: equivariant, with two numbers to learn.
class Line : public Model {
 public:
  Line(Interface interface, double a, double b)
      : Model(std::move(interface)), a_(at::full({1}, a, at::kDouble).requires_grad_()), b_(b) {}
  Named operator()(const Input& input) override {
    const auto& p = std::get<Points>(input);
    return {{"displacement",
             p.vectors.slice(1, 0, 1) * a_.to(p.vectors.scalar_type()) + p.positions.unsqueeze(1) * b_}};
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }
  Tensor a_;
  double b_;
};

Schema moving() {
  Schema schema;
  schema.interface.typical_nodes = 3;
  schema.interface.features = {{"charge"}, {.name = "velocity", .kind = Kind::vector}};
  schema.labels = {{.name = "displacement", .kind = Kind::vector, .role = Role::offset, .unit = "length"}};
  schema.horizon = 2;
  return schema;
}

/// Displacements c v + noise.
std::shared_ptr<InMemory> set(int64_t graphs, double c, double noise, const Schema& schema = moving()) {
  at::manual_seed(4);
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>(graphs, 3));
  const int64_t n = 3 * graphs;
  p.positions = at::randn({n, 3}, at::kDouble);
  p.scalars = at::randn({n, 1}, at::kDouble);
  p.vectors = at::randn({n, 1, 3}, at::kDouble);
  const Tensor d = p.vectors * c + at::randn({n, 1, 3}, at::kDouble) * noise;
  return std::make_shared<InMemory>(Batch{p, {{"displacement", d}}}, schema);
}

Batch all_of(const Dataset& data) {
  std::vector<int64_t> every(data.size());
  std::iota(every.begin(), every.end(), 0);
  return data.batch(every);
}

double mse(const Metrics& metrics) {
  return metrics.at("mse").value;
}

TEST(Trajectory, AsksForADisplacementAndPredictsAPosition) {
  const auto task = make_task({TrajectoryOptions{}});
  EXPECT_EQ(task->name(), "trajectory");
  EXPECT_EQ(task->headline(), "mse");
  EXPECT_TRUE(task->lower_is_better());
  const Interface interface = task->interface(moving());
  ASSERT_EQ(interface.outputs.size(), 1u);
  EXPECT_EQ(interface.outputs[0].name, "displacement");
  EXPECT_EQ(interface.outputs[0].unit, "length");
  EXPECT_EQ(interface.features, moving().interface.features);
  const auto predictions = task->predictions(interface);
  ASSERT_EQ(predictions.size(), 2u);
  EXPECT_EQ(predictions[1].name, "position");
  EXPECT_EQ(predictions[1].role, Role::point);
}

TEST(Trajectory, AddsTheTermThatAModelAsksFor) {
  class Asking : public Line {
   public:
    using Line::Line;
    Named operator()(const Input& input) override {
      Named outputs = Line::operator()(input);
      outputs[term_of_loss] = at::full({1}, 0.25, at::kDouble);
      return outputs;
    }
  };
  const auto data = set(5, 0.5, 1);
  Trajectory task({});
  task.fit(*data);
  const Interface interface = task.interface(data->schema());
  Line plain(interface, 0.3, 0);
  Asking asking(interface, 0.3, 0);
  const Batch batch = all_of(*data);
  EXPECT_NEAR(task.step(asking, batch).loss.item<double>(),
              task.step(plain, batch).loss.item<double>() + 0.25, 1e-12);
}

TEST(Trajectory, LossIsTheMeanSquareInUnitsOfTheRootMeanSquare) {
  const auto data = set(20, 0.5, 1);
  Trajectory task({});
  task.fit(*data);
  const Batch batch = all_of(*data);
  const Tensor& d = batch.labels.at("displacement");
  const double scale = d.square().mean().sqrt().item<double>();
  EXPECT_NEAR(task.state().at("scale").item<double>(), scale, 1e-12);
  Line model(task.interface(data->schema()), 0.3, 0.1);
  const Step step = task.step(model, batch);
  const Tensor output = model(batch.input).at("displacement");
  EXPECT_NEAR(step.loss.item<double>(), (output - d / scale).square().mean().item<double>(), 1e-12);
  EXPECT_TRUE(at::allclose(step.predictions.at("displacement"), output * scale));
  const auto& p = std::get<Points>(batch.input);
  EXPECT_TRUE(at::allclose(step.predictions.at("position"), p.positions.unsqueeze(1) + output * scale));
  // the loss has a graph: its slope is that of finite differences
  const Tensor gradient = torch::autograd::grad({step.loss}, {model.a_})[0];
  Line above(model.interface, 0.3 + 1e-6, 0.1), below(model.interface, 0.3 - 1e-6, 0.1);
  const double difference =
      (task.step(above, batch).loss - task.step(below, batch).loss).item<double>() / 2e-6;
  EXPECT_NEAR(gradient.item<double>(), difference, 1e-7);
  // the metric is the loss in the data's units
  const auto meter = task.meter(model.interface);
  meter->add(batch, step.predictions);
  EXPECT_NEAR(mse(meter->values()), step.loss.item<double>() * scale * scale, 1e-12);
  EXPECT_EQ(meter->values().at("mse").unit, "length^2");
  EXPECT_NEAR(meter->values().at("rmse").value, std::sqrt(mse(meter->values())), 1e-15);
}

TEST(Trajectory, BaselinesAreAddedToWhatTheModelAnswers) {
  const auto data = set(50, 0.7, 0.2);
  const Batch batch = all_of(*data);
  const Tensor v = std::get<Points>(batch.input).vectors, d = batch.labels.at("displacement");
  const double best = ((v * d).sum() / v.square().sum()).item<double>();
  const std::pair<Baseline, double> cases[] = {
      {Baseline::none, 0}, {Baseline::straight_line, 2}, {Baseline::best_straight_line, best}};
  for (const auto& [baseline, c] : cases) {
    for (const bool normalise : {true, false}) {
      Trajectory task({baseline, normalise});
      Line model(task.interface(data->schema()), 0.3, 0.1);
      // Only the displacement itself moves nodes.
      EXPECT_EQ(model.interface.outputs[0].role,
                baseline == Baseline::none && !normalise ? Role::offset : Role::free);
      task.fit(*data);
      const double scale = normalise ? (d - v * c).square().mean().sqrt().item<double>() : 1;
      EXPECT_NEAR(task.state().at("scale").item<double>(), scale, 1e-9);
      const Step step = task.step(model, batch);
      const Tensor output = model(batch.input).at("displacement");
      EXPECT_TRUE(at::allclose(step.predictions.at("displacement"), v * c + output * scale, 1e-9));
      EXPECT_NEAR(step.loss.item<double>(), (output - (d - v * c) / scale).square().mean().item<double>(),
                  1e-9);
      EXPECT_TRUE(at::equal(task.predict(model, batch).at("position"), step.predictions.at("position")));
    }
  }
}

TEST(Trajectory, BatchesAddUpExactly) {
  const auto data = set(30, 0.7, 0.2);
  Trajectory task({});
  task.fit(*data);
  Line model(task.interface(data->schema()), 0.3, 0.1);
  const auto whole = task.meter(model.interface), parts = task.meter(model.interface);
  const Batch all = all_of(*data);
  whole->add(all, task.predict(model, all));
  for (int64_t begin = 0; begin < 30; begin += 7) {  // the last one is smaller
    std::vector<int64_t> some(std::min<int64_t>(7, 30 - begin));
    std::iota(some.begin(), some.end(), begin);
    const Batch batch = data->batch(some);
    parts->add(batch, task.predict(model, batch));
  }
  EXPECT_NEAR(mse(whole->values()), mse(parts->values()), 1e-14);
}

TEST(Trajectory, PrintsSimpleAnswersBeside) {
  const auto train = set(400, 0.7, 0.2), test = set(300, 0.7, 0.2);
  Trajectory task({});
  const auto unfitted = task.baselines(*test);
  ASSERT_EQ(unfitted.size(), 2u);  // the best line is not known yet
  task.fit(*train);
  const auto baselines = task.baselines(*test);
  ASSERT_EQ(baselines.size(), 3u);
  EXPECT_EQ(baselines[0].first, "no motion");
  EXPECT_EQ(baselines[1].first, "straight line");
  EXPECT_EQ(baselines[2].first, "best straight line");
  EXPECT_NEAR(mse(baselines[0].second), 0.49 + 0.04, 0.05);
  EXPECT_NEAR(mse(baselines[1].second), 1.69 + 0.04, 0.1);  // x + 2 v
  EXPECT_NEAR(mse(baselines[2].second), 0.04, 0.005);
  EXPECT_NEAR(task.state().at("coefficient").item<double>(), 0.7, 0.02);
  EXPECT_EQ(baselines[0].second.at("mse").unit, "length^2");
}

TEST(Trajectory, StateIsAllThatPredictionNeeds) {
  const auto data = set(20, 0.7, 0.2);
  Trajectory fitted({Baseline::best_straight_line}), loaded({Baseline::best_straight_line});
  fitted.fit(*data);
  loaded.load(fitted.state());
  Line model(fitted.interface(data->schema()), 0.3, 0.1);
  const Batch batch = all_of(*data);
  EXPECT_TRUE(
      at::equal(fitted.predict(model, batch).at("position"), loaded.predict(model, batch).at("position")));
  auto broken = fitted.state();
  broken.erase("scale");
  EXPECT_THROW(loaded.load(broken), DataError);
  broken["scale"] = at::full({1}, NAN, at::kDouble);
  EXPECT_THROW(loaded.load(broken), DataError);
  broken["scale"] = at::zeros({1}, at::kDouble);
  EXPECT_THROW(loaded.load(broken), DataError);
}

TEST(Trajectory, PredictsWithoutLabelsAndInSinglePrecision) {
  const auto data = set(5, 0.7, 0.2);
  Trajectory task({Baseline::straight_line});
  task.fit(*data);
  Line model(task.interface(data->schema()), 0.3, 0.1);
  Batch batch = to(all_of(*data), at::kCPU, at::kFloat);
  const Step step = task.step(model, batch);
  EXPECT_EQ(step.loss.scalar_type(), at::kFloat);
  EXPECT_EQ(step.predictions.at("position").scalar_type(), at::kDouble);
  batch.labels.clear();
  EXPECT_TRUE(at::equal(task.predict(model, batch).at("position"), step.predictions.at("position")));
  EXPECT_THROW(task.step(model, batch), ShapeError);
}

TEST(Trajectory, OfAnEmptyBatchHasNoLoss) {
  const auto data = set(5, 0.7, 0.2);
  Trajectory task({});
  task.fit(*data);
  Line model(task.interface(data->schema()), 0.3, 0.1);
  const Batch none = data->batch({});
  const Step step = task.step(model, none);
  EXPECT_EQ(step.loss.item<double>(), 0);
  const auto meter = task.meter(model.interface);
  meter->add(none, step.predictions);
  EXPECT_TRUE(meter->values().empty());
}

TEST(Trajectory, RefusesDataThatCannotServe) {
  Schema still = moving();
  still.interface.features.pop_back();
  EXPECT_NO_THROW(Trajectory({}).interface(still));
  EXPECT_THROW(Trajectory({Baseline::best_straight_line}).interface(still), ConfigError);
  Schema timeless = moving();
  timeless.horizon = 0;
  EXPECT_THROW(Trajectory({Baseline::straight_line}).interface(timeless), ConfigError);
  EXPECT_NO_THROW(Trajectory({Baseline::best_straight_line}).interface(timeless));
  Trajectory task({});
  EXPECT_THROW(task.fit(*set(0, 1, 1)), DataError);
  EXPECT_THROW(task.fit(*set(3, 0, 0)), DataError);  // nothing moves
  Schema poses = moving();
  poses.interface.group = LieGroup::se3;
  EXPECT_THROW(task.interface(poses), ConfigError);
}

TEST(RequireLabels, ListsWhatThereIs) {
  const auto task = make_task({TrajectoryOptions{}});
  EXPECT_NO_THROW(require_labels(*task, moving()));
  Schema other = moving();
  other.labels = {{.name = "energy", .level = Level::graph}, {.name = "forces", .kind = Kind::vector}};
  try {
    require_labels(*task, other);
    FAIL();
  } catch (const DataError& e) {
    EXPECT_STREQ(e.what(),
                 "task trajectory: needs the label 'displacement', the data set has 'energy', 'forces'");
  }
  other.labels = {{.name = "displacement", .level = Level::graph, .kind = Kind::vector}};
  EXPECT_THROW(require_labels(*task, other), DataError);
}

}  // namespace trajectory_test
}  // namespace weyl
