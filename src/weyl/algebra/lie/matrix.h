// Small vectors and square matrices over any number. Plain structs of our own: nothing of the standard
// library may be instantiated in a file that is compiled for several instruction sets (see simd.h).
#pragma once

#include "weyl/algebra/lie/number.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

template <class T, int n>
struct Vector {
  T v[n];

  T& operator[](int i) { return v[i]; }
  const T& operator[](int i) const { return v[i]; }
};

/// Square, row-major: m[row][column].
template <class T, int n>
struct Matrix {
  T v[n][n];

  T* operator[](int i) { return v[i]; }
  const T* operator[](int i) const { return v[i]; }
};

template <class T, int n>
inline Vector<T, n> zeros() {
  Vector<T, n> y;
  for (int i = 0; i < n; ++i) {
    y[i] = T(0);
  }
  return y;
}
template <class T, int n>
inline Vector<T, n> operator+(const Vector<T, n>& a, const Vector<T, n>& b) {
  Vector<T, n> y;
  for (int i = 0; i < n; ++i) {
    y[i] = a[i] + b[i];
  }
  return y;
}
template <class T, int n>
inline Vector<T, n> operator-(const Vector<T, n>& a, const Vector<T, n>& b) {
  Vector<T, n> y;
  for (int i = 0; i < n; ++i) {
    y[i] = a[i] - b[i];
  }
  return y;
}
template <class T, int n>
inline Vector<T, n> operator-(const Vector<T, n>& a) {
  Vector<T, n> y;
  for (int i = 0; i < n; ++i) {
    y[i] = -a[i];
  }
  return y;
}
template <class T, int n>
inline Vector<T, n> operator*(const T& s, const Vector<T, n>& a) {
  Vector<T, n> y;
  for (int i = 0; i < n; ++i) {
    y[i] = s * a[i];
  }
  return y;
}
template <class T, int n>
inline T dot(const Vector<T, n>& a, const Vector<T, n>& b) {
  T sum = a[0] * b[0];
  for (int i = 1; i < n; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}
template <class T>
inline Vector<T, 3> cross(const Vector<T, 3>& a, const Vector<T, 3>& b) {
  return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}

template <class T, int n>
inline Matrix<T, n> diagonal(const T& x) {
  Matrix<T, n> y;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      y[i][j] = i == j ? x : T(0);
    }
  }
  return y;
}
template <class T, int n>
inline Matrix<T, n> operator+(const Matrix<T, n>& a, const Matrix<T, n>& b) {
  Matrix<T, n> y;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      y[i][j] = a[i][j] + b[i][j];
    }
  }
  return y;
}
template <class T, int n>
inline Matrix<T, n> operator-(const Matrix<T, n>& a, const Matrix<T, n>& b) {
  Matrix<T, n> y;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      y[i][j] = a[i][j] - b[i][j];
    }
  }
  return y;
}
template <class T, int n>
inline Matrix<T, n> operator*(const T& s, const Matrix<T, n>& a) {
  Matrix<T, n> y;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      y[i][j] = s * a[i][j];
    }
  }
  return y;
}
template <class T, int n>
inline Matrix<T, n> operator*(const Matrix<T, n>& a, const Matrix<T, n>& b) {
  Matrix<T, n> y;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      T sum = a[i][0] * b[0][j];
      for (int k = 1; k < n; ++k) {
        sum += a[i][k] * b[k][j];
      }
      y[i][j] = sum;
    }
  }
  return y;
}
template <class T, int n>
inline Vector<T, n> operator*(const Matrix<T, n>& a, const Vector<T, n>& x) {
  Vector<T, n> y;
  for (int i = 0; i < n; ++i) {
    T sum = a[i][0] * x[0];
    for (int k = 1; k < n; ++k) {
      sum += a[i][k] * x[k];
    }
    y[i] = sum;
  }
  return y;
}
template <class T, int n>
inline Matrix<T, n> transposed(const Matrix<T, n>& a) {
  Matrix<T, n> y;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      y[i][j] = a[j][i];
    }
  }
  return y;
}
/// a b^T.
template <class T, int n>
inline Matrix<T, n> outer(const Vector<T, n>& a, const Vector<T, n>& b) {
  Matrix<T, n> y;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      y[i][j] = a[i] * b[j];
    }
  }
  return y;
}
template <class Condition, class T, int n>
inline Matrix<T, n> select(const Condition& condition, const Matrix<T, n>& yes, const Matrix<T, n>& no) {
  Matrix<T, n> y;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      y[i][j] = select(condition, yes[i][j], no[i][j]);
    }
  }
  return y;
}
template <class Condition, class T, int n>
inline Vector<T, n> select(const Condition& condition, const Vector<T, n>& yes, const Vector<T, n>& no) {
  Vector<T, n> y;
  for (int i = 0; i < n; ++i) {
    y[i] = select(condition, yes[i], no[i]);
  }
  return y;
}
template <class T, int n>
inline T trace(const Matrix<T, n>& a) {
  T sum = a[0][0];
  for (int i = 1; i < n; ++i) {
    sum += a[i][i];
  }
  return sum;
}
/// |a|_F^2 = tr a^T a.
template <class T, int n>
inline T squared_norm(const Matrix<T, n>& a) {
  T sum(0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      sum += a[i][j] * a[i][j];
    }
  }
  return sum;
}

