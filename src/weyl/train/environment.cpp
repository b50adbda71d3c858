#include "weyl/train/environment.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include "weyl/core/check.h"
#include "weyl/core/version.h"
#include "weyl/train/run_folder.h"

namespace weyl {
namespace {

std::string said(const Json* value) {
  if (value == nullptr) {
    return "nothing";
  }
  std::string line = value->dump();
  return line;
}

}  // namespace

Json environment(at::Device device, Precision precision) {
  Json json = Json::object();
  return json.set("weyl", version())
      .set("torch", TORCH_VERSION)
      .set("cpu", cpu_name())
      .set("instructions", at::get_cpu_capability())
      .set("threads", static_cast<int64_t>(at::get_num_threads()))
      .set("device", device.str())
      .set("precision", names_of(precision)[static_cast<size_t>(precision)])
      .set("compiler", __VERSION__);
}

std::string differences(const Json& now, const Json& then) {
  std::string line;
  for (const auto& [key, value] : now.members()) {
    const std::string before = said(then.find(key)), after = said(&value);
    if (before != after) {
      line += text(line.empty() ? "" : ", ", key, " ", before, " -> ", after);
    }
  }
  return line;
}

}  // namespace weyl
