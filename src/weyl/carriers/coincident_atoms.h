#pragma once

#include <string>

#include "weyl/carriers/points.h"

namespace weyl {

/// Atoms nearer than this, in Angstrom, lie at one place: below it forces grow without bound, or the direction from one
/// to the other is that of rounding.
constexpr double least_distance_of_atoms = 1e-3;

/// "atoms 1 (C) and 3 (H) are ..." of two atoms, or of an atom and its image along a period, that are nearer; empty where
/// there are none, and where the types of the points are no elements.
std::string coincident_atoms(const Points& points, const Interface& interface);

}  // namespace weyl
