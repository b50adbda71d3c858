#pragma once

#include <array>

namespace weyl {

/// The quaternion (x, y, z, w), w >= 0, of the rotation nearest to m (3, 3) row-major in the Frobenius norm,
/// also where m is singular or reflects: the first eigenvector of Davenport's matrix K, tr(R^T m) = q^T K q.
std::array<double, 4> nearest_rotation(const std::array<double, 9>& m);

}  // namespace weyl
