#pragma once

#include <cstdint>

#include "weyl/algebra/lie/score_activation.h"

namespace weyl::kernels {

/// A network E -> M -> 1 for each head h on the coordinates of each present pair p, with g = ReLU or the exact GELU:
///   y_hp = second_h . g(first_h w_p + first_bias_h) + second_bias_h,   0 for pairs that are not present.
template <class T>
struct PairNetworkInput {
  int64_t pairs = 0, coordinates = 0, heads = 0, hidden = 0;  // P, E, H, M
  weyl::lie::ScoreActivation activation = weyl::lie::ScoreActivation::relu;
  const T* w = nullptr;                               // (E, P)
  const bool* present = nullptr;                      // (P)
  const T *first = nullptr, *first_bias = nullptr;    // (H, M, E), (H, M)
  const T *second = nullptr, *second_bias = nullptr;  // (H, M), (H)
};

/// There are kernels for as many coordinates as an algebra has: 1, 3, 6 and 12.
constexpr bool has_pair_network(int64_t coordinates) {
  return coordinates == 1 || coordinates == 3 || coordinates == 6 || coordinates == 12;
}

/// Overwritten: w (E, P), null where it is not wanted. Added to: the others, shaped as the weights.
template <class T>
struct PairNetworkGradients {
  T *w = nullptr, *first = nullptr, *first_bias = nullptr, *second = nullptr, *second_bias = nullptr;
};

template <class T>
struct PairNetwork {
  /// Pairs first <= p < last of y (H, P).
  void (*forward)(const PairNetworkInput<T>& in, T* y, int64_t first, int64_t last);

  /// gy (H, P). Nothing is kept from the forward pass: hidden numbers are made again.
  void (*backward)(const PairNetworkInput<T>& in, const T* gy, const PairNetworkGradients<T>& to,
                   int64_t first, int64_t last);
};

}  // namespace weyl::kernels
