#include "weyl/tasks/rigid_motion.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <numeric>

#include "tests/tasks/rigid_scenes.h"
#include "weyl/carriers/layout.h"
#include "weyl/carriers/loader.h"
#include "weyl/core/check.h"
#include "weyl/models/gatr/options.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"
#include "weyl/study/audit.h"
#include "weyl/train/optimiser.h"

namespace weyl {
namespace {

constexpr const char* kParts[] = {"motor_scalar", "motor_pseudoscalar", "motor_ideal", "motor_bivector"};

/// A model in float64.
class Wide : public PointsModel {
 public:
  explicit Wide(const Interface& interface) : PointsModel(interface) {
    const BuildOn wide(at::kCPU, at::kDouble);
    parameter("none", {1}, Init::ones());  // whose dtype is the model's
  }
  Symmetry symmetry() const override { return {}; }
  Flops flops_per_token() const override { return {}; }
};

/// Says the same four parts, (8) numbers, of every object.
class Same : public Wide {
 public:
  Same(const Interface& interface, const Tensor& parts)
      : Wide(interface), parts_(parts.clone().requires_grad_()) {}
  Named forward(const Points& p) override {
    const int64_t L = p.objects.count();
    const Tensor all = parts_.to(p.positions.scalar_type()).expand({L, 8});
    return {{kParts[0], all.slice(1, 0, 1)},
            {kParts[1], all.slice(1, 1, 2)},
            {kParts[2], all.slice(1, 2, 5).unsqueeze(1)},
            {kParts[3], all.slice(1, 5, 8).unsqueeze(1)}};
  }
  Tensor parts_;
};

/// Says motions (L, 3) and (L, 3) that it was told, as motors without units.
class Told : public Wide {
 public:
  Told(const Interface& interface, Tensor shift, Tensor turn)
      : Wide(interface), shift_(std::move(shift)), turn_(std::move(turn)) {}
  Named forward(const Points& p) override {
    // m = T R: w = cos, a = -sin n, ideal = -(w t + t x b)/2 and p = t.b/2 of the quaternion (b, w).
    const Tensor q = motions_of_turns(turn_, shift_).rotation, b = q.slice(1, 0, 3), w = q.slice(1, 3, 4);
    const auto dtype = p.positions.scalar_type();
    return {{kParts[0], (w - 1).to(dtype)},
            {kParts[1], (0.5 * (shift_ * b).sum(1, true)).to(dtype)},
            {kParts[2], (-0.5 * (w * shift_ + at::linalg_cross(shift_, b, 1))).unsqueeze(1).to(dtype)},
            {kParts[3], (-b).unsqueeze(1).to(dtype)}};
  }
  Tensor shift_, turn_;
};

Batch all_of(const Dataset& data) {
  std::vector<int64_t> every(data.size());
  std::iota(every.begin(), every.end(), 0);
  return data.batch(every);
}

RigidMotionOptions plain() {
  return {.normalise = false};
}

Tensor step_of(const Batch& batch, const char* label, int64_t k = 0) {
  return batch.labels.at(label).select(1, k);
}

Told told_truth(const RigidMotion& task, const Dataset& data, const Batch& batch) {
  return {task.interface(data.schema()), step_of(batch, "displacement"), step_of(batch, "turn")};
}

double largest(const Tensor& x) {
  return x.abs().max().item<double>();
}

Metrics measured(const RigidMotion& task, Model& model, const Batch& batch) {
  const auto meter = task.meter(model.interface);
  meter->add(batch, task.predict(model, batch));
  return meter->values();
}

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

/// A model that looks: it repeats the velocities it is shown, so only tokens that are moved rightly keep it going.
class Repeats : public Wide {
 public:
  using Wide::Wide;
  Named forward(const Points& p) override {
    const int64_t L = p.objects.count();
    const Tensor v = p.vectors.select(1, 10).to(at::kDouble);  // `velocity`
    std::vector<Tensor> shifts, bivectors;
    for (int64_t o = 0; o < L; ++o) {
      // v = v0 + (1 - R^T) arm: least squares of an antisymmetric (1 - R^T) on the arms gives tan(angle/2).
      const int64_t begin = p.objects.offsets[o], end = p.objects.offsets[o + 1];
      const Tensor x = p.positions.slice(0, begin, end).to(at::kDouble), arm = x - x.mean(0),
                   own = v.slice(0, begin, end);
      const Tensor middle = arm - 0.5 * (own - own.mean(0));  // half-way: v = 2 tan(angle/2) n x middle
      const Tensor lever = at::cross(middle, own - own.mean(0), 1).sum(0);
      const Tensor inertia = middle.square().sum() * at::eye(3, at::kDouble) - at::matmul(middle.t(), middle);
      bivectors.push_back(-0.5 * at::linalg_solve(inertia, lever));
      shifts.push_back(own.mean(0));
    }
    const Tensor b = at::stack(bivectors), t = at::stack(shifts), zero = at::zeros({L, 1}, at::kDouble);
    // The quaternion (-b, 1), not normalised, after which t: ideal = -(t - t x b)/2, p = -t.b/2.
    const Tensor ideal = -0.5 * (t - at::linalg_cross(t, b, 1));
    const auto dtype = p.positions.scalar_type();
    return {{kParts[0], zero.to(dtype)},
            {kParts[1], (-0.5 * (t * b).sum(1, true)).to(dtype)},
            {kParts[2], ideal.unsqueeze(1).to(dtype)},
            {kParts[3], b.unsqueeze(1).to(dtype)}};
  }
  Symmetry symmetry() const override {
    return {{{Claim::Of::rotoreflections, "O(3)", nullptr},
             {Claim::Of::translations, "translations", nullptr},
             {Claim::Of::permutations, "permutations", nullptr}},
            {}};
  }
};

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

/// Twenty steps of each system that gives outputs of objects, and what it claims audited with its predictions.
class RigidMotionTraining : public testing::TestWithParam<const char*> {};

std::shared_ptr<Model> small(const std::string& system, const Interface& interface) {
  at::manual_seed(1);
  if (system == "transformer") {
    transformer::Options o;
    o.width = 32;
    o.heads = 4;
    o.blocks = 2;
    return build({o}, interface);
  }
  if (system == "platonic") {
    platonic::Options o;
    o.group = "tetrahedron";
    o.width = 48;
    o.heads = 12;
    o.blocks = 2;
    return build({o}, interface);
  }
  if (system == "gatr") {
    gatr::Options o;
    o.width = 4;
    o.scalars = 16;
    o.heads = 2;
    o.blocks = 2;
    return build({o}, interface);
  }
  geomformer::Options o;
  o.width = 24;
  o.heads = 4;
  o.blocks = 2;
  return build({o}, interface);
}

TEST_P(RigidMotionTraining, LearnsAndKeepsItsSymmetry) {
  const auto data = rigid::data(24, 1, 11);
  RigidMotion task({});
  task.fit(*data);
  const auto model = small(GetParam(), task.interface(data->schema()));
  OptimiserOptions adam;
  adam.rate = 3e-3;
  adam.clip = 1;
  Optimiser optimiser(model->parameters(), adam);
  LoaderOptions options;
  options.reflect = true;
  options.batch = 8;
  options.ahead = 0;
  Loader loader(data, options, 1);
  double first = 0, last = 0;
  int64_t steps = 0;
  for (int64_t epoch = 0; steps < 20; ++epoch) {
    loader.start(epoch);
    for (auto batch = loader.next(); batch && steps < 20; batch = loader.next(), ++steps) {
      const Tensor loss = task.step(*model, *batch).loss;
      ASSERT_TRUE(std::isfinite(loss.item<double>())) << steps;
      first += steps < 3 ? loss.item<double>() : 0;
      last += steps >= 17 ? loss.item<double>() : 0;
      loss.backward();
      optimiser.clip_gradients();
      optimiser.step();
      optimiser.clear_gradients();
    }
  }
  EXPECT_LT(last, first);
  model->train(false);
  AuditOptions quick;
  quick.elements = 6;
  const AuditReport report =
      audit(*model, &task, data->batch(std::vector<int64_t>{0, 1, 2, 3, 4, 5}), data->schema(), quick);
  for (const AuditClaim& c : report.claims) {
    // What is small after so few steps, next to the nodes' numbers that it is a mean of, is rounded accordingly.
    const double tolerance = c.dtype == "float32" ? 5e-5 : c.tolerance;
    EXPECT_LE(c.error, tolerance) << c.group << " " << c.output << " " << c.dtype;
    EXPECT_FALSE(c.constant) << c.output;
  }
  for (const AuditControl& c : report.controls) {
    EXPECT_TRUE(c.passed) << c.transformation << " " << c.error;
  }
}

INSTANTIATE_TEST_SUITE_P(Systems, RigidMotionTraining,
                         testing::Values("transformer", "platonic", "geomformer", "gatr"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weyl
