// Targets that are no numbers of graphs: numbers and vectors of nodes, vectors and symmetric tensors of graphs.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/all_samples.h"
#include "tests/equivariance.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/systems.h"
#include "weyl/tasks/property.h"
#include "weyl/train/loop/optimiser.h"

namespace weyl {
namespace property_kinds_test {

double number(const Tensor& t) {
  return t.item<double>();
}

Schema ions() {
  Schema schema;
  schema.interface.types = 2;
  schema.interface.typical_nodes = 4;
  schema.interface.features = {{.name = "charge", .level = Level::graph}};
  schema.labels = {
      {.name = "charges", .unit = "e"},
      {.name = "fields", .kind = Kind::vector},
      {.name = "dipole", .level = Level::graph, .kind = Kind::vector, .extensive = true, .unit = "e Å"},
      {.name = "alpha",
       .level = Level::graph,
       .kind = Kind::symmetric_tensor,
       .extensive = true,
       .unit = "Å^3"}};
  return schema;
}

/// Clouds of three to five points of two types. Charges follow from type and surroundings and add up to the cloud's own, fields
/// and dipoles are made of charges and places, polarisabilities of types and shapes.
std::shared_ptr<InMemory> clouds(int64_t samples) {
  at::manual_seed(7);
  Points p;
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < samples; ++i) {
    counts.push_back(3 + i % 3);
  }
  p.graphs = Segments::of_sizes(counts);
  const int64_t nodes = p.graphs.offsets.back();
  p.types = at::randint(0, 2, {nodes}, at::kLong);
  p.positions = at::randn({nodes, 3}, at::kDouble);
  const Tensor charge = at::randint(-1, 2, {samples, 1}, at::kLong).to(at::kDouble);
  p.of_graphs["charge"] = charge;
  const Tensor types = p.types.to(at::kDouble);
  std::vector<Tensor> charges, fields, dipoles, alphas;
  for (int64_t g = 0; g < samples; ++g) {
    const auto rows = [&](const Tensor& x) {
      return x.slice(0, p.graphs.offsets[g], p.graphs.offsets[g + 1]);
    };
    const Tensor x = rows(p.positions) - rows(p.positions).mean(0), t = rows(types);
    const Tensor raw = 2 * t + 0.5 * x.norm(2, 1);
    const Tensor q = raw + (charge[g] - raw.sum()) / static_cast<double>(x.size(0));
    charges.push_back(q);
    fields.push_back(x * q.unsqueeze(1));
    dipoles.push_back((x * q.unsqueeze(1)).sum(0));
    alphas.push_back((1 + t.sum()) * at::eye(3, at::kDouble) + 0.5 * at::matmul(x.t(), x));
  }
  return std::make_shared<InMemory>(Batch{p,
                                          {{"charges", at::cat(charges).unsqueeze(1)},
                                           {"fields", at::cat(fields).unsqueeze(1)},
                                           {"dipole", at::stack(dipoles).unsqueeze(1)},
                                           {"alpha", at::stack(alphas).unsqueeze(1)}}},
                                    ions());
}

PropertyOptions of(std::vector<std::string> targets) {
  PropertyOptions o;
  o.targets = std::move(targets);
  o.reference = Reference::elements;
  return o;
}

const std::vector<std::string> all_targets{"charges", "fields", "dipole", "alpha"};

/// Answers `values`, whatever it is given.
class Answers : public Model {
 public:
  Answers(Interface interface, Named values) : Model(std::move(interface)), values_(std::move(values)) {
    k = parameter("k", at::ones({1}, at::kDouble));
  }
  Named operator()(const Input&) override {
    Named out;
    for (const auto& [name, value] : values_) {
      out[name] = value * k;
    }
    return out;
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }
  Tensor k;

