// What the forward and the backward pass of Lie-algebra attention share. Included by kernel files alone (see
// simd.h).
#pragma once

#include "weyl/algebra/lie/number.h"
#include "weyl/kernels/attention/attention_packed.h"
#include "weyl/kernels/lie/attention.h"
#include "weyl/kernels/lie/tiles.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

/// `count` doubles of the scratch memory.
template <class T>
inline double* cut_doubles(Cutter<T>& cutter, int64_t count) {
  constexpr int64_t numbers = sizeof(T) < sizeof(double) ? 2 : 1;  // of T in the place of one
  return reinterpret_cast<double*>(cutter(count * numbers));
}

/// Scratch of one worker, cut for graphs of up to n nodes. Per head: values packed to whole vectors, both
/// ways round; per block of rows: geometry of a tile, softmax state, sums.
template <class T>
struct Workspace {
  int64_t value, wide;       // width and nodes padded to whole vectors
  T *v, *v_across;           // (heads, n, value), (heads, width, wide)
  T *coordinates, *closed;   // (block, dof, tile), of pairs given (block, tile): 0, or minus infinity
  double *squares, *open;    // of elements given (block, blocks, tile), (block, tile): 0, or minus infinity
  double *exact, *places;    // with linear terms (block, dof, tile): coordinates; (tile): 0, 1, 2, ...
  double *score, *least;     // (tile) of one row and head, (block, blocks)
  T* above;                  // (block, blocks, tile): squares above the least of their row
  T *weight, *slope;         // (block, tile)
  T *mixed, *sums;           // (heads, block, value), (heads, block, dof, lanes)
  double* top;               // (heads, block)
  T* total;                  // (heads, block)
  T *gv, *gout, *gw;         // (heads, n, value), (heads, block, value), (block, dof, tile)
  T *by_weight, *by_linear;  // (heads, blocks, lanes), (heads, dof + 2, lanes)

  Workspace(const LieAttentionInput<T>& in, int64_t n, Cutter<T>& cutter)
      : value(padded<T>(in.width)), wide(padded<T>(n) + tile) {
    v = cutter(in.heads * n * value);
    v_across = cutter(in.heads * in.width * wide);
    coordinates = cutter(block * in.dof * tile);
    closed = cutter(block * tile);
    squares = cut_doubles(cutter, block * in.blocks * tile);
    open = cut_doubles(cutter, block * tile);
    exact = cut_doubles(cutter, in.linear ? block * in.dof * tile : 0);
    places = cut_doubles(cutter, in.linear ? tile : 0);
    score = cut_doubles(cutter, tile);
    least = cut_doubles(cutter, block * in.blocks);
    above = cutter(block * in.blocks * tile);
    weight = cutter(block * tile);
    slope = cutter(block * tile);
    mixed = cutter(in.heads * block * value);
    sums = cutter(in.heads * block * in.dof * lanes<T>);
    top = cut_doubles(cutter, in.heads * block);
    total = cutter(in.heads * block);
    gv = cutter(in.heads * n * value);
    gout = cutter(in.heads * block * value);
    gw = cutter(block * in.dof * tile);
    by_weight = cutter(in.heads * in.blocks * lanes<T>);
    by_linear = cutter(in.linear ? in.heads * (in.dof + 2) * lanes<T> : 0);
  }
};

/// Rows of one graph: rows i .. i + rows - 1 of graph rows begin .. end, whose first pair is `pair`.
struct Rows {
  int64_t begin, end, pair, i, rows;
  int64_t nodes() const { return end - begin; }
};

/// work(rows) for blocks of rows; enter(graph) before and leave(graph) after those of a graph.
template <class T, class Enter, class Work, class Leave>
inline void each_block(const LieAttentionInput<T>& in, int64_t first, int64_t last, const Enter& enter,
                       const Work& work, const Leave& leave) {
  int64_t pair = 0;
  for (int64_t g = 0; g < in.graphs && in.offsets[g] < last; ++g) {
    const int64_t begin = in.offsets[g], end = in.offsets[g + 1];
    const int64_t from = begin > first ? begin : first, to = end < last ? end : last;
    if (from < to) {
      enter(begin, end - begin);
      for (int64_t i = from; i < to; i += block) {
        work(Rows{begin, end, pair, i, to - i < block ? to - i : block});
      }
      leave(begin, end - begin);
    }
    pair += (end - begin) * (end - begin);
  }
}

