#pragma once

#include <cstdint>
#include <vector>

#include "weyl/algebra/irreps/ring_filters.h"
#include "weyl/algebra/irreps/steerable_type.h"
#include "weyl/ops/steerable/kernel.h"

namespace weyl::steerable {

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
