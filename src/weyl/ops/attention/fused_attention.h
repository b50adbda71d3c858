#pragma once

#include <vector>

#include "weyl/core/segments.h"

namespace weyl {

// Ragged attention (attention.h: shapes, equation) by LibTorch's fused CUDA kernels: graphs stand one behind the other and
// are told by their offsets, nothing is padded, and memory grows with the rows. Arguments are not checked again.

/// What the kernels are given: rows (N, H, C) of heads whose width they take, and where graphs with nodes begin.
struct FusedAttentionInput {
  Tensor q, k,
      v;  // (N, H, K), (N, H, K), (N, H, V): widths filled up with zeros; heads that are shared have stride 0
  Tensor offsets;  // (graphs with nodes + 1) int32, on the device
  int64_t longest = 0;
  double scale = 1;
  bool flash = false;  // by FlashAttention: below float32; else by memory-efficient attention
};

/// For q (N, H, K), k (N, H or 1, K), v (N, H or 1, V). The input of either kernel on any device, so that tests without
/// one can read it.
FusedAttentionInput fused_attention_input(const Tensor& q, const Tensor& k, const Tensor& v,
                                          const Segments& graphs, double scale);

/// Whether the kernels take these: on a CUDA device (of compute capability 8.0 or more), float32 or below, without bias, and
/// a batch that fits their grid, 65,535 graphs.
bool fused_attention_takes(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias,
                           const Segments& graphs);

/// y (N, H, V), then what the gradients need beside it.
std::vector<Tensor> fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                                    double scale);

/// The gradients of q, k and v as they are (of shared heads the sums), from the results and the gradient of y.
std::vector<Tensor> fused_attention_gradients(const Tensor& q, const Tensor& k, const Tensor& v,
                                              const Segments& graphs, double scale,
                                              const std::vector<Tensor>& results, const Tensor& gy);

}  // namespace weyl
