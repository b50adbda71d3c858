#include <cmath>
#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/progress.h"
#include "weyl/app/subject.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/train/evaluate.h"

namespace weyl {

Json to_json(const Metrics& metrics) {
  Json json = Json::object();
  for (const auto& [name, metric] : metrics) {
    json.set(name, Json::object().set("value", metric.value).set("unit", metric.unit));
  }
  return json;
}

Json to_json(const Evaluation& evaluation) {
  return Json::object()
      .set("samples", evaluation.samples)
      .set("seconds", evaluation.seconds)
      .set("metrics", to_json(evaluation.metrics));
}

int run(const EvalCommand& command) {
  const Subject subject =
      load_subject(command.model, device_of(command.machine), dtype_of(command.machine.dtype));
  require<ConfigError>(subject.task != nullptr, command.model,
                       ": must have a task to be measured by, but holds weights alone");
  const auto data = open_data(subject.recipe, command.data, command.split);
  require_labels(*subject.task, data->schema());
  Progress progress("eval", data->size(), Progress::style_for_stderr(command.talk.quiet));
  EvaluateOptions options;
  options.batch = command.batch;
  options.where = command.data.empty() ? "the " + command.split + " split" : command.data;
  options.progress = [&](int64_t done) { progress.update(done); };
  const Evaluation evaluation = evaluate(*subject.model, *subject.task, data, options);
  progress.clear();
  for (const auto& [name, metric] : evaluation.metrics) {
    require<DataError>(!std::isnan(metric.value), options.where, ": metric '", name,
                       "' must be a number, got NaN (larger inputs may need --dtype float64)");
  }
  const auto baselines = subject.task->baselines(*data);
  if (command.talk.json) {
    Json beside = Json::object();
    for (const auto& [name, metrics] : baselines) {
      beside.set(name, to_json(metrics));
    }
    std::cout << to_json(evaluation).set("baselines", beside).dump() << "\n";
    return exit_done;
  }
  std::cout << metrics_text(evaluation.metrics) << "  (" << evaluation.samples << " samples)\n";
  for (const auto& [name, metrics] : baselines) {
    std::cout << "  beside " << name << ": " << metrics_text(metrics) << "\n";
  }
  return exit_done;
}

}  // namespace weyl
