// Linear maps, networks of two of them and norms, of rows, and their derivatives. Included by kernel files alone (see
// simd.h).
#pragma once

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/edges/matrix_product.h"
#include "weyl/kernels/edges/message_net.h"

namespace weyl::kernels {
namespace WEYL_ISA {

template <class T>
inline void apply(const DenseMap<T>& map, Matrix<const T> x, int64_t rows, Matrix<T> y) {
  product<T>(x, rows, map.in, {map.transposed, map.out}, map.out, map.bias ? Start::bias : Start::zero,
             map.bias, y);
}
/// The derivative by x from that by y, added to what is there or not.
template <class T>
inline void pull(const DenseMap<T>& map, Matrix<const T> gy, int64_t rows, Matrix<T> gx,
                 Start start = Start::zero) {
  product<T>(gy, rows, map.out, {map.weight, map.in}, map.in, start, nullptr, gx);
}

template <class T>
inline BiasActivationInput<T> activation_of(ActivationLaw law, const T* x, int64_t width) {
  BiasActivationInput<T> in;
  in.law = law;
  in.width = in.channels = width;
  in.x = x;
  return in;
}
template <class T>
inline void activate(ActivationLaw law, const T* x, int64_t rows, int64_t width, T* y) {
  compiled<BiasActivation<T>, InstructionSet::WEYL_ISA>().forward(activation_of(law, x, width), y, 0, rows);
}
/// g times the slope at x, in its place.
template <class T>
inline void activate_backward(ActivationLaw law, const T* x, int64_t rows, int64_t width, T* g) {
  compiled<BiasActivation<T>, InstructionSet::WEYL_ISA>().backward(activation_of(law, x, width), g, g,
                                                                   nullptr, 0, rows);
}

/// What lies between the two maps of an mlp: before the activation, which derivatives need, and after.
template <class T>
struct Hidden {
  T *before, *after;
};
template <class T>
inline void apply(const DenseMlp<T>& mlp, ActivationLaw law, Matrix<const T> x, int64_t rows, Hidden<T> h,
                  Matrix<T> y) {
  const int64_t width = mlp.first.out;
  apply<T>(mlp.first, x, rows, {h.before, width});
  activate(law, h.before, rows, width, h.after);
  apply<T>(mlp.second, {h.after, width}, rows, y);
}
/// Overwrites what lies after the activation.
template <class T>
inline void pull(const DenseMlp<T>& mlp, ActivationLaw law, Matrix<const T> gy, int64_t rows, Hidden<T> h,
                 Matrix<T> gx, Start start = Start::zero) {
  const int64_t width = mlp.first.out;
  pull<T>(mlp.second, gy, rows, {h.after, width});
  activate_backward(law, h.before, rows, width, h.after);
  pull<T>(mlp.first, {h.after, width}, rows, gx, start);
}

template <class T>
inline T row_sum(const T* x, int64_t width) {
  Vec<T> sum{};
  along<T>(width, [&]<bool whole>(int64_t c, int64_t left) { sum += get<whole>(x + c, left); });
  return sum_of<T>(sum);
}
template <class T>
inline T row_dot(const T* x, const T* y, int64_t width) {
  Vec<T> sum{};
  along<T>(width, [&]<bool whole>(int64_t c, int64_t left) {
    sum += get<whole>(x + c, left) * get<whole>(y + c, left);
  });
  return sum_of<T>(sum);
}

/// (x - mean) / sqrt(variance + 1e-5) of a row; returns the divisor's inverse.
template <class T>
inline T whiten_row(const T* x, int64_t width, T* y) {
  const T mean = row_sum(x, width) / static_cast<T>(width);
  for (int64_t c = 0; c < width; ++c) {
    y[c] = x[c] - mean;
  }
  const T inverse = T(1) / root_of<T>(row_dot(y, y, width) / static_cast<T>(width) + T(1e-5));
  for (int64_t c = 0; c < width; ++c) {
    y[c] *= inverse;
  }
  return inverse;
}
template <class T>
inline void apply(const RowNorm<T>& norm, const T* x, int64_t rows, int64_t width, Matrix<T> y) {
  for (int64_t n = 0; n < rows; ++n) {
    T* to = y.at + n * y.apart;
    whiten_row(x + n * width, width, to);
    for (int64_t c = 0; c < width; ++c) {
      to[c] = to[c] * norm.weight[c] + norm.bias[c];
    }
  }
}
/// gx += the derivative by x from gy, which is overwritten. row: (width)
template <class T>
inline void pull(const RowNorm<T>& norm, const T* x, T* gy, int64_t rows, int64_t width, T* row, T* gx) {
  for (int64_t n = 0; n < rows; ++n, gy += width, gx += width) {
    const T inverse = whiten_row(x + n * width, width, row);
    for (int64_t c = 0; c < width; ++c) {
      gy[c] *= norm.weight[c];
    }
    const T mean = row_sum(gy, width) / static_cast<T>(width),
            along_row = row_dot(gy, row, width) / static_cast<T>(width);
    for (int64_t c = 0; c < width; ++c) {
      gx[c] += inverse * (gy[c] - mean - row[c] * along_row);
    }
  }
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
