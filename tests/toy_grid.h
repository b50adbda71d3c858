#pragma once

#include <ATen/ATen.h>

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/models/model.h"

namespace weyl {

/// A small network on grids: a convolution (5 cells, in space 7: fewer have no handed orbits) whose kernel is
/// averaged over a finite group, ReLU, a pointwise one, and for graph outputs the mean over all cells. It is
/// exact under the group, and, unless the group has them, not under reflections. `broken` leaves the kernel
/// as it was drawn.
class ToyGrid : public GridModel {
 public:
  ToyGrid(Interface interface, GroupPtr group, bool broken = false)
      : GridModel(std::move(interface)), group_(std::move(group)), broken_(broken) {
    const int64_t D = this->interface.dimension,
                  C = channels_of(this->interface.features, Level::node, Kind::scalar);
    std::vector<int64_t> shape{hidden_, C};
    shape.insert(shape.end(), D, side());
    kernel_ = parameter("kernel", shape, Init::normal(0.3));
    mix_ = parameter("mix", {this->interface.outputs[0].channels, hidden_}, Init::normal(1));
  }

  Named forward(const Grid& grid) override {
    const int64_t D = interface.dimension;
    const Tensor kernel = broken_ ? kernel_ : averaged();
    const std::vector<int64_t> one(D, 1), half(D, side() / 2);
    const Tensor wide = D == 2 ? at::conv2d(grid.values, kernel, {}, one, half)
                               : at::conv3d(grid.values, kernel, {}, one, half);
    const Tensor hidden = at::relu(wide - 0.1);
    const Tensor mixed = at::einsum("oc,bc...->bo...", {mix_, hidden});
    const Quantity& q = interface.outputs[0];
    return {{q.name, q.level == Level::node ? mixed : mixed.flatten(2).mean(2)}};
  }

  Symmetry symmetry() const override { return {{{Claim::Of::finite, group_->name(), group_}}, {}, {}}; }
  Work work(double /*nodes*/) const override { return {1}; }

 private:
  Tensor averaged() const {
    const int64_t D = interface.dimension, G = group_->order();
    Interface as_scalars;
    as_scalars.grid = true;
    as_scalars.dimension = D;
    const int64_t n = kernel_.size(0) * kernel_.size(1);
    as_scalars.features = {{.name = "kernel", .channels = n}};
    std::vector<int64_t> shape{1, n};
    shape.insert(shape.end(), D, side());
    Tensor motions = at::empty({1, D, D}, at::kDouble), sum;
    for (int64_t g = 0; g < G; ++g) {
      std::copy(group_->element(g).begin(), group_->element(g).end(), motions.data_ptr<double>());
      Schema schema;
      schema.interface.grid = true;
      schema.interface = as_scalars;
      const Batch moved = transform({Grid{kernel_.view(shape)}, {}}, {motions, {}}, schema);
      const Tensor& values = std::get<Grid>(moved.input).values;
      sum = sum.defined() ? sum + values : values;
    }
    return (sum / static_cast<double>(G)).view(kernel_.sizes());
  }

  int64_t side() const { return interface.dimension == 2 ? 5 : 7; }

  static constexpr int64_t hidden_ = 6;
  GroupPtr group_;
  bool broken_;
  Tensor kernel_, mix_;
};

/// Grids with `features` scalar channels, and one category as label.
inline Schema toy_schema(int64_t dimension, int64_t features, std::string label, int64_t categories) {
  Schema schema;
  schema.interface.grid = true;
  schema.interface.dimension = dimension;
  schema.interface.grid = true;
  schema.interface.features = {{.name = "intensity", .channels = features}};
  schema.labels = {{.name = label,
                    .level = label == "mask" ? Level::node : Level::graph,
                    .kind = Kind::category,
                    .categories = categories}};
  return schema;
}

}  // namespace weyl
