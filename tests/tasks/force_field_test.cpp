// What a force field asks for, fits, weighs and keeps.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstdio>
#include <fstream>

#include "tests/tasks/force_field.h"
#include "weyl/core/check.h"
#include "weyl/nn/pooling.h"

namespace weyl {
namespace force_field_test {

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
  o.energy_weight = 0;  // of data without energies the unit is the forces'
  for (const auto& [forces, energy] :
       {std::pair("eV/\u00c5", "eV"), {"kcal/mol/Bohr", "(kcal/mol/Bohr)*(\u00c5)"}}) {
    Schema alone = atoms();
    alone.labels = {{.name = "forces", .kind = Kind::vector, .unit = forces}};
    EXPECT_EQ(make_task({o})->interface(alone).outputs[0].unit, energy);
  }
  o = {};
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
    o.force_loss = ForceLaw::l1;
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

TEST(ForceField, LossWithoutNormalisingIsInElectronvolt) {
  const auto data = set();
  const Batch batch = all_of(*data);
  ForceFieldOptions o;
  o.normalise = false;
  o.force_weight = 12;
  o.energy_per_atom = false;
  o.force_loss = ForceLaw::norm;
  ForceField task(o);
  task.fit(*data);
  EXPECT_EQ(number(task.state().at("scale")), 1);
  Springs model(task.interface(data->schema()));
  const auto loss_of = [&](const ForceField& of) {
    const Named p = of.predict(model, batch);
    const Tensor de = p.at("energy") - batch.labels.at("energy"),
                 df = (p.at("forces") - batch.labels.at("forces")).select(1, 0);
    return number(de.square().mean() + 12 * df.square().sum(1).sqrt().mean());
  };
  EXPECT_NEAR(number(task.step(model, batch).loss), loss_of(task), 1e-10);
  // The outputs of weights that came with another scale keep it, and the loss is in electronvolt all the same.
  ForceField other(ForceFieldOptions{});
  other.fit(*data);
  const double s = number(other.state().at("scale"));
  ASSERT_TRUE(std::abs(s - 1) > 1e-3);
  const Interface interface = task.interface(data->schema());
  ASSERT_TRUE(task.keep(other, interface, interface));
  EXPECT_EQ(number(task.state().at("scale")), s);
  EXPECT_NEAR(number(task.step(model, batch).loss), loss_of(task), 1e-10);
}

TEST(ForceField, OfPooledNodesHasAnEnergyThatDoesNotGrow) {
  ForceFieldOptions o;
  o.pooled = true;
  const Interface interface = ForceField(o).interface(atoms());
  EXPECT_FALSE(interface.outputs[0].extensive);
  EXPECT_FALSE(ForceField(o).predictions(interface)[0].extensive);
}

TEST(ForceField, RefersToTheAtomsThatTheDataHaveAlone) {
  Schema schema = atoms();
  schema.atom_energies = {{0, -13.6}, {2, -430.1}};
  const InMemory data(all_of(*set()), schema);
  const auto references = [&](Reference reference) {
    ForceFieldOptions o;
    o.reference = reference;
    ForceField task(o);
    task.fit(data);
    return task.state().at("references");
  };
  const Tensor elements = references(Reference::elements);
  EXPECT_EQ(number(elements[0]), -13.6);
  EXPECT_EQ(number(elements[2]), -430.1);
  EXPECT_LT(number(elements[1]), -100);             // by least squares
  const Tensor mean = references(Reference::mean);  // one number for all
  EXPECT_EQ(number(mean[0]), number(mean[2]));
  EXPECT_EQ(number(references(Reference::none).abs().max()), 0);
}

class AtomEnergies : public ::testing::Test {
 protected:
  void SetUp() override { path_ = ::testing::TempDir() + "weyl-atom-energies.txt"; }
  void TearDown() override { std::remove(path_.c_str()); }

