#include "weyl/train/loop/compute_settings.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "weyl/core/check.h"

namespace weyl {

// LibTorch has an older and a newer interface to this, and refuses to answer where they differ. setAllowTF32CuBLAS keeps
// both in step; setAllowTF32CuDNN does too, but warns that it is old, and nothing asks for what it keeps.
void use_tf32(bool on) {
  at::Context& context = at::globalContext();
  context.setAllowTF32CuBLAS(on);
  const auto precision = on ? at::Float32Precision::TF32 : at::Float32Precision::IEEE;
  for (const auto op : {at::Float32Op::CONV, at::Float32Op::RNN}) {
    context.setFloat32Precision(at::Float32Backend::CUDA, op, precision);
  }
}

Tf32::Tf32(bool on) : on_(on) {
  if (on_) {
    use_tf32(true);
  }
}

Tf32::~Tf32() {
  if (on_) {
    use_tf32(false);
  }
}

Deterministic::Deterministic(bool on)
    : on_(on),
      before_(at::globalContext().deterministicAlgorithms()),
      before_warns_(at::globalContext().deterministicAlgorithmsWarnOnly()) {
  if (on_) {
    constexpr int keep = 0;
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", keep);
    setenv("NCCL_ALGO", "^NVLS", keep);
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  }
}

Deterministic::~Deterministic() {
  if (on_) {
    at::globalContext().setDeterministicAlgorithms(before_, before_warns_);
  }
}

std::vector<std::string> notes_on_arithmetic(const TrainOptions& options, at::Device device) {
  std::vector<std::string> notes;
  if (options.tf32 && !device.is_cuda()) {
    notes.push_back(text("train.tf32 = true has no effect on ", device.str(), ", only on NVIDIA GPUs"));
  }
  if (options.deterministic && device.is_cpu()) {
    notes.push_back(
        "train.deterministic = true has no effect on the CPU, where the same run has the same bits");
  }
  return notes;
}

int64_t threads_worth(double flops, int64_t most) {
  const double worth = std::floor(flops / flops_worth_a_thread);
  return worth >= static_cast<double>(most) ? std::max<int64_t>(most, 1)
                                            : std::max<int64_t>(static_cast<int64_t>(worth), 1);
}

double tokens_of_a_batch(const Model& model, const TrainOptions& options) {
  if (options.batch_tokens) {
    return static_cast<double>(*options.batch_tokens);
  }
  double sample = model.interface.typical_nodes;
  if (!options.crop.empty()) {
    sample = 1;
    const auto axes = static_cast<size_t>(model.interface.dimension);
    for (size_t a = 0; a < axes; ++a) {  // one number: along all
      sample *= static_cast<double>(options.crop[std::min(a, options.crop.size() - 1)]);
    }
  }
  return static_cast<double>(options.batch) * sample;
}

bool threads_are_free(int64_t told) {
  const char* environment = std::getenv("OMP_NUM_THREADS");
  return told == 0 && (environment == nullptr || *environment == '\0');
}

KeepThreads::KeepThreads() : before_(at::get_num_threads()) {}

KeepThreads::~KeepThreads() {
  at::set_num_threads(before_);
}

void take_threads(int64_t told, at::Device device, double flops) {
  if (told > 0) {
    at::set_num_threads(static_cast<int>(told));
  } else if (device.is_cpu() && threads_are_free(told)) {
    at::set_num_threads(static_cast<int>(threads_worth(flops, at::get_num_threads())));
  }
}

}  // namespace weyl
