#include "weyl/app/verbs/eval_results.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <span>
#include <vector>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/metrics_text.h"
#include "weyl/app/terminal/progress.h"
#include "weyl/app/verbs/cases.h"
#include "weyl/app/verbs/ranks.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/output_files.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/quote.h"
#include "weyl/data/poses/trajectory_errors.h"
#include "weyl/data/volumes/mask_pairs.h"
#include "weyl/predict/subject.h"
#include "weyl/tasks/classes.h"
#include "weyl/tasks/segmentation.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// ConfigError unless the truth is given, and nothing that is said of models; warns of what has no effect. `alone`: nothing else is said
/// either that this kind of result does not take.
void require_plain(const EvalCommand& c, const char* result, bool alone) {
  require<ConfigError>(!c.data.empty(), c.model, ": ", result,
                       " is measured against the true one: add --data TRUTH");
  require<ConfigError>(alone && c.overrides.empty() && c.split.empty() && c.rollout == 0 && !c.moved &&
                           c.rotate.empty() && c.ranks < 2,
                       c.model, ": ", result, " is compared as it is: --data TRUTH goes alone with it");
  const EvalCommand usual;
  std::vector<std::string> idle;
  for (const auto& [flag, given] :
       {std::pair{"--device", c.machine.device != usual.machine.device},
        std::pair{"--dtype", c.machine.dtype.has_value()}, std::pair{"--batch", c.batch != usual.batch},
        std::pair{"--batch-tokens", c.batch_tokens.has_value()}}) {
    if (given) {
      idle.emplace_back(flag);
    }
  }
  if (!idle.empty()) {
    warn(text(joined(idle), idle.size() > 1 ? " have" : " has", " no effect on ", result));
  }
  require_one_process(c.model);
}

/// `each`: what a sample is called.
void print_measured(const Evaluation& evaluation, const std::string& each, bool json) {
  if (json) {
    std::cout << to_json(evaluation).set("baselines", Json::object()).dump() << "\n";
  } else {
    std::cout << evaluation.samples << " " << each << (evaluation.samples == 1 ? "\n" : "s\n")
              << metrics_lines(evaluation.metrics, {});
  }
}

Metrics trajectory_metrics(const TrajectoryErrors& errors) {
  Metrics metrics;
  const auto add = [&](const std::string& name, const std::optional<PoseErrors>& e) {
    if (e) {
      metrics[name] = {e->translation, "m"};
      metrics[name + "_angle"] = {e->angle, "degrees"};
    }
  };
  add("ape", errors.ape);
  add("ape_se3", errors.ape_se3);
  add("rpe", errors.rpe);
  if (errors.ape_sim3) {
    metrics["ape_sim3"] = {errors.ape_sim3->translation, "m"};
    metrics["sim3_scale"] = {errors.scale, ""};
  }
  return metrics;
}

int measure_trajectory(const EvalCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  require_plain(command, "a trajectory",
                command.task_overrides.empty() && command.out.empty() && !command.as_is);
  require<ConfigError>(is_pose_file(command.data), command.data,
                       ": must be a trajectory (.txt, .csv, .tum, .kitti), as ", command.model, " is");
  const PoseTrajectory truth = read_poses(command.data, {}, RepeatedTimes::keep),
                       estimate = read_poses(command.model, {}, RepeatedTimes::keep);
  warn_each(truth.warnings);
  warn_each(estimate.warnings);
  const TrajectoryErrors errors = trajectory_errors(truth, estimate, command.data, command.model);
  say(text(errors.pairs, " of ", estimate.size(), " poses are compared with one of ", truth.size()));
  if (!errors.ape_se3) {
    warn(text(command.model,
              ": the compared places are on one line, which says no rotation: nothing is aligned"));
  }
  Evaluation evaluation;
  evaluation.samples = errors.pairs;
  evaluation.metrics = trajectory_metrics(errors);
  evaluation.seconds = seconds_since(start);
  print_measured(evaluation, "pose", command.output.json);
  return exit_done;
}

