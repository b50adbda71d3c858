#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/ops/multivectors/gate.h"
#include "weyl/ops/multivectors/norm.h"

namespace weyl {
namespace norm_gate_test {

using at::Tensor;

Tensor random(std::vector<int64_t> shape) {
  return at::randn(shape, at::kDouble);
}

Tensor mean_square(const Tensor& x) {
  return x.index_select(0, at::tensor({0, 2, 3, 4, 8, 9, 10, 14})).square().sum(0).mean(-1);
}

TEST(NormaliseMultivectors, MakesTheInnerProductsMeanOne) {
  at::manual_seed(1);
  for (const int64_t channels : {1, 5, 16, 21}) {
    const Tensor x = random({16, 6, channels}) * 3;
    const Tensor y = normalise_multivectors(x, 0.01);
    EXPECT_LT((mean_square(y) - 1).abs().max().item<double>(), 1e-12);
    EXPECT_TRUE(at::allclose(y, x / mean_square(x).sqrt().view({1, 6, 1}), 1e-12, 1e-13));
    // Below the floor it is a factor.
    EXPECT_TRUE(at::allclose(normalise_multivectors(x * 1e-3, 0.01), x * 1e-2, 1e-12, 1e-15));
    EXPECT_TRUE(at::allclose(normalise_multivectors(at::cat({x, x}, 2).narrow(2, channels, channels), 0.01),
                             y, 1e-12, 1e-13));
  }
  EXPECT_EQ(normalise_multivectors(random({16, 0, 3}), 0.01).sizes(), at::IntArrayRef({16, 0, 3}));
  EXPECT_THROW(normalise_multivectors(random({16, 2, 3}), 0), ShapeError);
  EXPECT_THROW(normalise_multivectors(random({16, 2, 0}), 0.01), ShapeError);
  EXPECT_THROW(normalise_multivectors(random({8, 2, 3}), 0.01), ShapeError);
}

TEST(NormaliseMultivectors, DerivativesAreRight) {
  at::manual_seed(2);
  const auto f = [](const auto& in) { return normalise_multivectors(in[0], 0.01); };
  for (const int64_t channels : {1, 3, 17}) {
    Tensor x = random({16, 3, channels});
    expect_second_gradients(f, {x}, {.samples = 60});
    x.select(1, 1) *= 1e-2;
    expect_second_gradients(f, {x}, {.samples = 60});
  }
  expect_finite_gradients(f, {at::zeros({16, 2, 3}, at::kDouble)});
}

Tensor activation(const Tensor& t, MultivectorGate gate) {
  switch (gate) {
    case MultivectorGate::relu:
      return at::clamp_min(t, 0);
    case MultivectorGate::sigmoid:
      return 1 / (1 + (-t).exp());
    case MultivectorGate::gelu:
      break;
  }
  return t * (1 + (std::sqrt(2 / M_PI) * (t + 0.044715 * t.pow(3))).tanh()) / 2;
}

constexpr MultivectorGate gates[] = {MultivectorGate::gelu, MultivectorGate::relu, MultivectorGate::sigmoid};

TEST(GateMultivectors, MultipliesByAnActivationOfTheScalar) {
  at::manual_seed(3);
  const Tensor x = random({16, 4, 7}) * 3;
  for (const MultivectorGate gate : gates) {
    const Tensor right = x * activation(x[0], gate);
    EXPECT_TRUE(at::allclose(gate_multivectors(x, gate), right, 1e-12, 1e-13));
    EXPECT_TRUE(at::allclose(gate_multivectors(x.transpose(1, 2).contiguous().transpose(1, 2), gate), right,
                             1e-12, 1e-13));
    expect_second_gradients([gate](const auto& in) { return gate_multivectors(in[0], gate); }, {x},
                            {.samples = 60});
  }
  EXPECT_THROW(gate_multivectors(random({15, 2, 3})), ShapeError);
}

TEST(GateMultivectors, IsFiniteFarOutAndKeepsWhatIsNoNumber) {
  for (const auto type : {at::kFloat, at::kDouble}) {
    Tensor x = at::ones({16, 1, 10}, type);
    x[0].copy_(at::tensor({-1e18, -1e4, -200.0, -90.0, -11.0, 0.0, 90.0, 200.0, 1e4, 1e18}, at::kDouble)
                   .view({1, 10}));
    for (const MultivectorGate gate : gates) {
      expect_finite_gradients([gate](const auto& in) { return gate_multivectors(in[0], gate).slice(0, 1); },
                              {x});
      const Tensor y = gate_multivectors(x, gate);
      EXPECT_TRUE(at::allclose(
          y.slice(0, 1), activation(x.slice(0, 0, 1).to(at::kDouble), gate).expand({15, 1, 10}).to(type),
          1e-5, 1e-6));
      EXPECT_TRUE(at::isnan(gate_multivectors(x * NAN, gate)).all().item<bool>());
    }
  }
}

}  // namespace norm_gate_test
}  // namespace weyl
