#include "weyl/tasks/property.h"
#include "tests/all_samples.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "weyl/carriers/pose_elements.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/models/gatr/options.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/systems.h"
#include "weyl/ops/segment.h"
#include "weyl/tasks/conformers.h"
#include "weyl/tasks/test_time_rotations.h"
#include "weyl/train/loop/optimiser.h"

namespace weyl {
namespace property_test {

/// Answers the mean of the first coordinates (which no rotation keeps), times k, for every target.
class FirstCoordinate : public Model {
 public:
  explicit FirstCoordinate(Interface interface) : Model(std::move(interface)) {
    k = parameter("k", at::full({1}, 0.5, at::kDouble));
  }
  Named operator()(const Input& input) override {
    const auto& p = std::get<Points>(input);
    std::vector<Tensor> means;
    for (int64_t g = 0; g < p.count(); ++g) {
      means.push_back(p.positions.slice(0, p.graphs.offsets[g], p.graphs.offsets[g + 1]).select(1, 0).mean());
    }
    Named out;
    for (const auto& q : interface.outputs) {
      out[q.name] = at::stack(means).view({-1, 1}) * k.to(p.positions.scalar_type());
    }
    return out;
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }
  Tensor k;
};

const std::vector<int64_t> sizes{2, 3, 1, 4};

Schema molecules() {
  Schema schema;
  schema.interface.types = 2;
  schema.labels = {{.name = "gap", .level = Level::graph, .unit = "eV"},
                   {.name = "U0", .level = Level::graph, .extensive = true, .unit = "eV"}};
  return schema;
}

std::shared_ptr<InMemory> set() {
  at::manual_seed(3);
  Points p;
  p.graphs = Segments::of_sizes(sizes);
  p.positions = at::randn({10, 3}, at::kDouble);
  p.types = at::randint(0, 2, {10}, at::kLong);
  return std::make_shared<InMemory>(
      Batch{p, {{"gap", at::randn({4, 1}, at::kDouble) + 7}, {"U0", at::randn({4, 1}, at::kDouble) - 4000}}},
      molecules());
}

PropertyOptions of(std::vector<std::string> targets) {
  PropertyOptions o;
  o.targets = std::move(targets);
  return o;
}

double number(const Tensor& t) {
  return t.item<double>();
}

TEST(Property, AsksForItsTargets) {
  const Property task(of({"U0", "gap"}));
  EXPECT_EQ(task.labels().size(), 2u);
  const Interface interface = task.interface(molecules());
  ASSERT_EQ(interface.outputs.size(), 2u);
  EXPECT_EQ(interface.outputs[0].name, "U0");
  EXPECT_TRUE(interface.outputs[0].extensive);  // summed over nodes
  EXPECT_FALSE(interface.outputs[1].extensive);
  EXPECT_EQ(interface.outputs[1].unit, "eV");
  PropertyOptions pooled = of({"U0", "gap"});
  pooled.pooled = true;
  EXPECT_FALSE(Property(pooled).interface(molecules()).outputs[0].extensive);
  pooled.targets = {"gap"};
  EXPECT_THROW(Property(pooled).interface(molecules()), ConfigError);  // nothing to pool in place of a sum
  EXPECT_EQ(task.headline(), "standardised_mae");
  EXPECT_EQ(Property(of({"gap"})).headline(), "mae");
  EXPECT_THROW(Property(of({})), ConfigError);
  EXPECT_THROW(Property(of({"gap", "gap"})), ConfigError);
}

/// Two targets beside each other are what each is alone: no sums are shared.
TEST(Property, FitsEachTargetByItself) {
  const auto data = set();
  auto o = of({"gap", "U0"});
  o.reference = Reference::elements;
  Property both(o);
  both.fit(*data);
  const NamedTensors state = both.state();
  for (int64_t i = 0; i < 2; ++i) {
    o.targets = {i == 0 ? "gap" : "U0"};
    Property alone(o);
    alone.fit(*data);
    for (const auto& [name, value] : alone.state()) {
      EXPECT_TRUE(at::allclose(state.at(name)[i], value[0], 1e-12, 1e-12)) << name << " of " << i;
    }
  }
}

/// Without types nothing tells elements apart, and one number for all of them is another reference, `mean`.
TEST(Property, ReferencesOfElementsNeedTypes) {
  Schema untyped = molecules();
  untyped.interface.types = 0;
  auto o = of({"U0"});
  o.reference = Reference::elements;
  EXPECT_NO_THROW(Property(o).interface(molecules()));
  try {
    Property(o).interface(untyped);
    ADD_FAILURE() << "was not refused";
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()).find("task.property.reference: must be \"mean\""), 0U)
        << error.what();
  }
  o.reference = Reference::mean;
  EXPECT_NO_THROW(Property(o).interface(untyped));
}

