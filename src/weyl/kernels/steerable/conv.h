#pragma once

#include <cstdint>

namespace weyl::kernels {

/// A steerable convolution (ops/steerable/conv.h) whose kernels are sums over a few fixed filters: each input
/// number is convolved with the real filters, couplings make of the results one feature T for each pair of
/// irreps, filter and input channel, and the weights mix T to the output. The stride is 1, without dilation.

/// Up to 6 real filters that are all even or all odd, F(-p) = sign F(p), with the pixels where any is not
/// zero, one of p and -p each.
struct ConvGroup {
  int64_t first, count, sign;
  int64_t taps, tap_count, values;  // first tap; first value, those of a tap together
};
/// T += coefficient times an input number's filtered value; input = (component 2 + part) filters + filter.
struct ConvTerm {
  int64_t input;
  double coefficient;
};
/// T of one input irrep that an output irrep takes: rows of T in the order component, filter, part, from
/// `row` on (of the input irrep); weights in the order channel out, channel in, filter from `weight` on.
struct ConvPair {
  int64_t row, weight, filters, components, channels, feature;  // the last three of the output irrep
  bool first;  // no input irrep before this one reaches the output irrep
};
/// An input irrep: components, channels, its first feature; its rows of T and its pairs.
struct ConvIrrep {
  int64_t components, channels, feature;
  int64_t row, rows, pair, pairs;
};

template <class T>
struct SteerableConvInput {
  int64_t batch = 0;
  int64_t in_width = 0, out_width = 0;                                // F
  int64_t size[3] = {}, kernel[3] = {}, before[3] = {}, out[3] = {};  // before: zeros in front of an axis
  const ConvIrrep* irreps = nullptr;
  int64_t irrep_count = 0;
  const ConvPair* pairs = nullptr;
  const int64_t* row_terms = nullptr;  // (rows of all irreps + 1): the first term of each
  const ConvTerm* terms = nullptr;
  const ConvGroup* groups = nullptr;
  int64_t group_count = 0, filters = 0;
  const int32_t* taps = nullptr;  // 3 coordinates each, 0 .. kernel - 1
  const T* values = nullptr;
  const T *x = nullptr, *weights = nullptr;  // (B, 2 F, size), (weights, 2)
};

inline constexpr int64_t conv_chunk = 4;  // channels of an input irrep at a time

template <class T>
struct SteerableConv {
  /// Pieces of work of a forward pass: rows of output pixels of a sample.
  int64_t (*tiles)(const SteerableConvInput<T>& in);

  /// Numbers of scratch memory of one worker, zeros at the start.
  int64_t (*scratch)(const SteerableConvInput<T>& in, bool backward);

  /// y (B, 2 F, out), of tiles first .. last - 1; overwritten where an input irrep reaches it.
  void (*forward)(const SteerableConvInput<T>& in, T* y, T* scratch, int64_t first, int64_t last);
};

template <class T>
struct SteerableConvBackward {
  /// The gradients that chunks of input channels first .. last - 1, irrep after irrep, have in samples from ..
  /// to - 1: gx (B, 2 F, size), zeros at the start, or null; gw (weights, 2), overwritten where the chunks have
  /// weights, or null.
  void (*backward)(const SteerableConvInput<T>& in, const T* gy, T* gx, T* gw, T* scratch, int64_t first,
                   int64_t last, int64_t from, int64_t to);
};

}  // namespace weyl::kernels
