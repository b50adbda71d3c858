#pragma once

#include <vector>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/ops/frames/group_tables.h"

namespace weyl {

/// The dense matrix of a linear map that commutes with left translation of functions on a group:
///   y(h) = sum_g kernel[g^-1 h] x(g)            (Platonic Transformer, eq. 8,
///                                                indexed as in the authors' code)
/// kernel (G, O, I) -> (G O, G I), block (row frame h, column frame g) = kernel[g^-1 h].
Tensor expand_group_kernel(const Tensor& kernel, const GroupTables& tables);

/// The dense matrices of several kernels of the same input, one below the other: one product instead of
/// several. kernels (G, O_i, I) -> (G sum O_i, G I).
Tensor expand_group_kernels(const std::vector<Tensor>& kernels, const GroupTables& tables);

}  // namespace weyl
