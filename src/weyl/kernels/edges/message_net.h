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
  const T* embedding = nullptr;  // (types, width)
  // What nodes gather at first of their neighbours' types, (types, width), and how it joins their own; null: nothing.
  const T* neighbour_embedding = nullptr;
  DenseMap<T> neighbour_filter, combine;
  const MessageLayer<T>* layer = nullptr;
  bool filter_activation = false, vector_cutoff = true;
  RowNorm<T> norm;
  // The head: an mlp, or two gated blocks, which add `least_square` to squared lengths.
  DenseMlp<T> head;
  GatedMaps<T> gated[2];
  T least_square = 0;
  ActivationLaw activation = ActivationLaw::silu;  // of mixing and mlp; SiLU elsewhere
};

/// One graph, and what is found. A bond is an edge from `first` to `second` with its reverse, or an edge alone, of a node
/// to itself.
template <class T>
struct MessageGraph {
  int64_t nodes = 0, bonds = 0;
  const int64_t* type = nullptr;  // (nodes); null: all 0
  const T* features = nullptr;    // (nodes, width), added to what nodes start from; null: none
  const T* counts = nullptr;      // (nodes), how much of each energy is differentiated; null: all
  const int64_t *first = nullptr, *second = nullptr;  // (bonds)
  const bool* alone = nullptr;                        // (bonds)
  const T* direction = nullptr;                       // (bonds, 3), of unit length or 0
  const T* fade = nullptr;                            // (bonds), the cut-off's weight
  const T* basis = nullptr;                           // (bonds, kernels), functions of the length
  T* energies = nullptr;                              // (nodes)
  // The derivatives of the sum of counts times energies by the three above.
  T *by_direction = nullptr, *by_fade = nullptr, *by_basis = nullptr;
};

template <class T>
struct MessageNets {
  /// How many numbers `run` needs beside what it is given.
  int64_t (*numbers)(const MessageNet<T>& net, int64_t nodes);
  /// Energies and their derivatives. Nothing is allocated; sums over bonds come in their order.
  void (*run)(const MessageNet<T>& net, const MessageGraph<T>& graph, T* memory);
};

}  // namespace weyl::kernels
