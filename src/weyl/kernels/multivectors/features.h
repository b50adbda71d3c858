#pragma once

#include "weyl/kernels/multivectors/rows.h"

namespace weyl::kernels {

/// What a head of attention sees of multivectors (16, N, M) and scalars (N, S'), M = C H channels. By role:
///   query, key  12 numbers a channel: components 0, 2, 3, 4, 8, 9, 10, then five of the distance, of the trivector
///               t = components 11, 12, 13 and v = 14, each times v / (v^2 + epsilon):
///               query w (|t|^2, v^2, t v), key (-v^2, -|t|^2, 2 t v), w (M) of the channel;
///   value       all 16 components.
enum class FeatureRole { query, key, value };
inline constexpr int most_features = 16;
inline constexpr int features_of(FeatureRole role) {
  return role == FeatureRole::value ? 16 : 12;
}

/// Feature f of channel m of token n is at n width + places[m] + f stride of an array (N, width), scalar s at
/// n width + scalar_places[s]. `run`: so many channels from each multiple of it on lie side by side there too; 0: none
/// do. Tokens first <= n < last. T is float or double.
template <class T>
struct MultivectorFeaturesInput {
  FeatureRole role = FeatureRole::value;
  T epsilon = 0;
  int64_t channels = 0, scalar_count = 0, width = 0, stride = 0, run = 0;
  const int64_t *places = nullptr, *scalar_places = nullptr;
  MultivectorRows<const T> x;
  const T* scalars = nullptr;
  int64_t scalar_row = 0;
  const T* weights = nullptr;  // of queries, (M)
};

template <class T>
struct MultivectorFeatures {
  /// Writes y (N, width).
  void (*forward)(const MultivectorFeaturesInput<T>& in, T* y, int64_t first, int64_t last);

  /// Writes gx (16, N, M), gscalars (N, S') contiguous, adds to gweights (M) (null: not wanted).
  void (*backward)(const MultivectorFeaturesInput<T>& in, const T* gy, MultivectorRows<T> gx, T* gscalars,
                   T* gweights, int64_t first, int64_t last);

  /// The derivative of `backward`: given the gradients dx, dscalars (N, S') contiguous and dweights of its results
  /// (null: zero), writes those of x and gy, adds to gweights (null: not wanted).
  void (*second)(const MultivectorFeaturesInput<T>& in, const T* gy, MultivectorRows<const T> dx,
                 const T* dscalars, const T* dweights, MultivectorRows<T> gx, T* gweights, T* ggy,
                 int64_t first, int64_t last);
};

}  // namespace weyl::kernels
