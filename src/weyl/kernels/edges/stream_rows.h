// What nodes do with their own numbers, row by row: N rows of F channels, x (N, F) and vectors v (N, 3, F). Included by
// kernel files alone (see simd.h).
#pragma once

#include "weyl/kernels/edges/bond_messages.h"
#include "weyl/kernels/edges/matrix_product.h"

namespace weyl::kernels {
namespace WEYL_ISA {

template <class T>
inline void copy_rows(Matrix<const T> from, int64_t rows, int64_t width, Matrix<T> to) {
  for (int64_t n = 0; n < rows; ++n) {
    copy(from.at + n * from.apart, width, to.at + n * to.apart);
  }
}
template <class T>
inline void add_rows(Matrix<const T> from, int64_t rows, int64_t width, Matrix<T> to) {
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t c = 0; c < width; ++c) {
      to.at[n * to.apart + c] += from.at[n * from.apart + c];
    }
  }
}

/// f(n, at, put): at(p) the vector of a row at the channels in turn, store(p, y) puts it there.
template <class T, class F>
inline void each_row_vector(int64_t rows, int64_t width, const F& f) {
  for (int64_t n = 0; n < rows; ++n) {
    along<T>(width, [&]<bool whole>(int64_t c, int64_t left) {
      f(
          n, [=](const T* p) { return get<whole>(p + c, left); },
          [=](T* p, Vec<T> y) { put<whole>(p + c, y, left); });
    });
  }
}

/// ET's products of a node's own vectors: with o (N, 3 F) and p (N, 3, 3 F) in three parts each,
///   x += <p1, p2> o2 + o3,   v += p3 o1
template <class T>
inline void own_products(int64_t N, int64_t F, const T* o, const T* p, T* x, T* v) {
  each_row_vector<T>(N, F, [=](int64_t n, const auto& at, const auto& store_at) {
    const T* own = o + n * 3 * F;
    Vec<T> dot{};
    for (int64_t k = 0; k < 3; ++k) {
      const T* q = p + (n * 3 + k) * 3 * F;
      T* to = v + (n * 3 + k) * F;
      dot += at(q) * at(q + F);
      store_at(to, at(to) + at(q + 2 * F) * at(own));
    }
    store_at(x + n * F, at(x + n * F) + dot * at(own + F) + at(own + 2 * F));
  });
}
/// From the derivatives gx and gv: those by o, and those by p in its place.
template <class T>
inline void own_products_backward(int64_t N, int64_t F, const T* o, const T* gx, const T* gv, T* p, T* by_o) {
  each_row_vector<T>(N, F, [=](int64_t n, const auto& at, const auto& store_at) {
    const T* own = o + n * 3 * F;
    T* by_own = by_o + n * 3 * F;
    const Vec<T> g = at(gx + n * F), by_dot = g * at(own + F);
    Vec<T> dot{}, by_first{};
    for (int64_t k = 0; k < 3; ++k) {
      T* q = p + (n * 3 + k) * 3 * F;
      const Vec<T> p1 = at(q), p2 = at(q + F), G = at(gv + (n * 3 + k) * F);
      dot += p1 * p2;
      by_first += G * at(q + 2 * F);
      store_at(q, by_dot * p2);
      store_at(q + F, by_dot * p1);
      store_at(q + 2 * F, G * at(own));
    }
    store_at(by_own, by_first);
    store_at(by_own + F, g * dot);
    store_at(by_own + 2 * F, g);
  });
}

