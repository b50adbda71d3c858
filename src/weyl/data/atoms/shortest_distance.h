#pragma once

#include <optional>
#include <string>

#include "weyl/algebra/lattice/closest_pair.h"
#include "weyl/carriers/atoms_frame.h"

namespace weyl {

/// The shortest distance between two atoms of a frame, or an atom and its image along a period, if it is
/// below `bound` (algebra/lattice/closest_pair.h).
std::optional<ClosestPair> shortest_distance(const AtomsFrame& frame, double bound);

/// Two atoms nearer than this, in Angstrom, lie on one another: no molecule has such.
constexpr double overlap = 0.5;

/// "atoms 3 (O) and 7 (H) are 0.1 apart", counted from 1.
std::string overlap_text(const AtomsFrame& frame, const ClosestPair& found);

/// A warning of two atoms that overlap: `where`, which ones, how far apart they are; empty if none do.
std::string overlap_warning(const AtomsFrame& frame, const std::string& where,
                            const std::string& length_unit);

}  // namespace weyl
