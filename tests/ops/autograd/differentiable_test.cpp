#include "weyl/ops/autograd/differentiable.h"

#include <thread>

#include "tests/gradients.h"

namespace weyl {
namespace differentiable_test {

/// z = x^2 y + w (w may be undefined), with kernels that count their calls.
struct Product : Differentiable {
  bool with_backward = true, with_second = true, wrong = false;
  mutable int forwards = 0, backwards = 0, seconds = 0, references = 0;

  Tensors reference(const Tensors& in) const override {
    ++references;
    const Tensor z = in[0] * in[0] * in[1];
    return {in[2].defined() ? z + in[2] : z};
  }
  bool has_forward(const Tensors&) const override { return true; }
  Tensors forward(const Tensors& in) const override {
    ++forwards;
    const Tensor square = in[0] * in[0], z = square * in[1];
    return {in[2].defined() ? z + in[2] : z, square};  // the square is a by-product
  }
  bool has_backward(const Tensors&) const override { return with_backward; }
  Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gz,
                   const std::vector<bool>& needed) const override {
    ++backwards;
    EXPECT_EQ(out.size(), 2u);
    Tensors result(3);
    if (needed[0]) result[0] = (wrong ? 3.0 : 2.0) * in[0] * in[1] * gz[0];
    if (needed[1]) result[1] = out[1] * gz[0];
    if (needed[2]) result[2] = gz[0].clone();
    return result;
  }
  bool has_second(const Tensors&) const override { return with_second; }
  Tensors second(const Tensors& in, const Tensors&, const Tensors& gz, const Tensors& gg,
                 const std::vector<bool>&) const override {
    ++seconds;
    const Tensor a = gg[0].defined() ? gg[0] : at::zeros_like(in[0]);
    const Tensor b = gg[1].defined() ? gg[1] : at::zeros_like(in[1]);
    const Tensor c = gg[2].defined() ? gg[2] : at::zeros_like(gz[0]);
    Tensors result{2 * in[1] * gz[0] * a + 2 * in[0] * gz[0] * b, 2 * in[0] * gz[0] * a, {}};
    result.push_back(2 * in[0] * in[1] * a + in[0] * in[0] * b + c);
    return result;
  }
};

Tensor input(double seed) {
  return (at::arange(6, at::kDouble) * 0.7 + seed).sin().view({2, 3});
}

Tensor product(const std::shared_ptr<Product>& op, const Tensors& xs) {
  return call(op, {xs[0], xs[1], xs.size() > 2 ? xs[2] : Tensor()})[0];
}

TEST(Differentiable, EveryMixOfKernelsAndReferenceHasRightDerivatives) {
  for (const bool backward : {false, true}) {
    for (const bool second : {false, true}) {
      auto op = std::make_shared<Product>();
      op->with_backward = backward;
      op->with_second = backward && second;
      const Expression f = [&](const Tensors& xs) { return product(op, xs); };
      expect_second_gradients(f, {input(0.1), input(0.5), input(0.9)});
      expect_second_gradients(f, {input(0.1), input(0.5), Tensor()});
      EXPECT_GT(op->forwards, 0);
      EXPECT_EQ(op->backwards > 0, backward);
      EXPECT_EQ(op->seconds > 0, backward && second);
    }
  }
}

TEST(Differentiable, ThirdDerivativesAreRight) {
  auto op = std::make_shared<Product>();
  const Expression second = [&](const Tensors& xs) {
    at::AutoGradMode on(true);
    const Tensor x = xs[0].requires_grad() ? xs[0] : xs[0].detach().requires_grad_();
    const Tensor first = torch::autograd::grad({product(op, {x, x.sin()}).sum()}, {x}, {}, true, true)[0];
    return torch::autograd::grad({(first * first).sum()}, {x}, {}, true, true)[0];
  };
  expect_gradients(second, {input(0.3)});
}

TEST(Differentiable, InputsThatDependOnOneAnotherKeepTheirPathsApart) {
  for (const bool kernel : {true, false}) {
    auto op = std::make_shared<Product>();
    op->with_backward = op->with_second = kernel;
    expect_second_gradients([&](const Tensors& xs) { return product(op, {xs[0], xs[0].exp() * xs[0]}); },
                            {input(0.2)});
  }
}

TEST(Differentiable, OnlyTheGradientsAskedForAreComputed) {
  auto op = std::make_shared<Product>();
  const Tensor x = input(0.1).requires_grad_(), y = input(0.4);
  const Tensor z = product(op, {x, y});
  const Tensor g = torch::autograd::grad({z.sum()}, {x}, {}, true, true)[0];
  EXPECT_TRUE(at::allclose(g, 2 * x * y));
  const Tensor gg = torch::autograd::grad({g.sum()}, {x})[0];
  EXPECT_TRUE(at::allclose(gg, 2 * y));
  EXPECT_FALSE(product(op, {input(0), input(1)}).requires_grad());
}

TEST(Differentiable, NonContiguousInputsPass) {
  auto op = std::make_shared<Product>();
  expect_second_gradients([&](const Tensors& xs) { return product(op, {xs[0].t(), xs[1].t()}); },
                          {input(0.1), input(0.5)});
}

TEST(Differentiable, AWrongKernelIsCaught) {
  auto op = std::make_shared<Product>();
  op->wrong = true;
  const Tensor x = input(0.1).requires_grad_(), y = input(0.4);
  const Tensor g = torch::autograd::grad({product(op, {x, y}).sum()}, {x})[0];
  EXPECT_GT((g - 2 * x * y).abs().max().item<double>(), 1e-3);  // the kernel is used, so its fault shows
}

TEST(Differentiable, ScopesPickTheReference) {
  auto op = std::make_shared<Product>();
  op->with_second = false;
  {
    const UseReferences scope;
    product(op, {input(0), input(1)});
    EXPECT_EQ(op->forwards, 0);
  }
  {
    const ExpectSecondDerivatives scope;
    product(op, {input(0), input(1)});
    EXPECT_EQ(op->forwards, 0);
    std::thread([&] { product(op, {input(0), input(1)}); }).join();  // the scope belongs to its thread
    EXPECT_EQ(op->forwards, 1);
  }
  op->with_second = true;
  const ExpectSecondDerivatives scope;
  product(op, {input(0), input(1)});
  EXPECT_EQ(op->forwards, 2);
}

TEST(Differentiable, WhatIsRecomputedIsWorkedOutAgainForItsDerivatives) {
  struct Again : Product {
    bool has_forward(const Tensors&) const override { return false; }
    bool recomputes() const override { return true; }
  };
  const auto op = std::make_shared<Again>();
  const Tensor x = input(0.1).requires_grad_(), y = input(0.5);
  const Tensor z = product(op, {x, y});
  EXPECT_EQ(op->references, 1);
  EXPECT_EQ(z.grad_fn()->num_inputs(), 1u);  // one node for the op as a whole
  torch::autograd::grad({z.sum()}, {x});
  EXPECT_EQ(op->references, 2);
  EXPECT_EQ(op->forwards + op->backwards + op->seconds, 0);
  const Expression f = [&](const Tensors& xs) { return product(op, xs); };
  expect_second_gradients(f, {input(0.1), input(0.5), input(0.9)});
  expect_second_gradients(f, {input(0.1), input(0.5), Tensor()});
  // Without a graph there is nothing to keep.
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(product(op, {x, y}).requires_grad());
}

TEST(Differentiable, ABackwardPassOnAnotherThreadHasTheSwitchesOfItsCall) {
  struct Seen : Product {
    mutable bool second_expected = false;
    Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gz,
                     const std::vector<bool>& needed) const override {
      second_expected = ExpectSecondDerivatives::active();
      return Product::backward(in, out, gz, needed);
    }
  };
  for (const bool expected : {false, true}) {
    const auto op = std::make_shared<Seen>();
    const Tensor x = input(0.1).requires_grad_();
    Tensor z;
    if (expected) {
      const ExpectSecondDerivatives scope;
      z = product(op, {x, x}).sum();
    } else {
      z = product(op, {x, x}).sum();
    }
    // As autograd does for a device, whose backward pass has a thread of its own.
    std::thread([&] { torch::autograd::grad({z}, {x}); }).join();
    EXPECT_EQ(op->backwards, 1);
    EXPECT_EQ(op->second_expected, expected);
    EXPECT_FALSE(ExpectSecondDerivatives::active());
  }
}

TEST(Differentiable, ThreadsShareAnOp) {
  auto op = std::make_shared<Product>();
  std::vector<double> errors(4, 1);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < errors.size(); ++t) {
    threads.emplace_back([&, t] {
      const Tensor x = input(0.1 * static_cast<double>(t)).requires_grad_(), y = input(0.4);
      for (int i = 0; i < 50; ++i) {
        const Tensor z = call(op, {x, y, {}})[0];
        const Tensor g = torch::autograd::grad({z.sum()}, {x}, {}, true, true)[0];
        errors[t] = (torch::autograd::grad({g.sum()}, {x})[0] - 2 * y).abs().max().item<double>();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const double error : errors) {
    EXPECT_LT(error, 1e-12);
  }
}

}  // namespace differentiable_test
}  // namespace weyl
