#include "weyl/study/bench.h"

#include <gtest/gtest.h>

#include "weyl/core/check.h"
#include "weyl/models/systems.h"
#include "weyl/study/allocation_peak.h"
#include "weyl/study/matrix_products.h"
#include "weyl/study/random_tokens.h"
#include "weyl/study/training_steps.h"

namespace weyl {
namespace {

TEST(AllocationPeak, SeesTheMostThatWasAliveAtOnce) {
  const AllocationPeak peak;
  {
    const at::Tensor a = at::zeros({1000}, at::kFloat), b = at::zeros({500}, at::kFloat);
  }
  const at::Tensor c = at::zeros({200}, at::kFloat);
  EXPECT_GE(peak.bytes(), 6000);
  EXPECT_LT(peak.bytes(), 6800);  // rounding to cache lines at most
}

TEST(MatrixProducts, HearsProductsAndTheirLayouts) {
  const at::Tensor a = at::randn({3, 4}), b = at::randn({5, 4}), bias = at::randn({5});
  MatrixProducts products;
  products.record([&] {
    at::mm(a, b.t());
    at::linear(a, b, bias);
    at::bmm(at::randn({2, 3, 4}), at::randn({2, 4, 5}));  // not counted
  });
  EXPECT_EQ(products.count(), 2u);
  EXPECT_EQ(products.flops(), 2 * 2 * 3 * 4 * 5);
  products.replay();
  at::mm(a, b.t());
  EXPECT_EQ(products.count(), 2u);  // it listens during `record` alone
}

TEST(Bench, TimesEverySideAndLeavesTheWeights) {
  Schema schema;
  schema.interface.dimension = 3;
  schema.interface.typical_nodes = 4;
  schema.interface.features.push_back(
      {.name = "charge", .level = Level::node, .kind = Kind::scalar, .channels = 1});
  schema.interface.outputs.push_back(
      {.name = "energy", .level = Level::graph, .kind = Kind::scalar, .channels = 1});
  PlatonicOptions options;
  options.width = 48;
  options.heads = 12;
  options.blocks = 1;
  ModelOptions choice;
  choice.system = options;
  const auto model = build(choice, schema.interface, Carrier::points);
  const Batch batch = to(random_tokens(schema, 3, 4, 1), at::kCPU, at::kFloat);
  const at::Tensor before = model->parameters()[1].tensor.detach().clone();
  const BenchCase c = bench("tiny", *model, nullptr, batch, {.repeats = 3, .reference = true});
  EXPECT_EQ(c.tokens, 12);
  EXPECT_EQ(c.parameters, model->parameter_count());
  for (const BenchSide* side : {&c.kernels, &c.reference}) {
    EXPECT_GT(side->forward_ms, 0);
    EXPECT_GT(side->train_step_ms, 0);
    EXPECT_GT(side->peak_mb, 0);
  }
  for (const BenchRatio& r :
       {c.forward_speedup, c.train_step_speedup, c.forward_over_matmul, c.train_step_over_matmul}) {
    EXPECT_GT(r.low, 0);
    EXPECT_LE(r.low, r.median);
    EXPECT_LE(r.median, r.high);
  }
  EXPECT_GT(c.matmul_ms, 0);
  EXPECT_GT(c.matmul_train_step_ms, c.matmul_ms);
  EXPECT_GT(c.gflops, 0);
  EXPECT_LT(c.error, 1e-4);
  EXPECT_GT(c.error, 0);  // the sides differ in rounding: both were really run
  EXPECT_TRUE(at::equal(before, model->parameters()[1].tensor));

  TrainOptions training;
  training.batch = 2;
  training.log_every_steps = 2;
  const auto data = std::make_shared<InMemory>(random_tokens(schema, 3, 4, 1), schema);
  const StepTimes parts = time_training_steps(*model, nullptr, data, training, 5);  // more than two epochs
  EXPECT_EQ(parts.steps, 5);
  for (const double seconds : {parts.batch, parts.forward, parts.backward, parts.optimiser, parts.logging}) {
    EXPECT_GT(seconds, 0);
  }
  EXPECT_TRUE(at::equal(before, model->parameters()[1].tensor));
  EXPECT_THROW(time_training_steps(*model, nullptr, data, training, 0), ConfigError);
}

}  // namespace
}  // namespace weyl
