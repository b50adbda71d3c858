#pragma once

#include <cstdint>
#include <vector>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/algebra/finite/group_spectrum.h"

namespace weyl {

/// What a feature f of n components that every frame sees in its own way, x(g) = S_g^-1 f, is in x^ = Q^T x:
///   x^[c, a] = sum_b coefficients[c, a, b] f[b].
/// Rows c are zero but for the irreps of which S is made. The same numbers take it back:
/// (1/G) sum_g S_g y(g) = (1/G) sum_ca coefficients[c, a, b] y^[c, a].
struct LiftedSpectrum {
  int64_t components = 1;            // n
  std::vector<int64_t> irreps;       // their indices in GroupSpectrum::irreps
  std::vector<double> coefficients;  // (G, n, n)
  double remainder = 0;  // the largest difference of Q x^ from x, of unit features: more than rounding
                         // where elements are rounded
};

/// S = 1: a scalar is sqrt(G) in the trivial irrep alone. `axial`: S_g = det R_g, a pseudoscalar.
LiftedSpectrum lifted_scalar(const FiniteGroup& group, const GroupSpectrum& spectrum, bool axial = false);

/// S_g = R_g, or det R_g R_g. Elements that are rounded (FiniteGroup takes them to 1e-5) give coefficients as exact as
/// they are, and what they have in other irreps is left out.
LiftedSpectrum lifted_vector(const FiniteGroup& group, const GroupSpectrum& spectrum, bool axial = false);

/// The coefficients of one irrep, of columns c = offset + i d + l, by as few terms as there are:
///   coefficients[c, a, b] = sum_k onto[k, i, b] along[k, l, a].
/// An irrep of the real type that is once in S has one. Of n = 1 `onto` is 1.
struct LiftedFactors {
  int64_t irrep = 0;          // its index
  int64_t rank = 0;           // how many terms
  std::vector<double> onto;   // (rank, m, n)
  std::vector<double> along;  // (rank, d, n), of orthogonal rows
};
std::vector<LiftedFactors> factors_of(const LiftedSpectrum& lifted, const GroupSpectrum& spectrum);

}  // namespace weyl
