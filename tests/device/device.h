// The device that these tests are about: WEYL_TEST_DEVICE ("cuda", "cuda:1", "cpu"), or CUDA's first where there is one.
// On the CPU no kernel runs meanwhile, so that everywhere the same checks are made of what a device without our kernels
// computes: the torch expressions, and LibTorch's own kernels.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "weyl/ops/autograd/without_kernels.h"
#include "weyl/train/loop/compute_settings.h"

namespace weyl {

inline at::Device test_device() {
  use_tf32(false);  // as every verb says for its device
  const char* named = std::getenv("WEYL_TEST_DEVICE");
  return at::Device(named != nullptr ? named : at::hasCUDA() ? "cuda" : "cpu");
}

/// Work on the device as on any that has no kernels of ours.
template <class F>
auto on_device(const F& work) {
  std::optional<WithoutKernels> without;
  if (test_device().is_cpu()) {
    without.emplace();
  }
  return work(test_device());
}

inline std::vector<at::Tensor> on_host(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const at::Tensor& x : tensors) {
    result.push_back(x.defined() ? x.detach().cpu() : x);
  }
  return result;
}

}  // namespace weyl
