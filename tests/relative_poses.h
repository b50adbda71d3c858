// A network on poses that sees relative poses alone, for tests of what a house around such networks does.
#pragma once

#include <ATen/ATen.h>

#include "weyl/models/model.h"

namespace weyl {

/// R_i = mean over j of g_i^-1 g_j within a graph. Outputs, those of the interface by name:
///   gap     (N, 1)     sum of weight * R_i, an invariant
///   moved   (N, m, m)  g_i (1 + weight_11 R_i)
///   centre  (B, m, m)  mean of the moved elements
class RelativePoses : public PosesModel {
 public:
  explicit RelativePoses(Interface interface) : PosesModel(std::move(interface)) {
    const int64_t m = matrix_size(group());
    weight_ = parameter("weight", {m, m}, Init::normal(1));
  }
  Symmetry symmetry() const override {
    return {{{Claim::Of::left_motions, symbol_of(group()), nullptr},
             {Claim::Of::permutations, "permutations", nullptr}},
            {}};
  }
  Work work(double /*nodes*/) const override { return {1}; }
  Named forward(const Poses& poses) override {
    const Tensor &g = poses.elements, &index = poses.graphs.index;
    const auto mean = [&](const Tensor& x) {
      const Tensor sum = at::zeros({poses.count(), x.size(1), x.size(2)}, x.options()).index_add(0, index, x);
      const Tensor count = at::zeros({poses.count()}, x.options())
                               .index_add(0, index, at::ones_like(x.select(1, 0).select(1, 0)));
      return sum / count.view({-1, 1, 1});
    };
    const Tensor relative = at::matmul(at::linalg_inv(g), mean(g).index_select(0, index));
    const Tensor moved = g + at::matmul(g, relative) * weight_[0][0];
    Named all{
        {"gap", (relative * weight_).sum({1, 2}).unsqueeze(1)}, {"moved", moved}, {"centre", mean(moved)}};
    if (poses.scalars.defined()) {
      all["gap"] = all["gap"] + poses.scalars.sum(1, true);
    }
    Named result;
    for (const auto& q : interface.outputs) {
      result[q.name] = all.at(q.name);
    }
    return result;
  }

 private:
  Tensor weight_;
};

inline Interface poses_interface(LieGroup group) {
  Interface interface;
  interface.group = group;
  interface.dimension = dimension_of(group);
  interface.typical_nodes = 7;
  interface.outputs = {
      {"gap"}, {"moved", Level::node, Kind::element}, {"centre", Level::graph, Kind::element}};
  return interface;
}

}  // namespace weyl
