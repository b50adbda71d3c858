#pragma once

#include "weyl/core/tensor_file.h"
#include "weyl/models/gatr/attention.h"
#include "weyl/models/gatr/embedding.h"
#include "weyl/models/gatr/layers.h"
#include "weyl/models/gatr/options.h"
#include "weyl/models/model.h"

namespace weyl::gatr {

/// One pre-norm block: x <- x + attention(norm x); x <- x + mlp(norm x). Norms have no parameters. Children attention,
/// mlp.
class Block : public Module {
 public:
  /// `across`: an axial block that attends across objects.
  explicit Block(const Options& options, bool across = false);
  Streams operator()(const Streams& x, const Scene& scene) const;
  /// Of a token, in a graph and an object of so many.
  double flops(double graph_nodes, double object_nodes = 0) const;
  double nominal_flops() const { return attention_->nominal_flops() + mlp_->nominal_flops(); }

 private:
  bool across_;
  std::shared_ptr<SelfAttention> attention_;
  std::shared_ptr<GeometricMlp> mlp_;
};

/// A state dict of the authors' GATr or AxialGATr under our names, which are theirs, but for the number of the last
/// layer of feed-forward parts (theirs counts dropout) and without the frequencies of rotary encodings, which follow
/// from `rotary`. DataError: weights with multi-query attention for a model without, or the other way round.
NamedTensors translated_names(const NamedTensors& state_dict, const Options& options);

/// The Geometric Algebra Transformer (Brehmer et al. 2023; "Does equivariance matter at scale?"): features are
/// multivectors of G(3,0,1) and auxiliary scalars. Inputs are embedded (embedding.h), mapped to `width` channels, go
/// through the blocks, are mapped once more (there is no final norm) and read out (embedding.h). With `axial`, blocks
/// attend within objects and across them in turn. Names are the authors': linear_in, blocks.<i>, linear_out.
///
/// Exact: rotations, translations, and the order of nodes (but with `rotary` or `axial`, which read it). Reflections are
/// exact where nothing is a point and the reference is not the constant; where points come in or go out they are
/// approximate: embedded points carry a sign that a mirror turns.
class Gatr : public PointsModel {
 public:
  using Options = gatr::Options;
  Gatr(const Options& options, const Interface& interface);
  Named forward(const Points& points) override;
  Symmetry symmetry() const override;
  Work work(double nodes) const override;
  std::vector<std::string> warnings(std::string_view differentiated_by) const override;
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
