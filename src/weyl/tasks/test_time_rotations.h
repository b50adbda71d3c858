#pragma once

#include <functional>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/dataset.h"
#include "weyl/tasks/options.h"

namespace weyl {

/// Whether these rotations move a grid of D dimensions onto itself: 1, 2, 4, and 24 in space, not drawn at random.
bool turns_grids(const TestTimeRotations& rotations, int64_t dimension);

/// The rotations of a volume that a data set has to make anew, the identity first. Empty where the grid turns exactly, in the
/// plane, and for rotations drawn at random.
std::vector<Placement> placements_of(const TestTimeRotations& rotations, Carrier carrier, int64_t dimension);

/// The rotations of D-dimensional space that the options name, (R, D, D) float64, the identity first.
/// ConfigError: a grid and a count it cannot turn by without interpolation.
Tensor matrices_of(const TestTimeRotations& rotations, Carrier carrier, int64_t dimension);

/// The mean over the rotations g of g^-1 f(g x), of one tensor f that moves as `output` (scalars of graph or
/// node level). Points turn about the origin, poses from the left, grids about their centre, one
/// whose axes are not of one length becoming a grid of the lengths exchanged.
Tensor mean_over_rotations(const TestTimeRotations& rotations, const Input& input, const Interface& interface,
                           const Quantity& output, const std::function<Tensor(const Input&)>& f);

/// The mirror images of D-dimensional space that the options name, (2^n, D, D) float64 of n axes, the identity first; without
/// options the identity alone. ConfigError: an axis that is not there, or twice.
Tensor mirrors_of(const std::optional<TestTimeMirrors>& mirrors, int64_t dimension);

/// The same mean over mirror images of a grid.
Tensor mean_over_mirrors(const std::optional<TestTimeMirrors>& mirrors, const Grid& grid,
                         const Interface& interface, const Quantity& output,
                         const std::function<Tensor(const Input&)>& f);

}  // namespace weyl
