#pragma once

#include <cstdint>

namespace weyl::kernels {

/// Layer norm of every frame of x = a + b + offset, where b and offset may be absent:
///   sum = a + b + offset,   normed = weight (sum - mean)/sqrt(var + epsilon) + bias.
/// a, b (N, G C) contiguous; offset, weight, bias (C). Rows first <= i < last. T is float or double.
template <class T>
struct FrameNormInput {
  int64_t frames = 0, channels = 0;
  T epsilon = 0;
  const T *a = nullptr, *b = nullptr, *offset = nullptr;
  const T *weight = nullptr, *bias = nullptr;
};

template <class T>
struct FrameNormTangents {
  const T *a = nullptr, *b = nullptr;                             // (N, G C)
  const T *offset = nullptr, *weight = nullptr, *bias = nullptr;  // (C)
};

template <class T>
struct FrameNorm {
  /// Writes sum (null: not wanted), normed, and mean and rstd (N, G) for the derivative. normed null: sum alone.
  void (*forward)(const FrameNormInput<T>& in, T* sum, T* normed, T* mean, T* rstd, int64_t first,
                  int64_t last);

  /// in.a is the sum. gx = gsum + derivative of the norm times gnormed, the gradient of a and of b (gsum
  /// null: zero); gweight, gbias, goffset (C) += their sums over rows and frames (null: not wanted).
  void (*backward)(const FrameNormInput<T>& in, const T* mean, const T* rstd, const T* gsum, const T* gnormed,
                   T* gx, T* gweight, T* gbias, T* goffset, int64_t first, int64_t last);

  /// The derivative of `backward` with gsum, which is linear in the tangents d of its results (null: zero): of gx, twice
  /// where a and b have one each, of goffset, gweight and gbias. Writes the gradients of the sum and of gsum and gnormed;
  /// gweight and goffset (C) += theirs (null: not wanted).
  void (*second)(const FrameNormInput<T>& in, const T* mean, const T* rstd, const T* gnormed,
                 const FrameNormTangents<T>& d, T* gx, T* ggsum, T* ggnormed, T* gweight, T* goffset,
                 int64_t first, int64_t last);

  /// total (C) += sum of x (N, G C) over rows and frames; width: G C.
  void (*sum_frames)(const T* x, int64_t width, int64_t channels, T* total, int64_t first, int64_t last);
};

}  // namespace weyl::kernels