  ForceField fitted(const std::string& lines) const {
    std::ofstream(path_) << lines;
    ForceFieldOptions o;
    o.references = path_;
    ForceField task(o);
    task.fit(*set());
    return task;
  }
  std::string refusal(const std::string& lines) const {
    try {
      fitted(lines);
    } catch (const DataError& error) {
      const std::string said = error.what();
      return said.starts_with(path_) ? said.substr(path_.size()) : said;
    }
    return "(accepted)";
  }
  std::string path_;
};

TEST_F(AtomEnergies, OfAFileAreTheReferences) {
  const ForceField task = fitted("# isolated atoms\n\nH -13.5  # eV\nO -2000\nC -37.5 Hartree\nXe 1\n");
  const Tensor references = task.state().at("references");
  EXPECT_NEAR(number(references[0]), -13.5, 1e-12);
  EXPECT_NEAR(number(references[1]), -37.5 * 27.211386245981, 1e-6);
  EXPECT_NEAR(number(references[2]), -2000, 1e-12);
  // Neither another model's references nor what it leaves move them.
  ForceField other(ForceFieldOptions{});
  const auto data = set();
  other.fit(*data);
  ForceField kept = task;
  const Interface interface = task.interface(data->schema());
  ASSERT_TRUE(kept.keep(other, interface, interface));
  kept.refer(*data, {{"energy", at::ones({4, 1}, at::kDouble)}});
  EXPECT_TRUE(at::equal(kept.state().at("references"), references));
  EXPECT_TRUE(at::equal(kept.state().at("scale"), other.state().at("scale")));
}

TEST_F(AtomEnergies, ThatAFileDoesNotSayAreRefused) {
  EXPECT_EQ(refusal("H 1\nC 2\n"), ": must have the energy of O, of which the training data have atoms");
  const std::string form = ": must be an element's symbol, a number and perhaps a unit, got ";
  EXPECT_EQ(refusal("H 1\nC two\n"), ": line 2" + form + "'C two'");
  EXPECT_EQ(refusal("H\n"), ": line 1" + form + "'H'");
  EXPECT_EQ(refusal("H 1 eV more\n"), ": line 1" + form + "'H 1 eV more'");
  EXPECT_EQ(refusal("H nan\n"), ": line 1" + form + "'H nan'");
  EXPECT_EQ(refusal("H 1\nH 1\n"), ": line 2: H must be given once");
  EXPECT_EQ(refusal("H 1 nm\n").substr(0, 10), ": line 1: ");
  ForceFieldOptions o;
  o.references = path_ + "-nowhere";
  EXPECT_THROW(ForceField(o).fit(*set()), DataError);
}

/// A float32 model that takes the first coordinate of an atom for its energy.
class Levels : public Model {
 public:
  explicit Levels(Interface interface) : Model(std::move(interface)) {
    one = parameter("one", {1}, Init::ones());
  }
  Named operator()(const Input& input) override {
    const auto& p = std::get<Points>(input);
    return {{"energy", sum_nodes(p.positions.narrow(1, 0, 1) * one, p.graphs)}};
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }
  Tensor one;
};

// 10^4 atoms of -1 eV: float32 energies have steps of 1 meV there; ten microelectronvolts are seen in predictions and
// learned from, and a graph has the same energy alone and in a batch.
TEST(ForceField, SeesSmallChangesOfTheEnergyOfManyAtoms) {
  constexpr int64_t n = 10000;
  ForceFieldOptions o;
  o.energy_per_atom = false;
  o.force_weight = 0;
  ForceField task(o);
  ASSERT_TRUE(task.adopt(atoms(), {.scale = 1, .shift = -1000}));
  Levels model(task.interface(atoms()));
  ASSERT_EQ(model.dtype(), at::kFloat);
  Points one;
  one.graphs = Segments::of_sizes(std::vector<int64_t>{n});
  one.positions = at::full({n, 3}, -1.0F);
  one.types = at::zeros({n}, at::kLong);
  Points both = one;
  both.graphs = Segments::of_sizes(std::vector<int64_t>{n, n});
  both.positions = at::cat({one.positions, one.positions});
  both.types = at::cat({one.types, one.types});
  both.positions[n + 7][0] = -1.0F + 1e-5F;
  const Tensor alone = task.predict(model, {one, {}}).at("energy"),
               together = task.predict(model, {both, {}}).at("energy");
  ASSERT_EQ(together.scalar_type(), at::kDouble);
  EXPECT_EQ(number(alone), -11000);
  EXPECT_EQ(number(together[0]), number(alone));
  EXPECT_NEAR(number(together[1] - together[0]), 1e-5, 1e-7);
  const Step step = task.step(model, {both, {{"energy", at::full({2, 1}, -11000.0, at::kDouble)}}});
  EXPECT_NEAR(number(step.loss.to(at::kDouble)) / 0.5e-10, 1, 0.02);  // the mean of 0 and (1e-5)^2
  step.loss.backward();
  // d/dk of (k sum(x) - target)^2 / 2 over the two graphs: 1e-5 times -1e4.
  EXPECT_NEAR(number(model.one.grad().to(at::kDouble)), 1e-5 * -1e4, 2e-3);
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
    EXPECT_STREQ(e.what(), "force_field: a node is of type 2 (O), of which the training data had none");
  }
  EXPECT_THROW(task.prepare(batch, model.interface), ShapeError);
  Batch known = all_of(*data);
  EXPECT_NO_THROW(task.prepare(known, model.interface));
  Interface more = model.interface;
  ++more.types;
  EXPECT_THROW(task.prepare(known, more), ShapeError);
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
  broken["scale"] = at::ones({2}, at::kDouble);
  EXPECT_THROW(loaded.load(broken), DataError);
}

TEST(ForceField, AdoptsOutputsOfOtherWeights) {
  const auto data = set();
  const Batch batch = all_of(*data);
  ForceField task({}), loaded({});
  Springs model(task.interface(data->schema()));
  const auto plain = task.predict(model, batch);  // before a fit: the outputs as they are
  ASSERT_TRUE(task.adopt(data->schema(), {.scale = 0.25, .shift = -4e5}));
  loaded.load(task.state());
  const auto adopted = loaded.predict(model, batch);  // of all elements, none seen
  EXPECT_TRUE(at::allclose(adopted.at("energy"), 0.25 * plain.at("energy") - 4e5, 0, 1e-9));
  EXPECT_TRUE(at::allclose(adopted.at("forces"), 0.25 * plain.at("forces"), 1e-12));
  auto older = task.state();
  older.erase("constant");  // files from before there was one
  loaded.load(older);
  EXPECT_TRUE(at::allclose(loaded.predict(model, batch).at("energy"), 0.25 * plain.at("energy"), 1e-12));
  task.fit(*data);
  EXPECT_EQ(number(task.state().at("constant")), 0);
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

}  // namespace force_field_test
}  // namespace weyl