/// adj(a): a adj(a) = det(a) 1.
template <class T>
inline Matrix<T, 2> adjugate(const Matrix<T, 2>& a) {
  return {{{a[1][1], -a[0][1]}, {-a[1][0], a[0][0]}}};
}
template <class T>
inline Matrix<T, 3> adjugate(const Matrix<T, 3>& a) {
  const auto minor = [&a](int i, int j, int k, int l) { return a[i][k] * a[j][l] - a[i][l] * a[j][k]; };
  return {{{minor(1, 2, 1, 2), -minor(0, 2, 1, 2), minor(0, 1, 1, 2)},
           {-minor(1, 2, 0, 2), minor(0, 2, 0, 2), -minor(0, 1, 0, 2)},
           {minor(1, 2, 0, 1), -minor(0, 2, 0, 1), minor(0, 1, 0, 1)}}};
}
/// The same with each minor to 2 units in its last place, for wide singular values.
template <class T>
inline Matrix<T, 3> exact_adjugate(const Matrix<T, 3>& a) {
  const auto minor = [&a](int i, int j, int k, int l) {
    return difference_of_products(a[i][k], a[j][l], a[i][l], a[j][k]);
  };
  return {{{minor(1, 2, 1, 2), -minor(0, 2, 1, 2), minor(0, 1, 1, 2)},
           {-minor(1, 2, 0, 2), minor(0, 2, 0, 2), -minor(0, 1, 0, 2)},
           {minor(1, 2, 0, 1), -minor(0, 2, 0, 1), minor(0, 1, 0, 1)}}};
}
template <class T>
inline T determinant(const Matrix<T, 2>& a) {
  return difference_of_products(a[0][0], a[1][1], a[0][1], a[1][0]);
}
/// The determinant of a when adj(a) is at hand.
template <class T>
inline T determinant(const Matrix<T, 3>& a, const Matrix<T, 3>& adj) {
  return a[0][0] * adj[0][0] + a[0][1] * adj[1][0] + a[0][2] * adj[2][0];
}
template <class T>
inline T determinant(const Matrix<T, 2>& a, const Matrix<T, 2>&) {
  return determinant(a);
}
template <class T>
inline T determinant(const Matrix<T, 3>& a) {
  return determinant(a, adjugate(a));
}
template <class T, int n>
inline Matrix<T, n> inverse_of(const Matrix<T, n>& a) {
  const Matrix<T, n> adj = adjugate(a);
  return (T(1) / determinant(a, adj)) * adj;
}

template <class T>
inline Matrix<T, 3> exact_inverse_of(const Matrix<T, 3>& a) {
  const Matrix<T, 3> adj = exact_adjugate(a);
  return (T(1) / determinant(a, adj)) * adj;
}

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
