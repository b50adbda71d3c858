#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <torch/csrc/api/include/torch/version.h>

#include "weyl/app/verbs/doctor_report.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/parallel/device.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {

int run(const DoctorCommand& command) {
  DoctorReport report;
  report.torch = TORCH_VERSION;
  report.blas = at::hasMKL() ? "MKL" : "BLAS without MKL";
  if (at::globalContext().hasMKLDNN()) {
    report.blas += ", oneDNN";
  }
  report.threads = at::get_num_threads();
  report.devices.push_back("cpu: " + cpu_name() + ", " + std::to_string(report.threads) + " threads");
  // A product that is known: the installation computes.
  const at::Tensor ones = at::ones({8, 8}, at::kFloat);
  if (at::matmul(ones, ones).sum().item<float>() != 512.0F) {
    report.problems.emplace_back("a matrix product of LibTorch is wrong");
  }
  if (at::hasCUDA()) {
    const auto count = at::detail::getCUDAHooks().deviceCount();
    for (int i = 0; i < count; ++i) {
      report.devices.push_back(device_text(at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(i))));
    }
  }
  return print(report, command.output.json);
}

}  // namespace weyl
