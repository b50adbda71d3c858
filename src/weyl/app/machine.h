#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <optional>
#include <string>

#include "weyl/app/command_line.h"
#include "weyl/predict/predictor.h"

namespace weyl {

/// "float64" -> at::kDouble; nothing for nothing.
std::optional<at::ScalarType> dtype_of(const std::optional<std::string>& name);

/// The device that a command names; ConfigError when this build or machine has no such one.
at::Device device_of(const Machine& machine);

/// Where and how much at once `eval` and `predict` compute.
template <class Command>
PredictorOptions predictor_options(const Command& command) {
  PredictorOptions options;
  options.device = device_of(command.machine);
  options.dtype = dtype_of(command.machine.dtype);
  options.batch = command.batch;
  options.batch_tokens = command.batch_tokens.value_or(options.batch_tokens);
  return options;
}

/// Whether an argument names a config rather than a model: it ends in ".toml".
bool is_config(const std::string& path);

}  // namespace weyl
