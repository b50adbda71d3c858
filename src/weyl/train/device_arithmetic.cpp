#include "weyl/train/device_arithmetic.h"

#include <ATen/Context.h>

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

}  // namespace weyl
