#pragma once

#include "weyl/models/gatr/block.h"
#include "weyl/models/gatr/embedding.h"
#include "weyl/models/gatr/readout.h"
#include "weyl/models/model.h"

namespace weyl::gatr {

/// The Geometric Algebra Transformer (Brehmer et al. 2023; "Does equivariance matter at scale?"): features are
/// multivectors of G(3,0,1) and auxiliary scalars. Inputs are embedded (embedding.h), mapped to `width` channels, go
/// through the blocks, are mapped once more (there is no final norm) and read out (readout.h). With `axial`, blocks
/// attend within objects and across them in turn. Names are the authors': linear_in, blocks.<i>, linear_out.
///
/// Exact: rotations, translations, and the order of nodes (but with `rotary` or `axial`, which read it). Reflections are
/// exact where nothing is a point and the reference is that of the data; where points come in or go out they are
/// approximate: embedded points carry a sign that a mirror turns.
class Gatr : public PointsModel {
 public:
  using Options = gatr::Options;
  Gatr(const Options& options, const Interface& interface);
  Named forward(const Points& points) override;
  Symmetry symmetry() const override;
  Work work() const override;
  bool looks_inside_objects() const override {
    return options.axial || options.attention == AttentionScope::hierarchical;
  }
  ForeignWeights translated(const NamedTensors& state_dict, const ForeignRecord& record) const override;

  const Options options;

 private:
  Embedding embedding_;
  Readout readout_;
  std::shared_ptr<EquiLinear> in_, out_;
  std::vector<std::shared_ptr<Block>> blocks_;
};

}  // namespace weyl::gatr
