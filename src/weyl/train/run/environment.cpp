#include "weyl/train/run/environment.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>
#include <cstdlib>
#include <string_view>

#include "weyl/core/check.h"
#include "weyl/core/instruction_set.h"
#include "weyl/core/version.h"
#include "weyl/parallel/device.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {
namespace {

// Variables by which MKL, oneDNN and OpenMP choose instructions and the order of sums.
constexpr const char* settings[] = {"MKL_CBWR",    "MKL_ENABLE_INSTRUCTIONS", "MKL_DEBUG_CPU_TYPE",
                                    "MKL_DYNAMIC", "ONEDNN_MAX_CPU_ISA",      "DNNL_MAX_CPU_ISA",
                                    "OMP_DYNAMIC", "OMP_THREAD_LIMIT",        "KMP_DETERMINISTIC_REDUCTION"};
// Those by which cuBLAS and NCCL choose the order of sums.
constexpr const char* settings_of_devices[] = {"CUBLAS_WORKSPACE_CONFIG", "NCCL_ALGO"};

std::string_view instruction_set_name(kernels::InstructionSet set) {
  switch (set) {
    case kernels::InstructionSet::v3:
      return "v3";
    case kernels::InstructionSet::v4:
      return "v4";
    case kernels::InstructionSet::baseline:
      break;
  }
  return "baseline";
}

void set_from_environment(Json& json, const char* setting) {
  const char* value = std::getenv(setting);
  json.set(setting, value != nullptr ? value : "");
}

}  // namespace

Json environment(at::Device device, const TrainOptions& options) {
  Json json = Json::object();
  json.set("weyl", version())
      .set("torch", TORCH_VERSION)
      .set("mkl", at::get_mkl_version())
      .set("cpu", cpu_name())
      .set("instructions", at::get_cpu_capability())
      .set("kernels", instruction_set_name(kernels::instruction_set()))
      .set("threads", static_cast<int64_t>(at::get_num_threads()))
      .set("device", device.str())
      .set("precision", names_of(options.precision)[static_cast<size_t>(options.precision)])
      .set("compiler", __VERSION__);
  for (const char* setting : settings) {
    set_from_environment(json, setting);
  }
  if (!device.is_cpu()) {
    // Cards of another kind sum in another order.
    json.set("device_name", device_name(device));
    json.set("tf32", options.tf32).set("deterministic", options.deterministic);
    for (const char* setting : settings_of_devices) {
      set_from_environment(json, setting);
    }
  }
  return json;
}

std::string differences(const Json& now, const Json& then) {
  std::string line;
  for (const auto& [key, value] : now.members()) {
    const Json* earlier = then.find(key);  // an older version did not write every key
    const std::string before = earlier != nullptr ? earlier->dump() : "", after = value.dump();
    if (earlier != nullptr && before != after) {
      line += text(line.empty() ? "" : ", ", key, " ", before, " -> ", after);
    }
  }
  return line;
}

}  // namespace weyl
