#include "weyl/train/loop/late_numbers.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/stack.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <atomic>
#include <cmath>

namespace weyl {
namespace {

std::atomic<int> reading_late = 0;

}  // namespace

bool StepNumbers::finite() const {
  return std::isfinite(loss) && std::isfinite(norm);
}

LateNumbers::LateNumbers(const Tensor& loss, const Tensor& norm) {
  const Tensor both = at::stack({loss, norm});
  found_inf_ = at::isfinite(both).all().logical_not().to(at::kFloat);
  on_host_ = both.to(at::kCPU, /*non_blocking=*/true);  // which LibTorch pins
  if (const at::Device device = both.device(); !device.is_cpu()) {
    copied_.emplace(device.type());
    copied_->record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  }
}

StepNumbers LateNumbers::read() const {
  if (!on_host_.defined()) {
    return known_;
  }
  if (copied_) {
    copied_->synchronize();
  }
  const auto* numbers = on_host_.const_data_ptr<double>();
  return {numbers[0], numbers[1]};
}

ReadLate::ReadLate() {
  ++reading_late;
}
ReadLate::~ReadLate() {
  --reading_late;
}
bool ReadLate::active() {
  return reading_late > 0;
}

}  // namespace weyl