/// How masks are measured: what the data say of names and regions, and the keys of the command line.
SegmentationOptions measured_as(const MaskPairs& pairs, const std::vector<std::string>& overrides) {
  SegmentationOptions options;
  options.names = pairs.names;
  for (const VolumeRegion& region : pairs.regions) {
    options.regions.push_back({region.name, region.classes});
  }
  const std::string table = text("task.", SegmentationOptions::name_in_config, ".");
  std::vector<std::string> keys(measuring_keys.begin(), measuring_keys.end());
  keys.emplace_back("names");
  bool regions = false;
  for (const std::string& item : overrides) {
    const std::string key = key_of_task(item, SegmentationOptions::name_in_config);
    regions = regions || key == "regions";
    require<ConfigError>(std::ranges::count(keys, key) > 0, "override '", item,
                         "': of masks must be how they are measured: ", table, "KEY, one of ", joined(keys));
  }
  TaskOptions task{options};
  const auto visit = [&](Fields& f) { f("task", task, "how masks are measured"); };
  read_toml_text(write_toml(visit), "masks", overrides, visit);
  auto& asked = std::get<SegmentationOptions>(task.task);
  for (size_t i = 0; regions && i < asked.regions.size(); ++i) {  // which say the numbers of the files
    for (int64_t& label : asked.regions[i].labels) {
      const auto at = std::ranges::find(pairs.numbers, label);
      require<ConfigError>(at != pairs.numbers.end(), table, "regions[", i,
                           "].labels: must be numbers of the masks' classes, got ", label);
      label = at - pairs.numbers.begin();
    }
  }
  return asked;
}

int measure_masks(const EvalCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  require_plain(command, "a mask", true);
  const MaskPairs pairs = pair_masks(command.model, command.data);
  const auto classes = std::ssize(pairs.numbers);
  require<DataError>(classes > 1, command.model,
                     ": no mask, true or predicted, has another class than the background");
  if (!pairs.left_over.empty()) {
    const std::span<const std::string> left(pairs.left_over);
    constexpr size_t most = 3;
    warn(text(command.data, ": ", left.size(), " of ", left.size() + pairs.cases.size(),
              " true masks have no prediction and are left out: ",
              joined_printable(left.first(std::min(left.size(), most))), left.size() > most ? ", ..." : ""));
  }
  if (classes - 1 > kMostNamedClasses) {
    say(text("there are ", classes - 1, " classes, more than ", kMostNamedClasses,
             ": single ones are not told"));
  }
  const Segmentation task(measured_as(pairs, command.task_overrides));
  Schema schema;
  schema.interface.grid = true;
  schema.interface.length_unit = "mm";
  schema.labels = task.labels();
  schema.labels[0].categories = classes;
  const Interface interface = task.interface(schema);
  const Overwrite overwrite(command.force, {command.model, command.data});
  const std::string table = command.out + "/cases.csv";
  if (!command.out.empty()) {
    overwrite.at(table);
  }
  Progress progress("eval", std::ssize(pairs.cases), Progress::style_for_stderr(command.output.quiet));
  const auto all = task.meter(interface);
  Evaluation evaluation;
  std::vector<Case> cases;
  for (const MaskPair& pair : pairs.cases) {
    const ComparedMasks masks = read_masks(pair, pairs, command.as_is);
    const auto one = [](const Tensor& mask) { return mask.unsqueeze(0).unsqueeze(0); };  // (1, 1, X, Y, Z)
    Batch batch;
    std::vector<int64_t> sizes = one(masks.truth).sizes().vec();
    sizes[1] = 0;
    batch.input = Grid{at::zeros(sizes), masks.spacing};
    batch.labels["mask"] = one(masks.truth);
    const auto alone = task.meter(interface);
    alone->add(batch, {{"mask", one(masks.predicted)}});
    cases.push_back({visible(pair.name), "", alone->values()});
    all->merge(*alone);
    progress.update(++evaluation.samples);
  }
  progress.clear();
  evaluation.metrics = all->values();
  evaluation.confusion = all->confusion();
  evaluation.seconds = seconds_since(start);
  if (!command.out.empty()) {
    make_folder(command.out);
    write_file_atomically(table, cases_csv(cases), overwrite.at(table));
    say(table);
  }
  print_measured(evaluation, "mask", command.output.json);
  return exit_done;
}

bool is_trajectory_file(const std::string& path) {
  return is_pose_file(path) && std::filesystem::is_regular_file(path);
}

}  // namespace

bool is_result(const std::string& path) {
  return is_trajectory_file(path) || (are_masks(path) && !is_run_folder(path));
}

int measure_result(const EvalCommand& command) {
  return is_trajectory_file(command.model) ? measure_trajectory(command) : measure_masks(command);
}

}  // namespace weyl
