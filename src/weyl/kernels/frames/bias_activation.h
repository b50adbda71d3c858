#pragma once

#include <cstdint>

namespace weyl::kernels {

/// gelu: the exact one, t P(t) with the normal distribution P. silu: t / (1 + exp(-t)). mish: t tanh(log(1 + exp(t))).
enum class ActivationLaw { gelu, silu, relu, mish };

/// An activation g of x + bias, times noise (dropout, say), rows first <= i < last of x (N, width) contiguous; bias
/// (channels), repeated along the row, and noise (N, width), or null. T is float or double.
template <class T>
struct BiasActivationInput {
  ActivationLaw law = ActivationLaw::gelu;
  int64_t width = 0, channels = 0;
  const T* x = nullptr;
  const T* bias = nullptr;
  const T* noise = nullptr;
};

/// A result may take the place of an input of its shape.
template <class T>
struct BiasActivation {
  /// y = noise g(x + bias), contiguous.
  void (*forward)(const BiasActivationInput<T>& in, T* y, int64_t first, int64_t last);

  /// gx = gy noise g'(x + bias) (null: not wanted) and gbias (channels) += its sum over rows and frames (null: not
  /// wanted).
  void (*backward)(const BiasActivationInput<T>& in, const T* gy, T* gx, T* gbias, int64_t first,
                   int64_t last);

  /// The derivative of that, for the directions dx of gx and dbias of gbias (null: zero): with d = noise (dx + dbias),
  ///   gx = gy g''(x + bias) d,   gbias += its sum,   ggy = g'(x + bias) d   (null: not wanted).
  void (*second)(const BiasActivationInput<T>& in, const T* gy, const T* dx, const T* dbias, T* gx, T* gbias,
                 T* ggy, int64_t first, int64_t last);
};

}  // namespace weyl::kernels
