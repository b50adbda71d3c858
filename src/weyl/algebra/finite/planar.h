#pragma once

#include <cstdint>
#include <utility>

#include "weyl/algebra/finite/finite_group.h"

namespace weyl {

/// (cos, sin) of 2 pi k / n, exact where they are 0, 1/2 or 1, and exactly symmetric: the values of k and n -
/// k agree, and so do those mirrored in an axis or a diagonal. n >= 1, any k.
std::pair<double, double> turn(int64_t k, int64_t n);

/// C_n: element k turns by 2 pi k / n, [[cos, -sin], [sin, cos]]. n >= 1.
FiniteGroup cyclic(int64_t n);

/// D_n, order 2n: the n rotations of `cyclic`, then element n + k = Rot_k diag(1, -1).
FiniteGroup dihedral(int64_t n);

/// {1, flip of one coordinate}: which = 1 flips y, which = 2 flips x (the authors' numbering).
FiniteGroup flop_2d(int64_t which);

/// The identity alone, in `dimension` dimensions.
FiniteGroup trivial(int64_t dimension);

}  // namespace weyl
