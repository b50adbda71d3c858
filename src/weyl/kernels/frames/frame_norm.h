#pragma once

#include <cstdint>

namespace weyl::kernels {

/// A branch that is added to a stream, and the norm of every frame of the sum:
///   sum = a + scale rows noise (b + offset),   normed = weight (sum - mean)/sqrt(var + epsilon) + bias,
/// or, where it is not centred, weight sum/sqrt(mean of squares + epsilon). What is null is absent. a, b, noise (N, G C)
/// contiguous; rows (N); offset, scale, weight, bias (C). Rows first <= i < last. T is float or double.
template <class T>
struct FrameNormInput {
  int64_t frames = 0, channels = 0;
  T epsilon = 0;
  bool centred = true;
  const T *a = nullptr, *b = nullptr, *offset = nullptr;
  const T *scale = nullptr, *rows = nullptr, *noise = nullptr;
  const T *weight = nullptr, *bias = nullptr;
};

/// A result may take the place of an input of its shape.
template <class T>
struct FrameNorm {
  /// Writes sum (null: not wanted), normed, and mean and rstd (N, G) for the derivative. normed null: sum alone.
  void (*forward)(const FrameNormInput<T>& in, T* sum, T* normed, T* mean, T* rstd, int64_t first,
                  int64_t last);

  /// in.a is the sum. gx = gsum + derivative of the norm times gnormed, the gradient of the sum (gsum null: zero);
  /// gweight, gbias (C) += theirs, summed over rows and frames (null: not wanted).
  void (*backward)(const FrameNormInput<T>& in, const T* mean, const T* rstd, const T* gsum, const T* gnormed,
                   T* gx, T* gweight, T* gbias, int64_t first, int64_t last);

  /// in.a is the sum. The derivative of `backward` with gsum, which is linear in the tangents u of gx (N, G C), dweight and
  /// dbias (C) of its results (null: zero); that of gsum is u itself. Writes the gradients of the sum and of gnormed;
  /// gweight (C) += its own (null: not wanted).
  void (*second)(const FrameNormInput<T>& in, const T* mean, const T* rstd, const T* gnormed, const T* u,
                 const T* dweight, const T* dbias, T* gx, T* ggnormed, T* gweight, int64_t first,
                 int64_t last);

  /// From the gradient of the sum: gb = scale rows noise gsum, goffset (C) += its sum over rows and frames, gscale (C) +=
  /// that of rows noise (b + offset) gsum (null: not wanted).
  void (*branch_backward)(const FrameNormInput<T>& in, const T* gsum, T* gb, T* goffset, T* gscale,
                          int64_t first, int64_t last);
};

}  // namespace weyl::kernels
