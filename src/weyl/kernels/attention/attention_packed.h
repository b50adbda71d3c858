// One graph and head of attention, packed for vectors. Included by kernel files alone (see simd.h).
#pragma once

#include <type_traits>

#include "weyl/kernels/attention/attention.h"
#include "weyl/kernels/simd/elementary.h"
#include "weyl/kernels/simd/pairs.h"

namespace weyl::kernels {
namespace WEYL_ISA {

inline constexpr int64_t block = 4;  // queries at a time

/// The arrays of one graph and head, packed: rows are padded to whole vectors.
template <class T>
struct Packed {
  int64_t n, wide, key, value;        // nodes; nodes, K and V padded to whole vectors
  T *cosine, *sine;                   // (n, K/2)
  T *q, *k, *v;                       // (n + block, key), (n, key), (n, value)
  T* bias;                            // (max(key, value)) of this head, from what the frames share
  T *k_across, *v_across;             // (K, wide), (V, wide)
  T *score, *other, *third, *fourth;  // (block, wide)
  T *row, *row_2;                     // (block, value), and (block, key)
  T *gq, *gk, *gv;                    // (block, key), (n, key), (n, value)
  T *whole, *whole_2;                 // (max(key, value)), rows that lie in pieces
  T *dq, *dk, *dv, *dk_across, *dv_across;
};

/// Cuts scratch memory into arrays that begin at whole vectors.
template <class T>
struct Cutter {
  T* at;
  int64_t used = 0;
  T* operator()(int64_t count) {
    T* start = at ? at + used : nullptr;
    used += padded<T>(count);
    return start;
  }
};

template <class T>
Packed<T> cut(const AttentionInput<T>& a, int64_t n, Cutter<T>& cutter) {
  Packed<T> p;
  p.n = n;
  p.wide = padded<T>(n);
  p.key = padded<T>(a.key_width);
  p.value = padded<T>(a.value_width);
  const int64_t rows = n + block;
  p.cosine = cutter(n * a.key_width / 2 + 2 * lanes<T>);
  p.sine = cutter(n * a.key_width / 2 + 2 * lanes<T>);
  p.bias = cutter(p.key > p.value ? p.key : p.value);
  p.q = cutter(rows * p.key);
  p.k = cutter(rows * p.key);
  p.v = cutter(rows * p.value);
  p.k_across = cutter(a.key_width * p.wide);
  p.v_across = cutter(a.value_width * p.wide);
  p.score = cutter(block * p.wide);
  p.other = cutter(block * p.wide);
  p.third = cutter(block * p.wide);
  p.fourth = cutter(block * p.wide);
  p.row = cutter(block * p.value);
  p.row_2 = cutter(block * p.value);
  p.gq = cutter(block * p.key);
  p.whole = cutter(p.key > p.value ? p.key : p.value);
  p.whole_2 = cutter(p.key > p.value ? p.key : p.value);
  p.gk = cutter(rows * p.key);
  p.gv = cutter(rows * p.value);
  p.dq = cutter(rows * p.key);
  p.dk = cutter(rows * p.key);
  p.dv = cutter(rows * p.value);
  p.dk_across = cutter(a.key_width * p.wide);
  p.dv_across = cutter(a.value_width * p.wide);
  return p;
}

/// Rotates the interleaved pairs of a vector that begins at pair f; sign -1 by the negative angles.
template <class T>
inline Vec<T> rotated(Vec<T> x, const T* cosine, const T* sine, T sign) {
  return x * each_twice<T>(load(cosine)) + swap_pairs<T>(x) * (each_twice<T>(load(sine)) * alternating(sign));
}

/// One packed vector from its place: plus bias, rotated, times `scale`. `to` and bias are padded to whole
/// vectors.
template <class T>
inline void pack_row(const T* from, const T* bias, const T* cosine, const T* sine, T scale, int64_t width,
                     T* to) {
  for (int64_t c = 0; c < width; c += lanes<T>) {
    Vec<T> x = spread(T(1));
    if (from) {
      x = get(from + c, width - c);
    }
    if (bias) {
      x += load(bias + c);
    }
    if (cosine) {
      x = rotated<T>(x, cosine + c / 2, sine + c / 2, T(1));
    }
    store(to + c, x * scale);
  }
}

/// The way back: from a packed vector, rotated by the negative angles, to its place, or added to it.
template <class T>
inline void unpack_row(const T* from, const T* cosine, const T* sine, T scale, int64_t width, T* to,
                       bool add) {
  for (int64_t c = 0; c < width; c += lanes<T>) {
    Vec<T> x = load(from + c) * scale;
    if (cosine) {
      x = rotated<T>(x, cosine + c / 2, sine + c / 2, T(-1));
    }
    if (add) {
      x += get(to + c, width - c);
    }
    put(to + c, x, width - c);
  }
}

/// A row in one piece: where it is, or gathered in `whole`.
template <class T>
inline const T* row_of(HeadRows<const T> x, int64_t i, int64_t h, int64_t width, T* whole) {
  const T* at = x.at(i, h);
  if (x.parts == 1) {
    return at;
  }
  const int64_t piece = width / x.parts;
  for (int64_t s = 0; s < x.parts; ++s) {
    copy(at + s * x.part, piece, whole + s * piece);
  }
  return whole;
}

/// unpack_row to a row that may lie in pieces (then never added to).
template <class T>
inline void unpack_to(HeadRows<T> to, int64_t i, int64_t h, const T* from, const T* cosine, const T* sine,
                      T scale, int64_t width, T* whole, bool add = false) {
  T* at = to.at(i, h);
  if (to.parts == 1) {
    return unpack_row<T>(from, cosine, sine, scale, width, at, add);
  }
  unpack_row<T>(from, cosine, sine, scale, width, whole, false);
  const int64_t piece = width / to.parts;
  for (int64_t s = 0; s < to.parts; ++s) {
    copy(whole + s * piece, piece, at + s * to.part);
  }
}

template <class T>
void transpose(const T* from, int64_t n, int64_t width, int64_t stride, int64_t wide, T* to) {
  for (int64_t c = 0; c < width; ++c) {
    for (int64_t j = 0; j < n; ++j) {
      to[c * wide + j] = from[j * stride + c];
    }
    for (int64_t j = n; j < wide; ++j) {
      to[c * wide + j] = 0;
    }
  }
}

template <class T>
void pack_angles(const AttentionInput<T>& a, int64_t begin, int64_t h, const Packed<T>& p) {
  const int64_t half = a.key_width / 2;
  for (int64_t i = 0; i < p.n; ++i) {
    copy(a.angles + ((begin + i) * a.heads + h) * half, half, p.cosine + i * half);
  }
  for (int64_t e = 0; e < p.n * half; e += lanes<T>) {
    Vec<T> s, c;
    sincos_of<T>(get(p.cosine + e, p.n * half - e), s, c);
    store(p.cosine + e, c);
    store(p.sine + e, s);
  }
}

/// Whether every head of a graph packs the same keys and values.
template <class T>
inline bool heads_share_keys(const AttentionInput<T>& a) {
  return a.k.data && a.k.head == 0 && a.v.head == 0 && !a.k_bias && !a.v_bias && !a.angles;
}

/// Packs q (scaled), k and v of one graph and head; columns beyond the widths are zeros. `packed_graph` is the first node
/// of the graph that was packed last into these arrays: where heads share keys and values, those stay.
template <class T>
void pack(const AttentionInput<T>& a, int64_t begin, int64_t h, const Packed<T>& p, int64_t& packed_graph) {
  const int64_t half = a.key_width / 2;
  const bool keys = packed_graph != begin || !heads_share_keys(a);
  packed_graph = begin;
  if (a.angles) {
    pack_angles(a, begin, h, p);
  }
  clear(p.q, (p.n + block) * p.key);
  if (keys && p.key != a.key_width) {
    clear(p.k, p.n * p.key);
  }
  if (keys && p.value != a.value_width) {
    clear(p.v, p.n * p.value);
  }
  const auto rows = [&](HeadRows<const T> from, const T* shared, bool rotated, T scale, int64_t width,
                        int64_t stride, T* to) {
    clear(p.bias, p.key > p.value ? p.key : p.value);
    for (int64_t c = 0; c < width && shared; ++c) {
      p.bias[c] = shared[(h * width + c) % a.channels];
    }
    for (int64_t i = 0; i < p.n; ++i) {
      pack_row<T>(from.data ? row_of(from, begin + i, h, width, p.whole) : nullptr, shared ? p.bias : nullptr,
                  rotated ? p.cosine + i * half : nullptr, p.sine + i * half, scale, width, to + i * stride);
    }
  };
  const bool rotated = a.angles != nullptr;
  rows(a.q, a.q_bias, rotated, a.scale, a.key_width, p.key, p.q);
  if (keys) {
    rows(a.k, a.k_bias, rotated, T(1), a.key_width, p.key, p.k);
    rows(a.v, a.v_bias, a.rotate_values, T(1), a.value_width, p.value, p.v);
    transpose(p.k, p.n, a.key_width, p.key, p.wide, p.k_across);
  }
}

/// Vectors of a row that a product holds in registers beside each other at most: the more, the fewer loads a product.
inline constexpr int64_t breadth = vector_bytes == 64 ? 5 : 2;

/// Calls tile(c, vectors) for pieces of `width`, which is whole vectors.
template <class T, class F>
inline void in_tiles(int64_t width, const F& tile) {
  for (int64_t c = 0; c < width;) {
    const int64_t left = (width - c) / lanes<T>;
    const int64_t vectors = left <= breadth ? left : breadth > 4 ? 4 : breadth;
    switch (vectors) {
      case 1:
        tile(c, std::integral_constant<int64_t, 1>());
        break;
      case 2:
        tile(c, std::integral_constant<int64_t, 2>());
        break;
      default:
        if constexpr (breadth > 2) {
          vectors == 3   ? tile(c, std::integral_constant<int64_t, 3>())
          : vectors == 4 ? tile(c, std::integral_constant<int64_t, 4>())
                         : tile(c, std::integral_constant<int64_t, 5>());
        }
    }
    c += vectors * lanes<T>;
  }
}

// The tiles are functions of their own, so that the walk around them leaves them all registers. Each sum runs in the
// order of its index, however broad the tile.

/// out (block, vectors) = or, with `add`, += weights (block, stride), the first `count` of each row, times rows (count, pitch).
template <int64_t vectors, bool add, class T>
[[gnu::noinline]] void add_mixtures(const T* weights, int64_t stride, const T* rows, int64_t pitch,
                                    int64_t count, T* out, int64_t out_pitch) {
  Vec<T> s[block][vectors];
  for (int64_t r = 0; r < block; ++r) {
    for (int64_t v = 0; v < vectors; ++v) {
      s[r][v] = add ? load(out + r * out_pitch + v * lanes<T>) : Vec<T>{};
    }
  }
  const T *w0 = weights, *w1 = w0 + stride, *w2 = w1 + stride, *w3 = w2 + stride;
  for (int64_t j = 0; j < count; ++j) {
    Vec<T> x[vectors];
    for (int64_t v = 0; v < vectors; ++v) {
      x[v] = load(rows + j * pitch + v * lanes<T>);
    }
    const T w[block] = {w0[j], w1[j], w2[j], w3[j]};
    for (int64_t r = 0; r < block; ++r) {
      const Vec<T> each = spread(w[r]);
      for (int64_t v = 0; v < vectors; ++v) {
        s[r][v] += x[v] * each;
      }
    }
  }
  for (int64_t r = 0; r < block; ++r) {
    for (int64_t v = 0; v < vectors; ++v) {
      store(out + r * out_pitch + v * lanes<T>, s[r][v]);
    }
  }
}

/// into (count, pitch) += weights (block, stride), the first `count` of each row, transposed, times rows (block, vectors).
template <int64_t vectors, class T>
[[gnu::noinline]] void add_scattered(const T* weights, int64_t stride, const T* rows, int64_t row_pitch,
                                     int64_t count, T* into, int64_t pitch) {
  Vec<T> x[block][vectors];
  for (int64_t r = 0; r < block; ++r) {
    for (int64_t v = 0; v < vectors; ++v) {
      x[r][v] = load(rows + r * row_pitch + v * lanes<T>);
    }
  }
  const T *w0 = weights, *w1 = w0 + stride, *w2 = w1 + stride, *w3 = w2 + stride;
  for (int64_t j = 0; j < count; ++j) {
    Vec<T> s[vectors];
    for (int64_t v = 0; v < vectors; ++v) {
      s[v] = load(into + j * pitch + v * lanes<T>);
    }
    const T w[block] = {w0[j], w1[j], w2[j], w3[j]};
    for (int64_t r = 0; r < block; ++r) {
      const Vec<T> each = spread(w[r]);
      for (int64_t v = 0; v < vectors; ++v) {
        s[v] += x[r][v] * each;
      }
    }
    for (int64_t v = 0; v < vectors; ++v) {
      store(into + j * pitch + v * lanes<T>, s[v]);
    }
  }
}

/// out (block, pitch) = rows (block, stride) times across (width, across_pitch), the first `count` columns.
template <class T>
inline void products(const T* rows, int64_t stride, const T* across, int64_t width, int64_t across_pitch,
                     int64_t count, T* out, int64_t pitch) {
  in_tiles<T>(padded<T>(count), [&](int64_t j, auto vectors) {
    add_mixtures<vectors, false>(rows, stride, across + j, across_pitch, width, out + j, pitch);
  });
}
/// out (block, wide) = rows (block, stride) times across (width, wide).
template <class T>
inline void products(const T* rows, int64_t stride, const T* across, int64_t width, int64_t wide, T* out) {
  products(rows, stride, across, width, wide, wide, out, wide);
}

/// out (block, width) += weights (block, wide) times rows (n, width), width whole vectors.
template <class T>
inline void mixtures(const T* weights, int64_t wide, const T* rows, int64_t n, int64_t width, T* out) {
  in_tiles<T>(width, [&](int64_t c, auto vectors) {
    add_mixtures<vectors, true>(weights, wide, rows + c, width, n, out + c, width);
  });
}

/// into (n, width) += weights (block, wide) transposed times rows (block, width).
template <class T>
inline void scatter(const T* weights, int64_t wide, const T* rows, int64_t n, int64_t width, T* into) {
  in_tiles<T>(width, [&](int64_t c, auto vectors) {
    add_scattered<vectors>(weights, wide, rows + c, width, n, into + c, width);
  });
}

/// Adds the pair bias of queries i.. to their scores and closes the places that hold no key.
template <class T>
inline void finish_scores(const AttentionInput<T>& a, const T* pairs, int64_t h, int64_t i, int64_t rows,
                          int64_t n, int64_t wide, T* score) {
  for (int64_t r = 0; r < block; ++r) {
    if (pairs && r < rows) {
      for (int64_t j = 0; j < n; ++j) {
        score[r * wide + j] += pairs[((i + r) * n + j) * a.heads + h];
      }
    }
    for (int64_t j = n; j < wide; ++j) {
      score[r * wide + j] = -infinity<T>;
    }
  }
}

/// Walks over units: calls work(g, h, begin, n, first pair row) for each graph that has nodes.
template <class T, class F>
inline void each_unit(const AttentionInput<T>& a, int64_t first, int64_t last, const F& work) {
  int64_t pair = 0;
  for (int64_t g = 0; g < a.graphs && g * a.heads < last; ++g) {
    const int64_t begin = a.offsets[g], n = a.offsets[g + 1] - begin;
    for (int64_t h = 0; h < a.heads && n > 0; ++h) {
      const int64_t unit = g * a.heads + h;
      if (unit >= first && unit < last) {
        work(h, begin, n, pair);
      }
    }
    pair += n * n;
  }
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
