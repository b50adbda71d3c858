#include "weyl/models/gatr/block.h"

#include <ATen/TensorOperators.h>

#include "weyl/models/gatr/norm.h"

namespace weyl::gatr {
namespace {

/// In x's precision, which is the weights' also under autocast.
Streams sum(const Streams& x, const Streams& branch) {
  return {x.multivectors + branch.multivectors.to(x.multivectors.scalar_type()),
          x.scalars + branch.scalars.to(x.scalars.scalar_type())};
}

}  // namespace

Block::Block(const Options& options, bool across)
    : across_(across),
      attention_(child("attention", std::make_shared<SelfAttention>(options))),
      mlp_(child("mlp", std::make_shared<GeometricMlp>(options))) {}

Streams Block::operator()(const Streams& x, const Scene& scene) const {
  const Streams mixed = sum(x, (*attention_)(normalised(x), scene, across_));
  return sum(mixed, (*mlp_)(normalised(mixed), scene.reference));
}

double Block::flops(double graph_nodes, double object_nodes) const {
  return attention_->flops(graph_nodes, object_nodes, across_) + mlp_->flops();
}

}  // namespace weyl::gatr
