#pragma once

#include "weyl/tasks/task.h"

namespace weyl {

/// Labels and outputs of the names `targets`, on any carrier: numbers (B, 1), vectors (B, 1, D) and symmetric tensors (B, 1, D, D)
/// of graphs, and of points the same of their nodes, (N, ...).
///
///   t = s y + r     y the model's output; s the root mean square of t - r on the training set, of numbers about
///                   their mean, of vectors and tensors over components about zero (1 when `normalise` is off).
///                   r of extensive targets that are not `pooled` is the sum of references of the nodes
///                   (label_statistics.h), of targets of nodes the reference of the node's type, of others the
///                   mean on the training set; or 0 (reference = none). Of tensors it is a multiple of the unit
///                   tensor, that of the mean of the diagonal; of vectors 0
///   held            of numbers of nodes, in place of t: t_i + (Q - sum of t over the graph's n nodes) / n, whose
///                   sum is the graph's feature Q, or zero (charges)
///   loss            the mean over targets, by `weights`, of the mean over rows of l(|t - t*| / s), the law l of
///                   ErrorLaw, |.| the root mean square of components, in the model's
///                   dtype; rows with labels that are NaN are left out; references, targets and (of extensive targets,
///                   which the model gives in float64) differences in float64
///   predicts        t, float64, averaged over the test-time rotations and the conformers (conformers.h), of which targets
///                   must be numbers of graphs
///   metrics         mae (the headline) and rmse, over components, in the target's unit; of several targets mae_<name>,
///                   rmse_<name> in theirs, and the headline standardised_mae, the mean over targets, by `weights`,
///                   of mae_<name> in units of what s is with `normalise`
///
/// A type that the training set had not is refused (ShapeError). Extensive quantities are summed over nodes
/// by the model, others averaged.
class Property : public Task {
 public:
  /// ConfigError: no targets, or one twice.
  explicit Property(PropertyOptions options);

  std::string name() const override { return PropertyOptions::name_in_config; }
  std::vector<Quantity> labels() const override;
  bool takes(const Quantity& wanted, const Quantity& label) const override;  // as said above
  std::string wants(const Quantity& wanted) const override;
  Interface interface(const Schema& data) const override;
  std::vector<Quantity> predictions(const Interface& model) const override;

  void fit(const Dataset& train) override;  // DataError: no samples, a target that is constant
  bool adopt(const Schema& data, const OutputLaw& law) override;  // a scale or shift: of one target alone
  bool keep(const Task& before, const Interface& from,
            const Interface& to) override;                          // one with these targets
  void refer(const Dataset& train, const Named& outputs) override;  // of numbers of graphs alone
  /// "scales", "deviations", "means" (K), "references" (K, T), "seen" (T), float64.
  NamedTensors state() const override;
  void load(const NamedTensors& state) override;

  void prepare(Batch& batch, const Interface& model) const override;
  std::vector<Tensor> loss_weights(const Batch& batch, const Interface& model) const override;
  Step step(Model& model, const Batch& batch, const LossShares& shares = {}) const override;
  Named predict(Model& model, const Batch& batch) const override;

  std::unique_ptr<Meter> meter(const Interface& model) const override;
  std::string headline() const override;
  /// "references": what the composition alone, or the mean, says.
  std::vector<std::pair<std::string, Metrics>> baselines(const Dataset& data) const override;

 private:
  int64_t count() const { return static_cast<int64_t>(options_.targets.size()); }             // K
  bool is_sum(const Quantity& target) const { return target.extensive && !options_.pooled; }  // over nodes
  void fit_deviations(const Dataset& train);
  /// r of each target, float64, in the shape of its label; `targets`: what is known of them. ShapeError: a type that no training
  /// sample had, unless `prepare` has looked.
  std::vector<Tensor> references_of(const Input& input, const Interface& interface,
                                    const std::vector<Quantity>& targets, bool prepared = false) const;
  double scale_of(int64_t target) const;
  double weight_of(int64_t target) const;  // the sum of all is 1
  std::unique_ptr<Meter> errors_in(
      const std::vector<Quantity>& targets) const;  // in the units that these have
  /// What each node's value (N, 1) lacks for its graph's sum to be what it is held to; undefined: the target is not held.
  Tensor missing_to_total(const std::string& target, const Tensor& values, const Input& input) const;

  PropertyOptions options_;
  Tensor scales_, deviations_, references_, means_,
      seen_;  // (K), (K), (K, T), (K), (T): nodes there were of each type
};

}  // namespace weyl
