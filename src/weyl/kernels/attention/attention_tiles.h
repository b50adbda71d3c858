// One graph and head of attention, its keys in tiles. Included by kernel files alone (see simd.h).
#pragma once

#include "weyl/kernels/attention/attention_packed.h"

namespace weyl::kernels {
namespace WEYL_ISA {

/// Keys that all queries of a graph meet before the next ones come, at most. What a block of queries is multiplied with
/// then stays in the cache however long the graph is, and scores are of (block, tile) numbers. The second derivative takes
/// larger tiles, since it walks twice over several of them.
template <class T>
inline int64_t tile_of(const AttentionInput<T>& a, int derivative) {
  // Of keys and values; and whole steps of `products`, by 5 vectors or by 3.
  constexpr int64_t bytes = 1 << 16, least = vector_bytes == 64 ? 80 : 48,
                    most = vector_bytes == 64 ? 320 : 336;
  const int64_t fit = bytes / static_cast<int64_t>(sizeof(T)) / (a.key_width + a.value_width + 1);
  const int64_t tile = fit >= most ? most : fit <= least ? least : fit / least * least;
  return derivative == 2 ? 4 * tile : tile;
}

/// The arrays of one graph and head, packed: rows are padded to whole vectors. Those of nodes hold the whole graph, those
/// of keys one tile.
template <class T>
struct Packed {
  int64_t n, tile, wide, key, value;  // nodes; keys of a tile; the tile, K and V padded to whole vectors
  T *cosine, *sine;                   // (n, K/2)
  T* bias;                            // (max(key, value)) of this head, from what the frames share
  T *whole, *whole_2;                 // (max(key, value)), rows that lie in pieces
  T *q, *row;                         // (n + block, key), (n + block, value)
  T *k, *v;                           // (tile, key), (tile, value)
  T *k_across, *v_across;             // (K, wide), (V, wide)
  T *score, *other, *third, *fourth;  // (block, wide)
  T *top, *total;                     // (n): the largest score so far, and the sum of exponentials by it
  T* delta;                           // (n): the mixture by its gradient
  T *gq, *gk, *gv;                    // (n + block, key), (tile, key), (tile, value)
  T *dq, *dk, *dv;                    // likewise: directions
  T *dk_across, *dv_across;           // (K, wide), (V, wide)
  T* gout;                            // (n + block, value)
  T *mean_ds, *mean_b, *mean_w;       // (n): sums over the keys so far, then means
};

/// The arrays that the derivative of this order takes, 0 (the value) to 2, for a graph of n nodes.
template <class T>
Packed<T> cut(const AttentionInput<T>& a, int64_t n, int derivative, Cutter<T>& cutter) {
  Packed<T> p{};
  p.n = n;
  const int64_t tile = tile_of(a, derivative);
  p.tile = n < tile ? n : tile;
  p.wide = padded<T>(p.tile);
  p.key = padded<T>(a.key_width);
  p.value = padded<T>(a.value_width);
  const int64_t rows = n + block, widest = p.key > p.value ? p.key : p.value;
  if (a.angles) {
    p.cosine = cutter(n * a.key_width / 2 + 2 * lanes<T>);
    p.sine = cutter(n * a.key_width / 2 + 2 * lanes<T>);
  }
  p.bias = cutter(widest);
  p.whole = cutter(widest);
  p.whole_2 = cutter(widest);
  p.q = cutter(rows * p.key);
  p.row = cutter(rows * p.value);
  p.k = cutter(p.tile * p.key);
  p.v = cutter(p.tile * p.value);
  p.k_across = cutter(a.key_width * p.wide);
  p.score = cutter(block * p.wide);
  if (derivative != 1) {
    p.top = cutter(n);
    p.total = cutter(n);
  }
  if (derivative >= 1) {
    p.v_across = cutter(a.value_width * p.wide);
    p.other = cutter(block * p.wide);
    p.gq = cutter(rows * p.key);
    p.gk = cutter(p.tile * p.key);
    p.gv = cutter(p.tile * p.value);
  }
  if (derivative == 1) {
    p.delta = cutter(n);
  }
  if (derivative == 2) {
    p.third = cutter(block * p.wide);
    p.fourth = cutter(block * p.wide);
    p.dq = cutter(rows * p.key);
    p.dk = cutter(p.tile * p.key);
    p.dv = cutter(p.tile * p.value);
    p.dk_across = cutter(a.key_width * p.wide);
    p.dv_across = cutter(a.value_width * p.wide);
    p.gout = cutter(rows * p.value);
    p.mean_ds = cutter(n);
    p.mean_b = cutter(n);
    p.mean_w = cutter(n);
  }
  return p;
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

/// Cosine and sine by which a row is rotated; null where it is not.
template <class T>
struct Turn {
  const T *cosine = nullptr, *sine = nullptr;
};
template <class T>
inline Turn<T> turn_of(const AttentionInput<T>& a, const Packed<T>& p, int64_t i, bool rotated) {
  const int64_t at = i * (a.key_width / 2);
  return rotated ? Turn<T>{p.cosine + at, p.sine + at} : Turn<T>{};
}

/// Packs rows `first`.. of a graph, `count` of them, with their bias, rotated and scaled; null data: ones.
template <class T>
void pack_rows(const AttentionInput<T>& a, HeadRows<const T> from, const T* shared, bool rotated, T scale,
               int64_t width, int64_t begin, int64_t h, int64_t first, int64_t count, const Packed<T>& p,
               T* to) {
  const int64_t stride = padded<T>(width);
  if (shared) {
    pack_bias(shared, a.channels, h, width, p.bias);
  }
  for (int64_t i = 0; i < count; ++i) {
    const Turn<T> turn = turn_of(a, p, first + i, rotated);
    fetch_next<0>(from, begin + first + i, h, width, p.n);
    pack_row<T>(from.data ? row_of(from, begin + first + i, h, width, p.whole) : nullptr,
                shared ? p.bias : nullptr, turn.cosine, turn.sine, scale, width, to + i * stride);
  }
}

/// Packs the queries of one graph and head, scaled, and zeros for those of the last block that are not there.
template <class T>
void pack_queries(const AttentionInput<T>& a, int64_t begin, int64_t h, const Packed<T>& p) {
  if (a.angles) {
    pack_angles(a, begin, h, p);
  }
  pack_rows(a, a.q, a.q_bias, a.angles != nullptr, a.scale, a.key_width, begin, h, 0, p.n, p, p.q);
  clear(p.q + p.n * p.key, block * p.key);
}

/// Packs keys first .. first + count and their values; columns beyond the widths are zeros. `packed` is the row of the
/// first key that was packed last into these arrays: where heads share keys and values, those stay.
template <class T>
void pack_keys(const AttentionInput<T>& a, int64_t begin, int64_t h, int64_t first, int64_t count,
               const Packed<T>& p, int64_t& packed) {
  const bool heads_share = a.k.data && a.k.head == 0 && a.v.head == 0 && !a.k_bias && !a.v_bias && !a.angles;
  if (heads_share && packed == begin + first) {
    return;
  }
  packed = begin + first;
  pack_rows(a, a.k, a.k_bias, a.angles != nullptr, T(1), a.key_width, begin, h, first, count, p, p.k);
  pack_rows(a, a.v, a.v_bias, a.rotate_values, T(1), a.value_width, begin, h, first, count, p, p.v);
  transpose(p.k, count, a.key_width, p.key, p.wide, p.k_across);
}

/// Adds the bias of pairs (i.., first..) of a graph, `pairs` at its first one, to scores of `rows` queries.
template <class T>
inline void add_pairs(const AttentionInput<T>& a, const T* pairs, int64_t h, int64_t n, int64_t i,
                      int64_t rows, int64_t first, int64_t count, int64_t wide, T* score) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < count; ++j) {
      score[r * wide + j] += pairs[((i + r) * n + first + j) * a.heads + h];
    }
  }
}

