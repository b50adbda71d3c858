#include <cmath>
#include <exception>
#include <iostream>
#include <optional>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/metrics_text.h"
#include "weyl/app/terminal/progress.h"
#include "weyl/app/verbs/as_is.h"
#include "weyl/app/verbs/cases.h"
#include "weyl/app/verbs/eval_results.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/app/verbs/ranks.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/axis.h"
#include "weyl/core/check.h"
#include "weyl/core/output_files.h"
#include "weyl/core/own_folder.h"
#include "weyl/data/clouds/modelnet.h"
#include "weyl/predict/subject.h"
#include "weyl/saved/evaluate.h"
#include "weyl/study/audit/placements.h"
#include "weyl/train/run/fingerprint.h"
#include "weyl/train/run/run_data.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {
namespace {

/// Writes what --out asks for, and says where.
void write_cases(const EvalCommand& command, const Overwrite& overwrite, const Predictor& predictor,
                 const Dataset& data, const Evaluation& evaluation) {
  const std::vector<Case> cases = cases_of(data, evaluation);
  const std::string table = command.out + "/cases.csv";
  write_file_atomically(table, cases_csv(cases), overwrite.at(table));
  say(table);
  try {
    for (const std::string& picture :
         draw_ranked(predictor, data, cases, run_name(command.model), command.out)) {
      say(picture);
    }
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    warn("no pictures, or not all: " + reason.substr(0, reason.find('\n')));
  }
}

/// Says which samples of data that were given are the model's own training samples; where they were asked for, it is
/// known.
void warn_of_training_samples(const EvalCommand& command, const Dataset& data) {
  if (command.data.empty() || command.split == "train") {
    return;
  }
  const TrainingSamples found = training_samples_in(data, fingerprint_of_run(command.model));
  if (found.count > 0) {
    warn(text(command.data, ": ", found.exact ? "" : "about ",
              found.count == data.size() ? "all" : text(found.count, " of the"), " ", data.size(),
              " samples ", found.count == 1 ? "is" : "are", " of the training split of ", command.model,
              ", which it has learned from: of these, errors say nothing of new data"));
  }
}

/// The axis that points upwards in the samples of a set; z where the set says none.
int upward_axis_of(const DataOptions& data) {
  if (const auto* clouds = std::get_if<CloudsDataOptions>(&data.set)) {
    return static_cast<int>(clouds->up);
  }
  const auto* shapes = std::get_if<ModelnetDataOptions>(&data.set);
  return shapes != nullptr ? upward_axis(*shapes) : 2;
}

/// How the samples were turned: `how` is z or so3, of z with the axis that it was; empty: not at all.
struct Turned {
  std::string how;
  std::optional<int> about;
};

std::string how_turned(const Turned& turned) {
  return turned.how.empty() ? ""
         : turned.about     ? text(", each turned about the upward axis, ", axis_names[*turned.about])
                            : ", each turned by any rotation";
}

void print_evaluation(const Evaluation& evaluation,
                      const std::vector<std::pair<std::string, Metrics>>& baselines, const Turned& turned,
                      bool json) {
  if (json) {
    Json beside = Json::object();
    for (const auto& [name, metrics] : baselines) {
      beside.set(name, to_json(metrics));
    }
    Json said = to_json(evaluation).set("baselines", beside);
    if (!turned.how.empty()) {
      said.set("rotate", turned.how);
    }
    if (turned.about) {
      said.set("axis", std::string(axis_names[*turned.about]));
    }
    std::cout << said.dump() << "\n";
    return;
  }
  std::cout << evaluation.samples << (evaluation.samples == 1 ? " sample" : " samples") << how_turned(turned)
            << "\n"
            << metrics_lines(of_first_step(evaluation.metrics), baselines);
  std::cout << rollout_text(evaluation.metrics, baselines);
  for (const Breakdown& breakdown : evaluation.breakdowns) {
    std::cout << "\n" << table_text(breakdown);
  }
}

int measure(const EvalCommand& command, const Systems& systems, const std::shared_ptr<Ranks>& ranks) {
  const bool leads = is_first(ranks);
  const PredictorOptions options = predictor_options(command, ranks);
  Subject subject = load_subject(command.model, options.device, options.dtype, systems);
  warn_each(take_prediction_keys(subject, command.task_overrides));
  FilePredictor predictor(std::move(subject), options);
  take_threads_for(command.machine, predictor, predictor.options().batch);
  require<ConfigError>(predictor.task() != nullptr, command.model,
                       ": must have a task to be measured by, but holds weights alone");
  const bool places = command.moved || !command.rotate.empty();
  require<ConfigError>(!places || predictor.task()->placements(predictor.interface()).empty(),
                       command.moved ? "--moved" : "--rotate",
                       " measures single predictions, not means over rotations: say task.",
                       predictor.task()->name(), ".test_time_rotations.count=1 with it");
  const Overwrite overwrite(command.force, {command.model, command.data});
  if (!command.out.empty() && leads) {
    for (const char* name : {"cases.csv", "worst.png", "median.png", "best.png"}) {
      overwrite.at(command.out + "/" + name);
    }
    make_folder(command.out);
  }
  const bool rolls = command.rollout > 0;
  if (rolls) {
    predictor.roll_out(command.rollout, "--rollout");
  }
  const Recipe recipe = with_data_keys(predictor.subject(), command.overrides, command.data);
  auto data = open_data(rolls ? with_rollout(recipe, command.rollout, "--rollout") : recipe, command.data,
                        command.split, Keep::on_disk, command.overrides, rolls ? nullptr : predictor.task());
  const std::string where = !command.data.empty()   ? command.data
                            : command.split.empty() ? "the test split"
                                                    : "the " + command.split + " split";
  require<ConfigError>(!rolls || !data->schema().labels.empty(), where,
                       ": --rollout must be at most two less than the frames of a scene, got ",
                       command.rollout);
  try {
    require_labels(*predictor.task(), data->schema(), true);
  } catch (const DataError& error) {
    throw DataError(text(where, ": ", error.what()));
  }
  check_facts(command.as_is, predictor.interface(), predictor.trained_on(), *data, where,
              FactsCompared::inputs_and_classes);
  require_alike(ranks, predictor, data, where);
  warn_each(data->schema().warnings);
  if (leads) {
    warn_of_training_samples(command, *data);
  }
  const Turned turned{command.rotate,
                      command.rotate == "z" ? std::optional(upward_axis_of(recipe.data)) : std::nullopt};
  if (!turned.how.empty()) {
    data = turned_samples(data, turned.about, 0, where);
  }
  Progress progress("eval", data->size(), Progress::style_for_stderr(command.output.quiet || !leads));
  Evaluation evaluation = predictor.evaluate(data, where,
                                             {.progress = [&](int64_t done) { progress.update(done); },
                                              .warn =
                                                  [&](const std::string& warning) {
                                                    progress.clear();
                                                    warn(warning);
                                                  },
                                              .by_sample = !command.out.empty(),
                                              .ranks = ranks});
  if (command.moved) {
    evaluation.breakdowns.push_back(
        measured_when_placed(predictor, data, where, 0,
                             {.progress = [&](int64_t done) { progress.update(done); }, .ranks = ranks}));
  }
  progress.clear();
  if (!leads) {
    return exit_done;
  }
  const std::vector<Quantity> without =
      labels_without_metrics(evaluation.metrics, *predictor.task(), *data, where);
  for (const Quantity& label : without) {
    warn(measured_without(label, data->schema(), where));
  }
  leave_out(evaluation.metrics, without);
  for (const auto& [name, metric] : evaluation.metrics) {
    require<DataError>(!std::isnan(metric.value), where, ": metric '", name,
                       "' must be a number, got NaN (larger inputs may need --dtype float64)");
  }
  say_notes(predictor.notes());
  if (const auto* clouds = std::get_if<CloudsDataOptions>(&recipe.data.set);
      clouds != nullptr && !clouds->point_label.empty() &&
      (clouds->points > 0 || clouds->input.centres > 0)) {
    say("classes are those of the model's nodes, which are drawn, not of all points of the clouds: "
        "data.clouds.points=0 data.clouds.centres=0 with --data takes all as nodes");
  }
  if (!command.out.empty()) {
    write_cases(command, overwrite, predictor, *data, evaluation);
  }
  auto baselines = predictor.task()->baselines(*data);
  for (auto& [name, metrics] : baselines) {
    leave_out(metrics, without);
  }
  print_evaluation(evaluation, baselines, turned, command.output.json);
  return exit_done;
}

}  // namespace

int run(const EvalCommand& command, const Systems& systems) {
  if (is_result(command.model)) {
    return measure_result(command);
  }
  RankProcesses processes(command.ranks, command.machine);
  return processes.run([&] { return measure(command, systems, processes.ranks()); });
}

}  // namespace weyl
