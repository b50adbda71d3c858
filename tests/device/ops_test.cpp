// Every op on the device against the same op on the CPU, value, gradients and second derivatives.
#include "tests/closeness.h"
#include "tests/device/device.h"
#include "tests/oracles/case_derivatives.h"
#include "tests/oracles/kernel_cases.h"
#include "weyl/core/check.h"
#include "weyl/ops/attention/attention_forms.h"

namespace weyl {
namespace ops_test {

constexpr double least = 1e-9;  // of float64, where the oracles' numbers are of order 1
constexpr int allowed = 4;      // times what the CPU's kernels are held to: a device sums in another order

template <class F>
void expect_agreement(const F& of, double KernelTolerances::* float32, double KernelTolerances::* float64) {
  for (const KernelCase& c : kernel_cases()) {
    if (c.timed) {
      continue;
    }
    const std::vector<at::Tensor> exact = of(c, {at::kDouble, at::kCPU});
    const auto found = [&](at::ScalarType type) {
      return on_host(on_device([&](at::Device device) { return of(c, {type, device}); }));
    };
    expect_close(found(at::kDouble), exact, std::max(least, allowed * c.tolerances.*float64),
                 c.name + ", float64");
    expect_close(found(at::kFloat), exact, allowed * c.tolerances.*float32, c.name + ", float32");
  }
}

TEST(DeviceOps, ValuesAndGradientsAreTheCpus) {
  expect_agreement(&values_and_gradients, &KernelTolerances::float32, &KernelTolerances::float64);
}

TEST(DeviceOps, SecondDerivativesAreTheCpus) {
  expect_agreement(&second_derivatives, &KernelTolerances::second_float32, &KernelTolerances::second_float64);
}

struct Shape {
  std::vector<int64_t> sizes;
  int64_t heads, stored, key, value;
};

const std::vector<Shape> shapes{
    {{5, 0, 18, 1, 33, 2, 0}, 3, 3, 8, 5}, {{1}, 2, 2, 16, 16},          {{0, 1, 0}, 2, 2, 16, 16},
    {{700, 3, 64}, 4, 1, 40, 40},          {{96, 96, 96}, 8, 8, 16, 16}, {{300, 20}, 2, 2, 130, 72},
    {{129, 0, 127}, 2, 2, 320, 300}};

// Attention as this device takes it, by LibTorch's fused kernels on CUDA, against the padded form in float64.
void expect_padded(at::ScalarType type, double of_values, double of_gradients) {
  for (const Shape& s : shapes) {
    const Segments host = Segments::of_sizes(s.sizes);
    const auto run = [&](at::Device device, at::ScalarType dtype, bool padded) {
      const Segments graphs = host.to(device);
      const auto input = [&](int64_t heads, int64_t width, uint64_t seed) {
        return noise({host.rows(), heads, width}, seed).to(type).to(device, dtype).requires_grad_();
      };
      const at::Tensor q = input(s.heads, s.key, 1), k = input(s.stored, s.key, 2),
                       v = input(s.stored, s.value, 3);
      EXPECT_EQ(fused_attention_takes(q, k, v, {}, graphs), device.is_cuda() && dtype != at::kDouble);
      EXPECT_FALSE(fused_attention_takes(q, k, v, q, graphs)) << "with a bias";
      const double scale = 1 / std::sqrt(static_cast<double>(s.key));
      const at::Tensor y =
          padded ? attention_padded(q, k, v, graphs, scale) : ragged_attention(q, k, v, graphs, scale);
      const at::Tensor gy = noise({host.rows(), s.heads, s.value}, 4).to(type).to(device, dtype);
      std::vector<at::Tensor> result = torch::autograd::grad({y}, {q, k, v}, {gy});
      result.push_back(y);
      return on_host(result);
    };
    const std::vector<at::Tensor> right = run(at::kCPU, at::kDouble, true),
                                  found = run(test_device(), type, false);
    const std::string name = text("attention of ", s.sizes.size(), " graphs, width ", s.key, ", ", type);
    expect_close({found.back()}, {right.back()}, of_values, name);
    expect_close({found.begin(), found.end() - 1}, {right.begin(), right.end() - 1}, of_gradients,
                 name + ", gradients");
  }
}

TEST(DeviceAttention, Float32IsThePaddedForm) {
  expect_padded(at::kFloat, 1e-5, 1e-4);
}
TEST(DeviceAttention, Bfloat16IsThePaddedForm) {
  expect_padded(at::kBFloat16, 2e-2, 5e-2);
}

TEST(DeviceAttention, ARowDoesNotDependOnTheOtherGraphs) {
  const at::Device device = test_device();
  const Segments all = Segments::of_sizes(std::vector<int64_t>{5, 18, 7}, device),
                 one = Segments::of_sizes(std::vector<int64_t>{18}, device);
  const at::Tensor x = noise({30, 4, 16}, 1).to(device, at::kFloat);
  const auto part = [](const at::Tensor& t) { return t.slice(0, 5, 23).contiguous(); };
  const at::Tensor alone = ragged_attention(part(x), part(x), part(x), one, 0.5);
  EXPECT_LT((part(ragged_attention(x, x, x, all, 0.5)) - alone).abs().max().item<double>(), 1e-6);
}

}  // namespace ops_test
}  // namespace weyl
