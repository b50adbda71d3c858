#pragma once

#include <optional>

#include "weyl/data/formats/atoms_frame.h"

namespace weyl {

/// The shortest distance between two atoms of a frame, or an atom and its image along a period, if it is
/// below `bound`. Atoms are sorted along x and compared with those within the bound: O(N log N) for a bound
/// of a bond's length. Of cells so flat that more than 4 images along a vector are within the bound, the
/// nearest 4.
std::optional<double> shortest_distance(const AtomsFrame& frame, double bound);

}  // namespace weyl
