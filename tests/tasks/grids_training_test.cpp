// Short trainings of nets on grids: discs, rings and bars told apart, upright ones as well as turned ones, and found pixel
// by pixel.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "weyl/core/random.h"
#include "weyl/models/grids/options.h"
#include "weyl/models/steerable/options.h"
#include "weyl/models/systems.h"
#include "weyl/tasks/classification.h"
#include "weyl/tasks/segmentation.h"
#include "weyl/train/loop/optimiser.h"

namespace weyl {
namespace grids_training_test {

constexpr int64_t side = 20, classes = 3;

/// Images (n, 1, 20, 20): a disc, a ring or a bar with noise, bars turned by up to `turned`; labels `class`
/// and `mask`, 0 background, 1 the shape.
Batch shapes(int64_t n, double turned, uint64_t seed) {
  Stream stream(seed, "shapes");
  const auto between = [&](double low, double high) { return low + (high - low) * stream.uniform(); };
  const Tensor values = at::empty({n, 1, side, side}, at::kFloat),
               mask = at::zeros({n, 1, side, side}, at::kLong), kinds = at::empty({n, 1}, at::kLong);
  auto* value = values.mutable_data_ptr<float>();
  auto* in_shape = mask.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t kind = i % classes;
    const double x = between(-2, 2), y = between(-2, 2), r = between(3.5, 5.5), angle = between(0, turned);
    kinds.mutable_data_ptr<int64_t>()[i] = kind;
    for (int64_t a = 0; a < side; ++a) {
      for (int64_t b = 0; b < side; ++b) {
        const double p = a - (side - 1) / 2.0 - y, q = b - (side - 1) / 2.0 - x, d = std::hypot(p, q);
        const double u = std::cos(angle) * p + std::sin(angle) * q,
                     v = std::cos(angle) * q - std::sin(angle) * p;
        const bool hit = kind == 0   ? d < r
                         : kind == 1 ? std::abs(d - r) < 1.2
                                     : std::abs(u) < 1.5 && std::abs(v) < r + 1;
        *value++ = static_cast<float>((hit ? 1 : 0) + 0.1 * stream.normal());
        *in_shape++ = hit ? 1 : 0;
      }
    }
  }
  Batch batch{Grid{values}, {}};
  batch.labels = {{"class", kinds}, {"mask", mask}};
  return batch;
}

Schema schema() {
  Schema schema;
  schema.interface.grid = true;
  schema.interface.dimension = 2;
  schema.interface.grid = true;
  schema.interface.typical_nodes = side * side;
  schema.interface.features = {{.name = "intensity"}};
  schema.labels = {{.name = "class", .level = Level::graph, .kind = Kind::category, .categories = classes},
                   {.name = "mask", .kind = Kind::category, .categories = 2}};
  return schema;
}

steerable::Options small() {
  steerable::Options options;
  options.orders = 3;
  options.stages = {{.middle = 0, .channels = 4, .kernel = 5, .pool = 2},
                    {.middle = 0, .channels = 8, .kernel = 3, .pool = 2}};
  options.encoder.depth = 1;
  options.encoder.heads = 2;
  options.head.hidden = 16;
  return options;
}

std::shared_ptr<Model> trained(const Task& task, const Batch& train, int64_t steps,
                               const SystemOptions& options = small()) {
  at::manual_seed(1);
  const auto model = build({options}, task.interface(schema()));
  OptimiserOptions adam;
  adam.rate = 1e-2;
  adam.clip = 1.0;
  Optimiser optimiser(model->parameters(), adam);
  for (int64_t step = 0; step < steps; ++step) {
    Stream stream(1, "order", {static_cast<uint64_t>(step)});
    const auto order = stream.permutation(train.count());
    task.step(*model, take(train, std::span(order).first(30), schema())).loss.backward();
    optimiser.clip_gradients();
    optimiser.step();
    optimiser.clear_gradients();
  }
  model->train(false);
  return model;
}

double scored(const Task& task, Model& model, const Batch& batch, const char* metric) {
  const auto meter = task.meter(model.interface);
  meter->add(batch, task.predict(model, batch));
  return meter->values().at(metric).value;
}

Batch turned_by_a_quarter(Batch batch) {
  Tensor& values = std::get<Grid>(batch.input).values;
  values = at::rot90(values, 1, {2, 3});
  batch.labels["mask"] = at::rot90(batch.labels.at("mask"), 1, {2, 3});
  return batch;
}

TEST(SteerableTraining, WhatIsLearnedUprightHoldsTurned) {
  const Classification task({});
  const auto model = trained(task, shapes(240, 0, 1), 80);
  const Batch upright = shapes(150, 0, 2);
  EXPECT_GT(scored(task, *model, upright, "accuracy"), 0.97);
  EXPECT_NEAR(scored(task, *model, turned_by_a_quarter(upright), "cross_entropy"),
              scored(task, *model, upright, "cross_entropy"), 1e-5);
  EXPECT_GT(scored(task, *model, shapes(150, M_PI, 3), "accuracy"), 0.95);  // bars at angles never shown
}

TEST(SteerableTraining, ShapesAreFoundPixelByPixel) {
  const Segmentation task({});
  const auto model = trained(task, shapes(240, 0, 1), 80);
  const Batch upright = shapes(60, 0, 2);
  EXPECT_GT(scored(task, *model, upright, "dice"), 0.9);
  EXPECT_NEAR(scored(task, *model, turned_by_a_quarter(upright), "cross_entropy"),
              scored(task, *model, upright, "cross_entropy"), 1e-5);
}

TEST(PlainTraining, ShapesAreToldApartUprightAndLessWellTurned) {
  const Classification task({});
  const auto model = trained(task, shapes(240, 0, 1), 60, grids::CnnOptions{.base = 8});
  const Batch upright = shapes(150, 0, 2);
  EXPECT_GT(scored(task, *model, upright, "accuracy"), 0.97);
  EXPECT_GT(scored(task, *model, turned_by_a_quarter(upright), "cross_entropy"),
            scored(task, *model, upright, "cross_entropy") + 0.1);
}

TEST(PlainTraining, ShapesAreFoundPixelByPixelWithDeepSupervision) {
  const Segmentation task({.dice = 1});
  grids::UnetOptions options{.base = 6, .deep_supervision = true};
  const auto model = trained(task, shapes(240, 0, 1), 40, options);
  EXPECT_GT(scored(task, *model, shapes(60, 0, 2), "dice"), 0.9);
}

}  // namespace grids_training_test
}  // namespace weyl
