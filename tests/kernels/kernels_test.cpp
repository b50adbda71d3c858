// Every kernel against its torch expression: value and gradients, float32 and float64, every instruction set.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "tests/gradients.h"
#include "tests/kernels/cases.h"
#include "weyl/core/instruction_set.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl {
namespace {

using kernels::InstructionSet;

std::vector<at::Tensor> cast(const std::vector<at::Tensor>& inputs, at::ScalarType type) {
  std::vector<at::Tensor> result;
  for (const at::Tensor& x : inputs) {
    result.push_back(x.defined() ? x.to(type).detach().clone().requires_grad_() : x);
  }
  return result;
}

/// The results, and the gradients of a fixed combination of them.
std::vector<at::Tensor> values_and_gradients(const KernelCase& c, const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> result = c.run(inputs), wanted;
  at::Tensor sum = at::zeros({}, inputs[0].scalar_type());
  for (const at::Tensor& y : result) {
    sum = sum + (y * gradients_detail::weights_like(y).to(y.scalar_type())).sum();
  }
  for (const at::Tensor& x : inputs) {
    if (x.defined()) {
      wanted.push_back(x);
    }
  }
  const auto gradients = torch::autograd::grad({sum}, wanted);
  result.insert(result.end(), gradients.begin(), gradients.end());
  return result;
}

void expect_close(const std::vector<at::Tensor>& found, const std::vector<at::Tensor>& right,
                  double tolerance, const std::string& name) {
  ASSERT_EQ(found.size(), right.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].sizes(), right[i].sizes()) << name << ", tensor " << i;
    if (found[i].numel() == 0) {
      continue;
    }
    const double scale = std::max(1.0, right[i].abs().max().item<double>());
    const double error =
        (found[i].to(at::kDouble) - right[i].to(at::kDouble)).abs().max().item<double>() / scale;
    EXPECT_LT(error, tolerance) << name << ", tensor " << i;
  }
}

TEST(Kernels, AgreeWithTheirTorchExpressions) {
  for (const KernelCase& c : kernel_cases()) {
    if (c.timed) {
      continue;  // the same code as the small ones; bench/ prints their errors
    }
    const std::vector<at::Tensor> exact = [&] {
      const UseReferences scope;
      return values_and_gradients(c, cast(c.inputs, at::kDouble));
    }();
    for (const InstructionSet set : {InstructionSet::baseline, InstructionSet::v3, InstructionSet::v4}) {
      if (set > kernels::best_instruction_set()) {
        continue;
      }
      const kernels::UseInstructionSet at_most(set);
      const std::string name = c.name + ", instruction set " + std::to_string(static_cast<int>(set));
      expect_close(values_and_gradients(c, cast(c.inputs, at::kDouble)), exact, c.float64,
                   name + ", float64");
      expect_close(values_and_gradients(c, cast(c.inputs, at::kFloat)), exact, c.float32, name + ", float32");
    }
  }
}

TEST(Kernels, SecondDerivativesAgree) {
  for (const KernelCase& c : kernel_cases()) {
    const bool has_kernel = c.name.rfind("attention/", 0) == 0 || c.name.find("gelu/") != std::string::npos ||
                            c.name.rfind("bias_silu/", 0) == 0 || c.name.rfind("gaussian_densities/", 0) == 0;
    if (c.timed || !has_kernel) {
      continue;
    }
    const auto second = [&](at::ScalarType type) {
      const std::vector<at::Tensor> inputs = cast(c.inputs, type);
      const std::vector<at::Tensor> y = c.run(inputs);
      const at::Tensor gy = gradients_detail::weights_like(y[0]).to(type).requires_grad_();
      std::vector<at::Tensor> wanted;
      for (const at::Tensor& x : inputs) {
        if (x.defined()) wanted.push_back(x);
      }
      at::Tensor sum = at::zeros({}, type);
      for (const at::Tensor& g : torch::autograd::grad({y[0]}, wanted, {gy}, true, true)) {
        sum = sum + (g * gradients_detail::weights_like(g).to(type)).sum();
      }
      wanted.push_back(gy);
      return torch::autograd::grad({sum}, wanted);
    };
    const auto exact = [&] {
      const UseReferences scope;
      return second(at::kDouble);
    }();
    expect_close(second(at::kDouble), exact, 1e-12, c.name + ", float64");
    expect_close(second(at::kFloat), exact, 1e-4, c.name + ", float32");
  }
}

TEST(Kernels, ResultsDoNotDependOnTheOtherGraphsOrTheThreads) {
  const Segments all = Segments::of_sizes(std::vector<int64_t>{5, 18, 7}),
                 one = Segments::of_sizes(std::vector<int64_t>{18});
  const at::Tensor p = noise({30, 64}, 1).to(at::kFloat), bias = noise({2, 16}, 2).to(at::kFloat),
                   angles = noise({30, 4, 4}, 3).to(at::kFloat);
  const at::Tensor whole = rotary_attention(p, bias, angles, all, 4, 0.5, true);
  EXPECT_TRUE(at::equal(whole.slice(0, 5, 23), rotary_attention(p.slice(0, 5, 23), bias,
                                                                angles.slice(0, 5, 23), one, 4, 0.5, true)));
  const int threads = at::get_num_threads();
  at::set_num_threads(3);
  EXPECT_TRUE(at::equal(whole, rotary_attention(p, bias, angles, all, 4, 0.5, true)));
  at::set_num_threads(threads);
}

TEST(Kernels, ALargeAngleIsStillRight) {
  // Through the kernel's own sine and cosine, and beyond them through the C library's.
  for (const double size : {1.0, 300.0, 1e4, 1e6}) {
    const at::Tensor angles = (at::arange(64, at::kDouble) * 0.0157 * size + 0.1).view({8, 2, 4});
    const at::Tensor p = noise({8, 32}, 1);
    const Segments graphs = Segments::of_sizes(std::vector<int64_t>{8});
    const auto run = [&](at::ScalarType type) {
      return rotary_attention(p.to(type), {}, angles.to(at::kFloat).to(type), graphs, 2, 1, true)
          .to(at::kDouble);
    };
    const at::Tensor kernel64 = run(at::kDouble), kernel32 = run(at::kFloat);
    const UseReferences scope;
    EXPECT_LT((kernel64 - run(at::kDouble)).abs().max().item<double>(), 1e-12) << size;
    EXPECT_LT((kernel32 - run(at::kDouble)).abs().max().item<double>(), 1e-5) << size;
  }
}

TEST(Kernels, AForbiddenPairHasNoWeight) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3});
  const at::Tensor q = noise({3, 1, 4}, 1), v = noise({3, 1, 4}, 2);
  at::Tensor bias = at::zeros({9, 1}, at::kDouble);
  bias[1] = -INFINITY;  // query 0 does not see key 1
  at::Tensor other = v.clone();
  other[1] += 100;
  EXPECT_TRUE(at::equal(ragged_attention(q, q, v, graphs, 1, bias)[0],
                        ragged_attention(q, q, other, graphs, 1, bias)[0]));
}

}  // namespace
}  // namespace weyl
