#pragma once

#include <array>
#include <span>

#include "weyl/algebra/lattice/vector3.h"

namespace weyl {

/// x -> R x + t in space: R is a rotation, row after row.
struct RigidFit {
  std::array<Vector3, 3> rotation{Vector3{1, 0, 0}, Vector3{0, 1, 0}, Vector3{0, 0, 1}};
  Vector3 translation{};

  Vector3 operator()(const Vector3& x) const;
};

/// The mean of points; of none the origin.
Vector3 mean_of(std::span<const Vector3> points);

/// The rigid motion that brings the points `from` nearest to the points `to`, that is with the least
///
///   sum_i |R from_i + t - to_i|^2,   R a rotation, never a reflection
///
/// (Kabsch 1976; solved by Horn's quaternions, J. Opt. Soc. Am. A 4, 629 (1987): R is that of the eigenvector of the largest
/// eigenvalue of a symmetric matrix of 4 x 4, and so always proper, also where the points lie in a plane). Of several such
/// rotations, as points on a line have them, that by the smallest angle; no points give the identity. ShapeError: numbers of
/// points that differ.
RigidFit kabsch(std::span<const Vector3> from, std::span<const Vector3> to);

}  // namespace weyl
