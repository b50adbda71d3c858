#include "weyl/app/machine.h"

#include <ATen/Context.h>

#include "weyl/core/check.h"

namespace weyl {

std::optional<at::ScalarType> dtype_of(const std::optional<std::string>& name) {
  if (!name) {
    return {};
  }
  return *name == "float64" ? at::kDouble : at::kFloat;
}

at::Device device_of(const Machine& machine) {
  const at::Device device(machine.device);
  if (device.is_cuda()) {
    require<ConfigError>(at::hasCUDA(), "--device ", machine.device,
                         ": must be a device of this machine, but LibTorch finds no CUDA");
    const c10::DeviceIndex count = at::detail::getCUDAHooks().deviceCount();
    require<ConfigError>(!device.has_index() || device.index() < count, "--device ", machine.device,
                         ": must be one of the ", std::to_string(count), " CUDA devices of this machine");
  }
  return device;
}

bool is_config(const std::string& path) {
  return path.ends_with(".toml");
}

}  // namespace weyl
