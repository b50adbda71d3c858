#include "weyl/study/sweep/measure.h"

#include <algorithm>
#include <filesystem>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/joined.h"
#include "weyl/core/quote.h"
#include "weyl/data/open.h"
#include "weyl/study/sweep/evaluated.h"
#include "weyl/study/sweep/step_memory.h"
#include "weyl/study/sweep/timing.h"
#include "weyl/study/sweep/without_data.h"
#include "weyl/train/best_metric.h"
#include "weyl/train/prepare.h"

namespace weyl {
namespace {

Trained trained_on(const Recipe& recipe, const Splits& data, at::Device device, const Systems& systems) {
  TrainRequest request;
  const int64_t enough = std::max<int64_t>(4096, 64 * recipe.train.batch);
  request.data = Splits{some_of(data.train, enough), some_of(data.valid, enough), nullptr};
  request.device = device;
  request.systems = &systems;
  Prepared p = prepare(recipe, request, {recipe.data, recipe.task, recipe.train.from}, nullptr);
  return {p.saved.model, std::move(p.saved.task), request.data->train, data.valid, data.test};
}

std::vector<std::string> names_of_metrics(const std::vector<MetricName>& metrics) {
  std::vector<std::string> names;
  for (const MetricName& metric : metrics) {
    names.push_back(metric.name);
  }
  std::ranges::sort(names);
  return names;
}

/// What the table's loss is, and what chooses: lower must be better of both. Returns the name of what chooses.
std::string require_loss(const Trained& t, const Recipe& recipe, const MeasureOptions& measure) {
  const bool valid = t.valid != nullptr && t.valid->size() > 0;
  require<ConfigError>(
      valid || !measure.choose,
      "rates: must be one where there are no validation data, as nothing chooses between them");
  const std::vector<MetricName> known =
      t.task->meter(t.model->interface)->names((valid ? t.valid : t.train)->schema());
  const BestMetric best(recipe.train.best, *t.task, known);
  const std::string instead = text(" (set = [\"train.best=", t.task->loss_metric(), "\"])");
  require<ConfigError>(
      !valid || best.lower_is_better(),
      "train.best: the metric that picks the best model must be one of which lower is better, ",
      "as the table's loss is, got ", printable(best.name()), instead);
  const std::string loss = measure.loss.empty() && valid ? best.name() : measure.loss;
  const auto found = std::ranges::find(known, loss, &MetricName::name);
  require<ConfigError>(found != known.end(), "loss: must be one of the metrics ",
                       joined_printable(names_of_metrics(known)), ", got ", quote(loss));
  require<ConfigError>(found->lower_is_better, "loss: must be a metric of which lower is better, got ",
                       quote(loss));
  return best.name();
}

/// Of random parts of samples (train.crop) the parts count, as training counts them.
double tokens_of_epoch(const Dataset& train, const TrainOptions& options, const Model& model) {
  return options.crop.empty() ? tokens_of(train)
                              : static_cast<double>(train.size()) * tokens_of_a_sample(model, options);
}

}  // namespace

SweepData::Opened* SweepData::open(const Recipe& recipe) {
  if (!std::filesystem::exists(path_of(recipe.data))) {
    return nullptr;
  }
  DataOptions options = recipe.data;
  const std::string key = write_toml([&](Fields& f) { fields(f, options); });
  const auto found = opened_.find(key);
  if (found != opened_.end()) {
    return &found->second;
  }
  Splits splits = open_splits(recipe.data, recipe.interface ? &*recipe.interface : nullptr);
  return &opened_.emplace(key, Opened{std::move(splits), {}}).first->second;
}

const Splits* SweepData::of(const Recipe& recipe) {
  const Opened* opened = open(recipe);
  return opened != nullptr ? &opened->splits : nullptr;
}

Json SweepData::evaluated(const Recipe& recipe) {
  Opened* opened = open(recipe);
  if (opened == nullptr || opened_.size() < 2) {
    return {};
  }
  if (!opened->evaluated.is_object()) {
    opened->evaluated = evaluated_samples(opened->splits);
  }
  return opened->evaluated;
}

ModelCost cost_of(const Recipe& recipe, const Splits* data, const MeasureOptions& measure,
                  const Systems& systems) {
  if (data == nullptr) {
    return cost_without_data(recipe, measure, systems);
  }
  ModelCost cost;
  const TrainOptions& options = recipe.train;
  const auto make = [&] { return trained_on(recipe, *data, measure.device, systems); };
  {
    const Trained t = make();
    cost.metric = require_loss(t, recipe, measure);
    fill_facts(t, options, cost);
    cost.facts.tokens = tokens_of_epoch(*data->train, options, *t.model);
    cost.threads = threads_of(t, options, measure);
  }
  if (measure.steps > 0) {
    cost.how = too_large_text(options, time(make, options, measure, 1, cost).bytes, measure);
  }
  return cost;
}

}  // namespace weyl
