#pragma once

#include "weyl/tasks/task.h"

namespace weyl {

/// Which of K classes an input is of; any carrier. Label `class` (B, 1) int64, K its `categories`. The model
/// gives `logits` (B, K).
///
///   loss      cross-entropy, mean over the batch (weighted by class: over the weights), labels smoothed; or the
///             binary cross-entropy of each class by itself, mean over batch and classes. In training the label may also
///             be (B, K) float64, the shares of the classes, as images that are mixed have it
///   predicts  `probabilities` (B, K) float64, softmax of the logits, averaged over the test-time rotations;
///             `class` (B, 1) int64, the likeliest; beside the model's `logits` of the input as it is
///   metrics   accuracy, the headline: the share of samples whose likeliest class is right; cross_entropy,
///             mean of -log p of the right class; balanced_accuracy, the mean over the classes that
///             occur of the accuracy on them alone; that of each, accuracy_<name>, for up to 5 classes, 20
///             that have names; accuracy_one_rotation, of the single test-time rotations of volumes made anew the mean
class Classification : public Task {
 public:
  explicit Classification(ClassificationOptions options) : options_(std::move(options)) {}

  std::string name() const override { return ClassificationOptions::name_in_config; }
  std::vector<Quantity> labels() const override;
  Interface interface(const Schema& data) const override;  // ConfigError: see classes.h, and for the turns
  std::vector<Quantity> predictions(const Interface& model) const override;

  void fit(const Dataset& train)
      override;  // how frequent the classes are; ConfigError: placements that cannot be made
  NamedTensors state() const override;  // "frequencies" (K) float64, empty before
  void load(const NamedTensors& state) override;

  void prepare(Batch& batch, const Interface& model) const override;
  std::vector<Tensor> loss_weights(const Batch& batch, const Interface& model) const override;
  Step step(Model& model, const Batch& batch,
            const LossShares& shares = {}) const override;  // no predictions while the model trains
  Named predict(Model& model, const Batch& batch) const override;
  std::vector<Placement> placements(
      const Interface& model) const override;  // of volumes, which turn exactly by few
  Named averaged(const std::vector<Named>& of_placements) const override;  // means of probabilities

  std::unique_ptr<Meter> meter(const Interface& model) const override;
  std::string headline() const override { return "accuracy"; }
  bool lower_is_better() const override { return false; }
  std::string loss_metric() const override { return "cross_entropy"; }
  /// "most frequent class": of the training set; its probabilities are the frequencies there.
  std::vector<std::pair<std::string, Metrics>> baselines(const Dataset& data) const override;

 private:
  ClassificationOptions options_;
  Tensor frequencies_;
};

}  // namespace weyl
