// What a case of the kernels gives, on any device: values, and derivatives of fixed combinations of them.
#pragma once

#include "tests/gradients.h"
#include "tests/oracles/kernel_case.h"

namespace weyl {

/// Where a case runs.
struct CaseSetting {
  at::ScalarType dtype = at::kDouble;
  at::Device device = at::kCPU;
};

inline std::vector<at::Tensor> inputs_of(const KernelCase& c, CaseSetting s) {
  std::vector<at::Tensor> result;
  for (const at::Tensor& x : c.inputs) {
    result.push_back(x.defined() ? x.to(s.device, s.dtype).detach().clone().requires_grad_() : x);
  }
  return result;
}

inline std::vector<at::Tensor> only_defined(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const at::Tensor& x : tensors) {
    if (x.defined()) {
      result.push_back(x);
    }
  }
  return result;
}

inline at::Tensor weighted_sum(const std::vector<at::Tensor>& tensors, CaseSetting s) {
  at::Tensor sum = at::zeros({}, at::TensorOptions(s.dtype).device(s.device));
  for (const at::Tensor& x : tensors) {
    sum = sum + (x * gradients_detail::weights_like(x).to(s.dtype)).sum();
  }
  return sum;
}

/// The results, and the gradients of a fixed combination of them.
inline std::vector<at::Tensor> values_and_gradients(const KernelCase& c, CaseSetting s) {
  const std::vector<at::Tensor> inputs = inputs_of(c, s);
  std::vector<at::Tensor> result = c.run(inputs);
  const auto gradients = torch::autograd::grad({weighted_sum(result, s)}, only_defined(inputs));
  result.insert(result.end(), gradients.begin(), gradients.end());
  return result;
}

/// The gradients of a fixed combination of the gradients, by the inputs and by the gradients of the results.
inline std::vector<at::Tensor> second_derivatives(const KernelCase& c, CaseSetting s) {
  const std::vector<at::Tensor> inputs = inputs_of(c, s), y = c.run(inputs);
  std::vector<at::Tensor> gys, wanted = only_defined(inputs);
  for (const at::Tensor& t : y) {
    gys.push_back(gradients_detail::weights_like(t).to(s.dtype).requires_grad_());
  }
  const at::Tensor sum =
      weighted_sum(torch::autograd::grad(y, wanted, gys, /*retain_graph=*/true, /*create_graph=*/true), s);
  wanted.insert(wanted.end(), gys.begin(), gys.end());
  std::vector<at::Tensor> found =
      torch::autograd::grad({sum}, wanted, {}, false, false, /*allow_unused=*/true);
  for (size_t i = 0; i < found.size(); ++i) {
    found[i] = found[i].defined() ? found[i] : at::zeros_like(wanted[i]);
  }
  return found;
}

}  // namespace weyl
