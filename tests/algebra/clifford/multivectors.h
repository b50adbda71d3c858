// Random multivectors and versors, and how far two multivectors are apart.
#pragma once

#include <array>
#include <cmath>

#include "weyl/algebra/clifford/embeddings.h"
#include "weyl/algebra/clifford/motion_matrix.h"
#include "weyl/core/random.h"
#include "weyl/core/worst_of.h"

namespace weyl::clifford {

template <class T>
double largest(const Multivector<T>& x) {
  double most = 0;
  for (const T& value : x) {
    most = worst_of(most, std::abs(static_cast<double>(value)));
  }
  return most;
}
template <class T>
double distance(const Multivector<T>& x, const Multivector<T>& y) {
  return largest(sum(x, scaled(T(-1), y)));
}
template <class T, int n>
double distance(const Vector<T, n>& x, const Vector<T, n>& y) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    most = worst_of(most, std::abs(static_cast<double>(x[i] - y[i])));
  }
  return most;
}
/// The distance in units of the size of y.
template <class T>
double defect(const Multivector<T>& x, const Multivector<T>& y) {
  return distance(x, y) / std::max(largest(y), 1e-3);
}

template <class T>
Multivector<T> random_multivector(Stream& stream) {
  Multivector<T> x;
  for (T& value : x) {
    value = static_cast<T>(stream.normal());
  }
  return x;
}
template <class T, int n>
Vector<T, n> random_vector(Stream& stream) {
  Vector<T, n> v;
  for (int i = 0; i < n; ++i) {
    v[i] = static_cast<T>(stream.normal());
  }
  return v;
}
template <class T, int n>
Vector<T, n> random_unit(Stream& stream) {
  const Vector<T, n> v = random_vector<T, n>(stream);
  return (T(1) / sqrt_of(dot(v, v))) * v;
}

/// A motion of space three ways: its versor, R (3, 3) row-major and t.
template <class T>
struct Motion {
  Multivector<T> versor = blade(one, T(1));
  std::array<double, 9> rotation{1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::array<double, 3> translation{};
  double sign = 1;  // det R

  Vector<T, 3> turned(const Vector<T, 3>& v) const {
    Vector<T, 3> y;
    for (int i = 0; i < 3; ++i) {
      y[i] = static_cast<T>(rotation[3 * i] * v[0] + rotation[3 * i + 1] * v[1] + rotation[3 * i + 2] * v[2]);
    }
    return y;
  }
  Vector<T, 3> moved(const Vector<T, 3>& p) const {
    Vector<T, 3> y = turned(p);
    for (int i = 0; i < 3; ++i) {
      y[i] += static_cast<T>(translation[i]);
    }
    return y;
  }
  Multivector<T> operator()(const Multivector<T>& x) const { return sandwich(versor, x); }
};

/// One mirror after another: p -> p - 2 (n.p - d) n, written here without the algebra.
template <class T>
Motion<T> random_motion(Stream& stream, int mirrors) {
  Motion<T> motion;
  for (int k = 0; k < mirrors; ++k) {
    const Vector<double, 3> n = random_unit<double, 3>(stream);
    const double d = stream.normal();
    Multivector<T> plane = zero<T>();
    plane[e0] = static_cast<T>(-d);
    for (int i = 0; i < 3; ++i) {
      plane[e1 + i] = static_cast<T>(n[i]);
    }
    motion.versor = geometric_product(plane, motion.versor);
    motion.sign = -motion.sign;
    for (int column = 0; column < 4; ++column) {
      const auto at = [&](int i) -> double& {
        return column < 3 ? motion.rotation[3 * i + column] : motion.translation[i];
      };
      const double along = n[0] * at(0) + n[1] * at(1) + n[2] * at(2) - (column < 3 ? 0 : d);
      for (int i = 0; i < 3; ++i) {
        at(i) -= 2 * along * n[i];
      }
    }
  }
  return motion;
}
/// A pure translation.
template <class T>
Motion<T> random_shift(Stream& stream) {
  Motion<T> motion;
  const Vector<T, 3> t = random_vector<T, 3>(stream);
  motion.versor = translation(t);
  motion.translation = {t[0], t[1], t[2]};
  return motion;
}

}  // namespace weyl::clifford
