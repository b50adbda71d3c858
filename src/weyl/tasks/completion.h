#pragma once

#include "weyl/tasks/task.h"

namespace weyl {

/// The missing element of a sequence of poses, from the others in any order. Labels `element` (B, m, m), the
/// missing pose g, and `flank` (N, 1) int64, 1 on the tokens F that stand beside the gap. The model gives
/// `gap` (N, 1), the logits of a token to stand beside the gap, and what each token takes for the missing pose, m_i: by
/// `correction` (N, dof), orthonormal coordinates delta_i of a factor, m_i = g_i exp(delta_i), or as `candidate` (N, m, m)
/// itself (`answer`). Per graph, p = softmax(gap):
///
///   loss      -log sum_{i in F} p_i + mean_{i in F} |log(m_i^-1 g)|^2, of candidates |m_i^-1 g - 1|_F^2, each with its
///             weight, averaged over the graphs; the second in float64
///   predicts  `element` (B, m, m) float64, m_b of the base b = argmax p, beside the model's outputs
///   metrics   pose_error, the headline: mean of E = |log(prediction^-1 g)|^2; pose_error_median;
///             relative_error, the mean of E over |log(g_f^-1 g)|^2, f the first of F: against the step of
///             the sequence; flanking_accuracy, how often b is in F; outside_chart, how often E had to be
///             |prediction^-1 g - 1|_F^2 because the logarithm is not defined there
///
/// With `whole` F may be empty: nothing is missing, and `element` is not read. "Nothing" is one more choice of the softmax, of
/// logit 0, so that gap says by itself what it says only in comparison without it: with S = sum_i exp(gap_i)
///
///   loss      log(1 + S) - log sum_{i in F} exp(gap_i), without a gap log(1 + S) and no pose error
///   predicts  also `missing` (B, 1) float64, log S: the logarithm of the odds that an element is missing, which it is
///             said to be above 0. `element` is what is missing if something is
///   metrics   also missing_accuracy, how often that is right; the others are of sequences with a gap
///
/// |.|^2 sums the squares of physical coordinates: angles in radians, scales as exponents, translations in
/// the unit of the data. In the loss of corrections too the Frobenius norm takes over outside the chart.
class Completion : public Task {
 public:
  explicit Completion(CompletionOptions options) : options_(options) {}

  std::string name() const override { return CompletionOptions::name_in_config; }
  std::vector<Quantity> labels() const override;
  Interface interface(const Schema& data) const override;  // ConfigError unless poses
  std::vector<Quantity> predictions(const Interface& model) const override;

  /// DataError with `whole`: every sequence lacks an element, or none.
  void fit(const Dataset& train) override;
  NamedTensors state() const override { return {}; }
  void load(const NamedTensors&) override {}

  /// Adds the rows of F as a label (M) int64, by which a step on a device need not ask for them.
  void prepare(Batch& batch, const Interface& model) const override;
  /// While the model trains it makes no predictions: nobody reads them, and they would cost a tenth of a
  /// step. ShapeError for a graph without tokens, and unless `whole` for one without a token of flank 1.
  std::vector<Tensor> loss_weights(const Batch& batch, const Interface& model) const override;
  Step step(Model& model, const Batch& batch, const LossShares& shares = {}) const override;
  Named predict(Model& model, const Batch& batch) const override;

  std::unique_ptr<Meter> meter(const Interface& model) const override;
  std::string headline() const override { return "pose_error"; }
  /// "flanking token": the pose of a token beside the gap, told which they are; "random token": of any token. Both say that
  /// an element is missing.
  std::vector<std::pair<std::string, Metrics>> baselines(const Dataset& data) const override;

 private:
  CompletionOptions options_;
};

/// The row of the largest value in each graph, the first among equals: values (N, 1) -> (B). ShapeError for a
/// graph without rows.
std::vector<int64_t> largest_rows(const Tensor& values, const Segments& graphs);

/// g_f^-1 g, matrices (B, m, m) in float64 on the CPU: elements g of graphs as seen from the first token f of each of which
/// `flank` (N, 1) is 1. Graphs without one are left out.
Tensor seen_from_flank(const Poses& poses, const Tensor& flank, const Tensor& elements);

/// |log(a^-1 b)|^2 in physical coordinates, matrices (B, m, m), in float64 on the CPU; the margin of the
/// chart (B) beside it, and |a^-1 b - 1|_F^2 where that is not positive (affine groups).
struct PoseDistances {
  Tensor squared, margin;
};
PoseDistances pose_distances(LieGroup group, const Tensor& a, const Tensor& b);

}  // namespace weyl
