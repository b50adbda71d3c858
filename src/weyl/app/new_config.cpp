#include "weyl/app/new_config.h"

#include <algorithm>

#include "weyl/app/new_config_data.h"
#include "weyl/app/new_config_recipe.h"
#include "weyl/config/wording.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/train/recipe.h"

namespace weyl {
namespace {

std::string choose_task(const FoundData& found, const NewConfigRequest& request) {
  std::string all;
  for (const FittingTask& task : found.tasks) {
    all += text(all.empty() ? "" : " or ", task.name, " (", task.by_what, ")");
  }
  if (request.task.empty()) {
    const auto natural = std::ranges::count(found.tasks, false, &FittingTask::on_request);
    require<ConfigError>(natural == 1, request.data, ": several tasks fit, name one by --task: ", all);
    return std::ranges::find(found.tasks, false, &FittingTask::on_request)->name;
  }
  const bool fits = std::ranges::find(found.tasks, request.task, &FittingTask::name) != found.tasks.end();
  require<ConfigError>(fits, "--task: must be one that ", request.data, " has labels for, ", all, ", got ",
                       quote(request.task));
  return request.task;
}

std::string choose_system(const FoundData& found, const NewConfigRequest& request, const std::string& task,
                          const ModelOptions& known) {
  const std::vector<std::string> fitting = fitting_systems(found, task);
  if (request.system.empty()) {
    return fitting.front();
  }
  const bool exists =
      std::ranges::any_of(known.known, [&](const auto& s) { return s.name() == request.system; });
  require<ConfigError>(exists && std::ranges::find(fitting, request.system) != fitting.end(),
                       "--system: must be one with a recipe for such data, ",
                       one_of({std::vector<std::string_view>(fitting.begin(), fitting.end())}), ", got ",
                       quote(request.system));
  return request.system;
}

/// What is written must be read, and each of its options must do something.
void check_config(const std::string& config, const ModelOptions& known) {
  Recipe recipe;
  recipe.model = known;
  read_toml_text(config, "the new config", {}, [&](Fields& f) { fields(f, recipe); });
  require_effects(recipe);
  check_trainable(recipe);
}

}  // namespace

NewConfig new_config(const NewConfigRequest& request, const ModelOptions& known) {
  const FoundData found = look_at_data(request.data);
  NewConfig result;
  result.task = choose_task(found, request);
  result.system = choose_system(found, request, result.task, known);
  ConfigDraft draft;
  draft.remark(text("By `weyl config new`, for ", request.data, ": ", found.what, "."));
  draft.remark(
      "Every key that could stand here: `weyl config explain data`, task, model, train. Train: `weyl train` "
      "on this file.");
  found.write_data(draft, result.task, result.system);
  draft.table("task");
  draft.set("name", result.task);
  found.write_task(draft, result.task, result.system);
  write_model(draft, found, result.task, result.system);
  write_train(draft, found, result.task, result.system);
  result.text = draft.file([&](Fields& f) {
    Recipe recipe;
    recipe.model = known;
    fields(f, recipe);
  });
  check_config(result.text, known);
  return result;
}

}  // namespace weyl
