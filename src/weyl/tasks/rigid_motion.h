#pragma once

#include "weyl/tasks/object_motion.h"
#include "weyl/tasks/task.h"

namespace weyl {

/// The labels of a batch of rigid objects, L of them, and which objects have all that an error needs.
struct MotionLabels {
  Tensor displacement, turn;  // (L, K, 3), steps 1 .. K
  Tensor count, contact;      // (L), vertices; 1 or 0
  Tensor mean, moment;        // (L, 3), (L, 3, 3), of the vertices about the centre

  int64_t steps() const { return displacement.size(1); }  // K
  /// The motion of step k (from 0), NaN as 0.
  ObjectMotions motion(int64_t k) const;
  /// Weights (L) of the objects in step k: their vertices, 0 where a label is NaN.
  Tensor weights(int64_t k) const;
};
/// ShapeError: a label is missing, or has another shape.
MotionLabels motion_labels(const Batch& batch);

/// Of errors (L) of objects, the mean over those of each graph by `weights` (L), and the sum of that over the graphs
/// that have some weight, with their number.
struct OverGraphs {
  Tensor sum;     // (), with the graph of the errors
  Tensor graphs;  // () int64
};
OverGraphs over_graphs(const Tensor& errors, const Tensor& weights, const Points& points);

/// Errors of predicted motions, `displacement` and `turn` (L, K', 3), the first min(K, K') steps, in float64:
///
///   mse, rmse        the mean square of the error of vertices over their coordinates: over the vertices of a graph, then
///                    over graphs (the headline). At the later steps mse_step_2, ...
///   centre_error     the mean distance of the objects' centres, angle_error that of their attitudes in rad; also
///                    centre_error_step_2, angle_error_step_2, ...
///   mse_contact, centre_error_contact, angle_error_contact, mse_free, ...   of objects that touch something and of
///                    those in free flight at the first step; mse over all vertices of such objects together
class MotionErrors : public Meter {
 public:
  explicit MotionErrors(std::string unit) : unit_(std::move(unit)) {}

  void add(const Batch& batch, const Named& predictions) override;
  void merge(const Meter& other) override;
  void tell(Message& message) override;
  Metrics values() const override;
  std::vector<MetricName> names(const Schema& data) const override;

 private:
  /// Sums over objects, and of mse over whatever its weights are of.
  struct Sums {
    double square = 0, squares = 0, centre = 0, angle = 0, objects = 0;
    void add(const Sums& other);
  };
  void put(const Sums& sums, const std::string& suffix, Metrics& to) const;

  std::string unit_;
  std::vector<Sums> steps_;
  Sums contact_, free_;
};

/// How rigid objects move to the next frame. A model gives four outputs of objects, the parts of a motor about the
/// object's own centre (the mean of its nodes' positions), one channel each:
///
///   motor_scalar y_s (scalar), motor_pseudoscalar y_p (pseudoscalar), motor_ideal y_i (vector), motor_bivector y_b
///   (axial vector);    m = (1 + c y_s) + c y_b + l y_i + l y_p e0123,    x -> m x m~ / (m m~)    (object_motion.h)
///
/// after the motion that the nodes' feature `velocity` says they have come by, with baseline = constant_velocity
/// (motions_of_velocities); so that a model that gives nothing moves nothing, and any model of points moves bodies: an even
/// multivector of G(3,0,1) about the object's centre is one number of each of these kinds. c and l are 1 without `normalise`,
/// else, of the training set, the root mean squares of the coordinates of half turns (sin(angle/2)) and of half
/// displacements, beyond the baseline.
///
///   labels    of objects: displacement, turn (L, K, 3) of the steps 1 .. K, contact, vertex_count, vertex_mean,
///             vertex_moment (MotionLabels); NaN: not known, the object counts for nothing
///   loss      e + norm_weight sqrt e, e the mean square of the error of an object's vertices at the first step by their
///             moments (vertex_errors), the mean of it over the vertices of a graph, then over graphs; with `normalise` in
///             units of what the vertices of the training set move beyond the baseline. Made in float64, given in the
///             model's dtype
///   predicts  displacement, turn (L, K', 3) of the objects; position (N, K', 3) of the nodes and, where they have
///             `vertices` v of C channels, corners (N, K' C, 3), the corners of step 1, then of step 2, ...;
///             K' = `rollout`. For a batch with labels displacement and turn go as many steps as those, if these are more.
///             A step later the model sees the tokens where the one before has left them (object_motion.h)
///   metrics   rigid_motion.h
class RigidMotion : public Task {
 public:
  explicit RigidMotion(RigidMotionOptions options) : options_(options) {}

  std::string name() const override { return RigidMotionOptions::name_in_config; }
  std::vector<Quantity> labels() const override;
  /// ConfigError: data that are not points in space; several steps of features that cannot be moved; a baseline
  /// without `velocity`.
  Interface interface(const Schema& data) const override;
  std::vector<Quantity> predictions(const Interface& model) const override;

  /// Of 4096 samples at most, from all over the set. DataError: no samples, no object whose labels are known, nothing moves.
  void fit(const Dataset& train) override;
  bool adopt(const Schema&, const OutputLaw& law) override { return !options_.normalise && law.plain(); }
  bool keep(const Task& before, const Interface& from, const Interface& to) override;
  NamedTensors state() const override;  // "displacement", "turn", "mean_square": (1) float64
  void load(const NamedTensors& state) override;

  std::unique_ptr<Task> with_rollout(int64_t steps, const Interface& model) const override;
  std::vector<Tensor> loss_weights(const Batch& batch, const Interface& model) const override;
  Step step(Model& model, const Batch& batch, const LossShares& shares = {}) const override;
  Named predict(Model& model, const Batch& batch) const override;

  std::unique_ptr<Meter> meter(const Interface& model) const override;
  std::string headline() const override { return "mse"; }
  /// "no motion", and, where the data have `past_displacement` and `past_turn`, "constant velocity": each object turns on
  /// about its centre of mass, which goes on as it has come. Where that lies from the object's centre is the label
  /// `mass_centre` (L, 1, 3); without it the two are taken for the same.
  std::vector<std::pair<std::string, Metrics>> baselines(const Dataset& data) const override;

 private:
  /// What the mean squares (L) of the errors of objects cost, in units of the loss.
  Tensor cost(const Tensor& squares) const;
  ObjectMotions baseline(const Points& points, const Interface& interface) const;
  ObjectMotions motions(const Named& outputs, const Points& points, const Interface& interface) const;

  RigidMotionOptions options_;
  double displacement_ = 1, turn_ = 1, mean_square_ = 1;  // l, c, and the unit of the loss
};

}  // namespace weyl
