#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "weyl/train/options.h"

namespace weyl {

/// Whether NVIDIA GPUs may round the factors of float32 products (matrices by cuBLAS, convolutions by cuDNN) to TF32, ten
/// bits after the binary point, in the whole process. LibTorch alone would do so in convolutions: every verb that uses a
/// device turns it off first.
void use_tf32(bool on);

/// TF32 where asked for, as long as one lives; without it afterwards.
class Tf32 {
 public:
  explicit Tf32(bool on);
  ~Tf32();
  Tf32(const Tf32&) = delete;
  Tf32& operator=(const Tf32&) = delete;

 private:
  bool on_;
};

/// Deterministic algorithms of LibTorch where asked for, as long as one lives, in the whole process: an operation that has
/// none throws. CUBLAS_WORKSPACE_CONFIG and NCCL_ALGO, where the environment does not have them, become what the same bits
/// each time need; their libraries read them once, so one must live before the device is first used.
class Deterministic {
 public:
  explicit Deterministic(bool on);
  ~Deterministic();
  Deterministic(const Deterministic&) = delete;
  Deterministic& operator=(const Deterministic&) = delete;

 private:
  bool on_, before_, before_warns_;
};

/// A line for each option of the device's arithmetic that has no effect on this device.
std::vector<std::string> notes_on_arithmetic(const TrainOptions& options, at::Device device);

}  // namespace weyl
