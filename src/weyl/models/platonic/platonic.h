#pragma once

#include "weyl/core/tensor_file.h"
#include "weyl/models/model.h"
#include "weyl/models/platonic/block.h"
#include "weyl/models/platonic/embedding.h"
#include "weyl/models/platonic/position_encoding.h"
#include "weyl/nn/module.h"

namespace weyl::platonic {

/// A state dict of the authors' Platonic Transformer without what has no parameter here: buffers that hold the
/// tables of the group, and a readout without outputs that the model does not have (the authors always build
/// two). Names and layouts are the same.
NamedTensors translated_names(const NamedTensors& state_dict, const Module& model);

/// The Platonic Transformer: features are functions on a finite group G of frames, and every layer commutes
/// with G. Inputs are lifted and embedded, go through the blocks, and are read out per node, per graph
/// after pooling, or per object after the mean over its nodes (an `extensive` output of graphs or objects is read per
/// node and summed instead, so that it grows with them). Without any input feature a node has one constant scalar, 1.
///
/// Exact: G, node order, and translations (unless an absolute encoding or a position vector sees positions that are
/// not centred); approximate: all rotations (and reflections, when G has some).
class Platonic : public PointsModel {
 public:
  using Options = platonic::Options;
  Platonic(const Options& given, const Interface& interface);
  Named forward(const Points& points) override;
  Symmetry symmetry() const override;
  std::vector<std::string> warnings(std::string_view differentiated_by) const override;
  Work work(double nodes) const override { return work_by(options.linear, nodes); }
  Work dense_work(double nodes) const override { return work_by(LinearForm::dense, nodes); }
  ForeignWeights translated(const NamedTensors& state_dict, const ForeignRecord& record) const override;

  const Options options;  // as `resolved` gives them

 private:
  Work work_by(LinearForm form, double nodes) const;
  double rows_of_token(const Readout& readout, double nodes) const;
  Tensor recomputed(const std::shared_ptr<FrameBlock>& block, const Tensor& x, const FrameInput& input) const;
  Tensor pooled(const Tensor& trunk, const Segments& graphs) const;

  GroupTablesPtr tables_;
  std::shared_ptr<FrameApe> ape_;
  std::shared_ptr<Embedder> embedder_;
  std::vector<std::shared_ptr<FrameBlock>> blocks_;
  std::vector<Readout> readouts_;
};

}  // namespace weyl::platonic
