// All six groups, and the way from the run-time group to the compiled one.
#pragma once

#include "weyl/algebra/lie/aff2.h"
#include "weyl/algebra/lie/aff3.h"
#include "weyl/algebra/lie/se2.h"
#include "weyl/algebra/lie/se3.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

/// f(SO2{}), f(SE2{}), ...
template <class F>
inline decltype(auto) visit(LieGroup group, F&& f) {
  switch (group) {
    case LieGroup::so2:
      return f(SO2{});
    case LieGroup::se2:
      return f(SE2{});
    case LieGroup::so3:
      return f(SO3{});
    case LieGroup::se3:
      return f(SE3{});
    case LieGroup::aff2:
      return f(AFF2{});
    case LieGroup::aff3:
      break;
  }
  return f(AFF3{});
}

/// What a group computes in when its elements are stored in T.
template <class G, class T>
using Computed = std::conditional_t<is_rigid(G::group), T, double>;

/// Gradients by e of log(exp(-e) g) and of log(g exp(e)), given the one by log g: -J_l^-T gw and J_r^-T gw.
template <class G, class T>
inline void log_adjoint(const typename G::template Element<T>& g, const typename G::template Tangent<T>& gw,
                        typename G::template Tangent<T>& left, typename G::template Tangent<T>& right) {
  if constexpr (is_rigid(G::group)) {
    const auto w = G::log(g);
    left = -G::left_inverse_transposed(w, gw);
    right = G::left_inverse_transposed(-w, gw);
  } else {
    G::log_adjoint(g, gw, left, right);
  }
}

/// What logarithms take of an element: its rotation normalised, a singular affine map as 0 (see
/// Affine::anchor).
template <class G, class T>
inline typename G::template Element<T> admitted(const typename G::template Element<T>& g) {
  if constexpr (is_rigid(G::group)) {
    return G::exactly_normalised(g);
  } else {
    return G::regular_or_zero(g);
  }
}

/// exp(w); NaN where a coordinate is not finite.
template <class G, class T>
inline typename G::template Element<T> exponential(const typename G::template Tangent<T>& w) {
  T nothing = w[0] - w[0];
  for (int k = 1; k < G::dof; ++k) {
    nothing += w[k] - w[k];
  }
  const auto finite = nothing < T(1);
  typename G::template Tangent<T> safe;
  for (int k = 0; k < G::dof; ++k) {
    safe[k] = select(finite, w[k], T(0));
  }
  auto g = G::exp(safe);
  for (int c = 0; c < G::compact; ++c) {
    g[c] = select(finite, g[c], nothing);
  }
  return g;
}

/// g_a^-1 g_b, the difference of the translations first.
template <class G, class T>
inline typename G::template Element<T> between(const typename G::template Element<T>& a,
                                               const typename G::template Element<T>& b) {
  return G::from_anchor(G::anchor(a), b);
}

/// From a gradient gw by w = log(a^-1 b), the gradients by the numbers of a and b, of any norm of q and (c, s).
/// On dual numbers: the second derivative.
template <class G, class T>
inline void log_between_gradient(const typename G::template Element<T>& a,
                                 const typename G::template Element<T>& b,
                                 const typename G::template Tangent<T>& gw,
                                 typename G::template Element<T>& ga, typename G::template Element<T>& gb) {
  typename G::template Tangent<T> left, right;
  const auto x = admitted<G, T>(a), y = admitted<G, T>(b);
  log_adjoint<G, T>(between<G, T>(x, y), gw, left, right);
  ga = G::compact_gradient(is_rigid(G::group) ? a : x, left);
  gb = G::compact_gradient(is_rigid(G::group) ? b : y, right);
}

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
