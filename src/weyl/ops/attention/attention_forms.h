#pragma once

#include <vector>

#include "weyl/core/segments.h"

namespace weyl {

/// Ragged rows as a batch of the non-empty graphs, padded to the longest. Padding repeats a real row of the
/// same graph, so nothing that is masked out can be infinite. Its tables are on the device of the graphs' index.
struct Padding {
  explicit Padding(const Segments& graphs);

  Tensor pad(const Tensor& x) const;    // (N, H, C) -> (batch, H, longest, C)
  Tensor unpad(const Tensor& x) const;  // (batch, H, longest, C) -> (N, H, C)
  Tensor pad_pairs(const Tensor& pairs,
                   const Segments& graphs) const;  // (pairs, H) -> (batch, H, longest, longest)

  int64_t batch = 0, longest = 1;
  bool full = true;   // all graphs have `longest` nodes: no mask needed
  Tensor rows;        // (batch * longest) int64: the row of each place
  Tensor places;      // (N) int64: the place of each row
  Tensor empty_keys;  // (batch, 1, 1, longest) bool: place holds no node
};

// Ragged attention (encoder.h: shapes, equation) as two torch expressions, both differentiable to any
// order on any device. Arguments are not checked again.

/// The definition, written out: a list of all ordered pairs (i, j) of one graph, a softmax over the pairs of
/// each (i, h), a sum over them; gathers and scatters, as in the ragged code of the field. Tensors of pairs x
/// H x K numbers, and an N x N table.
Tensor attention_by_pairs(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                          double scale, const Tensor& bias = {});

/// Graphs padded to the longest, as batched matrix products with a mask: for devices without kernels.
/// Tensors of B x H x longest x longest numbers.
Tensor attention_padded(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                        double scale, const Tensor& bias = {});

/// The same with each weight of the softmax dropped with probability `dropout` and the others divided by 1 - dropout.
Tensor attention_dropped(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                         double scale, double dropout);

// Ragged attention (encoder.h: shapes, equation) by LibTorch's fused CUDA kernels: graphs stand one behind the other and
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
