// What a case of the kernels is. kernel_cases.h has the one list of them: tests/kernels compares values, gradients
// and second derivatives with the torch expressions on every instruction set, bench/ compares times.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <vector>

namespace weyl {

/// Largest differences that are allowed, each relative to the largest number of a tensor, or to 1.
struct KernelTolerances {
  double float32 = 1e-5, float64 = 1e-13;                // of values and gradients
  double second_float32 = 1e-4, second_float64 = 1e-12;  // of second derivatives
};

struct KernelCase {
  std::string name;
  std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> run;
  std::vector<at::Tensor> inputs;  // float64; undefined ones stay undefined
  KernelTolerances tolerances;
  bool timed = false;  // for bench/ alone, large enough there; the small ones run the same code
};

inline at::Tensor noise(std::vector<int64_t> shape, uint64_t seed, double scale = 1) {
  auto generator = at::detail::createCPUGenerator(seed);
  return at::randn(shape, generator, at::kDouble) * scale;
}

}  // namespace weyl
