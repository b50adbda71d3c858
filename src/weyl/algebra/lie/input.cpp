#include "weyl/algebra/lie/input.h"

#include <cmath>
#include <limits>
#include <vector>

#include "weyl/algebra/lie/formulas.h"
#include "weyl/algebra/lie/group.h"
#include "weyl/core/check.h"

namespace weyl {

std::array<double, 4> nearest_rotation(const std::array<double, 9>& m) {
  const double trace = m[0] + m[4] + m[8];
  double K[4][4], vectors[4][4] = {};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      K[i][j] = m[3 * i + j] + m[3 * j + i] - (i == j ? trace : 0);
    }
  }
  K[0][3] = K[3][0] = m[7] - m[5];
  K[1][3] = K[3][1] = m[2] - m[6];
  K[2][3] = K[3][2] = m[3] - m[1];
  K[3][3] = trace;
  for (int i = 0; i < 4; ++i) {
    vectors[i][i] = 1;
  }
  // Jacobi's rotations: quadratic convergence, six sweeps are plenty for 4x4.
  for (int sweep = 0; sweep < 12; ++sweep) {
    for (int p = 0; p < 3; ++p) {
      for (int q = p + 1; q < 4; ++q) {
        if (K[p][q] == 0) {
          continue;
        }
        const double tau = (K[q][q] - K[p][p]) / (2 * K[p][q]);
        const double t = (tau < 0 ? -1 : 1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        const double c = 1 / std::sqrt(1 + t * t), s = t * c;
        for (int k = 0; k < 4; ++k) {
          const double a = K[k][p], b = K[k][q];
          K[k][p] = c * a - s * b;
          K[k][q] = s * a + c * b;
        }
        for (int k = 0; k < 4; ++k) {
          const double a = K[p][k], b = K[q][k];
          K[p][k] = c * a - s * b;
          K[q][k] = s * a + c * b;
        }
        for (auto& row : vectors) {
          const double a = row[p], b = row[q];
          row[p] = c * a - s * b;
          row[q] = s * a + c * b;
        }
      }
    }
  }
  int best = 3;
  for (int i = 0; i < 3; ++i) {
    best = K[i][i] > K[best][best] ? i : best;
  }
  const double sign = vectors[3][best] < 0 ? -1 : 1;
  return {sign * vectors[0][best], sign * vectors[1][best], sign * vectors[2][best], sign * vectors[3][best]};
}

// Elements from outside: matrices, checked or mended, and random ones.

namespace {

using Numbers = std::vector<double>;

/// The linear part (n, n) of a matrix (m, m).
Numbers linear_part(LieGroup group, const Numbers& matrix) {
  const int n = dimension_of(group), m = matrix_size(group);
  Numbers A;
  for (int i = 0; i < n; ++i) {
    A.insert(A.end(), matrix.begin() + m * i, matrix.begin() + m * i + n);
  }
  return A;
}

double determinant(const Numbers& a) {
  if (a.size() == 4) {
    return a[0] * a[3] - a[1] * a[2];
  }
  return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
         a[2] * (a[3] * a[7] - a[4] * a[6]);
}

double solidity_of(const Numbers& A) {
  const int n = A.size() == 4 ? 2 : 3;
  double bound = 1;  // Hadamard's
  for (int i = 0; i < n; ++i) {
    double square = 0;
    for (int j = 0; j < n; ++j) {
      square += A[n * i + j] * A[n * i + j];
    }
    bound *= std::sqrt(square);
  }
  return std::abs(determinant(A)) / bound;
}

bool is_singular(const Numbers& A) {  // to rounding
  return !(solidity_of(A) > 8 * std::numeric_limits<double>::epsilon());
}

bool is_finite(const Numbers& x) {
  for (const double v : x) {
    if (!std::isfinite(v)) {
      return false;
    }
  }
  return true;
}

/// What is wrong with a matrix: by how much, and in words.
struct Fault {
  double size = 0;
  const char* what = "";

  void add(double by, const char* words) {
    if (by > size) {
      size = by;
      what = words;
    }
  }
};

Fault fault_of(LieGroup group, const Numbers& matrix) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  Fault fault;
  if (!is_finite(matrix)) {
    fault.add(infinite, "has numbers that are not finite");
    return fault;
  }
  const int n = dimension_of(group), m = matrix_size(group);
  for (int j = 0; j < m && m > n; ++j) {
    fault.add(std::abs(matrix[m * n + j] - (j == n ? 1 : 0)), "has a last row that is not 0 .. 0 1, off by ");
  }
  const Numbers A = linear_part(group, matrix);
  if (!is_rigid(group)) {
    fault.add(is_singular(A) ? infinite : 0, "is singular");
    return fault;
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double product = i == j ? -1 : 0;
      for (int k = 0; k < n; ++k) {
        product += A[n * k + i] * A[n * k + j];
      }
      fault.add(std::abs(product), "is not orthogonal, off by ");
    }
  }
  fault.add(determinant(A) < 0 ? infinite : 0, "is a reflection");
  return fault;
}

