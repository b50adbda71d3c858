// The arrays of a net for one graph of N nodes, with F channels. Included by kernel files alone (see simd.h).
#pragma once

#include "weyl/kernels/edges/dense_maps.h"

namespace weyl::kernels {
namespace WEYL_ISA {

inline constexpr int64_t bonds_at_once = 32;  // whose filters stay in the second cache

/// Hands out arrays one after the other; without a base it only counts them.
template <class T>
struct Memory {
  T* base = nullptr;
  int64_t used = 0;

  T* take(int64_t count) {
    const int64_t at = used;
    used += padded<T>(count);
    return base ? base + at : nullptr;
  }
};

/// What the derivative of a layer needs of its values. Null where the layer has no such part.
template <class T>
struct LayerValues {
  T *normed, *query, *key;     // (N, F)
  T *values, *own, *products;  // (N, 3 F), (N, 3 F), (N, 9 F)
  Hidden<T> of_values;
  T* middle;                 // x before mixing, (N, F)
  T *maps, *joined, *mixed;  // (N, 6 F), (N, 2 F), (N, 3 F)
  Hidden<T> of_mixing;
  Moments<T> moments, mixing_moments;

  LayerValues(const MessageNet<T>& net, const MessageLayer<T>& layer, int64_t nodes, Memory<T>& memory) {
    const int64_t row = nodes * net.width;
    const auto take = [&](const T* wanted, int64_t rows) {
      return wanted ? memory.take(rows * row) : nullptr;
    };
    normed = take(layer.norm.weight, 1);
    query = take(layer.query.weight, 1);
    key = take(layer.key.weight, 1);
    values = memory.take(3 * row);
    own = take(layer.out.weight, 3);
    products = take(layer.out.weight, 9);
    of_values = {take(layer.values.first.weight, 1), take(layer.values.first.weight, 1)};
    middle = take(layer.mixing_norm.weight, 1);
    const T* mixing = layer.mixing_vectors.weight;
    maps = take(mixing, 6);
    joined = take(mixing, 2);
    mixed = take(mixing, 3);
    of_mixing = {take(mixing, 1), take(mixing, 1)};
    moments = {memory.take(nodes), memory.take(nodes)};
    mixing_moments = {memory.take(nodes), memory.take(nodes)};
  }
};

/// The same of a gated block: I columns in, O out.
template <class T>
struct GatedValues {
  T *maps, *squares, *joined, *update, *vectors;  // (N, 3 I), (N, I), (N, 2 I), (N, 2 O), (N, 3 O)
  Hidden<T> hidden;

  GatedValues(const GatedMaps<T>& gated, int64_t nodes, Memory<T>& memory) {
    const int64_t in = gated.lengths.in;
    maps = memory.take(nodes * 3 * in);
    squares = memory.take(nodes * in);
    joined = memory.take(nodes * 2 * in);
    hidden = {memory.take(nodes * in), memory.take(nodes * in)};
    update = memory.take(nodes * gated.update.second.out);
    vectors = memory.take(nodes * 3 * gated.vectors.out);
  }
};

/// Of the head: its last numbers of nodes, and what the first gated block gives the second.
template <class T>
struct HeadValues {
  T *normed, *counts, *x, *v;
  Hidden<T> hidden;
  Moments<T> moments;

  HeadValues(const MessageNet<T>& net, int64_t nodes, Memory<T>& memory) {
    const int64_t half = net.gated[0].vectors.out, wide = net.head.first.out;
    normed = memory.take(net.norm.weight ? nodes * net.width : 0);
    counts = memory.take(nodes);
    moments = {memory.take(nodes), memory.take(nodes)};
    hidden = {memory.take(nodes * wide), memory.take(nodes * wide)};
    x = memory.take(nodes * half);
    v = memory.take(nodes * 3 * half);
  }
};

/// Arrays that one layer after the other uses.
template <class T>
struct Scratch {
  T *filters, *slopes, *by_filters;  // of bonds at once: those of values (3 F), then those of keys (F)
  T* scores;                         // (2 F)
  T *sum, *by_sum;                   // (N, F)
  T *by_vector_sum, *by_values;      // (N, 3 F)
  T *by_query, *by_key, *by_normed;  // (N, F)
  T *wide, *by_wide;                 // (N, 9 F), (N, 3 F)

  Scratch(const MessageNet<T>& net, int64_t nodes, Memory<T>& memory) {
    const auto take = [&](int64_t rows, auto&... arrays) { ((arrays = memory.take(rows * net.width)), ...); };
    take(4 * bonds_at_once, filters, slopes, by_filters);
    take(2, scores);
    take(nodes, sum, by_sum, by_query, by_key, by_normed);
    take(3 * nodes, by_vector_sum, by_values, by_wide);
    take(9 * nodes, wide);
  }
};

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
