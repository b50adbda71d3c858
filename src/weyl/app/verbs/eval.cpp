#include <cmath>
#include <iostream>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/metrics_text.h"
#include "weyl/app/terminal/progress.h"
#include "weyl/app/verbs/as_is.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/check.h"
#include "weyl/predict/subject.h"

namespace weyl {

int run(const EvalCommand& command, const Systems& systems) {
  FilePredictor predictor(command.model, predictor_options(command), systems);
  take_threads_for(command.machine, predictor, predictor.options().batch);
  require<ConfigError>(predictor.task() != nullptr, command.model,
                       ": must have a task to be measured by, but holds weights alone");
  const bool rolls = command.rollout > 0;
  if (rolls) {
    predictor.roll_out(command.rollout, "--rollout");
  }
  const Recipe& recipe = predictor.subject().recipe;
  const auto data = open_data(rolls ? with_rollout(recipe, command.rollout, "--rollout") : recipe,
                              command.data, command.split, Keep::on_disk);
  const std::string where = command.data.empty() ? "the " + command.split + " split" : command.data;
  require<ConfigError>(!rolls || !data->schema().labels.empty(), where,
                       ": --rollout must be at most two less than the frames of a scene, got ",
                       command.rollout);
  require_labels(*predictor.task(), data->schema());
  check_facts(command.as_is, predictor.trained_on(), *data, where, FactsCompared::inputs_and_classes);
  for (const std::string& warning : data->schema().warnings) {
    warn(warning);
  }
  Progress progress("eval", data->size(), Progress::style_for_stderr(command.output.quiet));
  const Evaluation evaluation =
      predictor.evaluate(data, where, {.progress = [&](int64_t done) { progress.update(done); }});
  progress.clear();
  for (const auto& [name, metric] : evaluation.metrics) {
    require<DataError>(!std::isnan(metric.value), where, ": metric '", name,
                       "' must be a number, got NaN (larger inputs may need --dtype float64)");
  }
  say_notes(predictor.notes());
  const auto baselines = predictor.task()->baselines(*data);
  if (command.output.json) {
    Json beside = Json::object();
    for (const auto& [name, metrics] : baselines) {
      beside.set(name, to_json(metrics));
    }
    std::cout << to_json(evaluation).set("baselines", beside).dump() << "\n";
    return exit_done;
  }
  std::cout << metrics_text(of_first_step(evaluation.metrics)) << "  (" << evaluation.samples
            << " samples)\n";
  for (const auto& [name, metrics] : baselines) {
    std::cout << "  beside " << name << ": " << metrics_text(of_first_step(metrics)) << "\n";
  }
  std::cout << rollout_text(evaluation.metrics, baselines);
  for (const Breakdown& breakdown : evaluation.breakdowns) {
    std::cout << "\n" << table_text(breakdown);
  }
  return exit_done;
}

}  // namespace weyl
