#pragma once

#include "weyl/tasks/task.h"

namespace weyl {

/// The motion between two copies of one set of poses: A, whose tokens have 0 in the feature `copy`, and B, with 1. Tokens of B
/// stand in any order, and both may have noise; g_i^B is b a^-1 g_i^A of some i. Label `pose` (N, m, m): where each token stands
/// in the other copy, x g_i for the tokens of A and x^-1 g_j for those of B, with the motion x = b a^-1 that is asked for.
///
/// The model sees each copy as a graph of its own. A score of tokens of different copies by g_i^-1 g_j would change when one
/// copy moves and the other does not. So the model's outputs, descriptors f (N, C) that no left motion of their graph changes,
/// do not change with motions of each copy by itself, A -> p A and B -> q B, and the answer x -> q x p^-1 follows exactly:
///
///   l_ij      f_i . f_j / sqrt(C), i in A, j in B
///   W_ij      softmax_j(l_ij) softmax_i(l_ij)
///   x         the motion that takes A to B best, weighted by W (Kabsch's problem for poses): R maximises tr(R^T M),
///             M = sum W_ij ((t_j - t_B) (t_i - t_A)^T + rho R_j R_i^T), with the weighted means t_A, t_B of the places, and
///             t = t_B - R t_A. rho = s_t^2 / (2 s_a^2), variances of one coordinate of translations and of rotations that true
///             pairs are off by in the training set: then x is the likeliest motion of Gaussian noise and known pairs.
///   true pairs  (i, j), each nearest to the other by |(x g_i)^-1 g_j - 1|_F. A token without one does not count
///   loss      mean over the true pairs of a sample of -log W_ij / 2, averaged over the samples; it has no derivative by x
///   predicts  `pose` (N, m, m) float64, as the label, by the x found. x itself is pose_i g_i^-1 of any token of A
///   metrics   angle_rmse, the headline, and angle_median of the rotation of x, in degrees; place_rmse and place_median in the
///             unit of lengths, of each sample the root mean square distance of the places x t_i from the true ones: no motion of
///             a copy changes either; match_accuracy, how often the likeliest j of an i with a true pair is its own
///
/// Rigid groups alone.
class Registration : public Task {
 public:
  explicit Registration(RegistrationOptions options) : options_(options) {}

  std::string name() const override { return RegistrationOptions::name_in_config; }
  std::vector<Quantity> labels() const override;
  Interface interface(
      const Schema& data) const override;  // ConfigError unless rigid poses with a feature `copy`
  std::vector<Quantity> predictions(const Interface& model) const override;

  void fit(const Dataset& train) override;  // rho
  bool keep(const Task& before, const Interface& from, const Interface& to) override;
  NamedTensors state() const override;
  void load(const NamedTensors& state) override;

  /// ShapeError for a sample without tokens of both copies.
  std::vector<Tensor> loss_weights(const Batch& batch, const Interface& model) const override;
  Step step(Model& model, const Batch& batch, const LossShares& shares = {}) const override;
  Named predict(Model& model, const Batch& batch) const override;

  std::unique_ptr<Meter> meter(const Interface& model) const override;
  std::string headline() const override { return "angle_rmse"; }
  /// "as given": x = 1. "true pairs": x of the true pairs, which is what noise leaves.
  std::vector<std::pair<std::string, Metrics>> baselines(const Dataset& data) const override;

 private:
  Named answer(const Poses& poses, const Interface& model, const Tensor& descriptors) const;

  RegistrationOptions options_;
  double rotations_ = 1;  // rho
};

/// Which tokens (N) bool of poses are of copy B, by the feature `copy`. ShapeError where there is none.
Tensor second_copy(const Poses& poses, const Interface& interface);

}  // namespace weyl
