// Products of small matrices, row by row. Included by kernel files alone (see simd.h).
#pragma once

#include "weyl/kernels/simd/simd.h"

namespace weyl::kernels {
namespace WEYL_ISA {

/// Rows of numbers, `apart` numbers from one to the next.
template <class T>
struct Matrix {
  T* at = nullptr;
  int64_t apart = 0;

  operator Matrix<const T>() const { return {at, apart}; }
};

/// How a product begins: with zeros, with what is there, or with a row that is added to each.
enum class Start { zero, sum, bias };

/// As many accumulators as there are registers, beside a row of b and a number of a.
inline constexpr int product_vectors = vector_bytes == 64 ? 4 : 2, product_rows = 6;

template <class T, int rows, int vectors, bool whole>
inline void product_block(Matrix<const T> a, Matrix<const T> b, int64_t inner, Start start, const T* bias,
                          Matrix<T> c, int64_t left) {
  Vec<T> sum[rows][vectors];
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      const int64_t at = v * lanes<T>;
      sum[r][v] = start == Start::zero   ? Vec<T>{}
                  : start == Start::bias ? get<whole>(bias + at, left)
                                         : get<whole>(c.at + r * c.apart + at, left);
    }
  }
  for (int64_t k = 0; k < inner; ++k) {
    Vec<T> row[vectors];
    for (int v = 0; v < vectors; ++v) {
      row[v] = get<whole>(b.at + k * b.apart + v * lanes<T>, left);
    }
    for (int r = 0; r < rows; ++r) {
      const T x = a.at[r * a.apart + k];
      for (int v = 0; v < vectors; ++v) {
        sum[r][v] += x * row[v];
      }
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      put<whole>(c.at + r * c.apart + v * lanes<T>, sum[r][v], left);
    }
  }
}

template <class T, int at_once, int vectors, bool whole>
inline void product_panel(Matrix<const T> a, int64_t rows, Matrix<const T> b, int64_t inner, Start start,
                          const T* bias, Matrix<T> c, int64_t left) {
  int64_t r = 0;
  for (; r + at_once <= rows; r += at_once) {
    product_block<T, at_once, vectors, whole>({a.at + r * a.apart, a.apart}, b, inner, start, bias,
                                              {c.at + r * c.apart, c.apart}, left);
  }
  if constexpr (at_once > 1) {
    product_panel<T, at_once / 2, vectors, whole>({a.at + r * a.apart, a.apart}, rows - r, b, inner, start,
                                                  bias, {c.at + r * c.apart, c.apart}, left);
  }
}

/// c (rows, columns) = start + a (rows, inner) b (inner, columns). A row of c has the same bits whatever the others.
template <class T>
inline void product(Matrix<const T> a, int64_t rows, int64_t inner, Matrix<const T> b, int64_t columns,
                    Start start, const T* bias, Matrix<T> c) {
  constexpr int64_t wide = product_vectors * lanes<T>;
  for (int64_t k = 0; k < columns;) {
    const int64_t left = columns - k;
    const Matrix<const T> panel{b.at + k, b.apart};
    const Matrix<T> to{c.at + k, c.apart};
    const T* const row = start == Start::bias ? bias + k : nullptr;
    if (left >= wide) {
      product_panel<T, product_rows, product_vectors, true>(a, rows, panel, inner, start, row, to, left);
      k += wide;
    } else if (left >= lanes<T>) {
      product_panel<T, product_rows, 1, true>(a, rows, panel, inner, start, row, to, left);
      k += lanes<T>;
    } else {
      product_panel<T, product_rows, 1, false>(a, rows, panel, inner, start, row, to, left);
      k = columns;
    }
  }
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
