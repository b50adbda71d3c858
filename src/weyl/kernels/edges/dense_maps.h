// Linear maps, networks of two of them and norms, of rows, and their derivatives. Included by kernel files alone (see
// simd.h).
#pragma once

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/edges/matrix_product.h"
#include "weyl/kernels/edges/message_net.h"
#include "weyl/kernels/frames/frame_norm.h"

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

/// What the derivative of a norm needs of its rows.
template <class T>
struct Moments {
  T *mean, *rstd;  // (rows)
};
template <class T>
inline FrameNormInput<T> norm_of(const RowNorm<T>& norm, const T* x, int64_t width) {
  FrameNormInput<T> in;
  in.frames = 1;
  in.channels = width;
  in.epsilon = T(1e-5);
  in.a = x;
  in.weight = norm.weight;
  in.bias = norm.bias;
  return in;
}
template <class T>
inline void apply(const RowNorm<T>& norm, const T* x, int64_t rows, int64_t width, Moments<T> m, T* y) {
  compiled<FrameNorm<T>, InstructionSet::WEYL_ISA>().forward(norm_of(norm, x, width), nullptr, y, m.mean,
                                                             m.rstd, 0, rows);
}
/// gx += the derivative by x
template <class T>
inline void pull(const RowNorm<T>& norm, const T* x, const T* gy, int64_t rows, int64_t width, Moments<T> m,
                 T* gx) {
  compiled<FrameNorm<T>, InstructionSet::WEYL_ISA>().backward(norm_of(norm, x, width), m.mean, m.rstd, gx, gy,
                                                              gx, nullptr, nullptr, 0, rows);
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