TEST(Property, NormalisesByMeanAndDeviation) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const auto data = set();
  const Batch batch = all_of(*data);
  const Tensor t = batch.labels.at("gap");
  for (const bool normalise : {true, false}) {
    for (const auto reference : {Reference::mean, Reference::elements, Reference::none}) {
      auto o = of({"gap"});
      o.normalise = normalise;
      o.reference = reference;
      Property task(o);
      task.fit(*data);
      FirstCoordinate model(task.interface(data->schema()));
      const double s = normalise ? number((t - t.mean()).square().mean().sqrt()) : 1;
      const double m = reference == Reference::none ? 0 : number(t.mean());
      const Tensor y = model(batch.input).at("gap").detach();
      const Step step = task.step(model, batch);
      EXPECT_TRUE(at::allclose(step.predictions.at("gap"), y * s + m, 1e-12));
      EXPECT_NEAR(number(step.loss), number(((y * s + m - t) / s).square().mean()), 1e-10);
      EXPECT_TRUE(at::allclose(task.predict(model, batch).at("gap"), y * s + m, 1e-12));
      step.loss.backward();
      EXPECT_NE(number(model.k.grad()), 0);
    }
  }
}

TEST(Property, ReferencesOfExtensiveTargetsGoByComposition) {
  const auto data = set();
  const Batch batch = all_of(*data);
  auto o = of({"U0"});
  o.reference = Reference::elements;
  Property task(o);
  task.fit(*data);
  const Tensor e = task.state().at("references")[0];
  ASSERT_EQ(e.numel(), 2);
  EXPECT_EQ(number(task.state().at("means")[0]), 0);
  Tensor r = at::zeros({4, 1}, at::kDouble);
  const auto& p = std::get<Points>(batch.input);
  for (int64_t i = 0; i < 10; ++i) {
    r[number(p.graphs.index[i].to(at::kDouble))] += e[p.types[i].item<int64_t>()];
  }
  FirstCoordinate model(task.interface(data->schema()));
  const double s = number(task.state().at("scales")[0]);
  EXPECT_TRUE(
      at::allclose(task.predict(model, batch).at("U0"), model(batch.input).at("U0").detach() * s + r, 1e-12));
  const Tensor rest = batch.labels.at("U0") - r;
  EXPECT_NEAR(s, number((rest - rest.mean()).square().mean().sqrt()), 1e-6 * s);
}

/// Nothing that is pooled grows with the number of nodes: its reference is the mean, whatever the label says.
TEST(Property, PooledTargetsAreReferredToTheirMeans) {
  const auto data = set();
  const Batch batch = all_of(*data);
  const Tensor labels = batch.labels.at("U0");
  for (const Reference reference : {Reference::mean, Reference::elements}) {
    auto o = of({"U0"});
    o.reference = reference;
    Property sums(o);
    sums.fit(*data);
    EXPECT_GT(number(sums.state().at("references").abs().max()), 1);
    o.pooled = true;
    Property task(o);
    task.fit(*data);
    EXPECT_EQ(number(task.state().at("references").abs().max()), 0);
    EXPECT_NEAR(number(task.state().at("means")[0]), number(labels.mean()), 1e-9);
    EXPECT_NEAR(number(task.state().at("scales")[0]), number((labels - labels.mean()).square().mean().sqrt()),
                1e-9);
    task.refer(*data, {{"U0", at::full({4, 1}, 0.5, at::kDouble)}});
    EXPECT_EQ(number(task.state().at("references").abs().max()), 0);
    EXPECT_NEAR(number(task.state().at("means")[0] + 0.5 * task.state().at("scales")[0]),
                number(labels.mean()), 1e-9);
  }
}

