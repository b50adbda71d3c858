#pragma once

#include "weyl/tasks/task.h"

namespace weyl {

/// Numbers of whole graphs: labels and outputs are scalars (B, 1) of the names `targets`, on any carrier.
///
///   t = s y + r     y the model's output; s the standard deviation of t - r on the training set (1 when
///                   `normalise` is off); r of extensive targets that are not `pooled` the sum of references of
///                   the nodes (label_statistics.h), of others the mean on the training set, or 0 (reference = none)
///   loss            mean over samples and targets of l((t - t*) / s), the law l of ErrorLaw, in the model's
///                   dtype; labels that are NaN are left out; references, targets and (of extensive targets, which
///                   the model gives in float64) differences in float64
///   predicts        t, (B, 1) float64, averaged over the test-time rotations and the conformers (conformers.h)
///   metrics         mae (the headline) and rmse in the target's unit; of several targets mae_<name>,
///                   rmse_<name> in theirs, and the headline standardised_mae, the mean over targets of
///                   mae_<name> / s
///
/// A type that the training set had not is refused (ShapeError). Extensive quantities are summed over nodes
/// by the model, others averaged.
class Property : public Task {
 public:
  /// ConfigError: no targets, or one twice.
  explicit Property(PropertyOptions options);

  std::string name() const override { return PropertyOptions::name_in_config; }
  std::vector<Quantity> labels() const override;
  Interface interface(const Schema& data) const override;
  std::vector<Quantity> predictions(const Interface& model) const override;

  void fit(const Dataset& train) override;  // DataError: no samples, a target that is constant
  bool adopt(const Schema& data, const OutputLaw& law) override;  // a scale or shift: of one target alone
  bool keep(const Task& before, const Interface& from,
            const Interface& to) override;  // one with these targets
  void refer(const Dataset& train, const Named& outputs) override;
  NamedTensors state() const override;  // "scales" (K), "references" (K, T), "means" (K), "seen" (T), float64
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
  /// r (B, K) float64. ShapeError: a type that no training sample had, unless `prepare` has looked.
  Tensor references_of(const Input& input, const Interface& interface, bool prepared = false) const;
  Tensor outputs_of(Model& model, const Input& input) const;  // y (B, K)
  Named named(const Tensor& values) const;

  PropertyOptions options_;
  Tensor scales_, references_, means_, seen_;  // (K), (K, T), (K), (T): nodes there were of each type
};

}  // namespace weyl
