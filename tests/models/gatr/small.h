// A small net of the system gatr.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <memory>

#include "weyl/models/gatr/gatr.h"

namespace weyl::gatr {

inline Options small() {
  Options o;
  o.width = 6;
  o.scalars = 8;
  o.heads = 2;
  o.blocks = 2;
  return o;
}

/// Float64, in evaluation mode, weights moved by `worn` times a normal number.
inline std::shared_ptr<Gatr> make(const Options& o, const Interface& interface, double worn = 0) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(11);
  auto model = std::make_shared<Gatr>(o, interface);
  const at::NoGradGuard quiet;
  for (const Parameter& p : model->parameters()) {
    p.tensor.add_(at::randn_like(p.tensor) * worn);
  }
  model->train(false);
  return model;
}

}  // namespace weyl::gatr
