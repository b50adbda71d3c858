#pragma once

#include "weyl/tasks/task.h"

namespace weyl {

/// Where the nodes of a graph are at a later time. Label `displacement` (N, 1, D) = x(later) - x(now), from
/// the data; the model's output of the same name is y = (displacement - c velocity) / scale, where c velocity
/// is the chosen baseline (c = 0, the horizon, or the best c on the training set) and scale the root mean
/// square of displacement - c velocity over the training set (1 when `normalise` is off).
///
///   loss      mean over all coordinates of (y - y*)^2, in the model's dtype; y* is made in float64; and the model's own
///             term where it has one (`term_of_loss`)
///   predicts  displacement = c velocity + scale y, and position = positions + displacement, both (N, 1, D)
///   float64 metrics   mse (the headline: mean over all coordinates, in the data's unit squared) and rmse,
///                     summed in float64
class Trajectory : public Task {
 public:
  explicit Trajectory(TrajectoryOptions options) : options_(options) {}

  std::string name() const override { return TrajectoryOptions::name_in_config; }
  std::vector<Quantity> labels() const override;
  /// The output is an offset of the nodes where it is the displacement itself, without baseline and scale.
  /// ConfigError when a straight line is asked for and the data has no velocity, or no horizon.
  Interface interface(const Schema& data) const override;
  std::vector<Quantity> predictions(const Interface& model) const override;

  void fit(const Dataset& train) override;  // DataError: no samples, or nothing moves
  bool adopt(const Schema&, const OutputLaw&) override { return false; }
  /// The scale and the best c of another with the same baseline; the horizon is that of the data.
  bool keep(const Task& before, const Interface& from, const Interface& to) override;
  NamedTensors state() const override;  // "horizon", "coefficient" (the best c), "scale": (1) float64
  void load(const NamedTensors& state) override;

  std::vector<Tensor> loss_weights(const Batch& batch, const Interface& model) const override;
  Step step(Model& model, const Batch& batch, const LossShares& shares = {}) const override;
  Named predict(Model& model, const Batch& batch) const override;

  std::unique_ptr<Meter> meter(const Interface& model) const override;
  std::string headline() const override { return "mse"; }
  /// "no motion", "straight line" (c = horizon) and "best straight line" (c fitted on the training set, not
  /// here).
  std::vector<std::pair<std::string, Metrics>> baselines(const Dataset& data) const override;

 private:
  double slope() const;  // c of the chosen baseline
  struct Answer {
    Tensor output;  // y, (N, 1, D), the model's dtype
    Tensor term;    // what the model adds to the loss, (1); undefined where it adds nothing
    Named predictions;
  };
  Answer answer(Model& model, const Input& input) const;

  TrajectoryOptions options_;
  double horizon_ = 0, coefficient_ = 0, scale_ = 1;
};

}  // namespace weyl
