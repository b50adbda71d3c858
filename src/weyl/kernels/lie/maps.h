#pragma once

#include <cstdint>

#include "weyl/algebra/lie/group_numbers.h"

namespace weyl::kernels {

/// Maps row by row: exp (dof) -> (c), compose and between (a, b) (2 c) -> (c), to_matrix (c) -> (m m),
/// from_matrix back. Rotations of arguments in compact storage are normalised first.
enum class LieMap { exp, compose, between, to_matrix, from_matrix };

/// x and y: contiguous rows; rows first <= i < last. T is float or double; the affine groups compute in
/// double.
template <class T>
struct LieMaps {
  void (*forward)(LieMap map, LieGroup group, const T* x, T* y, int64_t first, int64_t last);

  /// Given the gradients gy by y, writes the gradients gx by x.
  void (*backward)(LieMap map, LieGroup group, const T* x, const T* gy, T* gx, int64_t first, int64_t last);
};

}  // namespace weyl::kernels
