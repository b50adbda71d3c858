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

/// The v-th of so many vectors of a row, of which the last is whole or has numbers that are left.
template <class T, int vectors, bool whole>
inline Vec<T> vector_at(const T* row, int v, int64_t left) {
  return v + 1 < vectors ? load(row + v * lanes<T>) : get<whole>(row + v * lanes<T>, left);
}

template <class T, int rows, int vectors, bool whole>
inline void product_block(Matrix<const T> a, Matrix<const T> b, int64_t inner, Start start, const T* bias,
                          Matrix<T> c, int64_t left) {
  Vec<T> sum[rows][vectors];
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      sum[r][v] = start == Start::zero ? Vec<T>{}
                                       : vector_at<T, vectors, whole>(
                                             start == Start::bias ? bias : c.at + r * c.apart, v, left);
    }
  }
  for (int64_t k = 0; k < inner; ++k) {
    Vec<T> row[vectors];
    for (int v = 0; v < vectors; ++v) {
      row[v] = vector_at<T, vectors, whole>(b.at + k * b.apart, v, left);
    }
    for (int r = 0; r < rows; ++r) {
      const T x = a.at[r * a.apart + k];
      for (int v = 0; v < vectors; ++v) {
        sum[r][v] += x * row[v];
      }
    }
  }
  for (int r = 0; r < rows; ++r) {
    T* to = c.at + r * c.apart;
    for (int v = 0; v + 1 < vectors; ++v) {
      store(to + v * lanes<T>, sum[r][v]);
    }
    put<whole>(to + (vectors - 1) * lanes<T>, sum[r][vectors - 1], left);
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

/// The columns from k on, in panels of so many vectors, and of fewer at the end.
template <class T, int vectors>
inline void product_columns(Matrix<const T> a, int64_t rows, int64_t inner, Matrix<const T> b, int64_t k,
                            int64_t columns, Start start, const T* bias, Matrix<T> c) {
  const auto panel = [&]<bool whole>() {
    product_panel<T, product_rows, vectors, whole>(
        a, rows, {b.at + k, b.apart}, inner, start, start == Start::bias ? bias + k : nullptr,
        {c.at + k, c.apart}, columns - k - (vectors - 1) * lanes<T>);
    k += vectors * lanes<T>;
  };
  while (k + vectors * lanes<T> <= columns) {
    panel.template operator()<true>();
  }
  if (k + (vectors - 1) * lanes<T> < columns) {
    panel.template operator()<false>();
  }
  if constexpr (vectors > 1) {
    product_columns<T, vectors / 2>(a, rows, inner, b, k, columns, start, bias, c);
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
