#include "weyl/ops/autograd/recompute.h"

#include "tests/autocast.h"
#include "tests/gradients.h"

namespace weyl {
namespace recompute_test {

Tensor wave(std::vector<int64_t> shape, double phase) {
  const int64_t n = c10::multiply_integers(shape);
  return (at::arange(n, at::kDouble) * 0.7 + phase).sin().view(shape);
}

/// tanh(x w) p, which keeps several tensors for its derivatives; p may be undefined.
struct Layer {
  Tensor weight;
  mutable int calls = 0;
  Tensor operator()(const Tensors& in) const {
    ++calls;
    const Tensor y = at::tanh(at::matmul(in[0], weight));
    return in.size() > 1 && in[1].defined() ? y * in[1] : y;
  }
};

std::shared_ptr<Layer> layer() {
  return std::make_shared<Layer>(Layer{wave({4, 3}, 0.2).requires_grad_()});
}

Tensor through(const std::shared_ptr<Layer>& f, const Tensors& inputs, bool again) {
  return again ? recomputed([f](const Tensors& in) { return (*f)(in); }, inputs, {f->weight}) : (*f)(inputs);
}

TEST(Recomputed, HasTheValueAndTheDerivativesOfWhatItRepeats) {
  const auto f = layer();
  const auto of = [&](const auto& in) { return through(f, {in[0], in[1]}, true); };
  expect_second_gradients(of, {wave({2, 4}, 0.5), wave({2, 3}, 1.1)});
  const Tensor x = wave({2, 4}, 0.5), p = wave({2, 3}, 1.1);
  EXPECT_TRUE(at::equal(through(f, {x, p}, true), through(f, {x, p}, false)));
  Tensor of_weights[2];
  for (const bool again : {false, true}) {  // no input needs a gradient: the weights do
    of_weights[again] = torch::autograd::grad({through(f, {x, {}}, again).square().sum()}, {f->weight})[0];
  }
  EXPECT_TRUE(at::equal(of_weights[0], of_weights[1]));
}

TEST(Recomputed, IsDifferentiatedByWeightsAfterInputs) {  // as training on forces does
  const auto f = layer();
  Tensor found[2];
  for (const bool again : {false, true}) {
    const Tensor x = wave({2, 4}, 0.5).requires_grad_();
    const Tensor force = torch::autograd::grad({through(f, {x}, again).sum()}, {x}, {}, true, true)[0];
    found[again] = torch::autograd::grad({force.square().sum()}, {f->weight})[0];
  }
  EXPECT_LT((found[0] - found[1]).abs().max().item<double>(), 1e-14);
  EXPECT_GT(found[0].abs().max().item<double>(), 1e-3);
}

TEST(Recomputed, RunsTwiceOnlyWhereADerivativeMayBeAsked) {
  const auto f = layer();
  const Tensor x = wave({2, 4}, 0.5);
  torch::autograd::grad({through(f, {x}, true).sum()}, {f->weight});
  EXPECT_EQ(f->calls, 2);
  {
    const at::NoGradGuard no_grad;
    through(f, {x}, true);
  }
  EXPECT_EQ(f->calls, 3);
}

TEST(Recomputed, DrawsTheSameAndLeavesTheGeneratorWhereItWas) {
  const Tensor w = wave({500}, 0.1).requires_grad_();
  const auto drop = [w](const Tensors& in) { return at::dropout(in[0] * w, 0.5, true); };
  at::manual_seed(4);
  const Tensor y = recomputed(drop, {at::ones({500}, at::kDouble)}, {w});
  const Tensor kept = y.detach().ne(0), next = at::rand({3});
  const Tensor gradient = torch::autograd::grad({y.sum()}, {w})[0];
  EXPECT_TRUE(at::equal(gradient.ne(0), kept));
  EXPECT_GT(kept.sum().item<int64_t>(), 150);
  EXPECT_LT(kept.sum().item<int64_t>(), 350);
  at::manual_seed(4);
  at::dropout(w.detach(), 0.5, true);
  EXPECT_TRUE(at::equal(at::rand({3}), next));
  const Tensor after = at::rand({3});
  at::manual_seed(4);
  at::dropout(w.detach(), 0.5, true);
  at::rand({3});
  EXPECT_TRUE(at::equal(at::rand({3}), after));
}

TEST(Recomputed, KnowsAutocastAgain) {
  const auto f = std::make_shared<Layer>(Layer{wave({4, 3}, 0.2).to(at::kFloat).detach().requires_grad_()});
  const Tensor x = wave({2, 4}, 0.5).to(at::kFloat).requires_grad_();
  Tensor y[2], of_x[2], of_w[2];
  for (const bool again : {false, true}) {
    {
      const Autocast bf16;
      y[again] = through(f, {x}, again);
    }
    const Tensors found = torch::autograd::grad({y[again].sum()}, {x, f->weight});
    of_x[again] = found[0];
    of_w[again] = found[1];
  }
  EXPECT_EQ(y[1].scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::equal(y[0], y[1]));
  EXPECT_TRUE(at::equal(of_x[0], of_x[1]));
  EXPECT_TRUE(at::equal(of_w[0], of_w[1]));
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
}

TEST(Recomputed, SeesASecondPathToAnInputOnce) {
  const Tensor x = wave({3}, 0.3).requires_grad_();
  const Tensor square = x * x;  // depends on x too
  const auto product = [](const Tensors& in) { return in[0] * in[1]; };
  const Tensor cube = recomputed(product, {x, square}, {});
  EXPECT_LT((torch::autograd::grad({cube.sum()}, {x})[0] - 3 * x * x).abs().max().item<double>(), 1e-15);
}

}  // namespace recompute_test
}  // namespace weyl
