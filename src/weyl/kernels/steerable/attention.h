#pragma once

#include <cstdint>

namespace weyl::kernels {

/// Steerable self-attention on a grid (ops/steerable/attention.h), in one pass over all keys for a few
/// queries at a time. A head has F numbers in the order irrep, component, channel; S irreps, counted with their
/// multiplicity, in the order irrep, channel; M components of irreps in all. Complex numbers stand in split
/// parts.
template <class T>
struct SteerableAttentionInput {
  int64_t batch = 0, heads = 0, tokens = 0;           // B, H, N
  int64_t width = 0, of_all = 0;                      // F of a head and of all heads
  int64_t multiplicity = 0, multiplicity_of_all = 0;  // S likewise
  const int64_t* features = nullptr;     // (H, F): where a head's numbers stand among those of all
  const int64_t* component = nullptr;    // (F): 0 .. M - 1
  const int64_t* copy = nullptr;         // (F): 0 .. S - 1
  const int64_t* copy_of_all = nullptr;  // (H, S): among those of all heads
  T scale = 1;
  const T *q = nullptr, *k = nullptr, *v = nullptr;  // (B, 2, F of all, N)
  /// (B, N): tokens that attend and are attended to; the others' y is zero. Null: all of them.
  const uint8_t* taking_part = nullptr;

  // Positional vectors; without any, components is 0.
  int64_t grid[3] = {1, 1, 1};
  int64_t components = 0, radii = 0;  // M, R
  /// P of the offset from j to i, by j - i + grid - 1 in (2 g - 1) x (2 g - 1) x (2 g - 1). With one radius
  /// rows along the last axis of each of the Q real functions that their parts are, (2 g - 1, 2 g - 1, Q, 2 g - 1) and 64
  /// bytes beyond the end; with several (offsets, 2, M padded to 64 bytes), and the radius of each offset.
  const T* harmonics = nullptr;
  int64_t functions = 0;  // Q
  const int32_t* parts =
      nullptr;  // (M, 2): which function the real, the imaginary part is, from 1 on, with its sign; 0: zero
  const int32_t* radius = nullptr;                           // null: one radius for all
  const T *key_weights = nullptr, *value_weights = nullptr;  // (R, S of all, 2)

  int64_t splits = 1;  // a unit of work: batch, head, and this part of its queries
  int64_t units() const { return batch * heads * splits; }
};

template <class T>
struct SteerableAttention {
  /// Numbers of scratch memory of one worker, of this function and of SteerableAttentionBackward.
  int64_t (*scratch)(const SteerableAttentionInput<T>& in);

  /// y (B, 2, F of all, N) and logsum (B, H, N; zero for tokens that take no part) of units first .. last - 1.
  void (*forward)(const SteerableAttentionInput<T>& in, T* y, T* logsum, T* scratch, int64_t first,
                  int64_t last);
};

/// q (B, 2, F of all, N); k and v (splits, B, 2, F of all, N); weights (splits, B, R, S of all, 2), null
/// without positional vectors.
template <class T>
struct SteerableAttentionGradients {
  T *q, *k, *v, *key_weights, *value_weights;
};

template <class T>
struct SteerableAttentionBackward {
  void (*backward)(const SteerableAttentionInput<T>& in, const T* y, const T* logsum, const T* gy,
                   const SteerableAttentionGradients<T>& to, T* scratch, int64_t first, int64_t last);
};

}  // namespace weyl::kernels
