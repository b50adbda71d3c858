#include <cmath>
#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
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

Json to_json(const Confusion& confusion) {
  Json classes = Json::array(), counts = Json::array();
  const size_t k = confusion.classes.size();
  for (size_t truth = 0; truth < k; ++truth) {
    classes.add(confusion.classes[truth]);
    Json row = Json::array();
    for (size_t said = 0; said < k; ++said) {
      row.add(confusion.counts[truth * k + said]);
    }
    counts.add(row);
  }
  return Json::object().set("classes", classes).set("counts", counts);
}

Json to_json(const std::vector<Breakdown>& breakdowns) {
  Json json = Json::object();
  for (const Breakdown& breakdown : breakdowns) {
    Json rows = Json::array();
    for (const auto& [name, metrics] : breakdown.rows) {
      rows.add(Json::object().set("name", name).set("metrics", to_json(metrics)));
    }
    json.set(breakdown.by, rows);
  }
  return json;
}

Json to_json(const Evaluation& evaluation) {
  Json json = Json::object();
  json.set("samples", evaluation.samples)
      .set("seconds", evaluation.seconds)
      .set("metrics", to_json(evaluation.metrics));
  if (evaluation.confusion) {
    json.set("confusion", to_json(*evaluation.confusion));
  }
  if (!evaluation.breakdowns.empty()) {
    json.set("breakdowns", to_json(evaluation.breakdowns));
  }
  return json;
}

int run(const EvalCommand& command) {
  const Subject subject =
      load_subject(command.model, device_of(command.machine), dtype_of(command.machine.dtype));
  require<ConfigError>(subject.task != nullptr, command.model,
                       ": must have a task to be measured by, but holds weights alone");
  const auto data = open_data(subject.recipe, command.data, command.split);
  require_labels(*subject.task, data->schema());
  for (const std::string& warning : data->schema().warnings) {
    warn(warning);
  }
  Progress progress("eval", data->size(), Progress::style_for_stderr(command.talk.quiet));
  EvaluateOptions options;
  options.batch = batch_of(subject, command.batch);
  options.where = command.data.empty() ? "the " + command.split + " split" : command.data;
  options.progress = [&](int64_t done) { progress.update(done); };
  const Evaluation evaluation = evaluate(*subject.model, *subject.task, data, options);
  progress.clear();
  for (const auto& [name, metric] : evaluation.metrics) {
    require<DataError>(!std::isnan(metric.value), options.where, ": metric '", name,
                       "' must be a number, got NaN (larger inputs may need --dtype float64)");
  }
  say_notes(subject.task.get());
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
  for (const Breakdown& breakdown : evaluation.breakdowns) {
    std::cout << "\n" << table_text(breakdown);
  }
  return exit_done;
}

}  // namespace weyl
