#pragma once

#include "weyl/models/features.h"
#include "weyl/models/model.h"
#include "weyl/models/transformer/block.h"
#include "weyl/nn/fourier_features.h"

namespace weyl::transformer {

/// The plain transformer, control of every comparison: it reads coordinates as numbers and knows no symmetry
/// but the order of nodes (and translations, when positions are centred). Each node's numbers are its
/// scalars, its position and its vectors (or random Fourier features of position and vectors together). Names
/// are those of the public baseline: linear_in, blocks.<i>.attention, blocks.<i>.mlp, linear_out; there is no
/// final norm. `linear_out` gives all outputs in the order of the interface, one after the other; outputs of
/// graphs and of objects are pooled after it (output_rows.h).
class Transformer : public PointsModel {
 public:
  using Options = transformer::Options;
  Transformer(const Options& options, const Interface& interface);
  Named forward(const Points& points) override;
  Symmetry symmetry() const override;
  Work work() const override;
  bool looks_inside_objects() const override { return options.attention == AttentionScope::hierarchical; }

  const Options options;

 private:
  InputColumns columns_;
  int64_t inputs_ = 0, outputs_ = 0;
  std::shared_ptr<FourierFeatures> fourier_;
  std::shared_ptr<Linear> in_, out_;
  std::vector<std::shared_ptr<Block>> blocks_;
};

}  // namespace weyl::transformer
