#include "weyl/tasks/motion_errors.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/nan_to_num.h>

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

const Points& batch_points(const Batch& batch) {
  const auto* points = std::get_if<Points>(&batch.input);
  require(points != nullptr, "rigid_motion: the input must be points");
  return *points;
}

/// A label of the objects as (L, ...), or (L) for one number each.
Tensor label(const Batch& batch, const char* name, at::IntArrayRef shape) {
  const auto found = batch.labels.find(name);
  require(found != batch.labels.end(), "rigid_motion: the batch has no label '", name, "'");
  const Tensor& x = found->second;
  bool fits = x.dim() == static_cast<int64_t>(shape.size());
  for (int64_t d = 0; fits && d < x.dim(); ++d) {
    fits = shape[static_cast<size_t>(d)] < 0 || x.size(d) == shape[static_cast<size_t>(d)];
  }
  require(fits, "rigid_motion: the label '", name, "' must be ", shape, " (-1: any), got ", x.sizes());
  return x;
}

/// Rows (L, ...) of which every number is known.
Tensor known(const Tensor& x) {
  return at::isfinite(x).flatten(1).all(1);
}

Tensor step_of(const Tensor& x, int64_t k) {
  return at::nan_to_num(x.detach().select(1, k).to(at::kDouble), 0, 0, 0);
}

double sum_of(const Tensor& x) {
  return x.sum().item<double>();
}

std::string step_suffix(size_t k) {
  return k == 0 ? "" : text("_step_", k + 1);
}

}  // namespace

MotionLabels motion_labels(const Batch& batch) {
  const Points& points = batch_points(batch);
  const int64_t L = points.objects.count();
  MotionLabels labels{label(batch, "displacement", {L, -1, 3}),
                      label(batch, "turn", {L, -1, 3}),
                      label(batch, "vertex_count", {L, 1}).squeeze(1),
                      label(batch, "contact", {L, 1}).squeeze(1),
                      label(batch, "vertex_mean", {L, 1, 3}).squeeze(1),
                      label(batch, "vertex_moment", {L, 1, 3, 3}).squeeze(1)};
  require(labels.steps() >= 1 && labels.turn.size(1) == labels.steps(),
          "rigid_motion: the labels 'displacement' and 'turn' must have as many steps, at least one, got ",
          labels.steps(), " and ", labels.turn.size(1));
  return labels;
}

ObjectMotions MotionLabels::motion(int64_t k) const {
  return motions_of_turns(step_of(turn, k), step_of(displacement, k));
}

Tensor MotionLabels::weights(int64_t k) const {
  const Tensor all = known(displacement.select(1, k))
                         .logical_and(known(turn.select(1, k)))
                         .logical_and(at::isfinite(count))
                         .logical_and(known(mean))
                         .logical_and(known(moment));
  return at::nan_to_num(count, 0, 0, 0) * all;
}

OverGraphs over_graphs(const Tensor& errors, const Tensor& weights, const Points& points) {
  const Segments graphs = objects_of_graphs(points);
  const Tensor whole = segment_sum(weights, graphs);
  const Tensor mean = segment_sum(errors * weights, graphs) / (whole + whole.eq(0));
  return {mean.sum(), whole.gt(0).sum()};
}

void MotionErrors::Sums::add(const Sums& other) {
  square += other.square;
  squares += other.squares;
  centre += other.centre;
  angle += other.angle;
  objects += other.objects;
}

void MotionErrors::add(const Batch& batch, const Named& predictions) {
  const auto shift = predictions.find("displacement"), turn = predictions.find("turn");
  require(shift != predictions.end() && turn != predictions.end(),
          "rigid_motion: there must be predictions 'displacement' and 'turn'");
  const Points& points = batch_points(batch);
  const MotionLabels labels = motion_labels(batch);
  require(shift->second.dim() == 3 && shift->second.size(0) == labels.displacement.size(0) &&
              shift->second.sizes() == turn->second.sizes(),
          "rigid_motion: predictions must be of ", labels.displacement.size(0), " objects, got ",
          shift->second.sizes(), " and ", turn->second.sizes());
  const int64_t steps = std::min(labels.steps(), shift->second.size(1));
  steps_.resize(std::max(steps_.size(), static_cast<size_t>(steps)));
  for (int64_t k = 0; k < steps; ++k) {
    const Tensor weights = labels.weights(k);
    const ObjectMotions truth = labels.motion(k);
    const ObjectMotions said =
        motions_of_turns(turn->second.detach().select(1, k), shift->second.detach().select(1, k));
    const Tensor squares = vertex_errors(said, truth, at::nan_to_num(labels.mean, 0, 0, 0),
                                         at::nan_to_num(labels.moment, 0, 0, 0));
    const Tensor centres = (said.shift - truth.shift).square().sum(1).sqrt(),
                 angles = angle_errors(said, truth), known_ones = weights.gt(0).to(at::kDouble);
    const OverGraphs mean = over_graphs(squares, weights, points);
    steps_[static_cast<size_t>(k)].add({sum_of(mean.sum), sum_of(mean.graphs), sum_of(centres * known_ones),
                                        sum_of(angles * known_ones), sum_of(known_ones)});
    if (k > 0) {
      continue;
    }
    for (const bool touches : {true, false}) {
      const Tensor these = labels.contact.eq(touches ? 1 : 0).to(at::kDouble), some = known_ones * these;
      (touches ? contact_ : free_)
          .add({sum_of(squares * weights * these), sum_of(weights * these), sum_of(centres * some),
                sum_of(angles * some), sum_of(some)});
    }
  }
}

void MotionErrors::merge(const Meter& other) {
  const auto& more = same_kind<MotionErrors>(other, "rigid_motion");
  require(more.unit_ == unit_, "rigid_motion: a meter must be merged with one of the same unit, '", unit_,
          "', got '", more.unit_, "'");
  steps_.resize(std::max(steps_.size(), more.steps_.size()));
  for (size_t k = 0; k < more.steps_.size(); ++k) {
    steps_[k].add(more.steps_[k]);
  }
  contact_.add(more.contact_);
  free_.add(more.free_);
}

void MotionErrors::put(const Sums& sums, const std::string& suffix, Metrics& to) const {
  if (sums.squares > 0) {
    to["mse" + suffix] = {sums.square / sums.squares, unit_.empty() ? "" : unit_ + "^2"};
  }
  if (sums.objects > 0) {
    to["centre_error" + suffix] = {sums.centre / sums.objects, unit_};
    to["angle_error" + suffix] = {sums.angle / sums.objects, "rad"};
  }
}

Metrics MotionErrors::values() const {
  Metrics metrics;
  for (size_t k = 0; k < steps_.size(); ++k) {
    put(steps_[k], step_suffix(k), metrics);
  }
  if (metrics.contains("mse")) {
    metrics["rmse"] = {std::sqrt(metrics["mse"].value), unit_};
  }
  put(contact_, "_contact", metrics);
  put(free_, "_free", metrics);
  return metrics;
}

std::vector<MetricName> MotionErrors::names(const Schema& data) const {
  const Quantity* label = find_quantity(data.labels, "displacement");
  const auto steps = static_cast<size_t>(label == nullptr ? 1 : label->channels);
  std::vector<MetricName> names{{"rmse"}};
  const auto add = [&](const std::string& suffix) {
    for (const char* name : {"mse", "centre_error", "angle_error"}) {
      names.push_back({name + suffix});
    }
  };
  for (size_t k = 0; k < steps; ++k) {
    add(step_suffix(k));
  }
  add("_contact");
  add("_free");
  return names;
}

}  // namespace weyl