TEST(Property, AdoptsOutputsOfOtherWeights) {
  const auto data = set();
  const Batch batch = all_of(*data);
  Property one(of({"U0"})), loaded(of({"U0"})), two(of({"gap", "U0"}));
  FirstCoordinate model(two.interface(data->schema()));
  const Tensor y = model(batch.input).at("U0").detach();
  ASSERT_TRUE(one.adopt(data->schema(), {.scale = 0.25, .shift = -7}));
  loaded.load(one.state());
  EXPECT_TRUE(at::allclose(loaded.predict(model, batch).at("U0"), 0.25 * y - 7, 1e-12));
  EXPECT_FALSE(two.adopt(data->schema(), {.scale = 0.25}));  // of which one?
  EXPECT_TRUE(two.state().empty());
  ASSERT_TRUE(two.adopt(data->schema(), {}));
  EXPECT_TRUE(at::allclose(two.predict(model, batch).at("U0"), y, 1e-12));
}

TEST(Property, MetricsAreInTheUnitOfTheTarget) {
  const auto data = set();
  const Batch batch = all_of(*data);
  Property one(of({"gap"}));
  one.fit(*data);
  const auto meter = one.meter(one.interface(data->schema()));
  meter->add(batch,
             {{"gap", batch.labels.at("gap") + at::tensor({0.1, -0.3, 0.0, 0.4}, at::kDouble).view({4, 1})}});
  EXPECT_NEAR(meter->values().at("mae").value, 0.2, 1e-12);
  EXPECT_EQ(meter->values().at("mae").unit, "eV");
  EXPECT_NEAR(meter->values().at("rmse").value, std::sqrt(0.26 / 4), 1e-12);

  Property two(of({"gap", "U0"}));
  two.fit(*data);
  const auto both = two.meter(two.interface(data->schema()));
  both->add(batch, {{"gap", batch.labels.at("gap") + 1}, {"U0", batch.labels.at("U0") - 2}});
  const Tensor s = two.state().at("scales");
  EXPECT_NEAR(both->values().at("mae_U0").value, 2, 1e-9);
  EXPECT_NEAR(both->values().at("standardised_mae").value, 0.5 / number(s[0]) + 1 / number(s[1]), 1e-9);
  // By weights as the loss is, and of eV and Hartree alike, whatever units the outputs are in.
  PropertyOptions o = of({"gap", "U0"});
  o.weights = {3, 1};
  o.normalise = false;
  Property weighted(o);
  weighted.fit(*data);
  const auto by_weights = weighted.meter(weighted.interface(data->schema()));
  by_weights->add(batch, {{"gap", batch.labels.at("gap") + 1}, {"U0", batch.labels.at("U0") - 2}});
  EXPECT_NEAR(by_weights->values().at("standardised_mae").value, 0.75 / number(s[0]) + 0.5 / number(s[1]),
              1e-9);
  EXPECT_TRUE(two.meter(two.interface(data->schema()))->values().empty());
}

TEST(Property, LabelsThatAreMissingAreLeftOut) {
  const auto data = set();
  Batch batch = all_of(*data);
  batch.labels["gap"][1].fill_(NAN);
  Property task(of({"gap"}));
  task.fit(InMemory(batch, molecules()));
  const Tensor known = at::cat({batch.labels["gap"].slice(0, 0, 1), batch.labels["gap"].slice(0, 2)});
  EXPECT_NEAR(number(task.state().at("means")[0]), number(known.mean()), 1e-12);
  FirstCoordinate model(task.interface(data->schema()));
  const Tensor loss = task.step(model, batch).loss;
  loss.backward();
  EXPECT_TRUE(std::isfinite(number(loss)) && std::isfinite(number(model.k.grad())));
  const auto meter = task.meter(model.interface);
  meter->add(batch, task.predict(model, batch));
  EXPECT_TRUE(std::isfinite(meter->values().at("mae").value));
}

