#pragma once

#include <functional>

#include "weyl/models/model.h"
#include "weyl/models/steerable/encoder.h"
#include "weyl/models/steerable/geometry.h"
#include "weyl/models/steerable/head.h"
#include "weyl/models/steerable/stage.h"

namespace weyl::steerable {

/// Steerable transformer on images (SE(2)) and volumes (SE(3)) (Kundu and Kondor 2025): stages of steerable
/// convolutions with pooling, a transformer on what is left of the grid, and a head. Outputs of graph level:
/// a classification net, which ends in invariants and an MLP. Outputs of node level: a U-Net, whose decoder
/// goes back through the stages, (B, c, pixels...) of the input's size. All outputs are scalars.
class Net : public GridModel {
 public:
  using Options = steerable::Options;
  /// ConfigError: outputs that are not scalars of one level; options that fit no net.
  Net(const Options& options, Interface interface);
  Named forward(const Grid& grid) override;
  /// Rotations hold to rounding on some shapes alone: what holds on the square or cube of `typical_nodes`
  /// pixels, nothing exact where that is none.
  Symmetry symmetry() const override;
  /// What holds on inputs of this shape.
  Symmetry symmetry_for(const Input& example) const override;
  /// For an input of so many pixels, as near a square or a cube as may be; convolutions as dense ones.
  Work work(double nodes) const override;
  /// How many tokens attend, and to how many pairs of them that comes.
  std::vector<std::string> facts() const override;
  std::vector<Tensor> attention_maps(const Input& input) override;
  std::vector<std::pair<std::string, Tensor>> stage_lengths(const Input& input) override;
  /// Which tokens attend, and are attended to, (B, tokens along each axis) bool, where some may not (encoder.skip_empty);
  /// undefined where all do. ShapeError: see forward.
  Tensor attending(const Grid& grid) const;
  /// Tokens that do not stand over all of the input.
  std::vector<std::string> warnings(std::string_view differentiated_by) const override;
  /// What keeps inputs of this shape (of one spacing) from turning exactly (geometry.h).
  std::vector<GeometryFinding> findings(std::span<const int64_t> shape) const {
    return check_geometry(options, segmentation_, shape);
  }

  const Options options;

 private:
  /// An input with its margin.
  struct Ground {
    Tensor x, background;          // (B, C, pixels...), and (B, C, 1, ...) where it is needed, else undefined
    std::vector<int64_t> margins;  // of each axis: cells around the input
  };
  Ground ground_of(const Grid& grid) const;
  bool skips_empty() const { return encoder_ && options.encoder.skip_empty; }
  /// An input up to its tokens.
  struct Stem {
    Tensor tokens, seeing;      // (B, 2 F, tokens along each axis); as tokens_that_see has it, or undefined
    std::vector<Tensor> skips;  // of segmentation: each stage before its pool
    std::vector<int64_t> margins, sizes;  // of each axis: cells around the input, and all cells
  };
  /// `look`, where given, sees the features after each stage and pool.
  using Look = std::function<void(const std::string& name, const Tensor& x, const SteerableType& type)>;
  Stem stem(const Grid& grid, const Look& look = {}) const;
  /// Whether grids of the typical number of cells are squares or cubes of the typical side.
  bool typical_is_cube() const;
  Symmetry claims(std::span<const int64_t> pixels, std::span<const double> spacing) const;
  SteerableType type_of_stage(size_t s) const;
  SteerableType outputs_of_last_convolution() const;
  void build_decoder();
  /// (B, tokens along each axis) bool: those that see a cell of x (B, C, pixels...) that is not `background`
  /// (B, C, 1, ...).
  Tensor tokens_that_see(const Tensor& x, const Tensor& background) const;

  bool segmentation_;
  int64_t outputs_ = 0;  // channels of all
  std::vector<std::shared_ptr<StageNet>> stages_, decoder_;
  std::shared_ptr<Encoder> encoder_;
  std::shared_ptr<ClassificationHead> whole_;
  std::shared_ptr<SegmentationHead> pixels_;
};

}  // namespace weyl::steerable
