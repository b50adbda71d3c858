// Models of every system on the device against the same models on the CPU: outputs, gradients of all weights, and forces
// with the gradients of a loss on them.
#include <functional>

#include "tests/closeness.h"
#include "tests/device/device.h"
#include "tests/models/lie/models.h"
#include "tests/models/steerable/nets.h"
#include "tests/tasks/force_field.h"
#include "weyl/models/grids/cnn.h"
#include "weyl/models/grids/unet.h"
#include "weyl/train/loop/accumulate.h"

namespace weyl {
namespace models_test {

constexpr double float64 = 1e-9;  // relative to the largest number of a tensor, or to 1

/// Outputs or losses, then the gradients of all weights, by name.
using Numbers = std::map<std::string, at::Tensor>;

void add_weights(Numbers& numbers, Model& model) {
  for (const Parameter& p : model.parameters()) {
    if (p.tensor.grad().defined()) {
      numbers["gradient of " + p.name] = p.tensor.grad().detach().cpu().clone();
    }
    p.tensor.mutable_grad().reset();
  }
}

Numbers outputs_and_gradients(Model& model, const Input& input) {
  const Named outputs = model(to(input, model.device(), model.dtype()));
  Numbers numbers;
  at::Tensor sum = at::zeros({}, at::TensorOptions(at::kDouble).device(model.device()));
  for (const auto& [name, y] : outputs) {
    numbers[name] = y.detach().cpu();
    sum = sum + y.to(at::kDouble).square().sum();
  }
  sum.backward();
  add_weights(numbers, model);
  return numbers;
}

Numbers loss_and_gradients(Model& model, const Task& task, const Batch& batch) {
  const Step step = task.step(model, to(batch, model.device(), model.dtype()));
  add_gradients(step.loss, model);
  Numbers numbers{{"loss", step.loss.detach().cpu()}};
  add_weights(numbers, model);
  return numbers;
}

/// `numbers` of the model here and after it was brought to the device.
void expect_same(Model& model, const std::string& name, const std::function<Numbers()>& numbers) {
  const Numbers right = numbers();
  const Numbers found = on_device([&](at::Device device) {
    model.to(device);
    return numbers();
  });
  model.to(at::kCPU);
  ASSERT_EQ(found.size(), right.size()) << name;
  for (const auto& [what, x] : right) {
    expect_close({found.at(what)}, {x}, float64, name + ", " + what);
  }
}

TEST(DeviceModels, OfPointsAreTheCpus) {
  const auto data = set();
  ForceField task({.forces = ForceSource::none, .force_weight = 0});
  for (const char* system : {"platonic", "geomformer", "et", "painn", "gatr", "transformer"}) {
    const auto model = model_of(system, task, *data);
    expect_same(*model, system, [&] { return outputs_and_gradients(*model, all_of(*data).input); });
  }
}

TEST(DeviceModels, ForcesAndTheirLossAreTheCpus) {
  const auto data = set();
  for (const char* system : {"platonic", "geomformer", "et", "painn", "gatr", "transformer"}) {
    ForceField task({.forces = ForceSource::gradient});
    const auto model = model_of(system, task, *data);
    task.fit(*data);
    expect_same(*model, std::string(system) + ", forces",
                [&] { return loss_and_gradients(*model, task, all_of(*data)); });
  }
}

TEST(DeviceModels, OfPosesAreTheCpus) {
  for (const lie::Variant variant : {lie::Variant::G, lie::Variant::C, lie::Variant::A}) {
    const auto model = lie::make(lie::small(variant), lie::interface_of(LieGroup::se3));
    expect_same(*model, "lie", [&] { return outputs_and_gradients(*model, lie::tokens(LieGroup::se3)); });
  }
}

TEST(DeviceModels, OfGridsAreTheCpus) {
  for (const steerable::Case& c : steerable::cases()) {
    const BuildOn wide(at::kCPU, at::kDouble);
    at::manual_seed(3);
    steerable::Options options = c.options;
    options.head.dropout = 0;
    steerable::Net net(options, steerable::images(c.dimension, c.level));
    net.train(false);
    Grid grid;
    grid.values = at::randn(c.shape, at::kDouble);
    expect_same(net, std::string("steerable, ") + c.name, [&] { return outputs_and_gradients(net, grid); });
  }
}

TEST(DeviceModels, PlainNetsOnGridsAreTheCpus) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const int64_t dimension : {2, 3}) {
    std::vector<int64_t> shape{2, dimension == 2 ? 3 : 2};
    shape.insert(shape.end(), static_cast<size_t>(dimension), 7);
    const Grid grid = steerable::random_grid(shape, at::kDouble);
    grids::Cnn cnn({.base = 4}, steerable::images(dimension, Level::graph));
    grids::UnetOptions options{.base = 4, .deep_supervision = true};
    options.stages.back().stride = {1};
    grids::Unet unet(options, steerable::images(dimension, Level::node));
    for (GridModel* net : {static_cast<GridModel*>(&cnn), static_cast<GridModel*>(&unet)}) {
      expect_same(*net, text("plain, ", dimension, "-D"), [&] { return outputs_and_gradients(*net, grid); });
    }
  }
}

}  // namespace models_test
}  // namespace weyl