/// The mean over conformers is that of f at each, put where the input stands.
TEST(Property, AveragesOverConformers) {
  const auto data = set();
  Batch batch = data->all();
  const auto& points = std::get<Points>(batch.input);
  const auto spread_about = [&](const Input& input) {
    const auto& p = std::get<Points>(input);
    const Tensor from =
        p.positions - segment_mean(points.positions, p.graphs).index_select(0, p.graphs.index);
    return segment_sum(from.square().sum(1, true), p.graphs);
  };
  const Tensor spread = spread_about(batch.input);
  EXPECT_TRUE(at::equal(mean_over_conformers(batch, spread_about), spread));
  const Tensor all = at::stack({points.positions + 5, points.positions * -3, points.positions}, 1);
  batch.labels["conformers"] = all;
  EXPECT_TRUE(at::allclose(mean_over_conformers(batch, spread_about), spread * (11. / 3)));
  // Of fewer conformers each counts once, however often it comes again, in each molecule for itself.
  batch.labels["conformers"] = at::stack({all.select(1, 0), all.select(1, 1), all.select(1, 0)}, 1);
  EXPECT_TRUE(at::allclose(mean_over_conformers(batch, spread_about), spread * 5));
  const int64_t other = points.graphs.offsets[1];
  batch.labels["conformers"].slice(0, other).copy_(all.slice(0, other));
  const Tensor mixed = mean_over_conformers(batch, spread_about);
  EXPECT_TRUE(at::allclose(mixed.slice(0, 0, 1), spread.slice(0, 0, 1) * 5));
  EXPECT_TRUE(at::allclose(mixed.slice(0, 1), spread.slice(0, 1) * (11. / 3)));
  batch.labels["conformers"] = all;
  Property task(of({"gap"}));
  task.fit(*data);
  FirstCoordinate model(task.interface(molecules()));  // which sees centroids alone
  EXPECT_TRUE(at::allclose(task.predict(model, batch).at("gap"), task.predict(model, data->all()).at("gap")));
  batch.labels["conformers"] = all.slice(2, 0, 2);
  EXPECT_THROW(task.predict(model, batch), ShapeError);
}

TEST(Property, AveragesOverRotationsAtTestTime) {
  const auto data = set();
  const Batch batch = all_of(*data);
  auto o = of({"gap"});
  o.test_time_rotations.count = 200;
  o.test_time_rotations.random = true;
  Property task(o), plain(of({"gap"}));
  task.fit(*data);
  plain.fit(*data);
  FirstCoordinate model(task.interface(data->schema()));
  const double m = number(task.state().at("means")[0]);
  const Tensor once = plain.predict(model, batch).at("gap") - m,
               mean = task.predict(model, batch).at("gap") - m;
  // The mean over all rotations is nothing; over 200 of them what is left falls as their root.
  EXPECT_LT(number(mean.abs().max()), 0.25 * number(once.abs().max()));
  EXPECT_TRUE(at::equal(task.predict(model, batch).at("gap") - m, mean));  // always the same ones
  const Tensor turns = matrices_of(o.test_time_rotations, Carrier::points, 3);
  EXPECT_TRUE(at::equal(turns[0], at::eye(3, at::kDouble)));
  EXPECT_TRUE(
      at::allclose(at::matmul(turns, turns.transpose(1, 2)), at::eye(3, at::kDouble).expand({200, 3, 3})));
  EXPECT_FALSE(at::allclose(turns[1], turns[2]));
  EXPECT_THROW(matrices_of(o.test_time_rotations, Carrier::grid, 2), ConfigError);
}

TEST(Property, StateIsAllThatPredictionNeeds) {
  const auto data = set();
  auto o = of({"U0", "gap"});
  o.reference = Reference::elements;
  Property fitted(o), loaded(o);
  fitted.fit(*data);
  loaded.load(fitted.state());
  FirstCoordinate model(fitted.interface(data->schema()));
  const Batch batch = all_of(*data);
  EXPECT_TRUE(at::equal(fitted.predict(model, batch).at("U0"), loaded.predict(model, batch).at("U0")));
  auto broken = fitted.state();
  broken["scales"] = at::zeros({2}, at::kDouble);
  EXPECT_THROW(loaded.load(broken), DataError);
  broken = fitted.state();
  broken["means"] = at::zeros({3}, at::kDouble);
  EXPECT_THROW(loaded.load(broken), DataError);
}

