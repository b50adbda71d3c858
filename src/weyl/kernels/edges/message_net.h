#pragma once

#include <cstdint>

#include "weyl/kernels/frames/bias_activation.h"

namespace weyl::kernels {

/// y = x W^T + b: weight (out, in) and its transpose (in, out); bias may be null, and weight too, where there is no map.
template <class T>
struct DenseMap {
  const T *weight = nullptr, *transposed = nullptr, *bias = nullptr;
  int64_t in = 0, out = 0;
};
/// Two of them with an activation between; without the first, the second alone.
template <class T>
struct DenseMlp {
  DenseMap<T> first, second;
};
/// weight (x - mean) / sqrt(variance + 1e-5) + bias of each row; null: none.
template <class T>
struct RowNorm {
  const T *weight = nullptr, *bias = nullptr;
};

/// A gated equivariant block of a head, (x, v) -> (x', v') (models/geomformer/head.h).
template <class T>
struct GatedMaps {
  DenseMap<T> lengths, vectors;  // V1, V2; no V2: the last one, of which x' alone is wanted
  DenseMlp<T> update;
};

/// A layer: messages along bonds (models/geomformer/attention.h) and, where there are maps for it, what follows them.
template <class T>
struct MessageLayer {
  RowNorm<T> norm, mixing_norm;
  DenseMap<T> query, key, key_filter;  // null: messages weigh what the cut-off says
  DenseMlp<T> values;
  DenseMap<T> value_filter;
  DenseMap<T> out, own_vectors;  // products of a node's own vectors; null: messages are added as they are
  DenseMap<T> mixing_vectors;    // mixing of the streams (models/geomformer/block.h); null: none
  DenseMlp<T> mixing;
};

/// A net whose nodes start from their types alone, pass messages along bonds, and have an energy each.
template <class T>
struct MessageNet {
  int64_t width = 0, heads = 1, kernels = 0, layers = 0;
  const T *embedding = nullptr,
          *neighbour_embedding = nullptr;  // (types, width); the second may be null, with
  DenseMap<T> neighbour_filter, combine;   // these two
  const MessageLayer<T>* layer = nullptr;
  bool filter_activation = false, vector_cutoff = true;
  RowNorm<T> norm;
  GatedMaps<T> gated[2];                           // the head: two of these, or
  DenseMlp<T> head;                                // this
  T least_square = 0;                              // added to squared lengths in gated maps
  ActivationLaw activation = ActivationLaw::silu;  // of mixing and head; SiLU elsewhere
};

/// One graph. A bond is an edge from `first` to `second` with its reverse, or an edge alone, of a node to itself.
template <class T>
struct MessageGraph {
  int64_t nodes = 0, bonds = 0;
  const int64_t* type = nullptr;  // (nodes), null: all 0
  const T* features = nullptr;    // (nodes, width), added to what nodes start from; null: none
  const T* counts = nullptr;      // (nodes), how much of each energy is differentiated
  const int64_t *first, *second;  // (bonds)
  const bool* alone = nullptr;    // (bonds)
  const T *direction, *fade,
      *basis;             // (bonds, 3), of unit length or 0; the cut-off (bonds); (bonds, kernels)
  T* energies = nullptr;  // (nodes)
  T *by_direction, *by_fade, *by_basis;  // derivatives of the sum of counts times energies
};

template <class T>
struct MessageNets {
  /// How many numbers `run` needs beside what it is given.
  int64_t (*numbers)(const MessageNet<T>& net, int64_t nodes);
  /// Energies and their derivatives. Nothing is allocated; sums over bonds come in their order.
  void (*run)(const MessageNet<T>& net, const MessageGraph<T>& graph, T* memory);
};

}  // namespace weyl::kernels
