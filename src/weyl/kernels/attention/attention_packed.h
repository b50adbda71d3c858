// Rows of attention, packed for vectors, and their products. Included by kernel files alone (see simd.h).
#pragma once

#include <type_traits>

#include "weyl/kernels/attention/attention.h"
#include "weyl/kernels/simd/elementary.h"
#include "weyl/kernels/simd/pairs.h"

namespace weyl::kernels {
namespace WEYL_ISA {

inline constexpr int64_t block = 4;  // queries at a time

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

/// Rotates the interleaved pairs of a vector that begins at pair f; sign -1 by the negative angles.
template <class T>
inline Vec<T> rotated(Vec<T> x, const T* cosine, const T* sine, T sign) {
  return x * each_twice<T>(load(cosine)) + swap_pairs<T>(x) * (each_twice<T>(load(sine)) * alternating(sign));
}

/// The bias of a head's columns, of which `channels` are shared by its frames; padded to whole vectors.
template <class T>
inline void pack_bias(const T* shared, int64_t channels, int64_t h, int64_t width, T* to) {
  clear(to, padded<T>(width));
  int64_t channel = h * width % channels;
  for (int64_t c = 0; c < width; ++c) {
    to[c] = shared[channel];
    channel = channel + 1 == channels ? 0 : channel + 1;
  }
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

/// Has the row of the next head brought into the cache while this one is worked on, in a graph of n nodes: heads of short
/// graphs are lines of memory far apart, which nobody else sees coming; of long ones two heads would not fit. `write`: it
/// will be written.
template <int write, class X>
inline void fetch_next(HeadRows<X> x, int64_t i, int64_t h, int64_t width, int64_t n) {
  constexpr int64_t short_graph = 128;
  if (n > short_graph || !x.data) {
    return;
  }
  constexpr auto line = static_cast<int64_t>(64 / sizeof(X));
  const int64_t piece = width / x.parts;
  for (int64_t s = 0; s < x.parts; ++s) {
    for (int64_t c = 0; c < piece; c += line) {
      __builtin_prefetch(x.at(i, h + 1) + s * x.part + c, write);
    }
  }
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

/// Vectors of a row that a product holds in registers beside each other at most: the more, the fewer loads a product.
inline constexpr int64_t breadth = vector_bytes == 64 ? 5 : 3;

/// Calls tile(c, vectors) for pieces of `width`, which is whole vectors. None is of one vector where it can be helped: its
/// sums are too few to hide what an addition takes.
template <class T, class F>
inline void in_tiles(int64_t width, const F& tile) {
  for (int64_t c = 0; c < width;) {
    const int64_t left = (width - c) / lanes<T>;
    const int64_t vectors = left <= breadth ? left : breadth > 4 ? 4 : left == breadth + 1 ? 2 : breadth;
    switch (vectors) {
      case 1:
        tile(c, std::integral_constant<int64_t, 1>());
        break;
      case 2:
        tile(c, std::integral_constant<int64_t, 2>());
        break;
      default:
        if constexpr (breadth == 3) {
          tile(c, std::integral_constant<int64_t, 3>());
        } else {
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

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
