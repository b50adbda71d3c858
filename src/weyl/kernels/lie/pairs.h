#pragma once

#include <cstdint>

#include "weyl/algebra/lie/group_list.h"

namespace weyl::kernels {

/// Elements of one group in compact storage (algebra/lie/group_list.h), component by component: component c of
/// element i at planes[c * stride + i], stride >= count. T is float or double; the affine groups compute in
/// double for both.
template <class T>
struct LieElements {
  LieGroup group = LieGroup::se3;
  int64_t count = 0, stride = 0;
  const T* planes = nullptr;
};

/// w_ij = log(a_i^-1 b_j) in physical coordinates, rows first <= i < last: w (N_a, dof, N_b) contiguous, a
/// row is a plane for each coordinate. margin (N_a, N_b), or null: Lie::chart_margin. Affine pairs
/// outside the chart have w = 0 and a margin <= 0. Where a and b are the same planes, w_ii is exactly 0.
template <class T>
void lie_pair_logs(const LieElements<T>& a, const LieElements<T>& b, T* w, T* margin, int64_t first,
                   int64_t last);

/// Given the gradient by w: ga (dof, a.stride) += the one by e of a_i exp(e), rows first <= i < last, and gb
/// (dof, b.stride) += the one by e of b_j exp(e). Either may be null. Zero outside the chart.
template <class T>
void lie_pair_logs_backward(const LieElements<T>& a, const LieElements<T>& b, const T* gw, T* ga, T* gb,
                            int64_t first, int64_t last);

/// w_k = log(a_k^-1 b_k), a.count = b.count = N: w planes (dof, stride), margin (N) or null; first <= k <
/// last.
template <class T>
void lie_logs(const LieElements<T>& a, const LieElements<T>& b, T* w, int64_t stride, T* margin,
              int64_t first, int64_t last);
/// Given gw (dof, stride): ga (dof, a.stride) and gb (dof, b.stride), overwritten, or null.
template <class T>
void lie_logs_backward(const LieElements<T>& a, const LieElements<T>& b, const T* gw, int64_t stride, T* ga,
                       T* gb, int64_t first, int64_t last);

/// Of gradients by e of g exp(e), (dof, g.stride), the gradients by the numbers of g, (compact, g.stride):
/// for (c, s) and q those of a function that does not depend on their norm.
template <class T>
void lie_compact_gradients(const LieElements<T>& g, const T* by_tangent, T* by_element, int64_t first,
                           int64_t last);

/// The second derivative. The gradients by the numbers of a and b of the pairs' logarithms are
/// lie_compact_gradients of lie_pair_logs_backward's results; va (compact, a.stride) and vb are gradients by
/// those. ggw (N_a, dof, N_b), overwritten: the ones by gw. ga (compact, a.stride), gb (compact, b.stride) +=
/// the ones by the numbers of a and b; rows first <= i < last. Any of the three may be null.
template <class T>
void lie_pair_logs_second(const LieElements<T>& a, const LieElements<T>& b, const T* gw, const T* va,
                          const T* vb, T* ggw, T* ga, T* gb, int64_t first, int64_t last);
/// The same for lie_logs: gw and ggw (dof, stride); ga and gb overwritten.
template <class T>
void lie_logs_second(const LieElements<T>& a, const LieElements<T>& b, const T* gw, int64_t stride,
                     const T* va, const T* vb, T* ggw, T* ga, T* gb, int64_t first, int64_t last);

}  // namespace weyl::kernels
