// Maps between elements, tangents and matrices of a group, as functions from one vector to another.
#pragma once

#include "weyl/algebra/lie/groups.h"
#include "weyl/kernels/lie/maps.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

template <class T, int size>
inline Matrix<T, size> matrix_of(const Vector<T, size * size>& x) {
  Matrix<T, size> m;
  for (int i = 0; i < size * size; ++i) {
    m[i / size][i % size] = x[i];
  }
  return m;
}
template <class T, int size>
inline Vector<T, size * size> flattened(const Matrix<T, size>& m) {
  Vector<T, size * size> x;
  for (int i = 0; i < size * size; ++i) {
    x[i] = m[i / size][i % size];
  }
  return x;
}
/// The two elements of (a, b), their rotations normalised.
template <class G, class T>
inline typename G::template Element<T> half_of(const Vector<T, 2 * G::compact>& x, int half) {
  typename G::template Element<T> g;
  for (int c = 0; c < G::compact; ++c) {
    g[c] = x[half * G::compact + c];
  }
  return G::exactly_normalised(g);
}

template <class G, LieMap map>
struct Map;
template <class G>
struct Map<G, LieMap::exp> {
  static constexpr int in = G::dof, out = G::compact;
  template <class T>
  static Vector<T, out> of(const Vector<T, in>& w) {
    return exponential<G, T>(w);
  }
};
template <class G>
struct Map<G, LieMap::compose> {
  static constexpr int in = 2 * G::compact, out = G::compact;
  template <class T>
  static Vector<T, out> of(const Vector<T, in>& x) {
    return G::compose(half_of<G, T>(x, 0), half_of<G, T>(x, 1));
  }
};
template <class G>
struct Map<G, LieMap::between> {
  static constexpr int in = 2 * G::compact, out = G::compact;
  template <class T>
  static Vector<T, out> of(const Vector<T, in>& x) {
    return lie::between<G, T>(half_of<G, T>(x, 0), half_of<G, T>(x, 1));
  }
};
template <class G>
struct Map<G, LieMap::to_matrix> {
  static constexpr int in = G::compact, out = G::matrix * G::matrix;
  template <class T>
  static Vector<T, out> of(const Vector<T, in>& g) {
    return flattened<T, G::matrix>(G::to_matrix(G::exactly_normalised(g)));
  }
};
template <class G>
struct Map<G, LieMap::from_matrix> {
  static constexpr int in = G::matrix * G::matrix, out = G::compact;
  template <class T>
  static Vector<T, out> of(const Vector<T, in>& x) {
    return G::from_matrix(matrix_of<T, G::matrix>(x));
  }
};

/// f(Map<G, map>{}, G{}).
template <class F>
inline decltype(auto) visit_map(LieMap map, LieGroup group, F&& f) {
  return visit(group, [&](auto tag) {
    using G = decltype(tag);
    switch (map) {
      case LieMap::exp:
        return f(Map<G, LieMap::exp>{}, tag);
      case LieMap::compose:
        return f(Map<G, LieMap::compose>{}, tag);
      case LieMap::between:
        return f(Map<G, LieMap::between>{}, tag);
      case LieMap::to_matrix:
        return f(Map<G, LieMap::to_matrix>{}, tag);
      case LieMap::from_matrix:
        break;
    }
    return f(Map<G, LieMap::from_matrix>{}, tag);
  });
}

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
