#pragma once

#include "weyl/models/grids/layers.h"
#include "weyl/models/model.h"

namespace weyl::grids {

/// The plain net for masks of images and volumes (Ronneberger et al. 2015) with nnU-Net's layout of stages (Isensee et
/// al. 2021): an encoder whose stages double the channels, and a decoder that goes back through them; each of its steps
/// is a transposed convolution, what the encoder had at that resolution beside it, and a block. Instance norms. The head
/// is a convolution of kernel 1. Children encoder, up.<i>, decoder.<i>, head, and coarser.<i>, the heads of lower
/// resolutions.
///
/// Where a stride does not divide the cells, a stage has one cell more than fit, and the decoder cuts what reaches over:
/// inputs of any size have outputs of that size.
///
/// Deep supervision: in training, outputs of all resolutions of the decoder but the lowest are given as well
/// (coarser_output, models/model.h), as nnU-Net has it.
///
/// It claims no symmetry, see Cnn; by instance norms each cell also sees the whole grid.
class Unet : public GridModel {
 public:
  using Options = UnetOptions;
  /// ConfigError: outputs that are not scalars of nodes; options that fit no net.
  Unet(const Options& options, const Interface& interface);
  Named forward(const Grid& grid) override;
  Symmetry symmetry() const override { return {}; }
  /// For an input of so many cells, as near a square or a cube as may be; with deep supervision as in training.
  Work work(double nodes) const override;

  const Options options;

 private:
  /// The stages that the decoder's steps go back to are numbered from 0, the finest.
  std::shared_ptr<Encoder> encoder_;
  std::vector<std::shared_ptr<Upsample>> up_;
  std::vector<std::shared_ptr<Block>> decoder_;
  std::vector<std::shared_ptr<Conv>> heads_;  // of the finest stages
};

}  // namespace weyl::grids
