#include "weyl/tasks/force_field.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <numeric>

#include "weyl/core/check.h"
#include "weyl/models/systems.h"
#include "weyl/ops/differentiable.h"

namespace weyl {
namespace {

const std::vector<int64_t> sizes{4, 1, 5, 3};

Schema atoms() {
  Schema schema;
  schema.interface.types = 3;
  schema.interface.elements = {"H", "C", "O"};
  schema.interface.typical_nodes = 4;
  schema.length_unit = "\u00c5";
  schema.labels = {{.name = "energy", .level = Level::graph, .extensive = true, .unit = "eV"},
                   {.name = "forces", .kind = Kind::vector, .unit = "eV/\u00c5"}};
  return schema;
}

/// Energies of the size of total energies, forces of order one.
std::shared_ptr<InMemory> set(uint64_t seed = 4) {
  at::manual_seed(seed);
  Points p;
  p.graphs = Segments::of_sizes(sizes);
  p.positions = at::randn({13, 3}, at::kDouble) * 1.5;
  p.types = at::randint(0, 3, {13}, at::kLong);
  const Tensor e =
      at::randn({4, 1}, at::kDouble) - at::tensor(sizes, at::kLong).to(at::kDouble).unsqueeze(1) * 1000;
  return std::make_shared<InMemory>(Batch{p, {{"energy", e}, {"forces", at::randn({13, 1, 3}, at::kDouble)}}},
                                    atoms());
}

Batch all_of(const Dataset& data) {
  std::vector<int64_t> every(data.size());
  std::iota(every.begin(), every.end(), 0);
  return data.batch(every);
}

ModelOptions small(const char* system) {
  ModelOptions o;
  if (std::string(system) == "platonic") {
    PlatonicOptions p;
    p.group = "tetrahedron";
    p.width = 48;
    p.heads = 12;
    p.blocks = 2;
    p.ffn_factor = 2;
    p.position_vector = true;
    o.system = p;
  } else {
    TransformerOptions t;
    t.width = 16;
    t.heads = 2;
    t.blocks = 2;
    o.system = t;
  }
  return o;
}

std::shared_ptr<Model> model_of(const char* system, const Task& task, const Dataset& data) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(7);
  return build(small(system), task.interface(data.schema()), Carrier::points);
}

/// E = sum over pairs of a graph and its cell of smooth functions, with one number to learn.
class Springs : public Model {
 public:
  explicit Springs(Interface interface) : Model(std::move(interface)) {
    k = parameter("k", at::full({1}, 0.3, at::kDouble));
  }
  Named operator()(const Input& input) override {
    const auto& p = std::get<Points>(input);
    std::vector<Tensor> energies, forces;
    for (int64_t g = 0; g < p.count(); ++g) {
      const Tensor x = p.positions.slice(0, p.graphs.offsets[g], p.graphs.offsets[g + 1]);
      const Tensor d2 = (x.unsqueeze(0) - x.unsqueeze(1)).square().sum(2);
      Tensor e = 0.5 * (d2 * k.to(x.scalar_type()) - at::exp(-d2)).sum();
      if (p.cell.defined()) {
        e = e + (p.cell[g].square().sum(1) * 0.1).sin().sum() + (x.sum(0) * p.cell[g][1]).sum() * 0.01;
      }
      energies.push_back(e.view({1, 1}));
    }
    Named out{{"energy", at::cat(energies)}};
    if (interface.outputs.size() > 1) {
      out["forces"] = p.positions.unsqueeze(1) * 0.1;
    }
    return out;
  }
  Carrier carrier() const override { return Carrier::points; }
  Symmetry symmetry() const override { return {}; }
  Flops flops_per_token() const override { return {}; }
  Tensor k;
};

double number(const Tensor& t) {
  return t.item<double>();
}

TEST(ForceField, AsksForWhatItWeighs) {
  const auto task = make_task({ForceFieldOptions{}});
  EXPECT_EQ(task->name(), "force_field");
  EXPECT_EQ(task->headline(), "force_mae");
  EXPECT_TRUE(task->lower_is_better());
  EXPECT_TRUE(task->notes().empty());
  EXPECT_EQ(task->labels().size(), 2u);
  const Interface interface = task->interface(atoms());
  ASSERT_EQ(interface.outputs.size(), 1u);
  EXPECT_EQ(interface.outputs[0].name, "energy");
  EXPECT_TRUE(interface.outputs[0].extensive);
  EXPECT_EQ(interface.length_unit, "\u00c5");
  const auto predictions = task->predictions(interface);
  ASSERT_EQ(predictions.size(), 2u);
  EXPECT_EQ(predictions[1].unit, "eV/\u00c5");

  ForceFieldOptions o;
  o.forces = ForceSource::none;
  EXPECT_EQ(make_task({o})->headline(), "energy_mae");
  EXPECT_EQ(make_task({o})->labels().size(), 1u);
  o.energy_weight = 0;
  EXPECT_THROW(make_task({o}), ConfigError);
  o = {};
  o.stress = true;
  EXPECT_EQ(make_task({o})->labels().size(), 3u);
  o.forces = ForceSource::direct;
  EXPECT_THROW(make_task({o}), ConfigError);
  o = {};
  o.units = "furlong";
  EXPECT_THROW(make_task({o}), ConfigError);
  o.units = "nm";
  EXPECT_THROW(make_task({o}), ConfigError);
}

TEST(ForceField, DirectForcesSayThatTheyAreNotConservative) {
  ForceFieldOptions o;
  o.forces = ForceSource::direct;
  const auto task = make_task({o});
  EXPECT_EQ(task->headline(), "direct_force_mae");
  ASSERT_EQ(task->notes().size(), 1u);
  EXPECT_NE(task->notes()[0].find("not conservative"), std::string::npos);
  const Interface interface = task->interface(atoms());
  ASSERT_EQ(interface.outputs.size(), 2u);
  const auto data = set();
  task->fit(*data);
  Springs model(interface);
  const Batch batch = all_of(*data);
  const double s = number(task->state().at("scale"));
  EXPECT_TRUE(at::allclose(task->predict(model, batch).at("forces"),
                           std::get<Points>(batch.input).positions.unsqueeze(1) * 0.1 * s));
}

TEST(ForceField, RefusesForcesInAnotherUnit) {
  Schema schema = atoms();
  schema.labels[1].unit = "kcal/mol/\u00c5";
  EXPECT_THROW(ForceField({}).interface(schema), ConfigError);
  schema = atoms();
  schema.interface.dimension = 2;
  EXPECT_THROW(ForceField({}).interface(schema), ConfigError);
}

TEST(ForceField, LossIsWhatTheHeaderSays) {
  const auto data = set();
  const Batch batch = all_of(*data);
  for (const bool per_atom : {true, false}) {
    ForceFieldOptions o;
    o.energy_weight = 0.2;
    o.force_weight = 0.8;
    o.energy_per_atom = per_atom;
    o.force_loss = ErrorLaw::l1;
    ForceField task(o);
    task.fit(*data);
    const Tensor f = batch.labels.at("forces");
    const double s = number(task.state().at("scale"));
    EXPECT_NEAR(s, number(f.square().mean().sqrt()), 1e-12);
    Springs model(task.interface(data->schema()));
    const Step step = task.step(model, batch);
    const Named p = task.predict(model, batch);
    const Tensor n =
        per_atom ? at::tensor(sizes, at::kLong).to(at::kDouble).unsqueeze(1) : at::ones({4, 1}, at::kDouble);
    const Tensor de = (p.at("energy") - batch.labels.at("energy")) / (s * n), df = (p.at("forces") - f) / s;
    EXPECT_NEAR(number(step.loss), number(0.2 * de.square().mean() + 0.8 * df.abs().mean()), 1e-10);
    EXPECT_TRUE(at::equal(step.predictions.at("forces"), p.at("forces")));
    EXPECT_FALSE(p.at("forces").requires_grad());
    // The model's own energy times the scale, beside the references.
    const Tensor own = model(batch.input).at("energy").detach();
    EXPECT_TRUE(at::allclose(p.at("energy") - own * s,
                             at::matmul(at::zeros({4, 3}, at::kDouble)
                                            .index_put({std::get<Points>(batch.input).graphs.index,
                                                        std::get<Points>(batch.input).types},
                                                       at::ones({13}, at::kDouble), true),
                                        task.state().at("references"))
                                 .unsqueeze(1),
                             1e-12));
  }
}

TEST(ForceField, ForcesAreMinusTheSlopeOfTheEnergy) {
  const auto data = set();
  for (const char* system : {"platonic", "transformer"}) {
    ForceField task({});
    task.fit(*data);
    const auto model = model_of(system, task, *data);
    Batch batch = all_of(*data);
    const at::NoGradGuard as_evaluation_does;
    model->train(false);
    const Tensor forces = task.predict(*model, batch).at("forces").squeeze(1);
    EXPECT_FALSE(forces.requires_grad());
    const double largest = number(forces.abs().max());
    EXPECT_GT(largest, 1e-3) << system;
    auto& x = std::get<Points>(batch.input).positions;
    const Tensor start = x.clone();
    const double h = 1e-4;
    double worst = 0;
    for (int64_t i = 0; i < 13; ++i) {
      for (int64_t d = 0; d < 3; ++d) {
        double energies[2];
        for (int side = 0; side < 2; ++side) {
          x = start.clone();
          x[i][d] += side == 0 ? h : -h;
          // Of this graph alone: the references of all would cost digits.
          energies[side] = number(task.predict(*model, batch).at("energy").sum());
        }
        worst = std::max(worst, std::abs(number(forces[i][d]) + (energies[0] - energies[1]) / (2 * h)));
      }
    }
    x = start;
    EXPECT_LT(worst / largest, 2e-6) << system;
    // No graph pushes itself.
    for (int64_t g = 0; g < 4; ++g) {
      const auto& o = std::get<Points>(batch.input).graphs.offsets;
      EXPECT_LT(number(forces.slice(0, o[g], o[g + 1]).sum(0).abs().max()), 1e-12 + 1e-12 * largest)
          << system;
    }
  }
}

TEST(ForceField, WeightsLearnFromForces) {
  // The slope of a loss of forces by weights, a second derivative, against finite differences.
  const auto data = set();
  const Batch batch = all_of(*data);
  for (const char* system : {"platonic", "transformer"}) {
    ForceFieldOptions o;
    o.energy_weight = 0.5;
    ForceField task(o);
    task.fit(*data);
    const auto model = model_of(system, task, *data);
    std::vector<Tensor> weights;
    for (const Parameter& p : model->parameters()) {
      weights.push_back(p.tensor);
    }
    const auto slopes = torch::autograd::grad({task.step(*model, batch).loss}, weights, {}, false, false,
                                              /*allow_unused=*/true);
    size_t checked = 0;
    for (size_t w = 0; w < weights.size(); w += 3) {
      if (!slopes[w].defined() || weights[w].numel() == 0) {
        continue;
      }
      const int64_t i = weights[w].numel() / 2;
      const double h = 1e-5;
      double losses[2];
      for (int side = 0; side < 2; ++side) {
        const at::NoGradGuard quiet;
        weights[w].view({-1})[i] += side == 0 ? h : -2 * h;
        const at::AutoGradMode on(true);
        losses[side] = number(task.step(*model, batch).loss.detach());
      }
      {
        const at::NoGradGuard quiet;
        weights[w].view({-1})[i] += h;
      }
      const double difference = (losses[0] - losses[1]) / (2 * h), found = number(slopes[w].reshape({-1})[i]);
      EXPECT_NEAR(found, difference, 1e-6 * std::max(1.0, std::abs(difference))) << system << " " << w;
      ++checked;
    }
    EXPECT_GT(checked, 4u) << system;
  }
}

TEST(ForceField, ExpectsSecondDerivativesOnlyWhileItTrains) {
  class Watched : public Springs {
   public:
    using Springs::Springs;
    Named operator()(const Input& input) override {
      expected = ExpectSecondDerivatives::active();
      return Springs::operator()(input);
    }
    bool expected = false;
  };
  const auto data = set();
  ForceField task({});
  task.fit(*data);
  Watched model(task.interface(data->schema()));
  task.step(model, all_of(*data));
  EXPECT_TRUE(model.expected);
  task.predict(model, all_of(*data));
  EXPECT_FALSE(model.expected);
  EXPECT_FALSE(ExpectSecondDerivatives::active());
}

TEST(ForceField, AFewStepsReduceTheLoss) {
  const auto data = set();
  const Batch batch = all_of(*data);
  for (const char* system : {"platonic", "transformer"}) {
    ForceField task({});
    task.fit(*data);
    const auto model = model_of(system, task, *data);
    std::vector<Tensor> weights;
    for (const Parameter& p : model->parameters()) {
      weights.push_back(p.tensor);
    }
    double first = 0, last = 0;
    for (int step = 0; step < 15; ++step) {
      const Tensor loss = task.step(*model, batch).loss;
      last = number(loss.detach());
      first = step == 0 ? last : first;
      const auto slopes = torch::autograd::grad({loss}, weights, {}, false, false, true);
      double norm = 0;
      for (const Tensor& s : slopes) {
        norm += s.defined() ? number(s.square().sum()) : 0;
      }
      const at::NoGradGuard quiet;
      for (size_t w = 0; w < weights.size(); ++w) {
        if (slopes[w].defined()) {
          weights[w] -= slopes[w] * (0.02 / std::sqrt(norm));
        }
      }
    }
    EXPECT_LT(last, 0.9 * first) << system;
  }
}

Batch periodic(const std::shared_ptr<InMemory>& data) {
  Batch batch = all_of(*data);
  auto& p = std::get<Points>(batch.input);
  at::manual_seed(9);
  p.cell = at::eye(3, at::kDouble).expand({4, 3, 3}) * 4 + at::randn({4, 3, 3}, at::kDouble) * 0.3;
  p.pbc = at::ones({4, 3}, at::kBool);
  return batch;
}

TEST(ForceField, StressIsTheDerivativeByStrainOverTheVolume) {
  const auto data = set();
  ForceFieldOptions o;
  o.stress = true;
  ForceField task(o);
  task.fit(*data);
  Springs model(task.interface(data->schema()));
  Batch batch = periodic(data);
  const Tensor stress = task.predict(model, batch).at("stress");
  ASSERT_EQ(stress.sizes(), (std::vector<int64_t>{4, 1, 3, 3}));
  EXPECT_TRUE(at::allclose(stress, stress.transpose(2, 3), 0, 1e-14));
  const double scale = number(task.state().at("scale")), h = 1e-5;
  const auto& p = std::get<Points>(batch.input);
  for (int64_t a = 0; a < 3; ++a) {
    for (int64_t b = a; b < 3; ++b) {
      Tensor energies[2];
      for (int side = 0; side < 2; ++side) {
        Tensor strain = at::eye(3, at::kDouble);
        const double e = side == 0 ? h : -h;
        strain[a][b] += e / 2;  // both halves: symmetric
        strain[b][a] += e / 2;
        Points moved = p;
        moved.positions = at::matmul(p.positions, strain);
        moved.cell = at::matmul(p.cell, strain);
        energies[side] = model(moved).at("energy").detach().squeeze(1) * scale;
      }
      const Tensor slope = (energies[0] - energies[1]) / (2 * h) / at::linalg_det(p.cell).abs();
      EXPECT_TRUE(at::allclose(stress.squeeze(1).select(1, a).select(1, b), slope, 1e-7, 1e-8)) << a << b;
    }
  }
  // Forces do not notice the strain.
  ForceField plain({});
  plain.load(task.state());
  EXPECT_TRUE(at::allclose(plain.predict(model, batch).at("forces"), task.predict(model, batch).at("forces"),
                           1e-12, 1e-14));
}

TEST(ForceField, WithoutAVolumeThereIsNoStress) {
  const auto data = set();
  ForceFieldOptions o;
  o.stress = true;
  ForceField task(o);
  task.fit(*data);
  Springs model(task.interface(data->schema()));
  Batch batch = periodic(data);
  std::get<Points>(batch.input).pbc[2][1].fill_(false);
  batch.labels["stress"] = at::randn({4, 1, 3, 3}, at::kDouble);
  const Tensor stress = task.predict(model, batch).at("stress");
  EXPECT_TRUE(at::isnan(stress[2]).all().item<bool>());
  EXPECT_TRUE(at::isfinite(stress[0]).all().item<bool>());
  // Its label does not count, whatever it is, and the slope of the loss stays finite.
  const double loss = number(task.step(model, batch).loss.detach());
  batch.labels["stress"][2].fill_(1e9);
  const Tensor other = task.step(model, batch).loss;
  EXPECT_NEAR(number(other.detach()), loss, 1e-12);
  EXPECT_TRUE(at::isfinite(torch::autograd::grad({other}, {model.k})[0]).all().item<bool>());
  batch.labels["stress"][1] += 1;
  EXPECT_NE(number(task.step(model, batch).loss.detach()), loss);
  // Without any cell too.
  Batch open = all_of(*data);
  EXPECT_TRUE(at::isnan(task.predict(model, open).at("stress")).all().item<bool>());
}

TEST(ForceField, LabelsThatAreMissingAreLeftOut) {
  const auto data = set();
  Batch batch = all_of(*data);
  batch.labels["energy"][2].fill_(NAN);
  batch.labels["forces"].slice(0, 0, 4).fill_(NAN);
  const auto masked = std::make_shared<InMemory>(batch, atoms());
  ForceField task({});
  task.fit(*masked);
  const Tensor f = batch.labels.at("forces").slice(0, 4);
  EXPECT_NEAR(number(task.state().at("scale")), number(f.square().mean().sqrt()), 1e-12);
  Springs model(task.interface(data->schema()));
  const Step step = task.step(model, batch);
  const Named p = step.predictions;
  const double s = number(task.state().at("scale"));
  const Tensor n = at::tensor(sizes, at::kLong).to(at::kDouble).unsqueeze(1);
  const Tensor de = ((p.at("energy") - batch.labels.at("energy")) / (s * n)).index({at::tensor({0, 1, 3})});
  const Tensor df = (p.at("forces").slice(0, 4) - f) / s;
  EXPECT_NEAR(number(step.loss), number(de.square().mean() + 10 * df.square().mean()), 1e-10);
  EXPECT_TRUE(at::isfinite(torch::autograd::grad({step.loss}, {model.k})[0]).all().item<bool>());
}

TEST(ForceField, WithoutForcesTheScaleIsOfEnergies) {
  const auto data = set();
  ForceFieldOptions o;
  o.forces = ForceSource::none;
  o.reference = Reference::mean;
  ForceField task(o);
  task.fit(*data);
  const Batch batch = all_of(*data);
  const Tensor n = at::tensor(sizes, at::kLong).to(at::kDouble);
  const double e = number(task.state().at("references")[0]);
  const Tensor rest = (batch.labels.at("energy").squeeze(1) - n * e) / n;
  EXPECT_NEAR(number(task.state().at("scale")), number((rest - rest.mean()).square().mean().sqrt()), 1e-9);
  Springs model(task.interface(data->schema()));
  EXPECT_FALSE(task.predict(model, batch).contains("forces"));
}

TEST(ForceField, RefusesAnElementThatItHasNotSeen) {
  const auto data = set();
  std::get<Points>(const_cast<Batch&>(data->all()).input).types.clamp_max_(1);
  ForceField task({});
  task.fit(*data);
  Springs model(task.interface(data->schema()));
  Batch batch = all_of(*data);
  EXPECT_NO_THROW(task.predict(model, batch));
  std::get<Points>(batch.input).types[5].fill_(2);
  try {
    task.predict(model, batch);
    FAIL();
  } catch (const ShapeError& e) {
    EXPECT_STREQ(e.what(), "force_field: an atom is of type 2 (O), of which the training data had none");
  }
}

TEST(ForceField, StateIsAllThatPredictionNeeds) {
  const auto data = set();
  ForceField fitted({}), loaded({});
  EXPECT_TRUE(fitted.state().empty());
  fitted.fit(*data);
  loaded.load(fitted.state());
  Springs model(fitted.interface(data->schema()));
  const Batch batch = all_of(*data);
  for (const auto& [name, value] : fitted.predict(model, batch)) {
    EXPECT_TRUE(at::equal(value, loaded.predict(model, batch).at(name)));
  }
  auto broken = fitted.state();
  broken.erase("references");
  EXPECT_THROW(loaded.load(broken), DataError);
  broken = fitted.state();
  broken["scale"] = at::zeros({1}, at::kDouble);
  EXPECT_THROW(loaded.load(broken), DataError);
  broken["scale"] = at::full({1}, NAN, at::kDouble);
  EXPECT_THROW(loaded.load(broken), DataError);
}

TEST(ForceField, TotalEnergiesStayFloat64) {
  const auto data = set();
  ForceField task({});
  task.fit(*data);
  Springs model(task.interface(data->schema()));
  const Batch batch = to(all_of(*data), at::kCPU, at::kFloat);
  const Step step = task.step(model, batch);
  EXPECT_EQ(step.loss.scalar_type(), at::kFloat);
  EXPECT_EQ(step.predictions.at("energy").scalar_type(), at::kDouble);
  const Tensor exact = task.predict(model, all_of(*data)).at("energy");
  EXPECT_LT(number((step.predictions.at("energy") - exact).abs().max()), 1e-4);  // of 5000: float32 has 5e-4
}

TEST(ForceField, BaselinesAreReferencesWithoutForces) {
  const auto data = set();
  ForceField task({});
  EXPECT_TRUE(task.baselines(*data).empty());
  task.fit(*data);
  const auto baselines = task.baselines(*data);
  ASSERT_EQ(baselines.size(), 1u);
  const Tensor f = all_of(*data).labels.at("forces");
  EXPECT_NEAR(baselines[0].second.at("force_mae").value, 1000 * number(f.abs().mean()), 1e-9);
}

TEST(ForceField, OfAnEmptyBatchHasNoLoss) {
  const auto data = set();
  ForceField task({});
  task.fit(*data);
  const auto model = model_of("transformer", task, *data);
  const Step step = task.step(*model, data->batch({}));
  EXPECT_EQ(number(step.loss), 0);
  EXPECT_EQ(step.predictions.at("forces").sizes(), (std::vector<int64_t>{0, 1, 3}));
}

TEST(ForceField, RefusesDataWithNothingToLearn) {
  ForceField task({});
  const auto data = set();
  EXPECT_THROW(task.fit(InMemory(data->batch({}), atoms())), DataError);
  const_cast<Batch&>(data->all()).labels.at("forces").zero_();
  EXPECT_THROW(task.fit(*data), DataError);
}

}  // namespace
}  // namespace weyl
