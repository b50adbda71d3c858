#pragma once

#include "weyl/tasks/task.h"

namespace weyl {

/// The true poses of tokens from the poses that are given, in the local form of the paper (eqs. 4, 5): forecasting, where
/// tokens that lie ahead stand where a constant velocity leads; denoising, where all have noise. Label `pose` (N, m, m), the
/// true poses g*. A feature `asked` of tokens, where there is one, is 1 on those that are asked for; else all are. The model
/// gives `correction` (N, dof), orthonormal coordinates in units of what is to be corrected: with s_t, s_a the root mean
/// squares over the asked tokens of the training set of the translations, and of all other coordinates, of log(g_i^-1 g*_i),
///
///   delta_i   the correction, its translations times s_t and the others times s_a
///   loss      mean over asked tokens of |t(e_i)|^2 / s_t^2 + w |a(e_i)|^2 / s_a^2, e_i = log((g_i exp delta_i)^-1 g*_i)
///             in physical coordinates and float64, w = angle_weight; outside an affine chart e_i is |. - 1|_F, all in a
///   predicts  `pose` (N, m, m) float64, g_i exp(delta_i) where asked, g_i elsewhere, beside the model's output
///   metrics   relative_error, the headline: the root of half the mean of |t|^2 / s_t^2 + |a|^2 / s_a^2 (of groups without
///             translations, of the mean of |a|^2 / s_a^2), so that poses left as they are have about 1;
///             translation_rmse in the unit of lengths, angle_rmse in degrees (of affine maps: of all but the translation, no
///             degrees). Where poses lie ahead, also for the first, second, ... of them, in the order of the feature `time`
///
/// What is not corrected, or has no translations, counts in units of 1. DataError of fit: nothing is to be corrected, the
/// poses are the true ones already.
class PoseCorrection : public Task {
 public:
  explicit PoseCorrection(PoseCorrectionOptions options) : options_(options) {}

  std::string name() const override { return PoseCorrectionOptions::name_in_config; }
  std::vector<Quantity> labels() const override;
  Interface interface(const Schema& data) const override;  // ConfigError unless poses
  std::vector<Quantity> predictions(const Interface& model) const override;

  void fit(const Dataset& train) override;
  bool keep(const Task& before, const Interface& from, const Interface& to) override;
  NamedTensors state() const override;
  void load(const NamedTensors& state) override;

  std::vector<Tensor> loss_weights(const Batch& batch, const Interface& model) const override;
  Step step(Model& model, const Batch& batch, const LossShares& shares = {}) const override;
  Named predict(Model& model, const Batch& batch) const override;

  std::unique_ptr<Meter> meter(const Interface& model) const override;
  std::string headline() const override { return "relative_error"; }
  /// "as given": the tokens uncorrected, of a forecast the constant velocity. "last pose": of a forecast the last pose that is
  /// given, where a feature `time` says which.
  std::vector<std::pair<std::string, Metrics>> baselines(const Dataset& data) const override;

 private:
  Tensor corrected(const Poses& poses, const Named& outputs) const;  // compact (N, c) float64
  Named answer(const Poses& poses, const Interface& model, const Named& outputs) const;

  PoseCorrectionOptions options_;
  double lengths_ = 1, angles_ = 1;  // s_t, s_a
};

}  // namespace weyl
