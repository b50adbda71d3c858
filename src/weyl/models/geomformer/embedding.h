#pragma once

#include <memory>

#include "weyl/models/features.h"
#include "weyl/models/geomformer/attention.h"

namespace weyl::geomformer {

/// The streams that a net starts with, from types, features and positions.
///   inv  embedding of the type, + a map of the scalar features (+ pair_embedding, + neighbour_embedding)
///   equ  direction (x) g(length) W of the position from the centroid (input = centroid; of the real
///        nodes alone, carriers/node_feature.h), the sum of the same
///        over the neighbours, weighted by the cut-off (local), the sum of the two (both), or zero; + the
///        same of each vector feature. Directions of positions are r / sqrt(r^2 + s^2), their lengths
///        sqrt(r^2 + s^2) - s (s: smoothing), so that nothing jumps where atoms coincide; those of features
///        are v / |v| and |v|. g: Gaussians, one for each channel.
/// Children: embedding, [features], [pairs], [neighbours.*], [position.*], [local.*], [vector_<v>.*].
class Embedding : public Module {
 public:
  /// `positions` off: vectors come from the features alone; `features` off: from the position alone.
  Embedding(const Options& options, const Interface& interface, bool positions, bool features);
  StreamAttention::Streams operator()(const Points& points, const Interface& interface,
                                      const Neighbourhood& near) const;
  /// What scalar features add to the invariant stream (N, d); undefined: nothing.
  Tensor of_features(const Points& points, const Interface& interface) const;
  Work work(const Around& around) const;  // of one node
  /// Whether the vectors that it gives depend on parameters, or are zero.
  bool gives_vectors() const { return position_.map || local_.map || vectors_ > 0; }

 private:
  struct Radial {
    std::shared_ptr<GaussianBasis> gaussian;
    std::shared_ptr<Linear> map;
    Tensor operator()(const Tensor& lengths, const Tensor& types) const;  // (R) -> (R, d)
  };
  Radial radial(const std::string& name);
  Tensor embedded(const Points& points, const Neighbourhood& near) const;  // inv without scalar features
  Tensor from_centroid(const Points& points, const Interface& interface,
                       const Tensor& types) const;                               // (N, 3, d)
  Tensor from_neighbours(const Neighbourhood& near, const Tensor& types) const;  // (N, 3, d)

  Options options_;
  int64_t types_, vectors_;
  Tensor embedding_, neighbour_embedding_;
  std::shared_ptr<Linear> features_, pairs_, neighbour_filter_, combine_;
  Radial position_, local_;
  std::vector<Radial> of_vectors_;
};

}  // namespace weyl::geomformer