 private:
  Named values_;
};

Named zeros_like(const Batch& batch, const std::vector<std::string>& names) {
  Named out;
  for (const auto& name : names) {
    out[name] = at::zeros_like(batch.labels.at(name));
  }
  return out;
}

TEST(PropertyKinds, OutputsAreOfTheLabelsKindAndLevel) {
  const Property task(of(all_targets));
  const Schema data = ions();
  require_labels(task, data);
  const Interface interface = task.interface(data);
  for (const Quantity& label : data.labels) {
    const Quantity* output = find_quantity(interface.outputs, label.name);
    ASSERT_NE(output, nullptr);
    EXPECT_EQ(*output, label);
  }
  Schema odd = data;
  odd.labels[0].kind = Kind::pseudoscalar;
  EXPECT_THROW(require_labels(task, odd), DataError);
  odd = data;
  odd.labels[1].role = Role::point;  // a place, which moves with translations
  EXPECT_THROW(require_labels(task, odd), DataError);
  odd = data;
  odd.labels[0].channels = 2;
  EXPECT_THROW(require_labels(task, odd), DataError);
}

// References: of nodes the mean of their type, of tensors a multiple of the unit tensor, of vectors nothing; and what is
// left has the root mean square of its components as scale.
TEST(PropertyKinds, ReferencesKeepTheirKind) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const auto data = clouds(30);
  const Batch batch = all_of(*data);
  Property task(of(all_targets));
  task.fit(*data);
  const Tensor types = std::get<Points>(batch.input).types;
  Answers nothing(task.interface(data->schema()), zeros_like(batch, all_targets));
  const Named r = task.predict(nothing, batch);
  const Tensor q = batch.labels.at("charges");
  for (int64_t t = 0; t < 2; ++t) {
    const Tensor mine = (types == t).nonzero().squeeze(1);
    EXPECT_LT(number((r.at("charges").index_select(0, mine) - q.index_select(0, mine).mean()).abs().max()),
              1e-12);
  }
  EXPECT_EQ(number(r.at("dipole").abs().max()), 0);
  EXPECT_EQ(number(r.at("fields").abs().max()), 0);
  const Tensor alpha = r.at("alpha").select(1, 0), part = alpha.diagonal(0, 1, 2).mean(1);
  EXPECT_LT(number((alpha - part.view({-1, 1, 1}) * at::eye(3, at::kDouble)).abs().max()), 1e-12);
  EXPECT_GT(number(part.std()), 0.1);
  for (size_t i = 1; i < all_targets.size(); ++i) {
    const Tensor rest = batch.labels.at(all_targets[i]) - r.at(all_targets[i]);
    EXPECT_NEAR(number(task.state().at("scales")[static_cast<int64_t>(i)]),
                std::sqrt(number(rest.square().mean())), 1e-12);
  }
}

TEST(PropertyKinds, SumsAreHeldToTheirTotal) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const auto data = clouds(12);
  Batch batch = all_of(*data);
  const auto& p = std::get<Points>(batch.input);
  const Tensor answer = at::randn({p.nodes(), 1}, at::kDouble);
  const auto sums = [&](const Tensor& q) {
    return at::zeros({p.count(), 1}, at::kDouble).index_add(0, p.graphs.index, q.detach());
  };
  for (const char* to : {"charge", ""}) {
    auto o = of({"charges"});
    Property free(o);
    o.held = {{"charges", to}};
    Property held(o);
    free.fit(*data);
    held.fit(*data);
    Answers model(held.interface(data->schema()), {{"charges", answer}});
    const Tensor wanted = *to == '\0' ? at::zeros({p.count(), 1}, at::kDouble) : p.of_graphs.at("charge");
    const Tensor found = held.predict(model, batch).at("charges");
    EXPECT_LT(number((sums(found) - wanted).abs().max()), 1e-12);
    EXPECT_GT(number((sums(free.predict(model, batch).at("charges")) - wanted).abs().max()), 0.1);
    // What each node is given is the same for all of its graph, and the loss is of what is predicted.
    const Tensor given = found - free.predict(model, batch).at("charges");
    EXPECT_LT(number((given[0] - given[1]).abs()), 1e-12);
    const Step step = held.step(model, batch);
    EXPECT_TRUE(at::allclose(step.predictions.at("charges"), found, 1e-12));
    const Tensor error = (found - batch.labels.at("charges")) / number(held.state().at("scales")[0]);
    EXPECT_NEAR(number(step.loss), number(error.square().mean()), 1e-10);
    step.loss.backward();
    EXPECT_NE(number(model.k.grad()), 0);
  }
}

// The error of a vector is its length: turning the frame of labels and answers leaves every law's loss as it is, which
// absolute values of components would not.
TEST(PropertyKinds, LossesDoNotChangeWithTheFrame) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const auto data = clouds(12);
  const Batch batch = all_of(*data);
  const Schema schema = ions();
  Stream stream(1, "losses");
  Motions turn = random_rotations(1, 3, true, stream);
  turn = {turn.linear.expand({batch.count(), 3, 3}), {}};
  const Batch turned = transform(batch, turn, schema);
  const std::vector<std::string> names{"fields", "dipole", "alpha"};
  for (const ErrorLaw law : {ErrorLaw::l1, ErrorLaw::l2, ErrorLaw::huber}) {
    auto o = of(names);
    o.loss = law;
    o.reference = Reference::none;
    Property task(o);
    task.fit(*data);
    Answers model(task.interface(schema), zeros_like(batch, names));
    const double loss = number(task.step(model, batch).loss);
    EXPECT_NEAR(number(task.step(model, turned).loss), loss, 1e-12 * loss);
    if (law == ErrorLaw::l2) {
      EXPECT_NEAR(loss, 1, 1e-9);
    }
  }
  const auto absolute = [](const Batch& b) { return number(b.labels.at("fields").abs().sum()); };
  EXPECT_GT(std::abs(absolute(turned) / absolute(batch) - 1), 1e-3);  // the control
}