/// `width` numbers to whole vectors, with zeros behind them.
template <class T>
inline void copy_row(const T* from, int64_t width, T* to) {
  for (int64_t c = 0; c < width; c += lanes<T>) {
    store(to + c, get(from + c, width - c));
  }
}

/// `count` numbers to a place that holds no more. (Copies of a few numbers by memcpy start slowly.)
template <class T>
inline void write_row(const T* from, int64_t count, T* to) {
  for (int64_t k = 0; k < count; k += lanes<T>) {
    put(to + k, load(from + k), count - k);
  }
}

template <class T>
inline void pack_values(const LieAttentionInput<T>& in, int64_t begin, int64_t n, const Workspace<T>& s) {
  for (int64_t k = 0; in.linear && k < tile; ++k) {
    s.places[k] = static_cast<double>(k);
  }
  for (int64_t h = 0; h < in.heads; ++h) {
    for (int64_t j = 0; j < n; ++j) {
      copy_row(in.values + ((begin + j) * in.heads + h) * in.width, in.width, s.v + (h * n + j) * s.value);
    }
  }
}

/// The end of what the rows of the block see, in tiles: of the graph, or of what lies before the last of them.
template <class T>
inline int64_t seen_end(const LieAttentionInput<T>& in, const Rows& at) {
  return in.causal ? at.i + at.rows - 1 : at.end;
}

/// How many of the `count` tokens from j on row i sees.
template <class T>
inline int64_t seen_of(const LieAttentionInput<T>& in, int64_t i, int64_t j, int64_t count) {
  return !in.causal || i - j >= count ? count : i > j ? i - j : 0;
}

/// As many doubles from p on as a vector of T has numbers, less `base`, rounded to T.
template <class T>
inline Vec<T> rounded(const double* p, double base) {
  if constexpr (sizeof(T) == sizeof(double)) {
    return load(p) - base;
  } else {
    typedef T Half __attribute__((vector_size(vector_bytes / 2)));  // NOLINT(modernize-use-using)
    const Half a = __builtin_convertvector(load(p) - base, Half);
    const Half b = __builtin_convertvector(load(p + lanes<double>) - base, Half);
    if constexpr (lanes<T> == 16) {
      return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    } else if constexpr (lanes<T> == 8) {
      return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
    } else {
      return __builtin_shufflevector(a, b, 0, 1, 2, 3);
    }
  }
}

/// Closes the numbers from `seen`, whose vector `fill` has closed, to the end of the tile's `count`.
template <class T>
inline void close_rest(const LieAttentionInput<T>& in, int64_t seen, int64_t count, const PairTile<T>& to) {
  const int64_t from = padded<T>(seen), rest = padded<T>(count) - from;
  if (rest <= 0) {
    return;
  }
  for (int64_t c = 0; c < in.dof; ++c) {
    clear(to.coordinates + c * tile + from, rest);
    for (int64_t k = 0; to.exact && k < rest; ++k) {
      to.exact[c * tile + from + k] = 0;
    }
  }
  for (int64_t k = 0; k < rest; ++k) {
    for (int64_t b = 0; b < in.blocks; ++b) {
      to.squares[b * tile + from + k] = 0;
    }
    to.open[from + k] = -infinity<double>;
  }
}

/// Geometry of the tile that begins at row j, for all rows of the block.
template <class T>
inline void geometry(const LieAttentionInput<T>& in, const Rows& at, int64_t j, int64_t count,
                     const Workspace<T>& s, T* outside) {
  for (int64_t r = 0; r < at.rows; ++r) {
    T* w = s.coordinates + r * in.dof * tile;
    if (in.elements.planes) {
      LieElements<double> graph = in.elements;
      graph.count = at.end;
      const PairTile<T> to{w, s.squares + r * in.blocks * tile, s.open + r * tile,
                           in.linear ? s.exact + r * in.dof * tile : nullptr};
      const int64_t seen = seen_of(in, at.i + r, j, count),
                    found = seen > 0 ? tiles<T>().fill(graph, in.policy, at.i + r, j, seen, to) : 0;
      close_rest(in, seen, count, to);
      if (outside) {
        outside[at.i + r] += static_cast<T>(found);
      }
      continue;
    }
    T* closed = s.closed + r * tile;
    const int64_t pair = at.pair + (at.i + r - at.begin) * at.nodes() + j - at.begin;
    constexpr T never = -infinity<T>;
    for (int64_t k = 0; k < count; ++k) {
      closed[k] = in.present[pair + k] ? T(0) : never;
    }
    for (int64_t k = count; k < padded<T>(count); ++k) {
      closed[k] = never;
    }
    if (j <= at.i + r && at.i + r < j + count) {
      closed[at.i + r - j] = never;
    }
    for (int64_t c = 0; c < in.dof; ++c) {
      for (int64_t k = 0; k < padded<T>(count); k += lanes<T>) {
        const Vec<T> x = get(in.coordinates + c * in.pairs + pair + k, in.pairs - pair - k);
        store(w + c * tile + k, load(closed + k) < T(0) ? Vec<T>{} : x);
      }
    }
  }
}

