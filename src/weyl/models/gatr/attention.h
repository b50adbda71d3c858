#pragma once

#include "weyl/models/gatr/linear.h"
#include "weyl/models/gatr/options.h"
#include "weyl/models/gatr/scene.h"

namespace weyl::gatr {

/// Geometric self-attention (ops/multivectors/attention.h): with `multi_query` all heads share keys and values; what is
/// inserted again (`Scene::again`) is read by queries and keys beside x, without multi_query by values too. Children in
/// the authors' order: qkv_module.{q,k,v}_linear or qkv_module.in_linear; out_linear, which starts small. Parameter
/// attention.log_weights (H, 1, C), logarithms of the weights of distances, which start at zero.
class SelfAttention : public Module {
 public:
  explicit SelfAttention(const Options& options);
  /// `across`: this block attends across objects (axial blocks in turn).
  Streams operator()(const Streams& x, const Scene& scene, bool across = false) const;
  /// Of a token, in a graph and an object of so many.
  double flops(double graph_nodes, double object_nodes = 0, bool across = false) const;
  double nominal_flops() const;

 private:
  struct Heads {
    Streams q, k, v;
  };
  Heads heads_of(const Streams& x, const Scene& scene, bool across) const;
  /// (N, H, 16 C + S).
  Tensor attended(const Heads& heads, const Scene& scene, bool across) const;
  int64_t stored_heads() const { return options_.multi_query ? 1 : options_.heads; }

  Options options_;
  HeadChannels head_;
  std::shared_ptr<EquiLinear> q_, k_, v_, qkv_, out_;
  Tensor log_weights_;
};

}  // namespace weyl::gatr
