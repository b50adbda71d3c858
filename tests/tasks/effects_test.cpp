// Every option of every task does something, or is refused with a reason: see tests/effects.h.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/effects.h"
#include "tests/tasks/rigid_scenes.h"
#include "tests/toy_grid.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/data/poses/pose_sequences.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"
#include "weyl/tasks/task.h"

namespace weyl {
namespace effects_test {

using Build = std::function<std::shared_ptr<Model>(const Interface&)>;

void record(const std::string& name, const Metrics& metrics, Effect& outcome) {
  for (const auto& [metric, value] : metrics) {
    outcome.numbers[name + metric] = at::full({1}, value.value, at::kDouble);
    outcome.words[name + metric] = value.unit;
  }
}

/// What is fitted, the loss, predictions, metrics, and what is said.
Effect task_outcome(const TaskOptions& options, const std::shared_ptr<InMemory>& data,
                    const Build& build_model) {
  return outcome_of([&] {
    require_effects(options);
    Effect outcome;
    const std::unique_ptr<Task> task = make_task(options);
    require_labels(*task, data->schema());
    task->fit(*data);
    task->progress(0.5);
    for (const auto& [name, value] : task->state()) {
      outcome.numbers["fitted " + name] = value;
    }
    const BuildOn wide(at::kCPU, at::kDouble);
    at::manual_seed(3);
    const std::shared_ptr<Model> model = build_model(task->interface(data->schema()));
    record_parameters(*model, outcome);
    wear(*model);
    std::vector<int64_t> every(static_cast<size_t>(data->size()));
    std::iota(every.begin(), every.end(), 0);
    const Batch batch = data->batch(every);
    model->train(true);
    at::manual_seed(4);
    outcome.numbers["loss"] = task->step(*model, batch).loss.detach().clone();
    model->train(false);
    const Named predictions = task->predict(*model, batch);
    for (const auto& [name, value] : predictions) {
      outcome.numbers["prediction " + name] = value.detach().clone();
    }
    const std::unique_ptr<Meter> meter = task->meter(model->interface);
    meter->add(batch, predictions);
    record("metric ", meter->values(), outcome);
    for (const auto& [name, metrics] : task->baselines(*data)) {
      record("baseline " + name + " ", metrics, outcome);
    }
    for (const std::string& note : task->notes()) {
      outcome.words["notes"] += note;
    }
    outcome.words["headline"] = task->headline();
    return outcome;
  });
}

template <class Options>
void expect_all_to_act(const std::string& name, const Options& base, const std::shared_ptr<InMemory>& data,
                       const Build& build_model, const OtherValues& values = {},
                       const std::map<std::string, std::string>& exceptions = {}) {
  expect_effects(
      name, base, [&](const Options& o) { return task_outcome({o}, data, build_model); }, values, exceptions);
}

std::shared_ptr<Model> transformer(const Interface& interface) {
  transformer::Options o;
  o.width = 8;
  o.heads = 2;
  o.blocks = 1;
  return build({o}, interface);
}

/// Points with labels for all tasks on points.
std::shared_ptr<InMemory> points() {
  at::manual_seed(5);
  const std::vector<int64_t> sizes{4, 2, 5, 3, 4, 3};
  Points p;
  p.graphs = Segments::of_sizes(sizes);
  const int64_t n = p.graphs.rows(), b = p.graphs.count();
  p.positions = at::randn({n, 3}, at::kDouble) * 1.5;
  p.types = at::randint(0, 2, {n}, at::kLong);
  p.vectors = at::randn({n, 1, 3}, at::kDouble);
  Schema schema;
  schema.interface.types = 2;
  schema.interface.elements = {"H", "O"};
  schema.interface.typical_nodes = 3.5;
  schema.interface.length_unit = "\u00c5";
  schema.interface.features = {{.name = "velocity", .kind = Kind::vector}};
  schema.horizon = 1;
  schema.labels = {{.name = "displacement", .kind = Kind::vector, .role = Role::offset},
                   {.name = "relaxed", .kind = Kind::vector, .role = Role::point},
                   {.name = "class", .level = Level::graph, .kind = Kind::category, .categories = 3},
                   {.name = "energy", .level = Level::graph, .extensive = true, .unit = "eV"},
                   {.name = "forces", .kind = Kind::vector, .unit = "eV/\u00c5"},
                   {.name = "gap", .level = Level::graph, .unit = "eV"},
                   {.name = "U0", .level = Level::graph, .extensive = true, .unit = "eV"}};
  Batch all;
  all.labels["displacement"] = 0.5 * p.vectors + 0.1 * at::randn({n, 1, 3}, at::kDouble);
  all.labels["relaxed"] = p.positions.unsqueeze(1) + all.labels["displacement"];
  all.labels["class"] = at::tensor(std::vector<int64_t>{0, 1, 2, 0, 1, 2}, at::kLong).view({b, 1});
  all.labels["energy"] = at::randn({b, 1}, at::kDouble) - 100;
  all.labels["forces"] = at::randn({n, 1, 3}, at::kDouble);
  all.labels["gap"] = at::randn({b, 1}, at::kDouble) + 7;
  all.labels["U0"] = at::randn({b, 1}, at::kDouble) - 400;
  all.input = p;
  return std::make_shared<InMemory>(std::move(all), std::move(schema));
}

TEST(EffectsOfTasks, Trajectory) {
  expect_all_to_act("trajectory", TrajectoryOptions{}, points(), transformer);
}

TEST(EffectsOfTasks, RigidMotion) {
  expect_all_to_act("rigid motion", RigidMotionOptions{}, rigid::data(4, 1), transformer);
}

TEST(EffectsOfTasks, Classification) {
  OtherValues values;
  values.reals["class_weights"] = {{1, 2, 3}};
  values.strings["names"] = {{"a", "b", "c"}};
  ClassificationOptions o;
  expect_all_to_act("classification", o, points(), transformer, values);
  o.test_time_rotations.count = 4;
  expect_all_to_act("classification with rotations", o, points(), transformer, values);
}

TEST(EffectsOfTasks, ForceField) {
  OtherValues values;
  values.string["units"] = {"kcal/mol"};
  values.string["references"] = {WEYL_SOURCE_DIR "/tests/fixtures/molecules/atom_energies.txt"};
  ForceFieldOptions o;
  expect_all_to_act("force field", o, points(), transformer, values);
  o.forces = ForceSource::none;
  o.energy_loss = ErrorLaw::huber;
  o.huber_delta = 0.1;
  expect_all_to_act("energies", o, points(), transformer, values);
}

TEST(EffectsOfTasks, Property) {
  OtherValues values;
  values.strings["targets"] = {{"U0", "gap"}};
  values.reals["weights"] = {{1, 3}};
  PropertyOptions o;
  o.targets = {"gap", "U0"};
  expect_all_to_act("property", o, points(), transformer, values);
  o.loss = ErrorLaw::huber;
  o.huber_delta = 0.1;
  o.test_time_rotations = {.count = 3, .random = true};
  expect_all_to_act("property with rotations", o, points(), transformer, values);
}

TEST(EffectsOfTasks, Relaxation) {
  OtherValues values;
  values.string["target"] = {"gap"};
  RelaxationOptions o;
  o.target = "U0";
  o.distance_weight = {1, 2};
  expect_all_to_act("relaxation", o, points(), transformer, values);
}

TEST(EffectsOfTasks, Segmentation) {
  at::manual_seed(5);
  Batch all;
  all.input = Grid{at::rand({3, 2, 6, 6}, at::kDouble)};
  all.labels["mask"] = at::randint(0, 3, {3, 1, 6, 6}, at::kLong);
  const auto data = std::make_shared<InMemory>(std::move(all), toy_schema(2, 2, "mask", 3));
  const Build net = [](const Interface& interface) {
    return std::make_shared<ToyGrid>(interface, named_group("cyclic_4"), /*broken=*/true);
  };
  OtherValues values;
  values.reals["class_weights"] = {{1, 2, 3}};
  values.strings["names"] = {{"a", "b", "c"}};
  values.integers["window.size"] = {{4}, {2}};
  values.integers["regions[0].labels"] = {{1}};
  values.integers["test_time_mirrors.axes"] = {{1}};
  values.integers["largest_component.classes"] = {{2}};
  SegmentationOptions o;
  o.regions = {{"whole", {1, 2}}};
  expect_all_to_act("segmentation", o, data, net, values);
  o.focal = o.dice = 0.5;
  o.window.size = {4};
  expect_all_to_act("segmentation by windows", o, data, net, values);
}

TEST(EffectsOfTasks, Completion) {
  const LieGroup group = LieGroup::se2;
  const int64_t count = 3, tokens = 5;
  Stream stream(6, "poses");
  Poses poses;
  poses.group = group;
  poses.graphs = Segments::of_sizes(std::vector<int64_t>(static_cast<size_t>(count), tokens));
  poses.elements = random_elements(group, count * tokens, 1, stream);
  Batch all;
  all.labels["element"] = random_elements(group, count, 1, stream);
  Tensor flank = at::zeros({tokens, 1}, at::kLong);
  flank[1] = 1;
  flank[2] = 1;
  all.labels["flank"] = flank.repeat({count, 1});
  all.input = poses;
  PoseSequencesDataOptions set;
  set.group = group;
  const auto data = std::make_shared<InMemory>(std::move(all), declared_schema(set));
  const Build net = [](const Interface& interface) {
    lie::Options o;
    o.width = 8;
    o.heads = 2;
    o.blocks = 1;
    return build({o}, interface);
  };
  expect_all_to_act("completion", CompletionOptions{}, data, net);
  Batch some = data->all();
  some.labels["flank"] = some.labels["flank"].clone();
  some.labels["flank"].narrow(0, tokens, tokens).zero_();
  CompletionOptions whole;
  whole.whole = true;
  expect_all_to_act("completion with whole sequences", whole,
                    std::make_shared<InMemory>(std::move(some), declared_schema(set)), net);
}

TEST(EffectsOfTasks, Registration) {
  const LieGroup group = LieGroup::se2;
  Stream stream(6, "poses");
  Poses poses{group, random_elements(group, 15, 1, stream),
              at::tensor({0.0, 0.0, 0.0, 1.0, 1.0}, at::kDouble).view({5, 1}).repeat({3, 1}),
              Segments::of_sizes(std::vector<int64_t>(3, 5))};
  Schema schema;
  schema.interface.group = group;
  schema.interface.dimension = 2;
  schema.interface.features = {{.name = "copy"}};
  schema.labels = {{.name = "pose", .kind = Kind::element}};
  const auto data =
      std::make_shared<InMemory>(Batch{poses, {{"pose", random_elements(group, 15, 1, stream)}}}, schema);
  const Build net = [](const Interface& interface) {
    lie::Options o;
    o.width = 8;
    o.heads = 2;
    o.blocks = 1;
    return build({o}, interface);
  };
  expect_all_to_act("registration", RegistrationOptions{}, data, net);
}

TEST(EffectsOfTasks, PoseCorrection) {
  const LieGroup group = LieGroup::se2;
  Stream stream(6, "poses");
  PoseWindowsDataOptions set;
  set.group = group;
  Poses poses;
  poses.group = group;
  poses.graphs = Segments::of_sizes(std::vector<int64_t>(3, 5));
  poses.elements = random_elements(group, 15, 1, stream);
  poses.scalars = at::tensor({-1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 1.0, 3.0, 1.0}, at::kDouble)
                      .view({5, 2})
                      .repeat({3, 1});
  Batch all;
  all.labels["pose"] = random_elements(group, 15, 1, stream);
  all.input = poses;
  const auto data = std::make_shared<InMemory>(std::move(all), declared_schema(set));
  const Build net = [](const Interface& interface) {
    lie::Options o;
    o.width = 8;
    o.heads = 2;
    o.blocks = 1;
    return build({o}, interface);
  };
  expect_all_to_act("pose_correction", PoseCorrectionOptions{}, data, net);
}

}  // namespace effects_test
}  // namespace weyl
