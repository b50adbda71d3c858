// Every system that gives outputs of objects learns how rigid bodies move, and passes its audit afterwards.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/tasks/rigid_answers.h"
#include "weyl/carriers/loader.h"
#include "weyl/models/gatr/options.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"
#include "weyl/study/audit/audit.h"
#include "weyl/train/loop/optimiser.h"

namespace weyl {
namespace rigid_motion_training_test {

struct Case {
  const char* name;
  ModelOptions model;
};

gatr::Options small_gatr(AttentionScope scope) {
  gatr::Options o;
  o.width = 4;
  o.scalars = 16;
  o.heads = 2;
  o.blocks = 2;
  o.attention = scope;
  return o;
}

transformer::Options small_transformer(AttentionScope scope) {
  transformer::Options o;
  o.width = 32;
  o.heads = 4;
  o.blocks = 2;
  o.attention = scope;
  return o;
}

platonic::Options small_platonic() {
  platonic::Options o;
  o.group = "tetrahedron";
  o.width = 48;
  o.heads = 12;
  o.blocks = 2;
  return o;
}

geomformer::Options small_geomformer() {
  geomformer::Options o;
  o.width = 24;
  o.heads = 4;
  o.blocks = 2;
  return o;
}

class RigidMotionTraining : public testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<Model> model(const Interface& interface) const {
    at::manual_seed(1);
    return build(GetParam().model, interface);
  }
};

/// Steps of Adam on scenes turned and mirrored at random; the mean losses of the first and of the last three.
struct Losses {
  double first = 0, last = 0;
};

Losses trained(Model& model, const RigidMotion& task, std::shared_ptr<const Dataset> data, int64_t steps) {
  OptimiserOptions adam;
  adam.rate = 3e-3;
  adam.clip = 1;
  Optimiser optimiser(model.parameters(), adam);
  LoaderOptions options;
  options.reflect = true;
  options.batch = 8;
  options.ahead = 0;
  Loader loader(std::move(data), options, 1);
  Losses losses;
  int64_t done = 0;
  for (int64_t epoch = 0; done < steps; ++epoch) {
    loader.start(epoch);
    for (auto batch = loader.next(); batch && done < steps; batch = loader.next(), ++done) {
      const Tensor loss = task.step(model, *batch).loss;
      losses.first += done < 3 ? loss.item<double>() / 3 : 0;
      losses.last += done >= steps - 3 ? loss.item<double>() / 3 : 0;
      loss.backward();
      optimiser.clip_gradients();
      optimiser.step();
      optimiser.clear_gradients();
    }
  }
  model.train(false);
  return losses;
}

/// The limits are the contract's own, 1e-5 in float32. Outputs of a model that has hardly learned are small beside the
/// nodes' numbers that they are means of, and rounded accordingly: it is trained until it says what the bodies do.
TEST_P(RigidMotionTraining, LearnsAndPassesItsAudit) {
  const auto data = rigid::data(24, 1, 11);
  RigidMotion task({});
  task.fit(*data);
  const auto net = model(task.interface(data->schema()));
  const Losses losses = trained(*net, task, data, 100);
  EXPECT_LT(losses.last, 0.5 * losses.first);
  AuditOptions quick;
  quick.elements = 6;
  const AuditReport report =
      audit(*net, &task, data->batch(std::vector<int64_t>{0, 1, 2, 3, 4, 5}), data->schema(), quick);
  for (const AuditClaim& c : report.claims) {
    EXPECT_TRUE(c.passed) << c.group << " " << c.output << " " << c.dtype << " " << c.error;
  }
  for (const AuditControl& c : report.controls) {
    EXPECT_TRUE(c.passed) << c.transformation << " " << c.error;
  }
  EXPECT_TRUE(report.passed);
}

/// Weights far from where training starts, which says next to nothing.
std::shared_ptr<Model> worn(std::shared_ptr<Model> model) {
  const at::NoGradGuard quiet;
  for (const Parameter& p : model->parameters()) {
    p.tensor.add_(at::randn_like(p.tensor) * 0.1);
  }
  model->train(false);
  return model;
}

/// The rows of one scene in a prediction of many.
Tensor of_scene(int64_t scene, const Tensor& prediction, const Quantity& q, const Points& points) {
  const Segments rows = q.level == Level::object ? objects_of_graphs(points) : points.graphs;
  return prediction.slice(0, rows.offsets[scene], rows.offsets[scene + 1]);
}

/// Whatever stands in the other scenes of its batch, a scene's prediction is the same to the bit: no attention and no mean
/// over objects lets scenes see each other.
TEST_P(RigidMotionTraining, OtherScenesChangeNothingToTheBit) {
  const auto data = rigid::data(6, 1, 3);
  RigidMotion task({});
  task.fit(*data);
  const auto net = worn(model(task.interface(data->schema())));
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    net->to(dtype);
    const Batch batch = to(all_of(*data), at::kCPU, dtype);
    const Points& points = std::get<Points>(batch.input);
    const Named before = task.predict(*net, batch);
    for (int64_t scene = 0; scene < data->size(); ++scene) {
      const Tensor others = points.graphs.index.ne(scene).to(dtype);
      Batch changed = batch;
      auto& p = std::get<Points>(changed.input);
      p.positions = points.positions * (1 + 0.7 * others.unsqueeze(1)) + others.unsqueeze(1);
      p.vectors = points.vectors * (1 - 1.9 * others.view({-1, 1, 1}));
      p.scalars = points.scalars + others.unsqueeze(1);
      const Named after = task.predict(*net, changed);
      for (const Quantity& q : task.predictions(net->interface)) {
        EXPECT_TRUE(at::equal(of_scene(scene, before.at(q.name), q, points),
                              of_scene(scene, after.at(q.name), q, points)))
            << q.name << ", scene " << scene << ", " << dtype;
        EXPECT_FALSE(at::equal(before.at(q.name), after.at(q.name))) << q.name;  // the others did change
      }
    }
  }
}

