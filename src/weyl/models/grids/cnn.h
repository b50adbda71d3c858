#pragma once

#include "weyl/models/grids/layers.h"
#include "weyl/models/model.h"
#include "weyl/nn/linear.h"

namespace weyl::grids {

/// The plain net for numbers and classes of whole images and volumes, control of every comparison on grids: stages of
/// residual blocks (He et al. 2016), each after the first with twice the channels, the mean over all cells, one linear
/// map. Children encoder, head.
///
/// It claims no symmetry. Whole strides move its features along with what the grid shows, but the zeros around the grid
/// do not move, so that its answers stay only as far from the border as its kernels reach.
class Cnn : public GridModel {
 public:
  using Options = CnnOptions;
  /// ConfigError: outputs that are not scalars of graphs; options that fit no net.
  Cnn(const Options& options, const Interface& interface);
  Named forward(const Grid& grid) override;
  Symmetry symmetry() const override { return {}; }
  /// For an input of so many cells, as near a square or a cube as may be.
  Work work(double nodes) const override;

  const Options options;

 private:
  std::shared_ptr<Encoder> encoder_;
  std::shared_ptr<Linear> head_;
};

}  // namespace weyl::grids
