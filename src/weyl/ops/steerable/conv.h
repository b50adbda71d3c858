#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "weyl/algebra/irreps/ring_filters.h"
#include "weyl/algebra/irreps/steerable_type.h"
#include "weyl/kernels/steerable/conv.h"
#include "weyl/ops/steerable/kernel.h"

namespace weyl::steerable {

/// The second order of evaluation of a steerable convolution: each number of the input with the real and
/// imaginary parts of the scalar filters first (a few, the same for all channels), the couplings of irreps
/// after, then the mixing of channels. The same sums as the expanded kernel's, in the order of
/// kernels/steerable/conv.h: for l <= 2, kernel 5 and two rings about a thirtieth of its multiplications.
struct Plan {
  int64_t size = 0, filters = 0, weights = 0;  // pixels along an axis; real filters; complex weights
  bool complete = true;                        // every output irrep is reached
  std::vector<kernels::ConvIrrep> irreps;
  std::vector<kernels::ConvPair> pairs;
  std::vector<int64_t> row_terms;
  std::vector<kernels::ConvTerm> terms;
  std::vector<kernels::ConvGroup> groups;
  std::vector<int32_t> taps;
  std::vector<double> values;
  /// Where weights are shared by input irreps: (weights) which of the kernel's each one is; else empty.
  std::vector<int64_t> weight_index;

  /// Real multiplications for each output pixel: of the filters, and of couplings and mixing.
  double filter_work = 0, mixing_work = 0;

  /// Chunks of input channels, irrep after irrep: the pieces of work of a backward pass.
  int64_t chunks() const;
};

/// Null when the filters are not each even or odd, as rings are not but by fault of rounding.
std::shared_ptr<const Plan> conv_plan(const SteerableType& in, const SteerableType& out,
                                      const KernelOptions& options, const RingFilters& filters);

/// Steerable convolution of stride 1 (Kernel), without its expanded kernel: filters first, channels
/// after (Plan). x (B, 2 F_in, pixels...), weights (n, 2) as Kernel has them; `same`: zeros
/// around, so that odd kernels keep the size. Equal to the convolution with the expanded kernel but for
/// rounding, which it is on devices without kernels and for second derivatives.
Tensor conv(const Tensor& x, const Tensor& weights, const std::shared_ptr<const Kernel>& kernel, bool same);

/// True where it is the faster order: stride and dilation 1 are given, x on the CPU. By the multiplications
/// of either, at the rates measured for them; `expanded`: the dense kernel is at hand, not to be made.
bool conv_pays(const Tensor& x, const Kernel& kernel, bool same, bool expanded);

}  // namespace weyl::steerable