TEST(Property, RefusesTypesThatItHasNotSeen) {
  const auto data = set();
  std::get<Points>(const_cast<Batch&>(data->all()).input).types.zero_();
  Property task(of({"gap"}));
  task.fit(*data);
  FirstCoordinate model(task.interface(molecules()));
  Batch batch = all_of(*data);
  EXPECT_NO_THROW(task.predict(model, batch));
  std::get<Points>(batch.input).types[5].fill_(1);
  const auto refuses = [&](const Property& by) {
    try {
      by.predict(model, batch);
      FAIL() << "taken";
    } catch (const ShapeError& e) {
      EXPECT_STREQ(e.what(), "property: a node is of type 1, of which the training data had none");
    }
  };
  refuses(task);
  EXPECT_THROW(task.prepare(batch, model.interface), ShapeError);
  Batch known = all_of(*data);
  EXPECT_NO_THROW(task.prepare(known, model.interface));
  Interface more = model.interface;
  ++more.types;
  EXPECT_THROW(task.prepare(known, more), ShapeError);
  Property loaded(of({"gap"}));
  loaded.load(task.state());
  refuses(loaded);
  NamedTensors older = task.state();  // of a file from before there was one
  older.erase("seen");
  loaded.load(older);
  EXPECT_NO_THROW(loaded.predict(model, batch));
}

TEST(Property, RefusesWhatCannotBeLearned) {
  const auto data = set();
  Property task(of({"gap"}));
  EXPECT_THROW(task.fit(InMemory(data->batch({}), molecules())), DataError);
  const_cast<Batch&>(data->all()).labels.at("gap").fill_(3);
  EXPECT_THROW(task.fit(*data), DataError);
}

TEST(Property, BaselinesAreTheReferences) {
  const auto data = set();
  Property task(of({"gap"}));
  task.fit(*data);
  const Tensor t = all_of(*data).labels.at("gap");
  const auto baselines = task.baselines(*data);
  ASSERT_EQ(baselines.size(), 1u);
  EXPECT_NEAR(baselines[0].second.at("mae").value, number((t - t.mean()).abs().mean()), 1e-12);
}

/// The spread of the points, and the sum over them of how far each is from the origin of all: both are numbers that no
/// motion changes.
std::shared_ptr<InMemory> spreads(int64_t samples) {
  at::manual_seed(5);
  Points p;
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < samples; ++i) {
    counts.push_back(3 + i % 3);
  }
  p.graphs = Segments::of_sizes(counts);
  const int64_t nodes = p.graphs.offsets.back();
  p.types = at::randint(0, 2, {nodes}, at::kLong);
  p.positions = at::randn({nodes, 3}, at::kDouble) *
                (0.5 + at::rand({samples, 1}, at::kDouble)).index_select(0, p.graphs.index);
  std::vector<Tensor> gaps, sums;
  for (int64_t g = 0; g < samples; ++g) {
    const Tensor x = p.positions.slice(0, p.graphs.offsets[g], p.graphs.offsets[g + 1]);
    const Tensor distances = (x - x.mean(0)).norm(2, 1);
    gaps.push_back(distances.mean());
    sums.push_back(distances.sum());
  }
  return std::make_shared<InMemory>(
      Batch{p, {{"gap", at::stack(gaps).view({-1, 1})}, {"U0", at::stack(sums).view({-1, 1})}}}, molecules());
}

/// A graph's scalars from a net of multivectors: learned in a few steps, and the same of a scene that is turned and shifted.
TEST(Property, IsLearnedByGatrAndDoesNotChangeWithTheFrame) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const auto data = spreads(48);
  const Batch batch = all_of(*data);
  Property task(of({"gap", "U0"}));
  task.fit(*data);
  gatr::Options o;
  o.width = 4;
  o.scalars = 16;
  o.heads = 2;
  o.blocks = 2;
  at::manual_seed(1);
  const auto model = build({o}, task.interface(data->schema()));
  OptimiserOptions adam;
  adam.rate = 1e-2;
  adam.clip = 1;
  Optimiser optimiser(model->parameters(), adam);
  double first = 0, last = 0;
  for (int step = 0; step < 80; ++step) {
    const Tensor loss = task.step(*model, batch).loss;
    (step == 0 ? first : last) = number(loss);
    loss.backward();
    optimiser.clip_gradients();
    optimiser.step();
    optimiser.clear_gradients();
  }
  EXPECT_LT(last, 0.6);  // 1 is what the means alone leave
  EXPECT_LT(last, 0.5 * first);
  model->train(false);
  const at::NoGradGuard quiet;
  const auto predictions = [&](const Tensor& matrix, double shift) {
    Batch moved = batch;
    auto& p = std::get<Points>(moved.input);
    p.positions = at::matmul(p.positions, matrix.t()) + shift * at::tensor({1.0, -2.0, 0.5}, at::kDouble);
    return task.predict(*model, moved);
  };
  // A turn by 0.7 about z, then by 1.1 about x; as a control, a stretch along z.
  const double c = std::cos(0.7), s = std::sin(0.7), d = std::cos(1.1), t = std::sin(1.1);
  const Tensor about_z = at::tensor({c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0}, at::kDouble).view({3, 3}),
               about_x = at::tensor({1.0, 0.0, 0.0, 0.0, d, -t, 0.0, t, d}, at::kDouble).view({3, 3}),
               stretched = at::diag(at::tensor({1.0, 1.0, 1.5}, at::kDouble));
  const Tensor as_is = at::eye(3, at::kDouble);
  for (const char* target : {"gap", "U0"}) {
    const Tensor y = predictions(as_is, 0).at(target);
    const double size = number((y - y.mean()).square().mean().sqrt());
    EXPECT_GT(size, 1e-2) << target;
    const auto error = [&](const Tensor& matrix, double shift) {
      return number((predictions(matrix, shift).at(target) - y).abs().max()) / size;
    };
    EXPECT_LT(error(at::matmul(about_x, about_z), 3), 1e-11) << target;
    EXPECT_GT(error(stretched, 0), 1e-2) << target;
  }
}