/// PaiNN's mixing, of maps (p, w) (N, 3, 2 F) of the vectors: into the second half of joined (N, 2 F) goes |p|, and with
/// the network's (a, b, c) (N, 3 F) of joined
///   x += a + c <p, w>,   v += b w
template <class T>
inline void mixing_lengths(int64_t N, int64_t F, const T* maps, T* joined) {
  for (int64_t n = 0; n < N; ++n) {
    const T* p = maps + n * 6 * F;
    for (int64_t c = 0; c < F; ++c) {
      joined[(2 * n + 1) * F + c] =
          root_of<T>(p[c] * p[c] + p[2 * F + c] * p[2 * F + c] + p[4 * F + c] * p[4 * F + c] + T(1e-8));
    }
  }
}
template <class T>
inline void mix_streams(int64_t N, int64_t F, const T* maps, const T* mixed, T* x, T* v) {
  each_row_vector<T>(N, F, [=](int64_t n, const auto& at, const auto& store_at) {
    const T* y = mixed + n * 3 * F;
    Vec<T> dot{};
    for (int64_t k = 0; k < 3; ++k) {
      const T* p = maps + (n * 3 + k) * 2 * F;
      T* to = v + (n * 3 + k) * F;
      const Vec<T> w = at(p + F);
      dot += at(p) * w;
      store_at(to, at(to) + at(y + F) * w);
    }
    store_at(x + n * F, at(x + n * F) + at(y) + at(y + 2 * F) * dot);
  });
}
/// From gx and gv the derivatives by (p, w), as far as they are not those of lengths, and by (a, b, c).
template <class T>
inline void mix_streams_backward(int64_t N, int64_t F, const T* maps, const T* mixed, const T* gx,
                                 const T* gv, T* by_maps, T* by_mixed) {
  each_row_vector<T>(N, F, [=](int64_t n, const auto& at, const auto& store_at) {
    const T* y = mixed + n * 3 * F;
    T* by = by_mixed + n * 3 * F;
    const Vec<T> g = at(gx + n * F), by_dot = g * at(y + 2 * F);
    Vec<T> dot{}, by_second{};
    for (int64_t k = 0; k < 3; ++k) {
      const int64_t row = (n * 3 + k) * 2 * F;
      const Vec<T> p = at(maps + row), w = at(maps + row + F), G = at(gv + (n * 3 + k) * F);
      dot += p * w;
      by_second += G * w;
      store_at(by_maps + row, by_dot * w);
      store_at(by_maps + row + F, G * at(y + F) + by_dot * p);
    }
    store_at(by, g);
    store_at(by + F, by_second);
    store_at(by + 2 * F, g * dot);
  });
}
template <class T>
inline void mixing_lengths_backward(int64_t N, int64_t F, const T* maps, const T* joined, const T* by_joined,
                                    T* by_maps) {
  each_row_vector<T>(N, F, [=](int64_t n, const auto& at, const auto& store_at) {
    const int64_t half = (2 * n + 1) * F;
    const Vec<T> by = at(by_joined + half) / at(joined + half);
    for (int64_t k = 0; k < 3; ++k) {
      const int64_t row = (n * 3 + k) * 2 * F;
      store_at(by_maps + row, at(by_maps + row) + by * at(maps + row));
    }
  });
}

/// Of a gated block: with q = |V1 v|^2 the lengths q / sqrt(q + e) into the second half of joined (N, 2 F).
template <class T>
inline void gated_lengths(int64_t N, int64_t F, T e, const T* maps, T* squares, T* joined) {
  for (int64_t n = 0; n < N; ++n) {
    const T* p = maps + n * 3 * F;
    for (int64_t c = 0; c < F; ++c) {
      const T square = p[c] * p[c] + p[F + c] * p[F + c] + p[2 * F + c] * p[2 * F + c];
      squares[n * F + c] = square;
      joined[(2 * n + 1) * F + c] = square / root_of<T>(square + e);
    }
  }
}
/// The derivatives by V1 v in its place.
template <class T>
inline void gated_lengths_backward(int64_t N, int64_t F, T e, const T* squares, const T* by_joined, T* maps) {
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t c = 0; c < F; ++c) {
      const T square = squares[n * F + c], root = root_of<T>(square + e);
      const T by =
          by_joined[(2 * n + 1) * F + c] * (1 + e / (root * root)) / root;  // no cube: it would overflow
      for (int64_t k = 0; k < 3; ++k) {
        maps[(n * 3 + k) * F + c] *= by;
      }
    }
  }
}
/// What it hands on of its update (y, g) (N, 2 F) and u = V2 v (N, 3, F): x = SiLU(y) and v = g u.
template <class T>
inline void open_gate(int64_t N, int64_t F, const T* update, const T* u, T* x, T* v) {
  each_row_vector<T>(N, F, [=](int64_t n, const auto& at, const auto& store_at) {
    Vec<T> slope;
    store_at(x + n * F, silu<T>(at(update + 2 * n * F), slope));
    for (int64_t k = 0; k < 3; ++k) {
      const int64_t row = (n * 3 + k) * F;
      store_at(v + row, at(update + (2 * n + 1) * F) * at(u + row));
    }
  });
}
/// From gx and gv the derivatives by the update, and those by u in its place.
template <class T>
inline void open_gate_backward(int64_t N, int64_t F, const T* update, const T* gx, const T* gv, T* u,
                               T* by_update) {
  each_row_vector<T>(N, F, [=](int64_t n, const auto& at, const auto& store_at) {
    Vec<T> slope, by_gate{};
    silu<T>(at(update + 2 * n * F), slope);
    for (int64_t k = 0; k < 3; ++k) {
      const int64_t row = (n * 3 + k) * F;
      const Vec<T> G = at(gv + row);
      by_gate += G * at(u + row);
      store_at(u + row, G * at(update + (2 * n + 1) * F));
    }
    store_at(by_update + 2 * n * F, at(gx + n * F) * slope);
    store_at(by_update + (2 * n + 1) * F, by_gate);
  });
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
