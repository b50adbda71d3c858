#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weyl/tasks/task.h"
#include "weyl/train/loop/metric_terms.h"
#include "weyl/train/loop/score.h"

namespace weyl {

/// What picks the best model: a metric, or a weighted sum of metrics of one direction, on the validation set.
class BestMetric {
 public:
  /// `chosen`: train.best; empty: the task's headline. `known`: the metrics that there will be (Meter::names).
  /// ConfigError: see metric_terms; also a sum of metrics of which some are better when lower and some when higher.
  BestMetric(const std::string& chosen, const Task& task, const std::vector<MetricName>& known);

  const std::string& name() const { return name_; }  // "energy_mae + 10 force_mae"
  const std::vector<MetricTerm>& terms() const { return terms_; }
  bool lower_is_better() const { return lower_; }

  /// The metrics that count what the terms leave out (MetricName::left_out), each once.
  const std::vector<std::string>& left_out() const { return left_out_; }

  /// The value of the sum; NaN where one of its metrics is missing or NaN. The unit is that of all terms, or none where
  /// they differ.
  MetricValue of(const Metrics& metrics) const;
  /// That value, and the sum of what its metrics leave out.
  Score score_of(const Metrics& metrics) const;
  /// The loss that decides between equal values (Task::loss_metric); lower is better. NaN where it is missing.
  double loss_of(const Metrics& metrics) const;

 private:
  std::vector<MetricTerm> terms_;
  std::vector<std::string> left_out_;
  std::string name_, loss_;
  bool lower_ = true;
};

/// The BestMetric of a training on these validation data. Nothing where there are none (null or empty). ConfigError:
/// see BestMetric; also a metric is chosen and there are no validation data.
std::optional<BestMetric> best_metric_of(const std::string& chosen, const Task& task, const Interface& model,
                                         const Dataset* valid);

}  // namespace weyl
