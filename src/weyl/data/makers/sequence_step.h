#pragma once

#include <vector>

#include "weyl/algebra/lie/group.h"
#include "weyl/core/random.h"

namespace weyl {

/// Physical coordinates (dof) of a step of a sequence: translation N(0, spread^2); rotations uniform in the
/// ball (interval) of radius `bound`; affine linear parts with entries N(0, 0.15^2), redrawn until all |Im
/// lambda| are below `bound`, so that no logarithm of pi / bound - 1 steps wraps.
std::vector<double> draw_step(const Lie<double>& lie, double spread, double bound, Stream& stream);

}  // namespace weyl
