// The torch expressions on a CUDA device: the same numbers as on the CPU. Skipped where there is none.
#include <gtest/gtest.h>

#include "tests/gradients.h"
#include "tests/oracles/kernel_cases.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasCUDA()) {
      GTEST_SKIP() << "no CUDA device: the torch expressions are checked on the CPU alone";
    }
  }
};

void expect_same(const at::Tensor& device, const at::Tensor& host) {
  EXPECT_TRUE(device.is_cuda());
  EXPECT_TRUE(at::allclose(device.cpu(), host, 1e-10, 1e-11));
}

TEST_F(Cuda, AttentionAndItsGradients) {
  const std::vector<int64_t> sizes{5, 0, 18, 1};
  const Segments host = Segments::of_sizes(sizes), device = host.to(at::kCUDA);
  const auto run = [&](const Segments& graphs, at::Device where) {
    const at::Tensor p = noise({24, 64}, 1).to(where).requires_grad_(), bias = noise({2, 16}, 2).to(where);
    const at::Tensor angles = noise({24, 4, 4}, 3).to(where).requires_grad_();
    const at::Tensor y = rotary_attention(p, bias, angles, graphs, 4, 0.5, true);
    auto result = torch::autograd::grad({y.pow(2).sum()}, {p, angles});
    result.push_back(y.detach());
    return result;
  };
  const auto on_host = run(host, at::kCPU), on_device = run(device, at::kCUDA);
  for (size_t i = 0; i < on_host.size(); ++i) {
    expect_same(on_device[i], on_host[i]);
  }
}

TEST_F(Cuda, LieAttentionAndItsGradients) {
  const Segments host = Segments::of_sizes(std::vector<int64_t>{5, 0, 18, 1}), device = host.to(at::kCUDA);
  for (const LieGroup group : {LieGroup::se3, LieGroup::aff2, LieGroup::aff3}) {
    const auto run = [&](const Segments& graphs, at::Device where) {
      const auto blocks = static_cast<int64_t>(blocks_of(group).size());
      const at::Tensor w = noise({24, degrees_of_freedom(group)}, 1, 0.2).to(where).requires_grad_();
      const at::Tensor v = noise({24, 2, 5}, 2).to(where).requires_grad_();
      const at::Tensor weights = noise({2, blocks}, 3).exp().to(where).requires_grad_();
      const lie::Attention y =
          lie::attention(lie::exp(w, group), v, weights, graphs, group, ChartPolicy::mask);
      auto result =
          torch::autograd::grad({y.mixed.pow(2).sum() + y.coordinates.pow(2).sum()}, {w, v, weights});
      result.push_back(y.mixed.detach());
      result.push_back(y.coordinates.detach());
      return result;
    };
    const auto on_host = run(host, at::kCPU), on_device = run(device, at::kCUDA);
    for (size_t i = 0; i < on_host.size(); ++i) {
      expect_same(on_device[i], on_host[i]);
    }
  }
}

TEST_F(Cuda, FrameOpsAndGroupKernels) {
  const at::Tensor x = noise({9, 12}, 1), b = noise({4}, 2), w = noise({4}, 3);
  const auto to = [](const at::Tensor& t) { return t.to(at::kCUDA); };
  expect_same(bias_gelu(to(x), to(b)), bias_gelu(x, b));
  expect_same(add_branch_and_norm(to(x), to(x), to(b), {to(w), to(b)}).normed,
              add_branch_and_norm(x, x, b, {w, b}).normed);
  const GroupTables tables(named_group("octahedron"));
  const at::Tensor kernel = noise({24, 2, 3}, 4);
  expect_same(expand_group_kernel(to(kernel), tables), expand_group_kernel(kernel, tables));
}

TEST_F(Cuda, Segments) {
  const Segments host = Segments::of_sizes(std::vector<int64_t>{3, 0, 4}), device = host.to(at::kCUDA);
  const at::Tensor x = noise({7, 3}, 1);
  expect_same(segment_mean(x.to(at::kCUDA), device), segment_mean(x, host));
  expect_same(segment_softmax(x.to(at::kCUDA), device), segment_softmax(x, host));
}

}  // namespace
}  // namespace weyl
