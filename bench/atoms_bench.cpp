// Force fields beside their plain padded form (tests/oracles/padded_geomformer.h), interleaved in one process on
// WEYL_THREADS threads (2; with 1 in processor time), medians of WEYL_REPEATS (5): energy with forces, a
// training step (loss of both, backward through the forces, optimiser), and the memory that its tensors take.
// Both sides have the same task, loss and optimiser.
//   bench.atoms configs/bench/et.toml configs/bench/geomformer.toml
// First both are compared in float64 on molecules of unequal sizes: energies, forces, and gradients of the
// loss by all weights; exit 1 where they differ by more than rounding.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "tests/oracles/padded_geomformer.h"
#include "weyl/core/check.h"
#include "weyl/core/quantile.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/systems.h"
#include "weyl/study/cost/allocation_peak.h"
#include "weyl/study/samples/random_samples.h"
#include "weyl/tasks/force_field.h"
#include "weyl/train/loop/accumulate.h"
#include "weyl/train/loop/optimiser.h"
#include "weyl/train/recipe.h"

namespace weyl {
namespace {

/// Sizes of molecules, and ms of TorchMD-Net's own code on them (torch 1.13, its MD17 settings, all pairs
/// within the cut-off, two cores); 0: not measured.
struct Shape {
  const char* name;
  int64_t graphs, least, most;
  double forces, step;