template <class T>
Numbers numbers(std::span<const T> matrix, LieGroup group, const char* what) {
  const size_t m = matrix_size(group);
  require(matrix.size() == m * m, "Lie::", what, ": matrix must have ", m * m, " numbers, got ",
          matrix.size());
  return {matrix.begin(), matrix.end()};
}

template <class T>
void put_numbers(const Numbers& from, std::span<T> to, const char* what) {
  require(from.size() == to.size(), "Lie::", what, ": g must have ", from.size(), " numbers, got ",
          to.size());
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<T>(from[i]);
  }
}

/// Compact storage of the nearest element; for a matrix in the group it is that element to rounding.
Numbers nearest_compact(LieGroup group, const Numbers& matrix) {
  const int n = dimension_of(group), m = matrix_size(group);
  const Numbers A = linear_part(group, matrix);
  Numbers t, g;
  for (int i = 0; i < n && m > n; ++i) {
    t.push_back(matrix[m * i + n]);
  }
  if (!is_rigid(group)) {
    g = A;
    g.insert(g.end(), t.begin(), t.end());
    return g;
  }
  g = t;
  if (n == 2) {
    const double c = A[0] + A[3], s = A[2] - A[1], size = std::hypot(c, s);
    g.insert(g.end(), {size > 0 ? c / size : 1, size > 0 ? s / size : 0});
  } else {
    const auto q = nearest_rotation({A[0], A[1], A[2], A[3], A[4], A[5], A[6], A[7], A[8]});
    g.insert(g.end(), q.begin(), q.end());
  }
  return g;
}

}  // namespace

template <class T>
double Lie<T>::solidity(In matrix) const {
  return solidity_of(linear_part(group, numbers(matrix, group, "solidity")));
}

template <class T>
double Lie<T>::distance(In matrix) const {
  return fault_of(group, numbers(matrix, group, "distance")).size;
}

template <class T>
void Lie<T>::from_matrix(In matrix, Out g, double tolerance) const {
  const Numbers m = numbers(matrix, group, "from_matrix");
  const Fault fault = fault_of(group, m);
  if (!(fault.size <= tolerance)) [[unlikely]] {
    const bool measured = std::isfinite(fault.size);
    throw ShapeError(text("Lie::from_matrix: matrix must be in ", name_of(group), ", but it ", fault.what,
                          measured ? text(fault.size, " (at most ", tolerance, ")") : ""));
  }
  put_numbers(nearest_compact(group, m), g, "from_matrix");
}

template <class T>
void Lie<T>::nearest(In matrix, Out g) const {
  const Numbers m = numbers(matrix, group, "nearest");
  require(is_finite(m), "Lie::nearest: matrix must be finite");
  require(is_rigid(group) || !is_singular(linear_part(group, m)),
          "Lie::nearest: matrix must be invertible, but it is singular");
  put_numbers(nearest_compact(group, m), g, "nearest");
}

template <class T>
void Lie<T>::random(Stream& stream, Out g, double spread) const {
  const int n = dimension_of(group);
  Numbers t, turn;  // (c, s) or the quaternion: a normal vector, normalised, is uniform on its sphere
  for (int i = 0; i < n && matrix_size(group) > n; ++i) {
    t.push_back(spread * stream.normal());
  }
  double square = 0;
  for (int i = 0; i < (n == 2 ? 2 : 4); ++i) {
    turn.push_back(stream.normal());
    square += turn.back() * turn.back();
  }
  for (double& x : turn) {
    x /= std::sqrt(square);
  }
  if (is_rigid(group)) {
    t.insert(t.end(), turn.begin(), turn.end());
    put_numbers(t, g, "random");
    return;
  }
  const auto affine = [&](auto rotation, auto tag) {
    using G = decltype(tag);
    kernels::WEYL_ISA::lie::Matrix<double, G::dimension> S;
    kernels::WEYL_ISA::lie::Vector<double, G::dimension> v{};
    for (int i = 0; i < G::dimension; ++i) {
      for (int j = 0; j <= i; ++j) {
        S[i][j] = S[j][i] = 0.3 * stream.normal();
      }
    }
    const auto A = rotation * G::linear(G::exp(G::coordinates(S, v)));
    for (int i = 0; i < G::dimension; ++i) {
      v[i] = t[i];
    }
    const auto e = G::element(A, v);
    put_numbers(Numbers(e.v, e.v + G::compact), g, "random");
  };
  if (n == 2) {
    affine(SO2::to_matrix<double>({{turn[0], turn[1]}}), AFF2{});
  } else {
    affine(SO3::to_matrix<double>({{turn[0], turn[1], turn[2], turn[3]}}), AFF3{});
  }
}

template double Lie<float>::solidity(In) const;
template double Lie<double>::solidity(In) const;
template double Lie<float>::distance(In) const;
template double Lie<double>::distance(In) const;
template void Lie<float>::from_matrix(In, Out, double) const;
template void Lie<double>::from_matrix(In, Out, double) const;
template void Lie<float>::nearest(In, Out) const;
template void Lie<double>::nearest(In, Out) const;
template void Lie<float>::random(Stream&, Out, double) const;
template void Lie<double>::random(Stream&, Out, double) const;

}  // namespace weyl
