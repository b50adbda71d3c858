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

}  // namespace weyl
