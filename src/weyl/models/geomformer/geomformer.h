#pragma once

#include "weyl/models/geomformer/block.h"
#include "weyl/models/geomformer/embedding.h"
#include "weyl/models/geomformer/head.h"
#include "weyl/models/geomformer/message_plan.h"
#include "weyl/models/model.h"
#include "weyl/nn/derived.h"

namespace weyl::geomformer {

/// GeoMFormer, with TorchMD-Net's Equivariant Transformer and PaiNN as settings of the same block: an
/// invariant stream (N, d) and an equivariant one (N, 3, d) that attend to one another in every layer.
///
/// Without a cut-off every node attends to every other of its graph, and cells are refused. With one, neighbours
/// are all nodes within it; with input = local or zero also all their images in a cell, and energies of
/// distant parts add up: a centroid (input = centroid, the default, or both) belongs to no lattice and to no
/// part. With two towers (Towers) nets of their own weights start from positions and from the vector
/// features, share the structural bias and are read out together (the paper's N-body form).
///
/// Outputs: scalars and vectors, pseudoscalars and axial vectors (head.h) of nodes, objects and graphs; those of
/// graphs and objects are sums over nodes (extensive) or pooled (output_rows.h). With `rounds` the net runs again on positions moved by its node output of role `offset` or
/// `point`, which adds up. Exact: O(3), translations, node order; the streams are even under reflections, so no
/// pseudoscalars and no axial vectors as features.
/// Where all outputs are scalars of the mlp head nobody reads the last layer's vectors: it has no parts that
/// make them. Scalar features of pairs, such as bonds, are mapped to a number for each head that is added to all structural
/// biases, as Graphormer has them; with interaction = messages or normaliser = constant, which have no scores, they are
/// refused. Children: geometry, [bias], [pair_bias], then start, layers.<i>, norm, vector_norm of the net (with
/// two towers twice: position.*, velocity.*), head.<output>.
class Geomformer : public PointsModel {
 public:
  using Options = geomformer::Options;
  Geomformer(const Options& options, const Interface& interface);
  Named forward(const Points& points) override;
  /// By hand for the forms that message_plan.h covers, as long as one thread has enough to do.
  std::optional<BondGradient> bond_gradient(const Input& input, const Tensor& counts) override;
  Symmetry symmetry() const override;
  /// As if outputs read both streams. Of several `rounds` all count as the first.
  Work work(double nodes) const override;
  ForeignWeights translated(const NamedTensors& state_dict, const ForeignRecord& record) const override;
  std::vector<int64_t> edges(const Points& points) const override;
  std::vector<std::string> warnings(std::string_view differentiated_by) const override;
  std::optional<double> reach() const override;
  bool periodic() const override { return options.cutoff && !uses_centroid(options.input); }

  const Options options;

 private:
  struct Tower {
    std::shared_ptr<Embedding> embedding;
    std::vector<std::shared_ptr<Block>> layers;
    std::shared_ptr<LayerNorm> norm;
    std::shared_ptr<VectorNorm> vector_norm;
  };
  Tower tower(const std::string& prefix, bool positions, bool features);
  /// The streams of all towers side by side, (N, t d) and (N, 3, t d).
  StreamAttention::Streams run(const Points& points, const Neighbourhood& near, const Tensor& bias) const;
  Named once(const Points& points) const;
  void mode_changed() override { plan_.drop(); }
  Work work_of_biases(const Around& around) const;  // of a node and a round

  std::shared_ptr<PairGeometry> geometry_;
  std::shared_ptr<StructuralBias> bias_;
  std::shared_ptr<Linear> of_pairs_;
  std::vector<Tower> towers_;
  std::vector<std::shared_ptr<Output>> heads_;             // in the order of the outputs
  const Quantity* moved_ = nullptr;                        // the output that moves the nodes between rounds
  DerivedValue<std::shared_ptr<const MessagePlan>> plan_;  // null: this form has none
};

}  // namespace weyl::geomformer
