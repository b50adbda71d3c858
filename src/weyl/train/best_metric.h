#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weyl/tasks/task.h"
#include "weyl/train/metric_terms.h"

namespace weyl {

/// What picks the best model: a metric, or a weighted sum of metrics of one direction, on the validation set.
class BestMetric {
 public:
  /// `chosen`: train.best; empty: the task's headline. `known`: the metrics that there will be (Meter::names).
  /// ConfigError as metric_terms; metrics of both directions in one sum.
  BestMetric(const std::string& chosen, const Task& task, const std::vector<MetricName>& known);

  const std::string& name() const { return name_; }  // "energy_mae + 10 force_mae"
  const std::vector<MetricTerm>& terms() const { return terms_; }
  bool lower_is_better() const { return lower_; }

  /// NaN where a metric of the sum is not there or not a number. The unit is that of all terms, or none.
  MetricValue of(const Metrics& metrics) const;
  /// What decides between equal values, lower is better; NaN where it is not there (Task::loss_metric).
  double loss_of(const Metrics& metrics) const;

 private:
  std::vector<MetricTerm> terms_;
  std::string name_, loss_;
  bool lower_ = true;
};

/// That of a training on these validation data, which may be null; nothing without any. ConfigError as BestMetric; a
/// metric is chosen, and there are no validation data.
std::optional<BestMetric> best_metric_of(const std::string& chosen, const Task& task, const Interface& model,
                                         const Dataset* valid);

}  // namespace weyl
