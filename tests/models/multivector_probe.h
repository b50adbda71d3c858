// A tiny model of points whose features and outputs are multivectors, to try what carries them.
#pragma once

#include <ATen/ATen.h>

#include "weyl/models/model.h"
#include "weyl/ops/segment.h"

namespace weyl {

/// From one multivector a node: `moved` of nodes, 2.5 times it; `mean` of graphs and `body` of objects, their means; each
/// where the interface asks for it. Other outputs are scalars of nodes: 1 plus the inner product of x with itself.
class MultivectorProbe : public PointsModel {
 public:
  enum class Does {
    scales,            // all of the above, which is equivariant
    fixes_components,  // each of the 16 components by another factor
    forgets_places,    // components with e0 are left out: no translation is seen
    steep,             // scalars: sin(300 r), r the distance from the first node of the graph, in float64
    steep_along_x      // of the x coordinate in place of r
  };
  MultivectorProbe(Interface interface, Does does, std::vector<Claim> exact)
      : PointsModel(std::move(interface)), does_(does), exact_(std::move(exact)) {
    parameter("weight", {1}, Init::ones());
  }
  Symmetry symmetry() const override { return {exact_, {}}; }
  Work work(double /*nodes*/) const override { return {16}; }
  Named forward(const Points& points) override {
    Tensor x = 2.5 * points.multivectors;  // (N, 1, 16)
    if (does_ == Does::fixes_components) {
      x = x * at::linspace(0.5, 2, 16, x.options());
    } else if (does_ == Does::forgets_places) {
      x = x.clone();
      for (const int64_t i : {1, 5, 6, 7, 11, 12, 13, 15}) {
        x.select(2, i).zero_();
      }
    }
    const auto mean = [&](const Segments& groups) {
      return segment_mean(x.flatten(1), groups).unflatten(1, {1, 16});
    };
    Named outputs;
    for (const Quantity& q : interface.outputs) {
      outputs[q.name] = q.kind != Kind::multivector ? scalars(points)
                        : q.level == Level::node    ? x
                        : q.level == Level::graph   ? mean(points.graphs)
                                                    : mean(points.objects);
    }
    return outputs;
  }

 private:
  Tensor scalars(const Points& points) const {
    const Tensor x = points.multivectors.select(1, 0);
    if (does_ == Does::steep || does_ == Does::steep_along_x) {
      const Tensor wide = x.to(at::kDouble), places = wide.slice(1, 11, 14) / wide.slice(1, 14, 15);
      const Tensor first =
          at::tensor(points.graphs.offsets, at::kLong).slice(0, 0, -1).index_select(0, points.graphs.index);
      const Tensor off = (places - places.index_select(0, first)).square().sum(1, true).sqrt();
      const Tensor along = does_ == Does::steep ? off : places.slice(1, 2, 3);
      return (300 * along).sin().to(x.scalar_type());
    }
    Tensor square = at::zeros_like(x.slice(1, 0, 1));
    for (const int64_t i : {0, 2, 3, 4, 8, 9, 10, 14}) {
      square = square + x.slice(1, i, i + 1).square();
    }
    return 1 + square;
  }

  Does does_;
  std::vector<Claim> exact_;
};

}  // namespace weyl
