// What LibTorch's fused CUDA kernels are given, read here as they read it; their own numbers: tests/device.
#include "weyl/ops/attention/attention_forms.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/closeness.h"
#include "tests/oracles/kernel_case.h"
#include "weyl/ops/attention/attention.h"

namespace weyl {
namespace fused_attention_test {

/// Attention of rows between consecutive offsets, head by head: what the kernels compute.
at::Tensor as_kernels_read(const FusedAttentionInput& in) {
  const at::Tensor y = at::full_like(in.v, NAN, at::MemoryFormat::Contiguous);
  const at::Tensor offsets = in.offsets.to(at::kLong);
  for (int64_t g = 0; g + 1 < offsets.size(0); ++g) {
    const int64_t first = offsets[g].item<int64_t>(), n = offsets[g + 1].item<int64_t>() - first;
    EXPECT_GT(n, 0) << "a graph without nodes is none to the kernels";
    EXPECT_LE(n, in.longest);
    const auto heads = [&](const at::Tensor& x) { return x.narrow(0, first, n).transpose(0, 1); };
    const at::Tensor scores = at::matmul(heads(in.q), heads(in.k).transpose(1, 2)) * in.scale;
    y.narrow(0, first, n).copy_(at::matmul(scores.softmax(-1), heads(in.v)).transpose(0, 1));
  }
  return y;
}

bool begins_where_a_load_may(const at::Tensor& x) {
  const auto in_loads = [&](int64_t numbers) {
    return numbers * static_cast<int64_t>(x.element_size()) % 16 == 0;
  };
  return x.stride(-1) == 1 && in_loads(x.size(-1)) && in_loads(x.stride(0)) && in_loads(x.stride(1)) &&
         reinterpret_cast<uintptr_t>(x.const_data_ptr()) % 16 == 0;
}

TEST(FusedAttention, ReadsRaggedEmptyAndSingleTokenGraphs) {
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{5, 0, 18, 1, 0, 0, 33, 2, 0}, {1}, {0, 1, 0}, {0, 7}, {16, 16}}) {
    const Segments graphs = Segments::of_sizes(sizes);
    const int64_t n = graphs.rows();
    for (const auto& [heads, stored, key, value] :
         {std::array<int64_t, 4>{3, 3, 8, 8}, {3, 3, 8, 5}, {4, 1, 7, 9}, {1, 1, 13, 40}}) {
      for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        const at::Tensor q = noise({n, heads, key}, 1).to(type), k = noise({n, stored, key}, 2).to(type),
                         v = noise({n, stored, value}, 3).to(type);
        const FusedAttentionInput in = fused_attention_input(q, k, v, graphs, 0.3);
        EXPECT_EQ(in.flash, type == at::kBFloat16);
        EXPECT_EQ(in.offsets.scalar_type(), at::kInt);
        EXPECT_EQ(in.longest, graphs.longest());
        for (const at::Tensor& x : {in.q, in.k, in.v}) {
          EXPECT_TRUE(begins_where_a_load_may(x)) << x.sizes() << " " << x.strides();
          EXPECT_EQ(x.size(1), heads);
          EXPECT_TRUE(!in.flash || x.size(2) == in.q.size(2)) << "FlashAttention has one width";
        }
        const FusedAttentionInput wide{in.q.to(at::kFloat), in.k.to(at::kFloat), in.v.to(at::kFloat),
                                       in.offsets,          in.longest,          in.scale};
        const at::Tensor right =
            ragged_attention(q.to(at::kDouble), k.to(at::kDouble), v.to(at::kDouble), graphs, 0.3);
        expect_close({as_kernels_read(wide).narrow(-1, 0, value)}, {right}, 1e-5, "read as the kernels do");
      }
    }
  }
}

TEST(FusedAttention, RowsInsideOtherTensorsAreCopiedOnlyWhereALoadCannotBegin) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{4});
  const at::Tensor all = noise({4, 3, 2, 8}, 1).to(at::kFloat);
  const auto first_of = [&](const at::Tensor& x) { return fused_attention_input(x, x, x, graphs, 1).q; };
  EXPECT_EQ(first_of(all.select(1, 2)).const_data_ptr(), all.select(1, 2).const_data_ptr());
  const at::Tensor odd = noise({4, 2, 9}, 2).to(at::kFloat).narrow(2, 1, 8);
  EXPECT_FALSE(begins_where_a_load_may(odd));
  EXPECT_TRUE(begins_where_a_load_may(first_of(odd)));
}

// Where LibTorch has a fused kernel for CPUs, of graphs of one size: an oracle that shares no code with ours.
TEST(FusedAttention, LibTorchsOwnKernelOnTheCpuAgrees) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{12, 12, 12});
  const at::Tensor q = noise({36, 4, 16}, 1).requires_grad_(), k = noise({36, 4, 16}, 2).requires_grad_(),
                   v = noise({36, 4, 16}, 3).requires_grad_(), gy = noise({36, 4, 16}, 4);
  const auto batched = [](const at::Tensor& x) { return x.view({3, 12, 4, 16}).transpose(1, 2); };
  const at::Tensor dense = std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(
                                           batched(q), batched(k), batched(v), 0.0, false, {}, 0.2))
                               .transpose(1, 2)
                               .reshape({36, 4, 16});
  const at::Tensor ours = ragged_attention(q, k, v, graphs, 0.2);
  expect_close({ours}, {dense}, 1e-13, "values");
  expect_close(torch::autograd::grad({ours}, {q, k, v}, {gy}),
               torch::autograd::grad({dense}, {q, k, v}, {gy}), 1e-13, "gradients");
}

}  // namespace fused_attention_test
}  // namespace weyl
