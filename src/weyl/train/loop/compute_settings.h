#pragma once

#include <c10/core/Device.h>
#include <cstdint>
#include <string>
#include <vector>

#include "weyl/models/model.h"
#include "weyl/tasks/task.h"
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

/// Floating-point operations of a batch that are worth a thread of the engine. Small steps are slower with many threads
/// than with one, which wait for one another between operations of microseconds. On two cores every recipe of
/// configs/ that was timed takes its faster number (docs/cli.md, "Threads"; `weyl bench` prints step_ms_by_threads).
inline constexpr double flops_worth_a_thread = 3e9;

/// How many threads of at most so many a batch of so many floating-point operations gets: a fixed rule, no clock, so that
/// the same run gets the same number, and with it the same bits, each time.
int64_t threads_worth(double flops, int64_t most);

/// Tokens of a batch of training: `batch_tokens`, or as many samples as a batch has of the cells of `crop` or of the
/// typical size that the model's interface tells.
double tokens_of_a_batch(const Model& model, const TrainOptions& options);

/// Whether nobody has said how many threads to take: `told`, as --threads, is 0, and the environment has no
/// OMP_NUM_THREADS.
bool threads_are_free(int64_t told);

/// Gives the engine back the number of threads that it had.
class KeepThreads {
 public:
  KeepThreads();
  ~KeepThreads();
  KeepThreads(const KeepThreads&) = delete;
  KeepThreads& operator=(const KeepThreads&) = delete;

 private:
  int before_;
};

/// The number of threads of what follows: `told` if it is not 0; else, on the CPU and where OMP_NUM_THREADS says
/// nothing, what the rule gives of those that the engine has.
void take_threads(int64_t told, at::Device device, double flops);

}  // namespace weyl
