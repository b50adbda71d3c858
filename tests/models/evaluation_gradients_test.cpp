// In evaluation mode every weight gets the gradient that it gets in training mode without dropout: matrices, kernels
// and biases by one rule. And sums over nodes are of the numbers that the nodes have.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "tests/models/lie/models.h"
#include "tests/models/rules.h"
#include "tests/models/steerable/nets.h"
#include "tests/tasks/force_field.h"

namespace weyl {
namespace evaluation_gradients_test {

Tensor square_of(const Named& outputs) {
  Tensor sum = at::zeros({}, at::kDouble);
  for (const auto& [name, y] : outputs) {
    sum = sum + y.to(at::kDouble).square().sum();
  }
  return sum;
}

NamedTensors gradients(Model& model, const Input& input, bool training) {
  model.train(training);
  square_of(model(input)).backward();
  NamedTensors all;
  for (const Parameter& p : model.parameters()) {
    if (p.trainable) {
      all[p.name] = p.tensor.grad().defined() ? p.tensor.grad().clone() : Tensor();
    }
    p.tensor.mutable_grad().reset();
  }
  return all;
}

void expect_same_gradients(Model& model, const Input& input, const std::string& name) {
  const NamedTensors in_training = gradients(model, input, true),
                     in_evaluation = gradients(model, input, false);
  double largest = 0;
  for (const auto& [weight, g] : in_training) {
    largest = g.defined() ? std::max(largest, g.abs().max().item<double>()) : largest;
  }
  ASSERT_GT(largest, 0) << name;
  for (const auto& [weight, g] : in_training) {
    const Tensor& other = in_evaluation.at(weight);
    ASSERT_EQ(other.defined(), g.defined()) << name << " " << weight;
    if (g.defined()) {
      EXPECT_LT((other - g).abs().max().item<double>(), 1e-11 * largest) << name << " " << weight;
    }
  }
}

TEST(EvaluationMode, GivesModelsOfPointsTheGradientsOfTraining) {
  const auto data = set();
  ForceField task({.forces = ForceSource::none, .force_weight = 0});
  for (const char* system : {"platonic", "geomformer", "et", "painn", "gatr", "transformer"}) {
    const auto model = model_of(system, task, *data);
    expect_same_gradients(*model, all_of(*data).input, system);
  }
}

TEST(EvaluationMode, GivesModelsOfPosesTheGradientsOfTraining) {
  for (const lie::Variant variant : {lie::Variant::G, lie::Variant::C, lie::Variant::A}) {
    const auto model = lie::make(lie::small(variant), lie::interface_of(LieGroup::se3));
    expect_same_gradients(*model, lie::tokens(LieGroup::se3), "lie");
  }
}

// Batch norms have other numbers in the two modes.
TEST(EvaluationMode, GivesSteerableNetsTheGradientsOfTraining) {
  for (const steerable::Case& c : steerable::cases()) {
    const BuildOn wide(at::kCPU, at::kDouble);
    at::manual_seed(3);
    steerable::Options o = c.options;
    o.head.dropout = 0;
    steerable::Net net(o, steerable::images(c.dimension, c.level));
    const bool statistics =
        std::ranges::any_of(net.parameters(), [](const Parameter& p) { return !p.trainable; });
    if (!statistics) {
      expect_same_gradients(net, steerable::random_grid(c.shape, at::kDouble), c.name);
      continue;
    }
    steerable::wear(net, steerable::random_grid(c.shape, at::kDouble));
    for (const auto& [weight, g] : gradients(net, steerable::random_grid(c.shape, at::kDouble), false)) {
      EXPECT_TRUE(g.defined()) << c.name << " " << weight;
    }
  }
}

TEST(EvaluationMode, GivesNoGradientsWhereNoneAreRequired) {
  const auto data = set();
  const auto model = model_of("platonic", ForceField({}), *data);
  for (const Parameter& p : model->parameters()) {
    p.tensor.set_requires_grad(false);
  }
  model->train(false);
  auto points = std::get<Points>(all_of(*data).input);
  points.positions = points.positions.clone().requires_grad_();
  square_of((*model)(points)).backward();
  EXPECT_GT(points.positions.grad().abs().max().item<double>(), 0);
  for (const Parameter& p : model->parameters()) {
    EXPECT_FALSE(p.tensor.grad().defined()) << p.name;
  }
}

// A float32 model of every system with such outputs: the energy of a graph is, to the last bits of float64, the sum
// of what the same weights give its nodes.
TEST(ExtensiveOutputs, AreSumsInFloat64OfWhatNodesHave) {
  const auto data = set();
  Interface of_graphs = ForceField({}).interface(data->schema()), of_nodes = of_graphs;
  of_nodes.outputs[0].level = Level::node;
  of_nodes.outputs[0].extensive = false;
  for (const char* system : {"platonic", "geomformer", "et", "painn", "gatr", "transformer"}) {
    const BuildOn narrow(at::kCPU, at::kFloat);
    at::manual_seed(7);
    const auto graphs = build(small(system), of_graphs), nodes = build(small(system), of_nodes);
    const auto from = graphs->parameters(), into = nodes->parameters();
    ASSERT_EQ(from.size(), into.size()) << system;
    const at::NoGradGuard quiet;
    for (size_t i = 0; i < from.size(); ++i) {
      ASSERT_EQ(from[i].name, into[i].name) << system;
      into[i].tensor.copy_(from[i].tensor);
    }
    graphs->train(false);
    nodes->train(false);
    const Input input = to(all_of(*data).input, at::kCPU, at::kFloat);
    const Tensor energy = (*graphs)(input).at("energy"), of_each = (*nodes)(input).at("energy");
    ASSERT_EQ(energy.scalar_type(), at::kDouble) << system;
    ASSERT_EQ(of_each.scalar_type(), at::kFloat) << system;
    const Segments& segments = std::get<Points>(input).graphs;
    for (int64_t g = 0; g < segments.count(); ++g) {
      const double sum =
          of_each.slice(0, segments.offsets[g], segments.offsets[g + 1]).sum(at::kDouble).item<double>();
      EXPECT_NEAR(energy[g].item<double>(), sum, 1e-14 * std::max(1.0, std::abs(sum))) << system << " " << g;
    }
  }
}

}  // namespace evaluation_gradients_test
}  // namespace weyl
