// Small models of Lie-Algebra Attention and their tokens.
#pragma once

#include <memory>

#include "tests/models/rules.h"
#include "weyl/models/lie/lie.h"
#include "weyl/study/samples/random_samples.h"

namespace weyl::lie {

inline Interface interface_of(LieGroup group) {
  Interface interface;
  interface.group = group;
  interface.dimension = dimension_of(group);
  interface.typical_nodes = 5;
  interface.outputs = {{"gap"},
                       {.name = "correction", .channels = degrees_of_freedom(group), .role = Role::offset},
                       {.name = "moved", .kind = Kind::element}};
  return interface;
}

inline Options small(Variant variant) {
  Options options;
  options.variant = variant;
  options.width = 8;
  options.heads = 2;
  options.blocks = 2;
  return options;
}

/// In float64, with weights far from where training starts.
inline std::shared_ptr<Transformer> make(const Options& options, const Interface& interface) {
  const BuildOn wide(at::kCPU, at::kDouble);
  auto model = std::make_shared<Transformer>(options, interface);
  apply_weight_rule(*model, 0.4);
  return model;
}

inline Poses tokens(LieGroup group, int64_t graphs = 2, int64_t nodes = 5) {
  const Batch batch = random_tokens(schema_of(interface_of(group)), graphs, nodes, 3);
  return std::get<Poses>(batch.input);
}

}  // namespace weyl::lie
