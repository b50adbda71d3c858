#pragma once

#include "weyl/models/gatr/attention.h"
#include "weyl/models/gatr/mlp.h"

namespace weyl::gatr {

/// One pre-norm block: x <- x + attention(norm x); x <- x + mlp(norm x). Norms have no parameters. Children attention,
/// mlp.
class Block : public Module {
 public:
  /// `across`: an axial block that attends across objects.
  explicit Block(const Options& options, bool across = false);
  Streams operator()(const Streams& x, const Scene& scene) const;
  /// Of a token, in a graph and an object of so many.
  double flops(double graph_nodes, double object_nodes = 0) const;
  double nominal_flops() const { return attention_->nominal_flops() + mlp_->nominal_flops(); }

 private:
  bool across_;
  std::shared_ptr<SelfAttention> attention_;
  std::shared_ptr<GeometricMlp> mlp_;
};

}  // namespace weyl::gatr
