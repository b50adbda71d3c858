#include "weyl/train/loop/best_metric.h"

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/train/run/journal.h"

namespace weyl {
BestMetric::BestMetric(const std::string& chosen, const Task& task, const std::vector<MetricName>& known)
    : loss_(task.loss_metric()), lower_(task.lower_is_better()) {
  const auto metric_of = [&](const MetricTerm& term) {
    return std::ranges::find(known, term.name, &MetricName::name);
  };
  const auto know_left_out = [&](const MetricTerm& term) {
    const auto found = metric_of(term);
    if (found != known.end() && !found->left_out.empty()) {
      left_out_.push_back(found->left_out);
    }
  };
  if (chosen.empty()) {
    name_ = task.headline();
    terms_.push_back({1, name_});
    know_left_out(terms_.front());
    return;
  }
  std::vector<std::string> names;
  for (const MetricName& metric : known) {
    names.push_back(metric.name);
  }
  std::sort(names.begin(), names.end());
  terms_ = metric_terms(chosen, names);
  const auto lower = [&](const MetricTerm& term) { return metric_of(term)->lower_is_better; };
  lower_ = lower(terms_.front());
  for (const MetricTerm& term : terms_) {
    require<ConfigError>(
        lower(term) == lower_,
        "train.best: the metrics of a sum must all be better when lower, or all when higher; of ",
        printable(terms_.front().name), " ", lower_ ? "lower" : "higher", " is better, of ",
        printable(term.name), " ", lower_ ? "higher" : "lower");
    name_ +=
        (name_.empty() ? "" : " + ") + (term.weight == 1 ? "" : exact_text(term.weight) + " ") + term.name;
    know_left_out(term);
  }
}

MetricValue BestMetric::of(const Metrics& metrics) const {
  MetricValue sum{0, ""};
  for (const MetricTerm& term : terms_) {
    const auto found = metrics.find(term.name);
    const MetricValue value = found == metrics.end() ? MetricValue{NAN, sum.unit} : found->second;
    sum.value += term.weight * value.value;
    if (&term == terms_.data()) {
      sum.unit = value.unit;
    } else if (sum.unit != value.unit) {
      sum.unit.clear();
    }
  }
  return sum;
}

Score BestMetric::score_of(const Metrics& metrics) const {
  Score score{of(metrics).value};
  for (const std::string& name : left_out_) {
    const auto found = metrics.find(name);
    score.left_out += found == metrics.end() ? 0 : found->second.value;
  }
  return score;
}

double BestMetric::loss_of(const Metrics& metrics) const {
  const auto found = metrics.find(loss_);
  return found == metrics.end() ? NAN : found->second.value;
}

std::optional<BestMetric> best_metric_of(const std::string& chosen, const Task& task, const Interface& model,
                                         const Dataset* valid) {
  if (valid == nullptr || valid->size() == 0) {
    require<ConfigError>(chosen.empty(),
                         "train.best: must be left out where there are no validation data, got ",
                         quote(chosen));
    return {};
  }
  return BestMetric(chosen, task, task.meter(model)->names(valid->schema()));
}

}  // namespace weyl
