#include "weyl/app/verbs/machine.h"

#include <ATen/Context.h>
#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/tasks/task.h"
#include "weyl/train/loop/compute_settings.h"

namespace weyl {

std::optional<at::ScalarType> dtype_of(const std::optional<std::string>& name) {
  if (!name) {
    return {};
  }
  return *name == "float64" ? at::kDouble : at::kFloat;
}

at::Device device_of(const Machine& machine, const std::shared_ptr<Ranks>& ranks) {
  at::Device device(machine.device);
  if (device.is_cuda()) {
    require<ConfigError>(at::hasCUDA(), "--device ", machine.device,
                         ": must be a device of this machine, but LibTorch finds no CUDA");
    const c10::DeviceIndex count = at::detail::getCUDAHooks().deviceCount();
    require<ConfigError>(!device.has_index() || device.index() < count, "--device ", machine.device,
                         ": must be one of the ", std::to_string(count), " CUDA devices of this machine");
    if (ranks != nullptr && !device.has_index()) {
      device.set_index(static_cast<c10::DeviceIndex>(ranks->local_rank() % count));
    }
    use_tf32(false);
  }
  return device;
}

PredictorOptions predictor_options(const Machine& machine, const std::shared_ptr<Ranks>& ranks) {
  PredictorOptions options;
  options.device = device_of(machine, ranks);
  options.dtype = dtype_of(machine.dtype);
  return options;
}

void take_threads_for(const Machine& machine, const Predictor& predictor, int64_t samples) {
  const Model& model = predictor.model();
  const int64_t at_once =
      predictor.interface().grid ? std::min(samples, predictor.saved().recipe.batch) : samples;
  const double tokens = std::min(static_cast<double>(at_once) * model.interface.typical_nodes,
                                 static_cast<double>(predictor.options().batch_tokens));
  take_threads(machine.threads, model.device(), predicting_flops(model, predictor.task(), tokens));
}

bool is_config(const std::string& path) {
  return path.ends_with(".toml");
}

}  // namespace weyl
