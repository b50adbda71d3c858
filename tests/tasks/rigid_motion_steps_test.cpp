// Several steps, each from where the one before has left the bodies; and scenes that are moved as a whole.
#include "weyl/tasks/rigid_motion.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/tasks/rigid_answers.h"
#include "weyl/carriers/layout.h"
#include "weyl/carriers/loader.h"
#include "weyl/core/check.h"
#include "weyl/study/audit/audit.h"

namespace weyl {
namespace rigid_motion_steps_test {

/// The same motor again and again is a screw: k steps are its k-th power, about the centre where the last has left it.
TEST(RigidMotion, GoesOnFromItsOwnPredictions) {
  const auto data = rigid::data(5, 4);
  RigidMotion task({.normalise = false, .rollout = 2});
  task.fit(*data);
  const Tensor parts = at::tensor({0.0, 0.0, 0.02, -0.01, 0.03, 0.05, 0.1, -0.07}, at::kDouble);
  Same model(task.interface(data->schema()), parts);
  Batch batch = all_of(*data);
  const Named measured_steps = task.predict(model, batch);
  EXPECT_EQ(measured_steps.at("displacement").size(1), 4);  // as many as the labels
  EXPECT_EQ(measured_steps.at("position").size(1), 2);
  const Metrics metrics = measured(task, model, batch);
  EXPECT_TRUE(metrics.contains("mse_step_4") && metrics.contains("angle_error_step_2"));
  batch.labels.clear();
  const Named out = task.predict(model, batch);
  const auto declared = task.predictions(model.interface);
  for (const Quantity& q : declared) {
    EXPECT_EQ(out.at(q.name).sizes(), at::IntArrayRef(shape_of(q, batch.input))) << q.name;
  }
  const Tensor t = out.at("turn"), d = out.at("displacement");
  EXPECT_LT(largest(t.select(1, 1) - 2 * t.select(1, 0)), 1e-14);
  EXPECT_LT(largest(d.select(1, 1) - 2 * d.select(1, 0)), 1e-14);
  // Corners of the second step are the first's, moved once more.
  const Tensor corners = out.at("corners");
  const Points& p = std::get<Points>(batch.input);
  const Tensor centre =
      (centres_of_objects(p) + d.select(1, 0)).index_select(0, p.objects.index).unsqueeze(1);
  const ObjectMotions once = motions_of_turns(t.select(1, 0), d.select(1, 0));
  const Tensor R = (once.change + at::eye(3, at::kDouble)).index_select(0, p.objects.index);
  const Tensor again = centre + at::matmul(corners.slice(1, 0, 3) - centre, R.transpose(1, 2)) +
                       once.shift.index_select(0, p.objects.index).unsqueeze(1);
  EXPECT_LT(largest(corners.slice(1, 3, 6) - again), 1e-13);
}

TEST(RigidMotion, AModelThatLooksKeepsFlying) {
  const auto data = rigid::data(6, 5, 7, /*fall=*/0);
  RigidMotion task(plain());
  task.fit(*data);
  Repeats model(task.interface(data->schema()));
  Stream stream(4, "boxes");
  std::vector<std::vector<rigid::Body>> boxes;
  while (boxes.size() < 4) {
    const rigid::Body body = rigid::random_body(stream, 0);
    if (body.mesh.triangles.size() == 12) {
      boxes.push_back({body});
    }
  }
  const Metrics metrics = measured(task, model, rigid::batch_of(boxes, 5));
  for (const char* name : {"mse", "mse_step_2", "mse_step_5"}) {
    EXPECT_LT(metrics.at(name).value, 1e-24) << name;
  }
}

/// With the baseline a model that says nothing goes on as before: exact without gravity, step after step.
TEST(RigidMotion, CorrectsConstantVelocityWhereItIsTheBaseline) {
  Stream stream(6, "boxes");
  std::vector<std::vector<rigid::Body>> still, falling;
  while (still.size() < 5) {
    rigid::Body body = rigid::random_body(stream, 0);
    if (body.mesh.triangles.size() == 12) {
      still.push_back({body});
      body.fall = rigid::gravity;
      falling.push_back({body});
    }
  }
  const InMemory thrown(rigid::batch_of(falling, 3), rigid::schema(3));
  RigidMotion task({.baseline = MotionBaseline::constant_velocity});
  task.fit(thrown);
  Same model(task.interface(thrown.schema()), at::zeros({8}, at::kDouble));
  const Metrics metrics = measured(task, model, rigid::batch_of(still, 3));
  for (const char* name : {"mse", "mse_step_3", "angle_error_step_2"}) {
    EXPECT_LT(metrics.at(name).value, 1e-9) << name;
  }
  const Metrics fallen = measured(task, model, thrown.all()), repeated = task.baselines(thrown)[1].second;
  EXPECT_NEAR(fallen.at("mse_step_3").value / repeated.at("mse_step_3").value, 1, 1e-9);
  // Units are those of what is left: all fall g dt^2 further than they would.
  const double fall = rigid::gravity * rigid::frame * rigid::frame;
  EXPECT_NEAR(task.state().at("mean_square").item<double>(), fall * fall / 3, 1e-9 * fall);
  EXPECT_NEAR(task.state().at("displacement").item<double>(), fall / std::sqrt(3.0) / 2, 1e-9);
  // Said as well, that fall is all that is missing.
  const Tensor down =
      at::tensor({0.0, 0.0, -fall}, at::kDouble) / task.state().at("displacement").item<double>();
  Tensor parts = at::zeros({8}, at::kDouble);
  parts.slice(0, 2, 5).copy_(-0.5 * down);
  Same falls(model.interface, parts);
  EXPECT_LT(measured(task, falls, thrown.all()).at("rmse").value, 1e-10);
  EXPECT_LT(task.step(falls, thrown.all()).loss.item<double>(), 1e-14);
  EXPECT_FALSE(task.keep(RigidMotion({}), model.interface, model.interface));
  Schema blind = rigid::schema(1);
  std::erase_if(blind.interface.features, [](const Quantity& q) { return q.name == "velocity"; });
  EXPECT_THROW(task.interface(blind), ConfigError);
  EXPECT_NO_THROW(RigidMotion({}).interface(blind));
}

TEST(RigidMotion, PredictionsMoveWithTheScene) {
  const auto data = rigid::data(5, 1);
  RigidMotion task({.normalise = false, .rollout = 3});
  task.fit(*data);
  Repeats model(task.interface(data->schema()));
  AuditOptions quick;
  quick.elements = 6;
  quick.dtypes = {at::kDouble};
  const AuditReport report = audit(model, &task, all_of(*data), data->schema(), quick);
  for (const AuditClaim& c : report.claims) {
    EXPECT_TRUE(c.passed || c.constant) << c.group << " " << c.output << " " << c.error;
  }
}

/// Random elements of O(3) turn features and labels by their kinds, gravity's direction with them.
TEST(RigidMotion, AugmentationTurnsScenesAsAWhole) {
  const auto data = rigid::data(8, 2);
  LoaderOptions options;
  options.reflect = true;
  options.shuffle = false;
  options.batch = 8;
  options.dtype = at::kDouble;
  Loader loader(data, options, 3);
  loader.start(0);
  const Batch turned = loader.next().value(), straight = all_of(*data);
  RigidMotion task(plain());
  Told model = told_truth(task, *data, turned);
  EXPECT_LT(measured(task, model, turned).at("rmse").value, 1e-12);
  const Named predictions = task.predict(model, turned);
  // `later` are points: they know nothing of turns and pseudoscalars.
  EXPECT_LT(largest(predictions.at("corners") - turned.labels.at("later").slice(1, 0, 3)), 1e-12);
  EXPECT_GT(largest(turned.labels.at("turn") - straight.labels.at("turn")), 1e-2);
  EXPECT_GT(largest(std::get<Points>(turned.input).vectors.select(1, 11) -
                    std::get<Points>(straight.input).vectors.select(1, 11)),
            0.1);  // `up`
  // The control: turns that do not turn with it.
  Told wrong{model.interface, step_of(turned, "displacement"), step_of(straight, "turn")};
  EXPECT_GT(measured(task, wrong, turned).at("rmse").value, 1e-3);
  Repeats repeats(model.interface);
  const Metrics a = measured(task, repeats, turned), b = measured(task, repeats, straight);
  EXPECT_NEAR(a.at("mse_step_2").value / b.at("mse_step_2").value, 1, 1e-9);
}

}  // namespace rigid_motion_steps_test
}  // namespace weyl
