// tests/goldens/gatr.safetensors: what the public code gives (tools/goldens/public_gatr.py).
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>

#include "weyl/carriers/points.h"
#include "weyl/core/tensor_file.h"
#include "weyl/models/gatr/gatr.h"
#include "weyl/ops/multivectors/layout.h"
#include "weyl/train/import.h"

namespace weyl::gatr {

/// One case of the file: its weights by name, and what else it holds, the nodes of all scenes in one row after the other.
struct Golden {
  explicit Golden(const std::string& name) : name(name) {
    static const NamedTensors all =
        load_tensors(std::string(WEYL_SOURCE_DIR) + "/tests/goldens/gatr.safetensors");
    for (const auto& [key, tensor] : all) {
      if (key.starts_with(name + ".weights.")) {
        weights[key.substr(name.size() + 9)] = tensor;
      } else if (key.starts_with(name + ".gradients.")) {
        gradients[key.substr(name.size() + 11)] = tensor;
      } else if (key.starts_with(name + ".")) {
        numbers[key.substr(name.size() + 1)] = tensor;
      }
    }
    EXPECT_TRUE(numbers.contains("multivectors")) << name;
  }

  /// (N, C, 16).
  Tensor multivectors(const std::string& which = "multivectors") const {
    const Tensor& x = numbers.at(which);
    return x.reshape({-1, x.size(-2), 16});
  }
  /// (N, S), undefined where the case has none.
  Tensor scalars(const std::string& which = "scalars") const {
    const auto found = numbers.find(which);
    return found == numbers.end() ? Tensor() : found->second.reshape({-1, found->second.size(-1)});
  }
  Streams input() const { return {components_first(multivectors()), scalars()}; }

  std::string name;
  NamedTensors weights, gradients, numbers;
};

inline void expect_close(const std::string& what, const Tensor& ours, const Tensor& theirs,
                         double tolerance = 1e-11) {
  ASSERT_EQ(ours.defined(), theirs.defined()) << what;
  if (theirs.defined()) {
    ASSERT_EQ(ours.sizes(), theirs.sizes()) << what;
    const double error = ((ours - theirs).abs().max() / theirs.abs().max()).item<double>();
    EXPECT_LT(error, tolerance) << what;
  }
}

inline void expect_golden(const Golden& golden, const Streams& ours) {
  expect_close(golden.name + ", multivectors", components_last(ours.multivectors),
               golden.multivectors("out_multivectors"));
  expect_close(golden.name + ", scalars", ours.scalars, golden.scalars("out_scalars"));
}

/// The widths of the goldens' layers and nets.
inline Options golden_options() {
  Options o;
  o.width = 4;
  o.scalars = 6;
  o.heads = 2;
  o.blocks = 2;
  o.positions = false;
  return o;
}

/// Three multivectors and three scalars in, two of each out.
inline Interface golden_interface() {
  Interface i;
  i.typical_nodes = 5;
  i.features = {{.name = "shapes", .kind = Kind::multivector, .channels = 3},
                {.name = "numbers", .channels = 3}};
  i.outputs = {{.name = "moved", .kind = Kind::multivector, .channels = 2},
               {.name = "counted", .channels = 2}};
  return i;
}

/// Nodes of the goldens' scenes without places: `scene` nodes each, in objects of the given sizes.
inline Points nodes_of(const std::vector<int64_t>& scenes, const std::vector<int64_t>& objects = {}) {
  Points p;
  p.graphs = Segments::of_sizes(scenes);
  p.objects = Segments::of_sizes(objects);
  p.positions = at::zeros({p.nodes(), 3}, at::kDouble);
  p.placed = false;
  return p;
}

}  // namespace weyl::gatr
