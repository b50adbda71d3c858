#include "weyl/tasks/rigid_motion.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <set>

#include "tests/tasks/rigid_answers.h"
#include "weyl/core/check.h"

namespace weyl {
namespace rigid_motion_test {

/// Each vertex once: the unique ones of `later` corners, by the bodies' own list.
double mean_square_of_vertices(const std::vector<std::vector<rigid::Body>>& scenes,
                               const ObjectMotions& said) {
  double sum = 0;
  int64_t o = 0;
  for (const auto& scene : scenes) {
    double square = 0, count = 0;
    for (const rigid::Body& body : scene) {
      const Tensor centre = body.corners(0).mean({0, 1}), r = body.at_frame(0) - centre;
      const Tensor moved = centre + r + at::matmul(r, said.change[o].t()) + said.shift[o];
      square += (moved - body.at_frame(1)).square().sum().item<double>();
      count += static_cast<double>(r.numel());
      ++o;
    }
    sum += square / count;
  }
  return sum / static_cast<double>(scenes.size());
}

TEST(RigidMotion, AsksForTheFourPartsOfAMotor) {
  const auto task = make_task({RigidMotionOptions{}});
  EXPECT_EQ(task->name(), "rigid_motion");
  EXPECT_EQ(task->headline(), "mse");
  const Interface interface = task->interface(rigid::schema(1));
  ASSERT_EQ(interface.outputs.size(), 4u);
  const Kind kinds[] = {Kind::scalar, Kind::pseudoscalar, Kind::vector, Kind::axial_vector};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(interface.outputs[i].name, kParts[i]);
    EXPECT_EQ(interface.outputs[i].kind, kinds[i]);
    EXPECT_EQ(interface.outputs[i].level, Level::object);
    EXPECT_EQ(interface.outputs[i].channels, 1);
    EXPECT_EQ(interface.outputs[i].role, Role::free);
  }
  EXPECT_NO_THROW(require_labels(*task, rigid::schema(1)));
  EXPECT_NO_THROW(require_labels(*task, rigid::schema(7)));  // any number of steps
  Schema without = rigid::schema(1);
  without.labels.erase(without.labels.begin() + 1);
  EXPECT_THROW(require_labels(*task, without), DataError);
  const auto predictions = task->predictions(interface);
  ASSERT_EQ(predictions.size(), 4u);
  EXPECT_EQ(predictions[0].unit, "m");
  EXPECT_EQ(predictions[3].name, "corners");
}

/// To 1e-12 of vertices that are moved one by one, each counted once.
TEST(RigidMotion, LossIsTheMeanSquareOfVertices) {
  const auto scenes = rigid::random_scenes(6, 3);
  const Batch batch = rigid::batch_of(scenes, 1);
  const InMemory data(batch, rigid::schema(1));
  at::manual_seed(1);
  for (const bool normalise : {false, true}) {
    RigidMotion task({.normalise = normalise});
    task.fit(data);
    Same model(task.interface(data.schema()), 0.1 * at::randn({8}, at::kDouble));
    const Step step = task.step(model, batch);
    const Named predictions = task.predict(model, batch);
    const ObjectMotions said = motions_of_turns(predictions.at("turn").select(1, 0).detach(),
                                                predictions.at("displacement").select(1, 0).detach());
    const double wanted = mean_square_of_vertices(scenes, said);
    const double unit = normalise ? task.state().at("mean_square").item<double>() : 1;
    EXPECT_NEAR(step.loss.item<double>() * unit / wanted, 1, 1e-12);
    const Metrics metrics = measured(task, model, batch);
    EXPECT_NEAR(metrics.at("mse").value / wanted, 1, 1e-12);
    EXPECT_EQ(metrics.at("mse").unit, "m^2");
    EXPECT_EQ(metrics.at("angle_error").unit, "rad");
    EXPECT_NEAR(metrics.at("rmse").value, std::sqrt(wanted), 1e-12);
    // The loss has a graph: its slope is that of finite differences.
    const Tensor gradient = torch::autograd::grad({step.loss}, {model.parts_})[0];
    for (int64_t i = 0; i < 8; ++i) {
      const auto at = [&](double h) {
        Tensor parts = model.parts_.detach().clone();
        parts[i] += h;
        Same other(model.interface, parts);
        return task.step(other, batch).loss.item<double>();
      };
      EXPECT_NEAR(gradient[i].item<double>(), (at(1e-5) - at(-1e-5)) / 2e-5, 1e-7 * (1 + largest(gradient)));
    }
  }
}

/// e + norm_weight sqrt e of each object, then the mean: the roots of two objects add, the root of their sum would not.
TEST(RigidMotion, RootsOfObjectsAreAddedToTheLoss) {
  const auto data = rigid::data(9, 1);
  const Batch batch = all_of(*data);
  const Tensor touches = batch.labels.at("contact").select(1, 0).unsqueeze(1);
  const Tensor x = at::tensor({1.0, 0.0, 0.0}, at::kDouble);
  const auto loss = [&](double norm_weight, double in_contact, double free) {
    RigidMotion task({.normalise = false, .norm_weight = norm_weight});
    task.fit(*data);
    const Tensor shift = step_of(batch, "displacement") + (in_contact * touches + free * (1 - touches)) * x;
    Told model{task.interface(data->schema()), shift, step_of(batch, "turn")};
    return task.step(model, batch).loss.item<double>();
  };
  EXPECT_NEAR(loss(0, 0.3, 0.3), 0.03, 1e-12);
  EXPECT_NEAR(loss(0.5, 0.3, 0.3), 0.03 + 0.5 * std::sqrt(0.03), 1e-9);
  const auto roots = [&](double in_contact, double free) {
    return loss(1, in_contact, free) - loss(0, in_contact, free);
  };
  EXPECT_GT(roots(0.3, 0), 1e-2);
  EXPECT_NEAR(roots(0.3, 0.2), roots(0.3, 0) + roots(0, 0.2), 1e-5);
  EXPECT_NEAR(roots(0.6, 0), 2 * roots(0.3, 0), 1e-5);
  // Where nothing is wrong the slope is finite.
  RigidMotion task({.baseline = MotionBaseline::constant_velocity, .norm_weight = 1});
  task.fit(*data);
  Same model(task.interface(data->schema()), at::zeros({8}, at::kDouble));
  const Batch still = all_of(*rigid::data(9, 1, 5, /*fall=*/0));
  EXPECT_TRUE(
      torch::autograd::grad({task.step(model, still).loss}, {model.parts_})[0].isfinite().all().item<bool>());
}

TEST(RigidMotion, NothingSaidMovesNothing) {
  const auto data = rigid::data(9, 3);
  RigidMotion task({});
  task.fit(*data);
  Same model(task.interface(data->schema()), at::zeros({8}, at::kDouble));
  const Batch batch = all_of(*data);
  const Named predictions = task.predict(model, batch);
  EXPECT_EQ(largest(predictions.at("displacement")), 0);
  EXPECT_EQ(largest(predictions.at("turn")), 0);
  const Metrics metrics = measured(task, model, batch);
  const auto baselines = task.baselines(*data);
  ASSERT_EQ(baselines.size(), 2u);
  EXPECT_EQ(baselines[0].first, "no motion");
  for (const auto& [name, value] : baselines[0].second) {
    EXPECT_NEAR(metrics.at(name).value, value.value, 1e-13) << name;
  }
  EXPECT_GT(task.state().at("mean_square").item<double>(), 1e-4);
  EXPECT_LT(task.state().at("mean_square").item<double>(), 1e-1);
}

TEST(RigidMotion, TheTruthSaidLeavesNoError) {
  const auto data = rigid::data(9, 1);
  RigidMotion task(plain());
  task.fit(*data);
  const Batch batch = all_of(*data);
  Told model = told_truth(task, *data, batch);
  EXPECT_LT(task.step(model, batch).loss.item<double>(), 1e-28);
  const Metrics metrics = measured(task, model, batch);
  for (const char* name :
       {"rmse", "centre_error", "angle_error", "centre_error_contact", "angle_error_free"}) {
    EXPECT_LT(metrics.at(name).value, 1e-13) << name;
  }
  const Named predictions = task.predict(model, batch);
  EXPECT_LT(largest(predictions.at("corners") - batch.labels.at("later")), 1e-13);
  EXPECT_LT(largest(predictions.at("position") - batch.labels.at("later").mean(1, true)), 1e-13);
  // The control: a motor turned the other way.
  Told wrong{model.interface, step_of(batch, "displacement"), -step_of(batch, "turn")};
  EXPECT_GT(measured(task, wrong, batch).at("angle_error").value, 1e-2);
}

TEST(RigidMotion, ContactAndFlightAreMeasuredApart) {
  const auto data = rigid::data(9, 1);
  RigidMotion task(plain());
  task.fit(*data);
  const Batch batch = all_of(*data);
  const Tensor touches = batch.labels.at("contact").select(1, 0);
  Tensor shift = step_of(batch, "displacement").clone();
  shift.add_(touches.unsqueeze(1) * at::tensor({0.3, 0.0, 0.0}, at::kDouble));
  Told model{task.interface(data->schema()), shift, step_of(batch, "turn")};
  const Metrics metrics = measured(task, model, batch);
  const double share = touches.mean().item<double>();
  EXPECT_NEAR(metrics.at("centre_error_contact").value, 0.3, 1e-12);
  EXPECT_NEAR(metrics.at("mse_contact").value, 0.03, 1e-12);
  EXPECT_LT(metrics.at("centre_error_free").value, 1e-13);
  EXPECT_NEAR(metrics.at("centre_error").value, 0.3 * share, 1e-12);
  // Every metric is announced.
  std::set<std::string> names;
  for (const MetricName& name : task.meter(model.interface)->names(data->schema())) {
    EXPECT_TRUE(names.insert(name.name).second) << name.name;
  }
  for (const auto& [name, value] : metrics) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(RigidMotion, UnknownLabelsCountForNothing) {
  const auto data = rigid::data(6, 1);
  RigidMotion task(plain());
  const Batch batch = all_of(*data);
  const int64_t L = batch.labels.at("turn").size(0);
  for (const char* name : {"displacement", "turn", "vertex_count", "vertex_mean", "vertex_moment"}) {
    Batch some = batch;
    some.labels[name] = batch.labels.at(name).clone();
    some.labels[name][L - 1].fill_(NAN);
    Tensor shift = step_of(batch, "displacement").clone();
    shift[L - 1].add_(5);  // of the one that is not known
    Told model{task.interface(data->schema()), shift, step_of(batch, "turn")};
    EXPECT_LT(task.step(model, some).loss.item<double>(), 1e-25) << name;
    EXPECT_LT(measured(task, model, some).at("centre_error").value, 1e-12) << name;
    EXPECT_GT(task.step(model, batch).loss.item<double>(), 1) << name;
    task.fit(InMemory(some, data->schema()));
    EXPECT_TRUE(std::isfinite(task.state().at("mean_square").item<double>())) << name;
  }
  Batch none = batch;
  none.labels["turn"] = at::full_like(batch.labels.at("turn"), NAN);
  EXPECT_THROW(task.fit(InMemory(none, data->schema())), DataError);
  none.labels["turn"] = at::zeros_like(batch.labels.at("turn"));
  none.labels["displacement"] = at::zeros_like(batch.labels.at("displacement"));
  EXPECT_THROW(task.fit(InMemory(none, data->schema())), DataError);  // nothing moves
}

TEST(RigidMotion, ConstantVelocityIsExactWithoutGravity) {
  RigidMotion task({});
  const auto still = rigid::data(6, 3, 5, /*fall=*/0), falling = rigid::data(6, 3, 5);
  task.fit(*falling);
  EXPECT_EQ(task.baselines(*still)[1].first, "constant velocity");
  const Metrics free = task.baselines(*still)[1].second, fallen = task.baselines(*falling)[1].second;
  for (const char* name : {"angle_error", "angle_error_step_2", "angle_error_step_3"}) {
    EXPECT_LT(free.at(name).value, 1e-12) << name;
    EXPECT_LT(fallen.at(name).value, 1e-12) << name;
  }
  for (const char* name : {"mse", "mse_step_3", "centre_error", "centre_error_step_3"}) {  // pyramids too
    EXPECT_LT(free.at(name).value, 1e-12) << name;
  }
  Schema without =
      rigid::schema(3);  // without the centre of mass, what is repeated is the way of the mean of the tokens
  Batch centred = all_of(*still);
  std::erase_if(without.labels, [](const Quantity& q) { return q.name == "mass_centre"; });
  centred.labels.erase("mass_centre");
  EXPECT_GT(task.baselines(InMemory(centred, without))[1].second.at("centre_error").value, 1e-5);
  // Boxes turn about their centres: g dt^2 k (k + 1) / 2 is what they fall more after k steps.
  Stream stream(2, "boxes");
  std::vector<std::vector<rigid::Body>> boxes;
  while (boxes.size() < 5) {
    const rigid::Body body = rigid::random_body(stream);
    if (body.mesh.triangles.size() == 12) {
      boxes.push_back({body});
    }
  }
  const InMemory thrown(rigid::batch_of(boxes, 3), rigid::schema(3));
  const Metrics metrics = task.baselines(thrown)[1].second;
  const double fall = rigid::gravity * rigid::frame * rigid::frame;
  EXPECT_NEAR(metrics.at("centre_error").value, fall, 1e-12);
  EXPECT_NEAR(metrics.at("centre_error_step_2").value, 3 * fall, 1e-12);
  EXPECT_NEAR(metrics.at("mse_step_3").value, 36 * fall * fall / 3, 1e-12);
  Schema unknown = rigid::schema(3);
  Batch batch = thrown.all();
  std::erase_if(unknown.labels, [](const Quantity& q) { return q.name == "past_turn"; });
  batch.labels.erase("past_turn");
  EXPECT_EQ(task.baselines(InMemory(batch, unknown)).size(), 1u);
}

TEST(RigidMotion, StateIsAllThatPredictionNeeds) {
  const auto data = rigid::data(6, 1);
  RigidMotion fitted({}), loaded({});
  fitted.fit(*data);
  loaded.load(fitted.state());
  at::manual_seed(2);
  Same model(fitted.interface(data->schema()), at::randn({8}, at::kDouble));
  const Batch batch = all_of(*data);
  EXPECT_TRUE(
      at::equal(fitted.predict(model, batch).at("position"), loaded.predict(model, batch).at("position")));
  EXPECT_EQ(fitted.step(model, batch).loss.item<double>(), loaded.step(model, batch).loss.item<double>());
  for (const char* name : {"displacement", "turn", "mean_square"}) {
    auto broken = fitted.state();
    broken[name] = at::zeros({1}, at::kDouble);
    EXPECT_THROW(loaded.load(broken), DataError);
    broken.erase(name);
    EXPECT_THROW(loaded.load(broken), DataError);
  }
  RigidMotion kept({});
  EXPECT_TRUE(kept.keep(fitted, model.interface, model.interface));
  EXPECT_TRUE(at::equal(fitted.predict(model, batch).at("turn"), kept.predict(model, batch).at("turn")));
}

TEST(RigidMotion, RefusesDataThatCannotServe) {
  RigidMotion task({});
  Schema plane = rigid::schema(1);
  plane.interface.dimension = 2;
  EXPECT_THROW(task.interface(plane), ConfigError);
  Schema windy = rigid::schema(1);
  windy.interface.features.push_back({.name = "wind", .kind = Kind::vector});
  EXPECT_NO_THROW(task.interface(windy));
  EXPECT_THROW(RigidMotion({.rollout = 2}).interface(windy), ConfigError);
  windy.labels[0].channels = windy.labels[1].channels = 2;
  EXPECT_THROW(task.interface(windy), ConfigError);
  const auto data = rigid::data(2, 1);
  Same model(task.interface(data->schema()), at::zeros({8}, at::kDouble));
  Batch batch = all_of(*data);
  std::get<Points>(batch.input).objects = {};
  EXPECT_THROW(task.predict(model, batch), ShapeError);
  EXPECT_THROW(task.fit(InMemory(data->batch({}), data->schema())), DataError);
}

TEST(RigidMotion, OfAnEmptyBatchHasNoLoss) {
  const auto data = rigid::data(2, 1);
  RigidMotion task({});
  task.fit(*data);
  Same model(task.interface(data->schema()), at::zeros({8}, at::kDouble));
  const Batch none = data->batch({});
  EXPECT_EQ(task.step(model, none).loss.item<double>(), 0);
  EXPECT_TRUE(measured(task, model, none).empty());
}

}  // namespace rigid_motion_test
}  // namespace weyl
