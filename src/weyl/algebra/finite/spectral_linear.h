#pragma once

#include <cstdint>
#include <span>

#include "weyl/algebra/finite/group_spectrum.h"

namespace weyl {

// The linear maps that commute with left translation, y(h) = sum_g kernel[g^-1 h] x(g), x (G, I), y (G, O), kernel
// (G, O, I), by irreps (Platonic Transformers, appendix N). With x^ = Q^T x and y^ = Q^T y the columns of one irrep,
// m runs of d, are matrices x^_r (m, d I) and y^_r (m, d O), channels innermost, and
//
//   y^_r = x^_r W_r^T,   W_r[(j, o), (l, c)] = sum_a rho(a)_lj kernel[a, o, c]
//
// one matrix product each. For the paper's eq. 8, kernel[h^-1 g], rho(a)_jl stands in place of rho(a)_lj. The map from
// kernel to blocks is orthogonal up to a factor of each irrep, so its transpose, which gradients take, also inverts it.

/// W_r (d O, d I) of a kernel. ShapeError unless sizes fit.
void spectral_block(const GroupSpectrum& spectrum, const RealIrrep& irrep, int64_t out, int64_t in,
                    std::span<const double> kernel, std::span<double> block);

/// Adds factor sum_lj rho(a)_lj block[(j, o), (l, c)] to kernel[a, o, c]. With factor 1 that is the gradient by the kernel
/// of what has the gradient `block` by W_r; with `spatial_factor` the sum over all irreps is the kernel of the blocks W_r.
void add_to_kernel(const GroupSpectrum& spectrum, const RealIrrep& irrep, int64_t out, int64_t in,
                   double factor, std::span<const double> block, std::span<double> kernel);

/// d / (delta G).
double spatial_factor(const GroupSpectrum& spectrum, const RealIrrep& irrep);

/// Of a token, without the transforms: I O sum_r m d^2. The dense matrix has G^2 I O.
int64_t spectral_multiply_adds(const GroupSpectrum& spectrum, int64_t out, int64_t in);

}  // namespace weyl
