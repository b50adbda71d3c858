#pragma once

#include <vector>

#include "weyl/ops/frames/group_tables.h"

namespace weyl::platonic {

/// Lifts features to functions on the group (paper, section 3.1): in frame g a scalar is itself, a vector u
/// is R_g^T u; pseudoscalars and axial vectors are also multiplied by det R_g.
///   scalars (N, S), vectors (N, V, D), either may be undefined -> (N, G (S + V D)), frames first; in a frame
///   the scalars come first, then the vectors, coordinate fastest.
/// pseudo (S) and axial (V) say which are odd under reflections.
Tensor lift(const Tensor& scalars, const Tensor& vectors, const std::vector<bool>& pseudo,
            const std::vector<bool>& axial, const GroupTables& tables);

/// The mean over frames: x (N, G c) -> (N, c); the columns marked `pseudo` times det R_g.
Tensor frame_scalars(const Tensor& x, const std::vector<bool>& pseudo, const GroupTables& tables);

/// Vectors in the world from vectors in frames: (1/G) sum_g R_g v_g, x (N, G c D) -> (N, c, D); those marked
/// `axial` times det R_g.
Tensor frame_vectors(const Tensor& x, const std::vector<bool>& axial, const GroupTables& tables);

}  // namespace weyl::platonic
