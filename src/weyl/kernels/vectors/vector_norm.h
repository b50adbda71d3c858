#pragma once

#include <cstdint>

namespace weyl::kernels {

/// Norm of the C vectors x (3, C) of a node by the ellipsoid that they span:
///   a = x - mean over channels,  S = a a^T / C,  M = (1 - rho) S + (rho tr(S) / 3 + epsilon) 1,
///   y = M^(-1/2) a weight.
/// x (N, 3, C) contiguous, weight (C). Rows first <= i < last. T is float or double; sums and matrices are
/// float64.
template <class T>
struct VectorNormInput {
  int64_t channels = 0;
  double rho = 0, epsilon = 0;
  const T *x = nullptr, *weight = nullptr;
};

/// Numbers that the forward function keeps of a node: the mean, the eigenvalues of M, its eigenvectors as columns.
inline constexpr int64_t vector_norm_state = 15;

template <class T>
struct VectorNorm {
  /// Writes y (N, 3, C) and state (N, vector_norm_state).
  void (*forward)(const VectorNormInput<T>& in, T* y, double* state, int64_t first, int64_t last);

  /// Writes gx (N, 3, C), adds to gweight (C) its sum over rows (null: not wanted).
  void (*backward)(const VectorNormInput<T>& in, const double* state, const T* gy, T* gx, T* gweight,
                   int64_t first, int64_t last);

  /// Derivative of the backward function for rho = 1, where M is a number: given the gradients dx of gx and
  /// dweight of gweight (null: zero), writes those of x, gx (N, 3, C), and of gy, ggy (N, 3, C), and adds to
  /// gweight (C) (null: not wanted).
  void (*second)(const VectorNormInput<T>& in, const double* state, const T* gy, const T* dx,
                 const T* dweight, T* gx, T* gweight, T* ggy, int64_t first, int64_t last);
};

}  // namespace weyl::kernels
