// Small steerable nets of every kind, and how far they are from turning with their grid.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <vector>

#include "tests/models/steerable/turns.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/steerable/steerable.h"

namespace weyl::steerable {

inline Interface images(int64_t dimension, Level level) {
  Interface interface;
  interface.dimension = dimension;
  interface.grid = true;
  interface.features = {{.name = "rgb", .channels = dimension == 2 ? 3 : 2}};
  interface.outputs = {{.name = "logits", .level = level, .channels = 3}};
  return interface;
}

inline Options small() {
  Options o;
  o.orders = 3;
  o.degree = 1;
  o.stages = {{2, 4, 3}, {3, 4, 3}};
  o.encoder.depth = 1;
  o.encoder.heads = 2;
  o.head.hidden = 6;
  return o;
}

inline Grid random_grid(const std::vector<int64_t>& shape, at::ScalarType dtype) {
  at::manual_seed(5);
  return {at::rand(shape, at::kDouble).to(dtype)};
}

/// Weights far from where training starts, and batch norms that have seen something.
inline void wear(Net& net, const Grid& grid) {
  at::manual_seed(11);
  for (const auto& p : net.parameters()) {
    if (p.trainable) {
      const at::NoGradGuard quiet;
      p.tensor.add_(at::randn_like(p.tensor) * 0.1);
    }
  }
  net.train(true);
  net(grid);
  net.train(false);
}

/// The largest |f(g x) - g f(x)| / max |f(x)| over quarter turns, or the 24 rotations of the cube.
inline double error_of(Net& net, const Grid& grid) {
  const int64_t D = net.interface.dimension;
  const GroupPtr group = named_group(D == 2 ? "cyclic_4" : "octahedron");
  const at::NoGradGuard quiet;
  const Tensor y = net(grid).at("logits");
  double worst = 0;
  for (int64_t g = 0; g < group->order(); ++g) {
    const Tensor of_turned = net(Grid{pixels_turned(grid.values, group->element(g))}).at("logits");
    const Tensor expected = y.dim() == 2 ? y : pixels_turned(y, group->element(g));
    worst = worst_of(worst, (of_turned - expected).abs().max().item<double>() / y.abs().max().item<double>());
  }
  return worst;
}

struct Case {
  const char* name;
  int64_t dimension;
  Level level;
  std::vector<int64_t> shape;
  Options options;
};

inline std::vector<Case> cases() {
  std::vector<Case> cases;
  const auto add = [&](const char* name, int64_t dimension, Level level, int64_t side, auto change) {
    Case c{name, dimension, level, {2, dimension == 2 ? 3 : 2}, small()};
    c.shape.insert(c.shape.end(), static_cast<size_t>(dimension), side);
    change(c.options);
    cases.push_back(c);
  };
  const auto nothing = [](Options&) {};
  add("images", 2, Level::graph, 8, nothing);
  add("image masks", 2, Level::node, 8, nothing);
  add("volumes", 3, Level::graph, 8, nothing);
  add("volume masks", 3, Level::node, 8, nothing);
  add("paper images", 2, Level::graph, 12, [](Options& o) {
    o.norm = o.encoder.norm = NormLaw::joint;
    o.cut = false;
    o.head.kernel = 3;
    o.stages[0].activation = Activation::cg;
  });
  add("paper volume masks", 3, Level::node, 9, [](Options& o) {
    o.ratio = {2, 1};
    o.encoder.heads = 1;
    o.encoder.positions.radial = RadialLaw::gaussian;
    o.norm = o.encoder.norm = NormLaw::irrep;
    o.stages = {{2, 4, 3, 2, 1, false}, {4, 4, 3, 1, 2}};
    o.stages[1].activation = Activation::cg;
    o.head.irreps = HeadIrreps::trivial;
  });
  add("gated, concatenated", 2, Level::node, 9, [](Options& o) {
    o.skips = SkipLaw::concatenate;
    o.encoder.positions = {RadialLaw::table, 1, 1.5};  // of two tokens along an axis
    o.stages = {{2, 4, 3, 2, 1, false}, {0, 4, 3, 1, 2}};
    o.stages[0].activation = o.stages[1].activation = Activation::gated;
    o.stages[0].decoder = o.stages[1].decoder = Activation::cg;
    o.encoder.activation = Activation::gelu;
    o.restricted = true;
  });
  add("volumes in a margin, smoothed", 3, Level::graph, 8, [](Options& o) {
    o.stages = {{0, 4, 4, 2, 1, false}, {3, 4, 3, 1, 2}};
    o.low_pass = true;
  });
  add("image masks in a margin, smoothed", 2, Level::node, 11, [](Options& o) {
    o.stages = {{2, 4, 5, 2, 1, false}, {3, 4, 3, 1, 2}};
    o.low_pass = true;
  });
  add("volumes, all degrees and a middle", 3, Level::graph, 8, [](Options& o) {
    o.all_degrees = o.centre = true;
    o.stages = {{2, 4, 5, 1, 2}};
  });
  add("gated volumes, no attention", 3, Level::graph, 4, [](Options& o) {
    o.stages[0].activation = Activation::gated;
    o.norm = NormLaw::layer;
    o.attention = false;
    o.head.kernel = 0;
    o.stages[1].pool = 1;
    o.head.hidden = 0;
  });
  return cases;
}

}  // namespace weyl::steerable
