#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "weyl/algebra/irreps/ring_filters.h"
#include "weyl/algebra/irreps/steerable_type.h"

namespace weyl::steerable {

using at::Tensor;

struct KernelOptions {
  RingOptions rings;
  OrderCoupling coupling = OrderCoupling::exact;  // in the plane
  bool restricted = false;  // fewer weights: in the plane they do not depend on the input's order, in space
                            // not on the filter's degree
  /// In space: filters of all degrees that join two irreps, up to the sum of theirs, not only to the highest of both types.
  bool all_degrees = false;
};

/// The highest order or degree of the filters between two types.
int64_t highest_filter(const SteerableType& in, const SteerableType& out, const KernelOptions& options);

struct Plan;

/// The kernels of a steerable convolution (paper, section 2.4): between output irrep l and input irrep l1
///   K_{l m, l1 m1}(p) = sum_j w_j(channel out, channel in) B_j(m, m1, p),
///   B_(l2, ring)(m, m1, p) = sum_m2 C^{l m}_{l1 m1 l2 m2} F_{l2 m2, ring}(p)    in space,
///   B_ring(p) = F_{m - m1, ring}(p)                                             in the plane,
/// F the filters of algebra/irreps/ring_filters.h. Then K(R p) = D_l(R) K(p) D_l1(R)^H for quarter turns and the 24
/// rotations of the cube, and a convolution (correlation) with K commutes with them.
class Kernel {
 public:
  /// ShapeError: types of different dimension, without irreps, or without any filter between them; in the
  /// plane restricted weights for an input whose orders have different channels.
  Kernel(SteerableType in, SteerableType out, const KernelOptions& options);

  const SteerableType in, out;

  /// Complex weights, in the order of the pairs (l, l1), channel out, channel in, filter; restricted in the
  /// plane: l, channel out, channel in, filter.
  int64_t weights() const { return weights_; }
  /// The standard deviation of each weight's modulus (weights()) float64 with which outputs are as large as
  /// inputs of independent numbers, in the mean over each output irrep.
  Tensor standard_deviations() const;

  /// (weights, 2) -> (2 F_out, 2 F_in, size, ...) real, ((Re, -Im), (Im, Re)): differentiable to any order.
  Tensor expand(const Tensor& weights) const;

  /// How to convolve without it (ops/steerable/conv.h); null where the filters do not allow it.
  const std::shared_ptr<const Plan>& plan() const { return plan_; }

 private:
  struct Pair {
    int64_t l, l1, first;  // irreps, first weight
    int64_t filters;       // J
  };
  using Bases = std::vector<Tensor>;
  /// One for each pair, (2 J, 2 M): ((Re B, Im B), (-Im B, Re B)), M over m, m1, pixel. They are made when first
  /// expanded, in the precision and on the device asked for: they are large, and the other order of evaluation
  /// has none.
  const Bases& bases(const Tensor& like) const;

  KernelOptions options_;
  RingFilters filters_;
  int64_t weights_ = 0;
  std::vector<Pair> pairs_;
  std::shared_ptr<const Plan> plan_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<at::ScalarType, std::string>, Bases> bases_;
};

/// coefficient F_(component, ring), from component m1 of the input's irrep to component m of the output's,
/// both from 0 on.
struct Product {
  int64_t m, m1, component, ring;
  double coefficient;
};

/// The filters from input irrep l1 to output irrep l, each a sum of products, in the order of their weights:
/// by ring, in space then by degree l2 unless weights are restricted. `filters` as Kernel makes
/// them. Restricted weights of the plane are those of all input orders of an output order: rings that any of
/// them has (a product whose filter `cut` dropped is zero).
std::vector<std::vector<Product>> couplings_of(const SteerableType& in, const SteerableType& out,
                                               const KernelOptions& options, const RingFilters& filters,
                                               int64_t l, int64_t l1);

}  // namespace weyl::steerable
