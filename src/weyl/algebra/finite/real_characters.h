#pragma once

#include <cstdint>
#include <vector>

#include "weyl/algebra/finite/double_double.h"
#include "weyl/algebra/finite/group_table.h"

namespace weyl {

/// What commutes with a real irrep: the real numbers, complex numbers or quaternions.
enum class IrrepType { real, complex, quaternionic };

/// delta: 1, 2, 4.
constexpr int64_t commutant_dimension(IrrepType type) {
  return type == IrrepType::real ? 1 : type == IrrepType::complex ? 2 : 4;
}

/// The character of a real irrep. Over the complex numbers a real irrep is one irrep (type real), an irrep and its
/// conjugate (complex) or an irrep twice (quaternionic): the type is that of Frobenius' and Schur's indicator
/// (1/G) sum_g chi(g^2) = 1, 0, -1.
struct RealCharacter {
  IrrepType type = IrrepType::real;
  int64_t dimension = 0;             // d
  std::vector<DoubleDouble> values;  // (G) by element
};

/// All of them, in the order of docs/conventions.md: by dimension, then type (real, complex, quaternionic), then by the
/// first class of conjugate elements on which they differ, the larger value first; so the trivial one is the first. Exact:
/// found modulo a prime by the method of Burnside and Dixon, hence independent of rounding. Costs O(c^3 + c G), c classes.
std::vector<RealCharacter> real_characters(const GroupTable& group);

}  // namespace weyl
