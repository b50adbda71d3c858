#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <memory>
#include <optional>
#include <string>

#include "weyl/app/cli/command_line.h"
#include "weyl/parallel/ranks.h"
#include "weyl/saved/predictor.h"

namespace weyl {

/// "float64" -> at::kDouble; nothing for nothing.
std::optional<at::ScalarType> dtype_of(const std::optional<std::string>& name);

/// The device that a command names; ConfigError when this build or machine has no such one. Ranks of a host (null: the process is
/// alone) take its CUDA devices by turns, unless the command names one by its number. From then on products of float32 are of float32 there, not of TF32, but
/// for steps of a training that asks for it (train.tf32).
at::Device device_of(const Machine& machine, const std::shared_ptr<Ranks>& ranks = nullptr);

/// Where a command computes.
PredictorOptions predictor_options(const Machine& machine, const std::shared_ptr<Ranks>& ranks = nullptr);

/// Where and how much at once `eval` and `predict` compute.
template <class Command>
PredictorOptions predictor_options(const Command& command, const std::shared_ptr<Ranks>& ranks) {
  PredictorOptions options = predictor_options(command.machine, ranks);
  options.batch = command.batch;
  options.batch_tokens = command.batch_tokens.value_or(options.batch_tokens);
  return options;
}

/// As many threads as a batch of at most so many samples and tokens is worth, by the rule of train/loop/compute_settings.h, unless
/// --threads or OMP_NUM_THREADS says how many. Results differ by rounding between numbers of threads, as between sizes of
/// batches.
void take_threads_for(const Machine& machine, const Predictor& predictor, int64_t samples);

/// Whether an argument names a config rather than a model: it ends in ".toml".
bool is_config(const std::string& path);

}  // namespace weyl
