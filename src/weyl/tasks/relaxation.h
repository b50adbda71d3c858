#pragma once

#include "weyl/tasks/task.h"

namespace weyl {

/// From a structure to the one that it relaxes to, in one shot, and to a number of that one: OC20's tasks IS2RE and IS2RS,
/// and the joint task of gap and geometry of PCQM4Mv2 (GeoMFormer, section 5.1 and 5.2).
///
/// Labels: `relaxed` (N, 1, 3), the places of the nodes after relaxation; the number `target` (B, 1); and `cell` (B, 3, 3),
/// rows are lattice vectors, where structures repeat: differences of places are then those to the nearest image
/// (shortest_difference). Numbers and places that are NaN are not known and left out.
///
/// Features of nodes that the task reads, where the data have them:
///   free (1)   0: the node does not move, and has neither loss nor metric; without the feature all are free
///   real (1)   0: the node is an image of another one, that the model sees beside it
///   tag (K)    1 in the column of the tag. Tags above 0 carry the number
///
/// With y the model's outputs, m and s the mean and standard deviation of the number on the training set:
///
///   t = m + s y                                        without `tag`: a number of the graph
///   t = m + s / n sum_i real_i sum_k>0 tag_ik y_ik     with it; n the mean number of such nodes in the training set.
///                                                      Each tag has a last row of its own in the model, where
///                                                      Graphormer-3D has one row and a factor for each tag
///   d_i = free_i y_i                                   the displacement, in the unit of lengths
///
///   loss = mean over samples |t - t*| / s + w_d mean over components of free nodes |d - d*| / l
///          + w_p mean over pairs of free nodes of a graph | |r_ij| - |r*_ij| | / l
///
/// with r the predicted places, r* the relaxed ones, l the root mean square of the components of d* on the training set
/// (1 when `normalise` is off: it is one number without a mean, so that nothing has a direction of its own). The weights
/// go linearly from their start to their end while the training goes on.
///
/// A type that the training set had not is refused (ShapeError). Predicts t, (B, 1), averaged
/// over the conformers where the batch has them (conformers.h), d under the name `displacement`, (N, 1, 3), and `relaxed`, the place, (N, 1, 3), float64.
/// Metrics: RelaxationErrors.
class Relaxation : public Task {
 public:
  /// ConfigError: neither a target nor a weight of what places say; a target that is named like a label of the places.
  explicit Relaxation(RelaxationOptions options);

  std::string name() const override { return RelaxationOptions::name_in_config; }
  std::vector<Quantity> labels() const override;
  Interface interface(const Schema& data) const override;
  std::vector<Quantity> predictions(const Interface& model) const override;

  /// DataError: no samples; labels that are constant, or all unknown; with `tag` no node that carries the number.
  void fit(const Dataset& train) override;
  bool keep(const Task& before, const Interface& from, const Interface& to) override;
  /// "number" (2): m, s; "displacement" (1): l; "carriers" (1): n; "composition" (T + 1): by least squares, the number of
  /// a graph from its real nodes of each type, and a constant, for the baseline; "seen" (T): nodes of each type. float64.
  NamedTensors state() const override;
  void load(const NamedTensors& state) override;

  void prepare(Batch& batch, const Interface& model) const override;
  void progress(double fraction) override { fraction_ = fraction; }
  std::vector<Tensor> loss_weights(const Batch& batch, const Interface& model) const override;
  Step step(Model& model, const Batch& batch, const LossShares& shares = {}) const override;
  Named predict(Model& model, const Batch& batch) const override;

  bool measures_without(const Quantity& label) const override;
  std::unique_ptr<Meter> meter(const Interface& model) const override;
  std::string headline() const override { return options_.target.empty() ? "displacement_mae" : "mae"; }
  /// "mean" and "linear in composition" of the number, "no motion".
  std::vector<std::pair<std::string, Metrics>> baselines(const Dataset& data) const override;

 private:
  struct Answer {
    Tensor number;        // (B), float64, (t - m) / s
    Tensor displacement;  // (N, 3), 0 of nodes that are not free, in the model's dtype
  };
  void require_known_types(const Input& input, const Interface& interface) const;
  bool moves() const;  // whether displacements are asked for
  Answer answer(Model& model, const Input& input) const;
  Named named(const Answer& answer, const Input& input) const;

  RelaxationOptions options_;
  double mean_ = 0, deviation_ = 1, length_ = 1, carriers_ = 1;
  Tensor composition_, seen_;  // undefined: not fitted
  double fraction_ = 0;        // of the training that is done
};

}  // namespace weyl