  std::vector<int64_t> sizes() const {
    std::vector<int64_t> result;
    for (int64_t g = 0; g < graphs; ++g) {
      result.push_back(least + 7 * g % (most - least + 1));
    }
    return result;
  }
};
constexpr Shape shapes[] = {{"1x21", 1, 21, 21, 27, 160},
                            {"8x21", 8, 21, 21, 177, 1000},
                            {"96x18", 96, 18, 18, 2200, 13300},
                            {"96x(9..27)", 96, 9, 27, 0, 0}};  // as many atoms, but padding costs

int number_from(const char* name, int otherwise) {
  const char* told = std::getenv(name);
  return told != nullptr ? std::atoi(told) : otherwise;
}

/// The clock on the wall, or that of the process where it has one thread: that clock holds on busy cores.
double now_ms() {
  timespec t{};
  clock_gettime(at::get_num_threads() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

template <class F>
double milliseconds(const F& work) {
  const double start = now_ms();
  work();
  return now_ms() - start;
}

/// A force field, once by kernels and once padded, with the same weights.
struct ForceFields {
  Recipe recipe;
  Schema schema;
  std::shared_ptr<ForceField> task;
  std::shared_ptr<geomformer::Geomformer> kernels;
  std::shared_ptr<PaddedGeomformer> padded;

  ForceFields(const std::string& path, at::ScalarType dtype) : recipe(read_recipe(path)) {
    const auto* options = std::get_if<ForceFieldOptions>(&recipe.task.task);
    require<ConfigError>(options != nullptr && recipe.interface, path,
                         ": must be a force field with an [interface]");
    schema.interface = *recipe.interface;
    task = std::make_shared<ForceField>(*options);
    const BuildOn build_on(at::kCPU, dtype);
    at::manual_seed(1);
    kernels = std::dynamic_pointer_cast<geomformer::Geomformer>(build(recipe.model, task->interface(schema)));
    require<ConfigError>(kernels != nullptr, path, ": must be of the system geomformer");
    padded = std::make_shared<PaddedGeomformer>(kernels);
  }

  /// Random molecules of these sizes, which the task is fitted to.
  Batch batch(const std::vector<int64_t>& sizes) const {
    std::vector<Batch> parts;
    Schema labelled;
    for (size_t s = 0; s < sizes.size(); ++s) {
      const auto data = random_molecules(schema, 1, sizes[s], s);
      labelled = data->schema();
      parts.push_back(data->batch(std::vector<int64_t>{0}));
    }
    const Batch all = concatenate(parts, labelled);
    task->fit(InMemory(all, labelled));
    return to(all, at::kCPU, kernels->dtype());
  }
};

double largest_difference(const Tensor& a, const Tensor& b) {
  const double scale = 1e-30 + b.abs().max().item<double>();
  return (a - b).abs().max().item<double>() / scale;
}

/// The largest difference of energies and forces, relative to the largest of them.
double difference(const ForceFields& f, const Batch& batch) {
  const Named found = f.task->predict(*f.kernels, batch), right = f.task->predict(*f.padded, batch);
  return worst_of(largest_difference(found.at("energy"), right.at("energy")),
                  largest_difference(found.at("forces"), right.at("forces")));
}

/// The largest difference of the gradients of the loss, each weight's relative to its own largest.
double gradient_difference(const ForceFields& f, const Batch& batch) {
  const auto gradients = [&](Model& model) {
    Tensors found;
    add_gradients(f.task->step(model, batch).loss, model);
    for (const Parameter& p : model.parameters()) {
      const Tensor& g = p.tensor.grad();
      found.push_back(g.defined() ? g.clone() : at::zeros_like(p.tensor));
      p.tensor.mutable_grad() = Tensor();
    }
    return found;
  };
  const Tensors found = gradients(*f.kernels), right = gradients(*f.padded);
  double largest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (right[i].abs().max().item<double>() > 1e-12) {
      largest = worst_of(largest, largest_difference(found[i], right[i]));
    }
  }
  return largest;
}

bool agree(const std::string& path) {
  const ForceFields f(path, at::kDouble);
  const Batch batch = f.batch({5, 9, 1, 14});
  const double outputs = difference(f, batch), gradients = gradient_difference(f, batch);
  std::printf("%s: %lld parameters; padded form differs by %.1e, gradients of the loss by %.1e (float64)\n",
              path.c_str(), static_cast<long long>(f.kernels->parameter_count()), outputs, gradients);
  return outputs < 1e-10 && gradients < 1e-8;
}

struct Side {
  Model& model;
  Optimiser optimiser;
  std::vector<double> forces_ms, step_ms;
  double mb = 0;

  explicit Side(Model& model) : model(model), optimiser(model.parameters(), OptimiserOptions{}) {}
  void forces(const Task& task, const Batch& batch) {
    const at::NoGradGuard off;
    model.train(false);
    task.predict(model, batch);
    forces_ms.push_back(milliseconds([&] { task.predict(model, batch); }));
  }
  void step(const Task& task, const Batch& batch) {
    add_gradients(task.step(model, batch).loss, model);
    optimiser.step(/*factor=*/0);
    optimiser.clear_gradients();
  }
};

bool time(const std::string& path, const Shape& shape, int repeats) {
  const ForceFields f(path, at::kFloat);
  const Batch batch = f.batch(shape.sizes());
  const double error = difference(f, batch);
  Side ours(*f.kernels), plain(*f.padded);
  for (Side* side : {&ours, &plain}) {  // makes the optimiser's state, warms the caches
    side->model.train(true);
    side->step(*f.task, batch);
    const AllocationPeak peak;
    side->step(*f.task, batch);
    side->mb = static_cast<double>(peak.bytes()) / 1e6;
  }
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (Side* side : {&ours, &plain}) {
      side->forces(*f.task, batch);
    }
    for (Side* side : {&ours, &plain}) {
      side->model.train(true);
      side->step_ms.push_back(milliseconds([&] { side->step(*f.task, batch); }));
    }
  }
  const auto quotient = [](const std::vector<double>& a, const std::vector<double>& b) {
    return median(a) / median(b);
  };
  std::printf("%-10s %9.1f %9.1f %5.1fx %10.1f %9.1f %5.1fx %8.0f %8.0f %5.1fx  %.0e", shape.name,
              median(ours.forces_ms), median(plain.forces_ms), quotient(plain.forces_ms, ours.forces_ms),
              median(ours.step_ms), median(plain.step_ms), quotient(plain.step_ms, ours.step_ms), ours.mb,
              plain.mb, plain.mb / ours.mb, error);
  if (f.kernels->options.preset == geomformer::Preset::et && shape.step > 0) {
    std::printf(" %8.0f %6.1fx %8.0f %6.1fx", shape.forces, shape.forces / median(ours.forces_ms), shape.step,
                shape.step / median(ours.step_ms));
  }
  std::printf("\n");
  std::fflush(stdout);
  return error < 1e-4;
}

int run(const std::vector<std::string>& paths) {
  require<ConfigError>(!paths.empty(), "bench.atoms: must be given configs (configs/bench/et.toml)");
  at::set_num_threads(number_from("WEYL_THREADS", 2));
  mallopt(M_MMAP_MAX, 0);  // as the program does (app/engine.cpp)
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 1 << 26);
  bool equal = true;
  for (const std::string& path : paths) {
    if (!agree(path)) {
      equal = false;
      continue;
    }
    std::printf(
        "            energy + forces, ms        training step, ms          peak MB                 error"
        "   TorchMD-Net's code, ms, over weyl's:\n"
        "atoms           weyl    padded           weyl    padded           weyl   padded              "
        "    energy + forces   training step\n");
    for (const Shape& shape : shapes) {
      equal = time(path, shape, number_from("WEYL_REPEATS", 5)) && equal;
    }
  }
  if (!equal) {
    std::fprintf(stderr, "bench.atoms: the two forms must agree to rounding, and differ\n");
  }
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace weyl

int main(int argc, char** argv) {
  // As the program does (app/front.cpp): threads that spin while they wait stand still on busy cores. OpenMP
  // reads it when it is loaded.
  if (setenv("GOMP_SPINCOUNT", "1000", 0) == 0 && std::getenv("WEYL_ATOMS_BENCH") == nullptr) {
    setenv("WEYL_ATOMS_BENCH", "1", 1);
    execv("/proc/self/exe", argv);
  }
  try {
    return weyl::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
