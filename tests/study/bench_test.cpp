#include "weyl/study/cost/bench.h"

#include <ATen/Context.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/GPUTrace.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>

#include "weyl/core/check.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/systems.h"
#include "weyl/ops/edges/bond_gradient.h"
#include "weyl/parallel/device.h"
#include "weyl/study/cost/allocation_peak.h"
#include "weyl/study/cost/host_waits.h"
#include "weyl/study/cost/operation_counts.h"
#include "weyl/study/cost/training_steps.h"
#include "weyl/study/samples/random_samples.h"
#include "weyl/tasks/force_field.h"
#include "weyl/train/loop/accumulate.h"

namespace weyl {
namespace bench_test {

TEST(AllocationPeak, SeesTheMostThatWasAliveAtOnce) {
  const AllocationPeak peak;
  {
    const at::Tensor a = at::zeros({1000}, at::kFloat), b = at::zeros({500}, at::kFloat);
  }
  const at::Tensor c = at::zeros({200}, at::kFloat);
  EXPECT_GE(peak.bytes(), 6000);
  EXPECT_LT(peak.bytes(), 6800);  // rounding to cache lines at most
}

TEST(Device, OfTheCpuThereIsNothingToWaitFor) {
  synchronise(at::kCPU);
  EXPECT_EQ(device_name(at::kCPU), "cpu");
  EXPECT_EQ(device_text(at::kCPU), "cpu");
}

/// What LibTorch calls at each place where the host waits, on any thread.
void wait_for(c10::DeviceType type) {
  const c10::impl::PyInterpreter* told = c10::impl::GPUTrace::get_trace();
  ASSERT_NE(told, nullptr);
  (*told)->trace_gpu_stream_synchronization(type, 0);
  (*told)->trace_gpu_event_synchronization(type, 0);
  (*told)->trace_gpu_device_synchronization(type);
  (*told)->trace_gpu_memory_allocation(type, 0);  // no wait
}

TEST(HostWaits, AreCountedOnEveryThread) {
  const at::Device device(at::kCUDA, 0);
  const auto work = [] {
    wait_for(at::kCUDA);
    wait_for(at::kXPU);
    std::thread([] { wait_for(at::kCUDA); }).join();  // as autograd's
  };
  EXPECT_EQ(host_waits(device, work), 6);
  wait_for(at::kCUDA);  // nobody counts
  EXPECT_EQ(host_waits(device, [] {}), 0);
  EXPECT_THROW(host_waits(device, [] { throw ConfigError("work"); }), ConfigError);
  std::map<std::string, int64_t> places;
  EXPECT_EQ(host_waits(device, work, &places), 6);
  int64_t sum = 0;
  bool here = false;
  for (const auto& [place, waits] : places) {
    sum += waits;
    here = here || place.find("weyl::host_waits(") != std::string::npos;
  }
  EXPECT_EQ(sum, 6);
  EXPECT_TRUE(here);
  bool done = false;
  EXPECT_EQ(host_waits(at::kCPU, [&] { done = true; }), std::nullopt);
  EXPECT_TRUE(done);
}

TEST(MatrixProducts, HearsThoseOfABackwardPassOnAnotherThread) {
  MatrixProducts products;
  const at::Tensor a = at::ones({3, 3});
  products.record([&] {
    const at::ThreadLocalState state;
    std::thread([&] {
      const at::ThreadLocalStateGuard as_autograd_has_it(state);
      at::mm(a, a);
    }).join();
    std::thread([&] { at::mm(a, a); }).join();  // other work
  });
  EXPECT_EQ(products.count(), 1U);
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

Schema charges_to_energies() {
  Schema schema;
  schema.interface.dimension = 3;
  schema.interface.typical_nodes = 4;
  schema.interface.features.push_back(
      {.name = "charge", .level = Level::node, .kind = Kind::scalar, .channels = 1});
  schema.interface.outputs.push_back(
      {.name = "energy", .level = Level::graph, .kind = Kind::scalar, .channels = 8});
  return schema;
}

std::shared_ptr<Model> tiny(const Schema& schema, platonic::LinearForm form, int64_t blocks = 1) {
  platonic::Options options;
  options.width = 48;
  options.heads = 12;
  options.blocks = blocks;
  options.linear = form;
  return build({options}, schema.interface);
}

TEST(Bench, TimesTheSameModelWithOtherOptionsBesideIt) {
  const Schema schema = charges_to_energies();
  const Batch batch = to(random_tokens(schema, 3, 4, 1), at::kCPU, at::kFloat);
  const auto dense = tiny(schema, platonic::LinearForm::dense),
             spectral = tiny(schema, platonic::LinearForm::spectral);
  const BenchCase c =
      bench("tiny", *spectral, nullptr, batch, {.repeats = 3, .reference = false, .other = dense.get()});
  EXPECT_GT(c.other.forward_ms, 0);
  EXPECT_GT(c.other.train_step_ms, 0);
  EXPECT_GT(c.train_step_of_other.median, 0);
  ASSERT_TRUE(c.error_of_other);  // they have the same weights now, and not the same rounding
  EXPECT_LT(*c.error_of_other, 1e-4);
  EXPECT_GT(*c.error_of_other, 0);
  const auto deeper = tiny(schema, platonic::LinearForm::dense, 2);
  EXPECT_FALSE(
      bench("tiny", *spectral, nullptr, batch, {.repeats = 1, .reference = false, .other = deeper.get()})
          .error_of_other);
}

/// What the matrix products count that some work calls.
double product_flops(const std::function<void()>& work) {
  MatrixProducts products;
  products.record(work);
  return products.flops();
}

double forward_flops(Model& model, const Batch& batch) {
  return product_flops([&] {
    const at::NoGradGuard off;
    model(batch.input);
  });
}

double train_step_flops(Model& model, const Task* task, const Batch& batch) {
  return product_flops([&] { add_gradients(loss_of(model, task, batch), model); });
}

/// Real operations a second, and those that dense matrices would need for the same time: more where maps go by irreps.
TEST(Bench, SaysWhatDenseMatricesWouldNeed) {
  const Schema schema = charges_to_energies();
  const Batch batch = to(random_tokens(schema, 3, 4, 1), at::kCPU, at::kFloat);
  const auto dense_over_real = [&](platonic::LinearForm form) {
    const BenchCase c =
        bench("tiny", *tiny(schema, form), nullptr, batch, {.repeats = 1, .reference = false});
    EXPECT_GT(c.gflops, 0);
    return c.dense_gflops / c.gflops;
  };
  EXPECT_DOUBLE_EQ(dense_over_real(platonic::LinearForm::dense), 1);
  const double spectral = dense_over_real(platonic::LinearForm::spectral);
  EXPECT_GT(spectral, 2);
  EXPECT_LT(spectral, 4.5);  // of the tetrahedron's products alone
}

TEST(Bench, TimesEverySideAndLeavesTheWeights) {
  const Schema schema = charges_to_energies();
  const auto model = tiny(schema, platonic::LinearForm::automatic);
  const Batch batch = to(random_tokens(schema, 3, 4, 1), at::kCPU, at::kFloat);
  const at::Tensor before = model->parameters()[1].tensor.detach().clone();
  const BenchCase c = bench("tiny", *model, nullptr, batch, {.repeats = 3, .reference = true});
  EXPECT_EQ(c.tokens, 12);
  EXPECT_EQ(c.device, "cpu");
  EXPECT_DOUBLE_EQ(c.tokens_per_second, 12 / (c.kernels.train_step_ms * 1e-3));
  EXPECT_EQ(c.host_waits, std::nullopt);  // the host works itself
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
  EXPECT_GT(c.matmul_train_step_ms, 0);
  EXPECT_GT(train_step_flops(*model, nullptr, batch), forward_flops(*model, batch));
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

Schema atoms_schema() {
  Schema schema;
  schema.interface.elements = {"He", "O", "C", "Ne", "H", "N"};
  schema.interface.types = 6;
  schema.interface.typical_nodes = 5;
  return schema;
}

TEST(RandomMolecules, AreOrganicBallsOfTheirDensity) {
  const auto data = random_molecules(atoms_schema(), 3, 40, 1);
  ASSERT_EQ(data->size(), 3);
  const Batch batch = data->batch(std::vector<int64_t>{0, 1, 2});
  const auto& points = std::get<Points>(batch.input);
  const at::Tensor balls = points.positions.view({3, 40, 3});
  const at::Tensor apart = (balls.unsqueeze(1) - balls.unsqueeze(2)).square().sum(-1).sqrt();
  EXPECT_GE(at::where(apart == 0, 10, apart).min().item<double>(), 0.9);
  EXPECT_EQ((apart == 0).sum().item<int64_t>(), 3 * 40);  // every atom from itself alone
  const double radius = std::cbrt(3 * 400 / (4 * M_PI));
  const double farthest = balls.square().sum(-1).sqrt().max().item<double>();
  EXPECT_LE(farthest, radius);
  EXPECT_GT(farthest, 0.9 * radius);
  std::set<int64_t> types;
  for (int64_t i = 0; i < points.nodes(); ++i) {
    types.insert(points.types[i].item<int64_t>());
  }
  EXPECT_EQ(types, (std::set<int64_t>{1, 2, 4, 5}));
  EXPECT_EQ(batch.labels.at("energy").sizes(), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(batch.labels.at("forces").sizes(), (std::vector<int64_t>{120, 1, 3}));
  const auto again = random_molecules(atoms_schema(), 3, 40, 1),
             other = random_molecules(atoms_schema(), 3, 40, 2);
  const std::vector<int64_t> first{0};
  const auto positions = [&](const Dataset& d) { return std::get<Points>(d.batch(first).input).positions; };
  EXPECT_TRUE(at::equal(positions(*data), positions(*again)));
  EXPECT_FALSE(at::equal(positions(*data), positions(*other)));

  Schema flat = atoms_schema();
  flat.interface.dimension = 2;
  EXPECT_THROW(random_molecules(flat, 1, 4, 1), ConfigError);
  EXPECT_THROW(random_molecules(atoms_schema(), 0, 4, 1), ConfigError);
}

TEST(Bench, TimesEnergiesWithForcesAndTheirTrainingStep) {
  geomformer::Options options = preset_options(geomformer::Preset::et);
  options.width = 16;
  options.heads = 2;
  options.blocks = 1;
  options.kernels = 4;
  ModelOptions choice;
  choice.system = options;
  ForceField task({});
  const auto data = random_molecules(atoms_schema(), 3, 5, 1);
  task.fit(*data);
  const auto model = build(choice, task.interface(data->schema()));
  const Batch batch = to(data->batch(std::vector<int64_t>{0, 1, 2}), at::kCPU, at::kFloat);
  const at::Tensor before = model->parameters()[1].tensor.detach().clone();
  const BenchCase c = bench("forces", *model, &task, batch, {.repeats = 9, .reference = true});
  for (const BenchSide* side : {&c.kernels, &c.reference}) {
    EXPECT_GT(side->forward_ms, 0);
    EXPECT_GT(side->predict_ms, 0);
    EXPECT_GT(side->train_step_ms, 0);
  }
  const double predicted = product_flops([&] {
    const at::NoGradGuard off;
    const WithoutBondGradients by_products_of_torch;
    task.predict(*model, batch);
  });
  EXPECT_GT(predicted, forward_flops(*model, batch));  // a forward and a backward pass
  EXPECT_GT(train_step_flops(*model, &task, batch), predicted);
  EXPECT_GT(c.predict_speedup.median, 0);
  EXPECT_LT(c.error, 1e-4);
  EXPECT_TRUE(at::equal(before, model->parameters()[1].tensor));
  EXPECT_GT(time_training_steps(*model, &task, data, {}, 2).backward, 0);

  const BenchCase without = bench("outputs", *model, nullptr, batch, {.repeats = 1, .reference = true});
  EXPECT_EQ(without.kernels.predict_ms, 0);
  EXPECT_EQ(without.predict_speedup.median, 0);
}

/// On a device each of these is wrong where something is done as on the CPU: what is read before the device has worked.
class BenchOnCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasCUDA()) {
      GTEST_SKIP() << "no CUDA device";
    }
  }
  const at::Device device_{at::kCUDA, 0};
};

TEST_F(BenchOnCuda, WaitsForTheDeviceAndCountsTheWaits) {
  EXPECT_EQ(device_text(device_).find("cuda:0: " + device_name(device_) + ", "), 0U) << device_text(device_);
  const at::Tensor a = at::randn({4096, 4096}, at::TensorOptions().dtype(at::kDouble).device(device_));
  at::mm(a, a);
  synchronise(device_);
  const auto done = [&] { return c10::impl::VirtualGuardImpl(device_.type()).getStream(device_).query(); };
  bool was_at_work = false;
  for (int trial = 0; trial < 100 && !was_at_work; ++trial) {  // the host may sleep until all is done
    for (int i = 0; i < 8; ++i) {
      at::mm(a, a);
    }
    was_at_work = !done();
    synchronise(device_);
    EXPECT_TRUE(done());
  }
  EXPECT_TRUE(was_at_work);
  EXPECT_EQ(host_waits(device_, [&] { a[0][0].item<double>(); }), 1);
  EXPECT_EQ(host_waits(device_, [&] { at::mm(a, a); }), 0);
  EXPECT_EQ(host_waits(device_, [&] { a[0].cpu(); }), 1);
  const AllocationPeak peak(device_);
  {
    const at::Tensor b = at::empty({1 << 20}, a.options()), c = at::empty({1 << 20}, a.options());
  }
  EXPECT_GE(peak.bytes(), 1 << 24);
  EXPECT_LT(peak.bytes(), 3 << 23);  // an allocator's block is somewhat larger
}

TEST_F(BenchOnCuda, TimesAStep) {
  const Schema schema = charges_to_energies();
  const auto model = tiny(schema, platonic::LinearForm::automatic);
  const auto on_cpu = [&] {
    const Batch batch = to(random_tokens(schema, 3, 4, 1), at::kCPU, at::kFloat);
    MatrixProducts products;
    products.record([&] { add_gradients(loss_of(*model, nullptr, batch), *model); });
    return products.count();
  }();
  model->to(device_);
  const Batch batch = to(random_tokens(schema, 3, 4, 1), device_, at::kFloat);
  MatrixProducts products;
  products.record([&] { add_gradients(loss_of(*model, nullptr, batch), *model); });
  EXPECT_GE(products.count(), on_cpu);  // those of the backward pass too
  const BenchCase c = bench("tiny", *model, nullptr, batch, {.repeats = 3, .reference = true});
  EXPECT_EQ(c.device, device_name(device_));
  EXPECT_GT(c.kernels.forward_ms, 0);
  EXPECT_GT(c.kernels.train_step_ms, 0);
  EXPECT_GT(c.kernels.peak_mb, 0);
  EXPECT_GT(c.matmul_ms, 0);
  EXPECT_GT(c.matmul_train_step_ms, 0);
  EXPECT_GT(train_step_flops(*model, nullptr, batch), forward_flops(*model, batch));
  EXPECT_GT(c.percent_of_peak, 0);
  EXPECT_TRUE(c.host_waits);
}

}  // namespace bench_test
}  // namespace weyl
