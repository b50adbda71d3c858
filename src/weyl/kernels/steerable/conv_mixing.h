// What follows the filters of a steerable convolution: the couplings of irreps, and the mixing of channels as
// products of matrices. Included by kernel files alone (see simd.h).
#pragma once

#include "weyl/kernels/steerable/conv_blocks.h"

namespace weyl::kernels {
namespace WEYL_ISA::conv {

/// s.mixed of channel number `at` of a chunk, from s.filtered.
template <class T>
inline void couple(const SteerableConvInput<T>& in, const Shape<T>& shape, const Workspace<T>& s,
                   const ConvIrrep& irrep, int64_t at, int64_t count, int64_t numbers) {
  for (int64_t row = 0; row < irrep.rows; ++row) {
    const int64_t first = in.row_terms[irrep.row + row], last = in.row_terms[irrep.row + row + 1];
    T* to = s.mixed + (row * count + at) * shape.pitch;
    for (int64_t v = 0; v < numbers; v += lanes<T>) {
      Vec<T> sum{};
      for (int64_t t = first; t < last; ++t) {
        sum +=
            load(s.filtered + in.terms[t].input * shape.pitch + v) * static_cast<T>(in.terms[t].coefficient);
      }
      store(to + v, sum);
    }
  }
}

/// The weights of a chunk's channels as real matrices, pair by pair (2 C_out, filters 2 count): rows by part
/// and channel, columns in the order of T, filter, part, channel.
template <class T>
inline void pack_weights(const SteerableConvInput<T>& in, const ConvIrrep& irrep, int64_t c, int64_t count,
                         T* to) {
  for (int64_t k = 0; k < irrep.pairs; ++k) {
    const ConvPair& pair = in.pairs[irrep.pair + k];
    const int64_t width = pair.filters * 2 * count;
    for (int64_t o = 0; o < pair.channels; ++o) {
      for (int64_t n = 0; n < count; ++n) {
        for (int64_t j = 0; j < pair.filters; ++j) {
          const T* w = in.weights + (pair.weight + (o * irrep.channels + c + n) * pair.filters + j) * 2;
          to[o * width + j * 2 * count + n] = w[0];
          to[o * width + (j * 2 + 1) * count + n] = -w[1];
          to[(pair.channels + o) * width + j * 2 * count + n] = w[1];
          to[(pair.channels + o) * width + (j * 2 + 1) * count + n] = w[0];
        }
      }
    }
    to += 2 * pair.channels * width;
  }
}

/// Rows of numbers in two halves: real and imaginary parts of features, or any rows as one half.
template <class T>
struct Rows {
  T* first;
  T* second;
  int64_t half, pitch;
  T* operator()(int64_t r) const { return r < half ? first + r * pitch : second + (r - half) * pitch; }
};

/// Both parts of the features of component m of a pair, pixels from r0 on, in (B, 2 F, pixels).
template <class T, class Number>
inline Rows<Number> feature_rows(const SteerableConvInput<T>& in, const Shape<T>& shape, const ConvPair& pair,
                                 Number* y, int64_t b, int64_t m, int64_t r0) {
  Number* first =
      y + (b * 2 * in.out_width + pair.feature + m * pair.channels) * shape.pixels + r0 * in.out[2];
  return {first, first + in.out_width * shape.pixels, pair.channels, shape.pixels};
}

/// rows_r (numbers) += or = sum_k a[r ra + k ka] columns_k, n rows from `from` on.
template <class T, int n>
inline void product_block(const T* a, int64_t ra, int64_t ka, const Rows<const T>& columns, int64_t count,
                          int64_t numbers, const Rows<T>& rows, int64_t from, bool add) {
  T* to[n];
  const T* of[n];
  for (int r = 0; r < n; ++r) {
    to[r] = rows(from + r);
    of[r] = a + (from + r) * ra;
  }
  int64_t v = 0;
  for (; v + 2 * lanes<T> <= numbers; v += 2 * lanes<T>) {
    Vec<T> x[n] = {}, y[n] = {};
    const auto half = [&](const T* column, int64_t k, int64_t last) {
      for (column += v; k < last; ++k, column += columns.pitch) {
        const Vec<T> s = load(column), t = load(column + lanes<T>);
        for (int r = 0; r < n; ++r) {
          const T w = of[r][k * ka];
          x[r] += s * w;
          y[r] += t * w;
        }
      }
    };
    half(columns.first, 0, columns.half < count ? columns.half : count);
    half(columns.second, columns.half, count);
    for (int r = 0; r < n; ++r) {
      store(to[r] + v, add ? load(to[r] + v) + x[r] : x[r]);
      store(to[r] + v + lanes<T>, add ? load(to[r] + v + lanes<T>) + y[r] : y[r]);
    }
  }
  for (; v < numbers; v += lanes<T>) {
    const int64_t some = numbers - v < lanes<T> ? numbers - v : lanes<T>;
    Vec<T> x[n] = {};
    for (int64_t k = 0; k < count; ++k) {
      const Vec<T> s = load_part<T>(columns(k) + v, some);
      for (int r = 0; r < n; ++r) {
        x[r] += s * of[r][k * ka];
      }
    }
    for (int r = 0; r < n; ++r) {
      store_part(to[r] + v, add ? load_part<T>(to[r] + v, some) + x[r] : x[r], some);
    }
  }
}
template <class T>
inline void product(const T* a, int64_t ra, int64_t ka, int64_t row_count, const Rows<const T>& columns,
                    int64_t count, int64_t numbers, const Rows<T>& rows, bool add) {
  constexpr int wide = vector_bytes == 64 ? 8 : 4;
  int64_t r = 0;
  for (; r + wide <= row_count; r += wide) {
    product_block<T, wide>(a, ra, ka, columns, count, numbers, rows, r, add);
  }
  for (; r + 2 <= row_count; r += 2) {
    product_block<T, 2>(a, ra, ka, columns, count, numbers, rows, r, add);
  }
  for (; r < row_count; ++r) {
    product_block<T, 1>(a, ra, ka, columns, count, numbers, rows, r, add);
  }
}

}  // namespace WEYL_ISA::conv
}  // namespace weyl::kernels
