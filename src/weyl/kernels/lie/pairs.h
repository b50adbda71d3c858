#pragma once

#include <cstdint>

#include "weyl/algebra/lie/group_numbers.h"

namespace weyl::kernels {

/// Elements of one group in compact storage (algebra/lie/group_numbers.h), component by component: component c of
/// element i at planes[c * stride + i], stride >= count. T is float or double; the affine groups compute in
/// double for both.
template <class T>
struct LieElements {
  LieGroup group = LieGroup::se3;
  int64_t count = 0, stride = 0;
  const T* planes = nullptr;
};

/// Logarithms of relative poses: `pairs` of each element of a with each of b, `rows` of each element of a with
/// the one of b that has its index (then a.count = b.count = N).
template <class T>
struct LieLogs {
  /// w_ij = log(a_i^-1 b_j) in physical coordinates, rows first <= i < last: w (N_a, dof, N_b) contiguous, a
  /// row is a plane for each coordinate. margin (N_a, N_b), or null: Lie::chart_margin. Affine pairs outside
  /// the chart have w = 0 and a margin <= 0. Where a and b are the same planes, w_ii is exactly 0.
  void (*pairs)(const LieElements<T>& a, const LieElements<T>& b, T* w, T* margin, int64_t first,
                int64_t last);

  /// w_k = log(a_k^-1 b_k): w planes (dof, stride), margin (N) or null; first <= k < last.
  void (*rows)(const LieElements<T>& a, const LieElements<T>& b, T* w, int64_t stride, T* margin,
               int64_t first, int64_t last);
};

template <class T>
struct LieLogsBackward {
  /// Given the gradient by w: ga (dof, a.stride) += the one by e of a_i exp(e), rows first <= i < last, and gb
  /// (dof, b.stride) += the one by e of b_j exp(e). Either may be null. Zero outside the chart.
  void (*pairs)(const LieElements<T>& a, const LieElements<T>& b, const T* gw, T* ga, T* gb, int64_t first,
                int64_t last);

  /// Given gw (dof, stride): ga (dof, a.stride) and gb (dof, b.stride), overwritten, or null.
  void (*rows)(const LieElements<T>& a, const LieElements<T>& b, const T* gw, int64_t stride, T* ga, T* gb,
               int64_t first, int64_t last);

  /// The gradients by the numbers of g, (compact, g.stride), given those by e of g exp(e), (dof, g.stride): for
  /// (c, s) and q those of a function that does not depend on their norm.
  void (*compact)(const LieElements<T>& g, const T* by_tangent, T* by_element, int64_t first, int64_t last);
};

template <class T>
struct LieLogsSecond {
  /// The second derivative. The gradients by the numbers of a and b of the pairs' logarithms are what
  /// LieLogsBackward::compact makes of the results of `pairs`; va (compact, a.stride) and vb are gradients by
  /// those. ggw (N_a, dof, N_b), overwritten: the ones by gw. ga (compact, a.stride), gb (compact, b.stride)
  /// += the ones by the numbers of a and b; rows first <= i < last. Any of the three may be null.
  void (*pairs)(const LieElements<T>& a, const LieElements<T>& b, const T* gw, const T* va, const T* vb,
                T* ggw, T* ga, T* gb, int64_t first, int64_t last);

  /// The same for rows: gw and ggw (dof, stride); ga and gb overwritten.
  void (*rows)(const LieElements<T>& a, const LieElements<T>& b, const T* gw, int64_t stride, const T* va,
               const T* vb, T* ggw, T* ga, T* gb, int64_t first, int64_t last);
};

}  // namespace weyl::kernels
