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

/// The columns from k on, as many vectors of them at a time as there are, but at most so many.
template <class T, int vectors>
inline void product_columns(Matrix<const T> a, int64_t rows, int64_t inner, Matrix<const T> b, int64_t k,
                            int64_t columns, Start start, const T* bias, Matrix<T> c) {
  const auto panel = [&]<bool whole>() {
    product_panel<T, product_rows, vectors, whole>(a, rows, {b.at + k, b.apart}, inner, start,
                                                   start == Start::bias ? bias + k : nullptr,
                                                   {c.at + k, c.apart}, columns - k);
  };
  for (; k + vectors * lanes<T> <= columns; k += vectors * lanes<T>) {
    panel.template operator()<true>();
  }
  if constexpr (vectors > 1) {
    product_columns<T, vectors / 2>(a, rows, inner, b, k, columns, start, bias, c);
  } else if (k < columns) {
    panel.template operator()<false>();
  }
}

/// c (rows, columns) = start + a (rows, inner) b (inner, columns). A row of c has the same bits whatever the others.
template <class T>
inline void product(Matrix<const T> a, int64_t rows, int64_t inner, Matrix<const T> b, int64_t columns,
                    Start start, const T* bias, Matrix<T> c) {
  product_columns<T, product_vectors>(a, rows, inner, b, 0, columns, start, bias, c);
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
