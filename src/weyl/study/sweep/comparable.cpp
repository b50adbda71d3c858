#include "weyl/study/sweep/comparable.h"

#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/study/sweep/record.h"

namespace weyl {
namespace {

std::string sweep_model_name(const SweepModel& model) {
  return model.system + " " + model.size;
}

// A task with what its metrics measure; all else as by default.
TaskChoice measured(const ForceFieldOptions& o) {
  ForceFieldOptions m;
  m.units = o.units;
  return m;
}

TaskChoice measured(const PropertyOptions& o) {
  PropertyOptions m;
  m.targets = o.targets;
  return m;
}

TaskChoice measured(const SegmentationOptions& o) {
  SegmentationOptions m;
  m.names = o.names;
  m.regions = o.regions;
  return m;
}

template <class Options>
TaskChoice measured(const Options&) {
  return Options{};
}

/// Whether a model's loss is the mean over several targets, each in units of its spread in the training data. Where the
/// sweep names no loss it is the metric that picks the best model.
bool is_in_units_of_training(const SweepRuns& runs, const SweepModel& model) {
  const auto* property = std::get_if<PropertyOptions>(&model.recipe.task.task);
  const std::string& loss = runs.options.loss.empty() ? model.recipe.train.best : runs.options.loss;
  return property != nullptr && property->targets.size() > 1 && (loss.empty() || loss == "standardised_mae");
}

/// As kept_recipe compares: a line of words, here none, and TOML.
std::string measured_text(const SweepRuns& runs, const SweepModel& model) {
  TaskOptions m{std::visit([](const auto& o) { return measured(o); }, model.recipe.task.task)};
  if (is_in_units_of_training(runs, model)) {  // once the references are off
    const auto& from = std::get<PropertyOptions>(model.recipe.task.task);
    auto& to = std::get<PropertyOptions>(m.task);
    to.reference = from.reference;
    to.weights = from.weights;
    to.pooled = from.pooled;
  }
  return "\n" + write_toml([&](Fields& f) { fields(f, m); });
}

bool have_other(const char* key, const Json& ours, const Json& theirs) {
  const Json *one = ours.find(key), *other = theirs.find(key);
  return one != nullptr && other != nullptr && one->dump() != other->dump();
}

/// Of one split, as evaluated_samples has it; what does not fit is told.
std::string difference_of_split(const Json& now, const Json& first, const char* split) {
  const Json *ours = now.find(split), *theirs = first.find(split);
  if (ours == nullptr || theirs == nullptr) {
    return ours == theirs ? "" : text(ours == nullptr ? "no " : "a ", split, " split");
  }
  const double count = ours->find("samples")->number_or(0), other = theirs->find("samples")->number_or(0);
  if (count != other) {
    return text(static_cast<int64_t>(count), " ", split, " samples, not ", static_cast<int64_t>(other));
  }
  return have_other("labels", *ours, *theirs) ? text("other labels of ", split, " samples") : "";
}

/// Whether the samples of a split are of as many tokens, but stand elsewhere: turned, perhaps, or of another instant.
bool stand_elsewhere(const Json& now, const Json& first, const char* split) {
  const Json *ours = now.find(split), *theirs = first.find(split);
  return ours != nullptr && theirs != nullptr && !have_other("tokens", *ours, *theirs) &&
         have_other("places_and_labels", *ours, *theirs);
}

}  // namespace

void require_one_task(const SweepRuns& runs) {
  const SweepModel& first = runs.models.front();
  for (const SweepModel& model : runs.models) {
    require<ConfigError>(path_of(model.recipe.data) == path_of(first.recipe.data) &&
                             model.recipe.task.task.index() == first.recipe.task.task.index(),
                         sweep_model_name(model), ": must be trained on the task and data of ",
                         sweep_model_name(first), ", or their losses cannot be compared, got data ",
                         path_of(model.recipe.data), " and ", path_of(first.recipe.data));
    const auto difference = difference_of(measured_text(runs, first), measured_text(runs, model));
    require<ConfigError>(!difference, sweep_model_name(model), ": must be measured as ",
                         sweep_model_name(first), ", or their losses cannot be compared, got task.",
                         difference ? text(difference->now_text(), ", but ", difference->before) : "",
                         " there");
  }
}

std::vector<std::string> require_comparable(const SweepRuns& runs, const std::vector<ModelCost>& costs) {
  const SweepModel& first = runs.models.front();
  std::vector<std::string> notes;
  for (size_t i = 0; i < runs.models.size(); ++i) {
    const SweepModel& model = runs.models[i];
    require<ConfigError>(!runs.options.loss.empty() || costs[i].metric == costs[0].metric,
                         sweep_model_name(model), ": train.best: must be that of ", sweep_model_name(first),
                         ", ", printable(costs[0].metric),
                         ", as it is each run's loss where the sweep names none (loss = \"...\"), got ",
                         printable(costs[i].metric));
    if (!costs[i].evaluated.is_object() || !costs[0].evaluated.is_object()) {
      continue;
    }
    for (const char* split : {"valid", "test"}) {
      const std::string difference = difference_of_split(costs[i].evaluated, costs[0].evaluated, split);
      require<ConfigError>(difference.empty(), sweep_model_name(model),
                           ": must have the validation and test samples of ", sweep_model_name(first),
                           ", or their losses cannot be compared, got ", difference);
    }
    if (stand_elsewhere(costs[i].evaluated, costs[0].evaluated, "test")) {
      notes.push_back(text(sweep_model_name(model), ": its test samples have the labels of those of ",
                           sweep_model_name(first), ", but other places or values"));
    }
    const auto* property = std::get_if<PropertyOptions>(&model.recipe.task.task);
    if (is_in_units_of_training(runs, model)) {
      const std::string difference = difference_of_split(costs[i].evaluated, costs[0].evaluated, "train");
      require<ConfigError>(difference.empty(), sweep_model_name(model),
                           ": must have the training samples of ", sweep_model_name(first),
                           ", by whose spread standardised_mae is measured (loss = \"mae_",
                           property->targets.front(), "\" is not), got ", difference);
    }
  }
  return notes;
}

}  // namespace weyl