/// A scene alone and among others: to the bit with gatr, whose maps are kernels of our own. LibTorch's matrix products, of
/// which the other systems are made, round a row by how many rows there are.
TEST_P(RigidMotionTraining, AloneAndAmongOthersIsTheSame) {
  const auto data = rigid::data(6, 1, 3);
  RigidMotion task({});
  task.fit(*data);
  const auto net = worn(model(task.interface(data->schema())));
  const bool exact = system_name(GetParam().model) == "gatr";
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    net->to(dtype);
    const Batch batch = to(all_of(*data), at::kCPU, dtype);
    const Named together = task.predict(*net, batch);
    for (int64_t scene = 0; scene < data->size(); ++scene) {
      const Named alone = task.predict(*net, to(data->batch(std::vector<int64_t>{scene}), at::kCPU, dtype));
      for (const Quantity& q : task.predictions(net->interface)) {
        const Tensor among = of_scene(scene, together.at(q.name), q, std::get<Points>(batch.input));
        const double error = largest(alone.at(q.name) - among);
        EXPECT_LE(error, exact ? 0 : (dtype == at::kFloat ? 1e-6 : 1e-14) * (1 + largest(among)))
            << q.name << ", scene " << scene << ", " << dtype;
      }
    }
    EXPECT_GT(largest(together.at("displacement")), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Systems, RigidMotionTraining,
    testing::Values(Case{"transformer", {small_transformer(AttentionScope::global)}},
                    Case{"transformer_hierarchical", {small_transformer(AttentionScope::hierarchical)}},
                    Case{"platonic", {small_platonic()}}, Case{"geomformer", {small_geomformer()}},
                    Case{"gatr", {small_gatr(AttentionScope::global)}},
                    Case{"gatr_hierarchical", {small_gatr(AttentionScope::hierarchical)}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace rigid_motion_training_test
}  // namespace weyl
