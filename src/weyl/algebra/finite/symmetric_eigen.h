// The largest eigenvalue's eigenvector of a small symmetric matrix, in numbers of 32 digits.
#pragma once

#include <cstdint>
#include <vector>

#include "weyl/algebra/finite/double_double.h"

namespace weyl {

/// Of length one, of either sign, by Jacobi's rotations; matrix (n, n), its eigenvalues distinct.
std::vector<DoubleDouble> top_eigenvector(int64_t n, std::vector<DoubleDouble> matrix);

}  // namespace weyl