/// Of elements given: takes the squares of the tile's open pairs into the least of each row of the block.
template <class T>
inline void lower_least(const LieAttentionInput<T>& in, const Rows& at, int64_t count,
                        const Workspace<T>& s) {
  for (int64_t r = 0; r < at.rows; ++r) {
    const double* open = s.open + r * tile;
    for (int64_t b = 0; b < in.blocks; ++b) {
      const double* squares = s.squares + (r * in.blocks + b) * tile;
      Vec<double> nearest = spread(-infinity<double>);
      for (int64_t k = 0; k < padded<T>(count); k += lanes<double>) {
        nearest = larger<double>(nearest, load(open + k) - load(squares + k));
      }
      const double found = -largest_of<double>(nearest);
      double& least = s.least[r * in.blocks + b];
      least = found < least ? found : least;
    }
  }
}

/// How far the tokens from j + k on stand behind token i.
inline Vec<double> steps_to(int64_t i, int64_t j, int64_t k, const double* places) {
  return load(places + k) + static_cast<double>(j - i);
}

/// The scores of head h, row r: of elements given into s.score, of pairs given into s.weight. Returns the largest.
template <class T>
inline double scores(const LieAttentionInput<T>& in, const Rows& at, int64_t h, int64_t r, int64_t j,
                     int64_t count, const Workspace<T>& s) {
  if (in.elements.planes) {
    Vec<double> top = spread(-infinity<double>);
    const double* open = s.open + r * tile;
    const double* squares = s.squares + r * in.blocks * tile;
    const T* weights = in.weights + h * in.blocks;
    for (int64_t k = 0; k < padded<T>(count); k += lanes<double>) {
      Vec<double> x = load(open + k);
      for (int64_t b = 0; b < in.blocks; ++b) {
        x -= load(squares + b * tile + k) * static_cast<double>(weights[b]);
      }
      if (in.linear) {
        const T* linear = in.linear + h * (in.dof + 2);
        const double* w = s.exact + r * in.dof * tile + k;
        for (int64_t c = 0; c < in.dof; ++c) {
          x += load(w + c * tile) * static_cast<double>(linear[c]);
        }
        const Vec<double> steps = steps_to(at.i + r, j, k, s.places);
        x += steps * static_cast<double>(linear[in.dof]) +
             larger<double>(steps, -steps) * static_cast<double>(linear[in.dof + 1]);
      }
      store(s.score + k, x);
      top = larger<double>(top, x);
    }
    return largest_of<double>(top);
  }
  Vec<T> top = spread(-infinity<T>);
  const T* closed = s.closed + r * tile;
  T* score = s.weight + r * tile;
  const T* given = in.scores + h * in.pairs;
  const int64_t pair = at.pair + (at.i + r - at.begin) * at.nodes() + j - at.begin;
  for (int64_t k = 0; k < padded<T>(count); k += lanes<T>) {
    const Vec<T> mask = load(closed + k), x = get(given + pair + k, in.pairs - pair - k);
    const Vec<T> y = mask < T(0) ? mask : x;
    store(score + k, y);
    top = larger<T>(top, y);
  }
  return static_cast<double>(largest_of<T>(top));
}

/// exp(score - base) of what `scores` left, into the row of s.weight; returns their sum.
template <class T>
inline T exponentials(const LieAttentionInput<T>& in, int64_t r, int64_t count, double base,
                      const Workspace<T>& s) {
  T* weight = s.weight + r * tile;
  const bool streamed = in.elements.planes != nullptr;
  const T narrow = static_cast<T>(base);
  Vec<T> total{};
  for (int64_t k = 0; k < padded<T>(count); k += lanes<T>) {
    const Vec<T> e =
        WEYL_ISA::exp_of<T>(streamed ? rounded<T>(s.score + k, base) : load(weight + k) - narrow);
    store(weight + k, e);
    total += e;
  }
  return sum_of<T>(total);
}

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