/// The gradient of a bias of pairs, written.
template <class T>
inline void put_pairs(const AttentionInput<T>& a, const T* from, int64_t h, int64_t n, int64_t i,
                      int64_t rows, int64_t first, int64_t count, int64_t wide, T* pairs) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < count; ++j) {
      pairs[((i + r) * n + first + j) * a.heads + h] = from[r * wide + j];
    }
  }
}

/// Scores of the block of queries i.. with the keys of a tile, bias and all; minus infinity in places without a key.
template <class T>
inline void scores(const AttentionInput<T>& a, const T* pairs, int64_t h, int64_t i, int64_t rows,
                   int64_t first, int64_t count, const Packed<T>& p) {
  products(p.q + i * p.key, p.key, p.k_across, a.key_width, p.wide, count, p.score, p.wide);
  if (pairs) {
    add_pairs(a, pairs, h, p.n, i, rows, first, count, p.wide, p.score);
  }
  for (int64_t r = 0; r < block; ++r) {
    for (int64_t j = count; j < padded<T>(count); ++j) {
      p.score[r * p.wide + j] = -infinity<T>;
    }
  }
}

/// The largest of `count` scores, `highest` among them.
template <class T>
inline T largest_score(const T* score, int64_t count, T highest) {
  Vec<T> top = spread(highest);
  for (int64_t j = 0; j < count; j += lanes<T>) {
    top = larger<T>(top, load(score + j));
  }
  return largest_of<T>(top);
}

/// What exponentials are taken by: the largest score, or 0 where all are minus infinity, whose exponentials are 0.
template <class T>
inline T base_of(T highest) {
  return highest == -infinity<T> ? T(0) : highest;
}

/// By what sums of exponentials by `before`, the largest score of earlier tiles, become such by `base`.
template <class T>
inline T rescaling(T before, T base) {
  return exp_of<T>(spread(before - base))[0];
}

template <class T>
inline void times(T* x, T factor, int64_t width) {
  for (int64_t c = 0; c < width; c += lanes<T>) {
    store(x + c, load(x + c) * factor);
  }
}

/// Walks over units: calls work(h, begin, n, first pair row) for each graph that has nodes.
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

/// Walks over the tiles of n keys, and over the blocks of n queries.
template <class F>
inline void each_tile(int64_t n, int64_t tile, const F& work) {
  for (int64_t first = 0; first < n; first += tile) {
    work(first, n - first < tile ? n - first : tile);
  }
}
template <class F>
inline void each_block(int64_t n, const F& work) {
  for (int64_t i = 0; i < n; i += block) {
    work(i, n - i < block ? n - i : block);
  }
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
