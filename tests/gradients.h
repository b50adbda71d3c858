// Derivatives against finite differences, in float64.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <functional>
#include <vector>

namespace weyl {

using Expression = std::function<at::Tensor(const std::vector<at::Tensor>&)>;

struct GradientCheck {
  double step = 1e-6, relative = 1e-6, absolute = 1e-7;
  int64_t samples = 40;  // entries of each input that are moved (all, when it has fewer)
};

namespace gradients_detail {

/// A fixed random weight for each entry of an output, so that one number sees the whole output.
inline at::Tensor weights_like(const at::Tensor& y) {
  const at::Tensor n = at::arange(y.numel(), y.options().requires_grad(false)).to(at::kDouble);
  return (n * 1.7 + 0.3).sin().view(y.sizes());
}

inline std::vector<at::Tensor> leaves(const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> result;
  for (const at::Tensor& x : inputs) {
    result.push_back(x.defined() && x.is_floating_point() ? x.detach().to(at::kDouble).requires_grad_() : x);
  }
  return result;
}

inline std::vector<at::Tensor> analytic(const Expression& f, const std::vector<at::Tensor>& xs,
                                        bool create_graph) {
  const at::Tensor y = f(xs);
  std::vector<at::Tensor> wanted;
  for (const at::Tensor& x : xs) {
    if (x.defined() && x.requires_grad()) {
      wanted.push_back(x);
    }
  }
  const at::Tensor sum = (y * weights_like(y)).sum();
  std::vector<at::Tensor> found(wanted.size());  // a result without a graph does not depend on the inputs
  if (sum.requires_grad()) {
    found = torch::autograd::grad({sum}, wanted, {}, create_graph, create_graph, true);
  }
  std::vector<at::Tensor> result(xs.size());
  size_t next = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (xs[i].defined() && xs[i].requires_grad()) {
      result[i] = found[next].defined() ? found[next] : at::zeros_like(xs[i]);
      ++next;
    }
  }
  return result;
}

}  // namespace gradients_detail

/// Checks d f / d x for every floating input against central finite differences. Inputs are cast to float64;
/// those that are undefined or integers are passed on as they are.
inline void expect_gradients(const Expression& f, const std::vector<at::Tensor>& inputs,
                             GradientCheck check = {}) {
  namespace d = gradients_detail;
  const std::vector<at::Tensor> xs = d::leaves(inputs);
  const std::vector<at::Tensor> found = d::analytic(f, xs, false);
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!found[i].defined() || xs[i].numel() == 0) {
      continue;
    }
    ASSERT_TRUE(at::isfinite(found[i]).all().item<bool>()) << "gradient of input " << i << " is not finite";
    const at::Tensor flat = found[i].detach().reshape({-1});
    const double scale = std::max(flat.abs().max().item<double>(), 1e-3);
    const int64_t count = xs[i].numel(), stride = std::max<int64_t>(1, count / check.samples);
    for (int64_t e = 0; e < count; e += stride) {
      const auto value = [&](double shift) {
        at::NoGradGuard off;
        std::vector<at::Tensor> moved = xs;
        at::Tensor copy = xs[i].detach().contiguous().clone();
        copy.view({-1})[e] += shift;
        moved[i] = copy;
        const at::Tensor y = f(moved);
        return (y * d::weights_like(y)).sum().item<double>();
      };
      const double numeric = (value(check.step) - value(-check.step)) / (2 * check.step);
      EXPECT_NEAR(flat[e].item<double>(), numeric, check.absolute + check.relative * scale)
          << "gradient of input " << i << ", entry " << e;
    }
  }
}

/// Checks the second derivatives: the gradients of d f / d x, contracted with fixed weights, against finite
/// differences of the (already checked) first derivative, with respect to every floating input.
inline void expect_second_gradients(const Expression& f, const std::vector<at::Tensor>& inputs,
                                    GradientCheck check = {}) {
  namespace d = gradients_detail;
  expect_gradients(f, inputs, check);
  const Expression contracted = [&](const std::vector<at::Tensor>& xs) {
    at::AutoGradMode on(true);
    std::vector<at::Tensor> tracked = xs;
    for (at::Tensor& x : tracked) {
      if (x.defined() && x.is_floating_point() && !x.requires_grad()) {
        x = x.detach().requires_grad_();
      }
    }
    at::Tensor sum = at::zeros({}, at::kDouble);
    for (const at::Tensor& g : d::analytic(f, tracked, true)) {
      if (g.defined()) {
        sum = sum + (g * d::weights_like(g)).sum();
      }
    }
    return sum;
  };
  expect_gradients(contracted, inputs, check);
}

/// First and second derivatives are finite at a corner (coincident points, zero vectors), where finite
/// differences mean nothing.
inline void expect_finite_gradients(const Expression& f, const std::vector<at::Tensor>& inputs) {
  namespace d = gradients_detail;
  const std::vector<at::Tensor> xs = d::leaves(inputs);
  at::Tensor sum = at::zeros({}, at::kDouble);
  for (const at::Tensor& g : d::analytic(f, xs, true)) {
    if (g.defined()) {
      EXPECT_TRUE(at::isfinite(g).all().item<bool>()) << "a first derivative is not finite";
      sum = sum + (g * d::weights_like(g)).sum();
    }
  }
  if (!sum.requires_grad()) {
    return;
  }
  for (const at::Tensor& g : d::analytic([&](const auto&) { return sum; }, xs, false)) {
    EXPECT_TRUE(!g.defined() || at::isfinite(g).all().item<bool>()) << "a second derivative is not finite";
  }
}

}  // namespace weyl