TEST(PropertyKinds, WeightsAndMissingRows) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const auto data = clouds(12);
  Batch batch = all_of(*data);
  const auto loss_of = [&](std::vector<std::string> names, std::vector<double> weights) {
    auto o = of(names);
    o.weights = std::move(weights);
    Property task(o);
    task.fit(*data);
    Answers model(task.interface(ions()), zeros_like(batch, names));
    return number(task.step(model, batch).loss);
  };
  const double first = loss_of({"charges"}, {}), second = loss_of({"dipole"}, {});
  EXPECT_NEAR(loss_of({"charges", "dipole"}, {}), (first + second) / 2, 1e-12);
  EXPECT_NEAR(loss_of({"charges", "dipole"}, {1, 3}), (first + 3 * second) / 4, 1e-12);
  EXPECT_THROW(loss_of({"charges", "dipole"}, {1}), ConfigError);
  EXPECT_THROW(loss_of({"charges"}, {0}), ConfigError);
  // A row of which one component is missing counts for nothing, in loss and metrics.
  Property task(of({"dipole"}));
  task.fit(*data);
  Answers model(task.interface(ions()), zeros_like(batch, {"dipole"}));
  batch.labels["dipole"][2][0][1].fill_(NAN);
  EXPECT_EQ(number(task.loss_weights(batch, model.interface)[0]), 11);
  const Tensor rest = at::cat({batch.labels["dipole"].slice(0, 0, 2), batch.labels["dipole"].slice(0, 3)});
  const double scale = number(task.state().at("scales")[0]);
  EXPECT_NEAR(number(task.step(model, batch).loss), number((rest / scale).square().mean()), 1e-12);
  const auto meter = task.meter(model.interface);
  meter->add(batch, task.predict(model, batch));
  EXPECT_NEAR(meter->values().at("mae").value, number(rest.abs().mean()), 1e-12);
}

TEST(PropertyKinds, RefusesWhatDoesNotFit) {
  const Schema data = ions();
  const auto refused = [&](const char* what, auto change) {
    PropertyOptions o = of({"charges", "dipole"});
    change(o);
    try {
      Property(o).interface(data);
      ADD_FAILURE() << "taken: " << what;
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
  };
  refused("task.property.held: target 'dipole'", [](auto& o) { o.held = {{"dipole", "charge"}}; });
  refused("task.property.held: target 'gap'", [](auto& o) { o.held = {{"gap", ""}}; });
  refused("task.property.held: 'charges' must be held to one total",
          [](auto& o) { o.held = {{"charges", "charge"}, {"charges", ""}}; });
  refused("task.property.held: to = 'spin'", [](auto& o) { o.held = {{"charges", "spin"}}; });
  refused("task.property.test_time_rotations", [](auto& o) { o.test_time_rotations.count = 4; });
}

/// Charges, dipoles and polarisabilities are learned at once, and turn with the molecule as they must.
TEST(PropertyKinds, AreLearnedByGeomformerAndMoveAsTheyMust) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const auto data = clouds(48);
  const Batch batch = all_of(*data);
  PropertyOptions options = of(all_targets);
  options.held = {{"charges", "charge"}};
  Property task(options);
  task.fit(*data);
  geomformer::Options o;
  o.width = 16;
  o.heads = 2;
  o.blocks = 2;
  o.kernels = 16;
  at::manual_seed(1);
  const auto model = build({o}, task.interface(data->schema()));
  OptimiserOptions adam;
  adam.rate = 1e-2;
  adam.clip = 1;
  Optimiser optimiser(model->parameters(), adam);
  for (int step = 0; step < 60; ++step) {
    task.step(*model, batch).loss.backward();
    optimiser.clip_gradients();
    optimiser.step();
    optimiser.clear_gradients();
  }
  model->train(false);
  const at::NoGradGuard quiet;
  const Named said = task.predict(*model, batch);
  const auto meter = task.meter(model->interface);
  meter->add(batch, said);
  const Metrics found = meter->values(), simple = task.baselines(*data)[0].second;
  for (const std::string& name : all_targets) {
    EXPECT_LT(found.at("mae_" + name).value, 0.6 * simple.at("mae_" + name).value) << name;
  }
  Stream stream(2, "moves");
  Motions turn = random_rotations(1, 3, true, stream);
  turn = {turn.linear.expand({batch.count(), 3, 3}), at::ones({batch.count(), 3}, at::kDouble)};
  const std::vector<Quantity> outputs = task.predictions(model->interface);
  const Named there = task.predict(*model, transform(batch, turn, ions()));
  EXPECT_LT(equivariance::relative_error(there, transform(said, outputs, turn, batch.input)), 1e-10);
  EXPECT_GT(equivariance::relative_error(there, said), 1e-2);  // the control: they do turn
}

}  // namespace property_kinds_test
}  // namespace weyl
