// Packs from and to planes of either precision. Included by kernel files alone.
#pragma once

#include "weyl/algebra/lie/groups.h"
#include "weyl/kernels/lie/pack.h"
#include "weyl/kernels/lie/pairs.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

/// `left` numbers or a whole pack of them; the other lanes hold `fill`.
template <class S, class T>
inline Pack<S> read(const T* p, int64_t left, double fill) {
  constexpr int64_t step = Pack<S>::lanes;
  if (left < step) {
    Vec<S> v = spread(static_cast<S>(fill));
    for (int64_t i = 0; i < left; ++i) {
      v[i] = static_cast<S>(p[i]);
    }
    return Pack<S>(v);
  }
  if constexpr (std::is_same_v<S, T>) {
    return Pack<S>(load(p));
  } else {
    typedef T Narrow __attribute__((vector_size(step * sizeof(T))));  // NOLINT(modernize-use-using)
    Narrow v;
    __builtin_memcpy(&v, p, sizeof v);
    return Pack<S>(__builtin_convertvector(v, Vec<S>));
  }
}
template <class T, class S>
inline void write(T* p, Pack<S> x, int64_t left) {
  constexpr int64_t step = Pack<S>::lanes;
  if (left < step) {
    for (int64_t i = 0; i < left; ++i) {
      p[i] = static_cast<T>(x.v[i]);
    }
    return;
  }
  if constexpr (std::is_same_v<S, T>) {
    store(p, x.v);
  } else {
    typedef T Narrow __attribute__((vector_size(step * sizeof(T))));  // NOLINT(modernize-use-using)
    const Narrow v = __builtin_convertvector(x.v, Narrow);
    __builtin_memcpy(p, &v, sizeof v);
  }
}

/// Elements at, at + 1, ... of the planes; the identity beyond their end.
template <class G, class S, class T>
inline typename G::template Element<Pack<S>> read_elements(const LieElements<T>& g, int64_t at) {
  const auto fill = G::template identity<double>();
  typename G::template Element<Pack<S>> e;
  for (int c = 0; c < G::compact; ++c) {
    e[c] = read<S>(g.planes + c * g.stride + at, g.count - at, fill[c]);
  }
  return e;
}
/// The anchor of element i, in every lane.
template <class G, class S, class T>
inline typename G::template Element<Pack<S>> anchor_of(const LieElements<T>& g, int64_t i) {
  typename G::template Element<S> e;
  for (int c = 0; c < G::compact; ++c) {
    e[c] = static_cast<S>(g.planes[c * g.stride + i]);
  }
  e = G::anchor(e);
  typename G::template Element<Pack<S>> all;
  for (int c = 0; c < G::compact; ++c) {
    all[c] = Pack<S>(e[c]);
  }
  return all;
}
/// `n` planes at p, p + stride, ...; zeros beyond their end.
template <class S, int n, class T>
inline Vector<Pack<S>, n> read_planes(const T* p, int64_t stride, int64_t left) {
  Vector<Pack<S>, n> v;
  for (int c = 0; c < n; ++c) {
    v[c] = read<S>(p + c * stride, left, 0);
  }
  return v;
}
template <class S, int n, class T>
inline void write_planes(T* p, int64_t stride, int64_t left, const Vector<Pack<S>, n>& v) {
  for (int c = 0; c < n; ++c) {
    write(p + c * stride, v[c], left);
  }
}

/// The logarithm; 0 outside the chart of an affine group. `margin` is written when asked for.
template <class G, class S>
inline typename G::template Tangent<Pack<S>> guarded_log(const typename G::template Element<Pack<S>>& g,
                                                         Pack<S>* margin) {
  auto w = G::log(g);
  if constexpr (is_rigid(G::group)) {
    if (margin) {
      *margin = G::margin(g);
    }
  } else {
    const Pack<S> inside = G::margin(g);
    w = select(inside > Pack<S>(0), w, zeros<Pack<S>, G::dof>());
    const auto number = (inside > Pack<S>(0)) | (inside < Pack<S>(1));
    for (int k = 0; k < G::dof; ++k) {
      w[k] = select(number, w[k], inside);  // of NaN comes NaN
    }
    if (margin) {
      *margin = inside;
    }
  }
  return w;
}
/// Gradients by e of a exp(e) and of b exp(e), given the one by log(a^-1 b), g = a^-1 b.
template <class G, class S>
inline void guarded_adjoint(const typename G::template Element<Pack<S>>& g,
                            const typename G::template Tangent<Pack<S>>& gw,
                            typename G::template Tangent<Pack<S>>& by_a,
                            typename G::template Tangent<Pack<S>>& by_b) {
  log_adjoint<G, Pack<S>>(g, gw, by_a, by_b);
  if constexpr (!is_rigid(G::group)) {
    const auto inside = G::margin(g) > Pack<S>(0);
    by_a = select(inside, by_a, zeros<Pack<S>, G::dof>());
    by_b = select(inside, by_b, zeros<Pack<S>, G::dof>());
  }
}

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