/// Of each pose the distance to the next of its graph, and of each graph their sum: told by relative poses alone.
std::shared_ptr<const Dataset> steps(int64_t graphs) {
  Stream stream(14, "property test");
  const int64_t n = 4;
  Poses poses;
  poses.group = LieGroup::se2;
  poses.elements = random_elements(poses.group, n * graphs, 1, stream);
  poses.graphs = Segments::of_sizes(std::vector<int64_t>(graphs, n));
  const Tensor t = poses.elements.slice(1, 0, 2).select(2, 2).view({graphs, n, 2});
  const Tensor to_others = at::linalg_vector_norm(t.unsqueeze(2) - t.unsqueeze(1), 2, {3}).sum(2);  // (B, n)
  Schema schema;
  schema.interface.group = poses.group;
  schema.interface.dimension = 2;
  schema.interface.typical_nodes = n;
  schema.labels = {{.name = "far", .unit = "m"}, {.name = "all", .level = Level::graph, .unit = "m"}};
  return std::make_shared<InMemory>(
      Batch{poses, {{"far", to_others.reshape({-1, 1})}, {"all", to_others.sum(1).unsqueeze(1)}}}, schema);
}

TEST(Property, OfPosesIsLearnedOfTokensAndGraphsAndDoesNotMoveWithThem) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const auto data = steps(64);
  const Batch batch = all_of(*data);
  Property task(of({"far", "all"}));
  task.fit(*data);
  lie::Options o;
  o.width = 16;
  o.blocks = 2;
  at::manual_seed(1);
  const auto model = build({o}, task.interface(data->schema()));
  OptimiserOptions adam;
  adam.rate = 1e-2;
  Optimiser optimiser(model->parameters(), adam);
  double last = 0;
  for (int step = 0; step < 60; ++step) {
    const Tensor loss = task.step(*model, batch).loss;
    last = number(loss);
    loss.backward();
    optimiser.step();
    optimiser.clear_gradients();
  }
  EXPECT_LT(last, 0.6);  // 1 is what the means alone leave
  model->train(false);
  const at::NoGradGuard quiet;
  Stream stream(15, "property test");
  const Tensor a = random_elements(LieGroup::se2, batch.count(), 1, stream);
  const Named still = task.predict(*model, batch),
              moved = task.predict(*model, transform(batch, motions_of(LieGroup::se2, a), data->schema()));
  Batch right = batch;
  auto& poses = std::get<Poses>(right.input);
  poses.elements = at::matmul(poses.elements, at::index_select(a, 0, poses.graphs.index));
  const Named other = task.predict(*model, right);
  for (const char* target : {"far", "all"}) {
    EXPECT_LT(number((still.at(target) - moved.at(target)).abs().max()), 1e-10) << target;
    EXPECT_GT(number((still.at(target) - other.at(target)).abs().max()), 1e-2) << target;
  }
  Schema elements = data->schema();
  elements.labels[0].kind = Kind::element;
  EXPECT_THROW(task.interface(elements), ConfigError);
}

}  // namespace property_test
}  // namespace weyl
