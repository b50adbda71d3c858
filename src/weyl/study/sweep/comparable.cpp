#include "weyl/study/sweep/comparable.h"

#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/study/sweep/kept_recipe.h"

namespace weyl {
namespace {

std::string name_of(const SweepModel& model) {
  return model.system + " " + model.size;
}

// A task with what its metrics measure; all else as by default.
TaskChoice measured(const ForceFieldOptions& o) {
  ForceFieldOptions m;
  m.units = o.units;
  return m;
}

/// Of several targets the metric may be in units of their spread once the references are off.
TaskChoice measured(const PropertyOptions& o) {
  PropertyOptions m;
  m.targets = o.targets;
  if (o.targets.size() > 1) {
    m.reference = o.reference;
    m.normalise = o.normalise;
    m.pooled = o.pooled;
  }
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

/// As kept_recipe compares: a line of words, here none, and TOML.
std::string measured_text(const TaskOptions& task) {
  TaskOptions m{std::visit([](const auto& o) { return measured(o); }, task.task)};
  return "\n" + write_toml([&](Fields& f) { fields(f, m); });
}

/// Of one split, as train/fingerprint.h has it; what does not fit is told.
std::string difference_of_split(const Json& now, const Json& first, const char* split) {
  const Json *ours = now.find(split), *theirs = first.find(split);
  if (ours == nullptr || theirs == nullptr) {
    return ours == theirs ? "" : text(ours == nullptr ? "no " : "a ", split, " split");
  }
  const double count = ours->find("samples")->number_or(0), other = theirs->find("samples")->number_or(0);
  if (count != other) {
    return text(static_cast<int64_t>(count), " ", split, " samples, not ", static_cast<int64_t>(other));
  }
  const char* key = "places_and_labels";
  return ours->find(key)->string_or("") == theirs->find(key)->string_or("")
             ? ""
             : text("other ", split, " samples");
}

}  // namespace

void require_one_task(const SweepRuns& runs) {
  const SweepModel& first = runs.models.front();
  for (const SweepModel& model : runs.models) {
    require<ConfigError>(path_of(model.recipe.data) == path_of(first.recipe.data) &&
                             model.recipe.task.task.index() == first.recipe.task.task.index(),
                         name_of(model), ": must be trained on the task and data of ", name_of(first),
                         ", or their losses cannot be compared, got data ", path_of(model.recipe.data),
                         " and ", path_of(first.recipe.data));
    std::string difference =
        difference_of(measured_text(first.recipe.task), measured_text(model.recipe.task));
    constexpr std::string_view then = ", it was ";
    if (const size_t at = difference.find(then); at != std::string::npos) {
      difference.replace(at, then.size(), ", but ");
    }
    require<ConfigError>(difference.empty(), name_of(model), ": must be measured as ", name_of(first),
                         ", or their losses cannot be compared, got task.", difference, " there");
  }
}

void require_comparable(const SweepRuns& runs, const std::vector<ModelCost>& costs) {
  const SweepModel& first = runs.models.front();
  for (size_t i = 0; i < runs.models.size(); ++i) {
    const SweepModel& model = runs.models[i];
    require<ConfigError>(!runs.options.loss.empty() || costs[i].metric == costs[0].metric, name_of(model),
                         ": train.best: must be that of ", name_of(first), ", ", printable(costs[0].metric),
                         ", as it is each run's loss where the sweep names "
                         "none (loss = \"...\"), got ",
                         printable(costs[i].metric));
    if (!costs[i].evaluated.is_object() || !costs[0].evaluated.is_object()) {
      continue;
    }
    for (const char* split : {"valid", "test"}) {
      const std::string difference = difference_of_split(costs[i].evaluated, costs[0].evaluated, split);
      require<ConfigError>(difference.empty(), name_of(model),
                           ": must have the validation and test samples of ", name_of(first),
                           ", or their losses cannot be compared, got ", difference);
    }
  }
}

}  // namespace weyl
