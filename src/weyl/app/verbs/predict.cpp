#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <utility>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/metrics_text.h"
#include "weyl/app/terminal/progress.h"
#include "weyl/app/terminal/signals.h"
#include "weyl/app/verbs/as_is.h"
#include "weyl/app/verbs/crossval.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/app/verbs/ranks.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/output_files.h"
#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/data/atoms/files.h"
#include "weyl/data/atoms/molecules.h"
#include "weyl/data/poses/pose_sequences.h"
#include "weyl/parallel/message.h"
#include "weyl/predict/folder.h"
#include "weyl/predict/frames.h"
#include "weyl/predict/trajectory.h"
#include "weyl/saved/model_summary.h"
#include "weyl/saved/tensors.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {
namespace {

/// What a kind of output file tells of itself.
struct Predicted {
  int64_t samples = 0;
  bool stopped = false;
  const char* what = "samples";
  std::string more;  // for people, after the time
};

bool is_tensors(const std::string& path) {
  return path.ends_with(".safetensors");
}
bool is_folder(const std::string& path) {
  return std::filesystem::path(path).extension().empty();
}
bool is_trajectory(const std::string& path) {
  return is_written_trajectory(path);
}
bool is_frames(const std::string& path) {
  const std::string name = path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path;
  return name.ends_with(".xyz") || name.ends_with(".extxyz");
}

std::vector<std::string> models_of(const PredictCommand& command) {
  std::vector<std::string> models{command.model};
  models.insert(models.end(), command.others.begin(), command.others.end());
  return models;
}

/// The folder of a cross-validation stands for its runs.
PredictCommand with_folds(PredictCommand command, const Systems& systems) {
  std::vector<std::string> models;
  for (const std::string& model : models_of(command)) {
    std::ranges::copy(models_of_folds(model, systems), std::back_inserter(models));
  }
  command.model = models.front();
  command.others.assign(models.begin() + 1, models.end());
  return command;
}

/// What the call reads: the data, the model's file and, of a run, what training needs.
std::vector<std::string> inputs_of(const PredictCommand& command) {
  std::vector<std::string> inputs{command.data};
  for (const std::string& model : models_of(command)) {
    if (is_run_folder(model)) {
      for (const char* name : {"best", "last", "previous", "config.toml", "environment.json"}) {
        inputs.push_back(model + "/" + name);
      }
    } else {
      inputs.push_back(model);
    }
  }
  return inputs;
}

/// The models' files without their folders, as the predictions' metadata name them.
std::string model_file_names(const PredictCommand& command) {
  std::string names;
  for (const std::string& model : models_of(command)) {
    names.append(names.empty() ? "" : "\n")
        .append(std::filesystem::path(model_file(model)).filename().string());
  }
  return names;
}

FilePredictor predictor_of(const PredictCommand& command, const PredictorOptions& options,
                           const Systems& systems) {
  Subject subject = load_subject(command.model, options.device, options.dtype, systems);
  subject.recipe = with_data_keys(subject, command.overrides);
  std::vector<std::string> warnings = take_prediction_keys(subject, command.task_overrides, Measures::no);
  FilePredictor predictor(std::move(subject), options);
  for (const std::string& other : command.others) {
    Subject another = load_subject(other, options.device, options.dtype, systems);
    std::ranges::copy(take_prediction_keys(another, command.task_overrides, Measures::no),
                      std::back_inserter(warnings));
    predictor.join(FilePredictor(std::move(another), options), command.model, other);
  }
  if (command.rollout > 0) {
    predictor.roll_out(command.rollout, "--rollout");
  }
  std::ranges::sort(warnings);
  warnings.erase(std::ranges::unique(warnings).begin(), warnings.end());  // of folds all say the same
  warn_each(warnings);
  return predictor;
}

void check_output(const PredictCommand& command, const Overwrite& overwrite) {
  const std::string& out = command.out;
  require<ConfigError>(
      is_tensors(out) || is_folder(out) || is_frames(out) || is_trajectory(out),
      "--out: must be a .safetensors file or, for classes, images and volumes, a folder, for atoms an "
      ".xyz or .extxyz file, for poses a .tum or .kitti file, got '",
      out, "'");
  require<ConfigError>(!command.gradient || is_tensors(out),
                       "--gradient: needs --out with a .safetensors file");
  require<ConfigError>(!command.gradient || command.others.empty(), "--gradient: is given of one model, got ",
                       command.others.size() + 1);
  require<ConfigError>(!command.probabilities || is_folder(out), "--probabilities: ",
                       is_tensors(out) ? "a .safetensors file always holds them"
                                       : "needs --out with a folder or a .safetensors file");
  if (!is_folder(out)) {  // asked before the work, and again when the file is there
    overwrite.at(out);
  }
  if (is_tensors(out)) {
    const auto folder = std::filesystem::absolute(out).parent_path();
    const bool writable = access(folder.c_str(), W_OK) == 0;
    require<DataError>(writable, out, ": cannot write: ", std::strerror(errno));
  }
}

/// Progress on the terminal, warnings beside it, and an end by a signal: into a set's calls or those of frames.
template <class Calls>
Calls calls_for(Progress& progress, const std::shared_ptr<Ranks>& ranks) {
  Calls calls;
  calls.ranks = ranks;
  calls.progress = [&](int64_t done) { progress.update(done); };
  calls.stop = stop_requested;
  calls.warn = [&](const std::string& warning) {
    progress.clear();
    warn(warning);
  };
  return calls;
}

/// The data, of which the model may be asked; a warning says what is likely wrong with them.
std::shared_ptr<const Dataset> checked_data(const PredictCommand& command, const FilePredictor& predictor) {
  GivenData given = open_for_prediction(predictor.subject(), command.data, command.overrides);
  check_facts(command.as_is, predictor.interface(), predictor.trained_on(), *given.data, command.data,
              FactsCompared::inputs);
  warn_each(given.warnings);
  return std::move(given.data);
}

Predicted into_tensors(const PredictCommand& command, const Overwrite& overwrite,
                       const FilePredictor& predictor, Progress& progress,
                       const std::shared_ptr<Ranks>& ranks) {
  const auto data = checked_data(command, predictor);
  require_alike(ranks, predictor, data, command.data);
  progress.set_total(data->size());
  PredictionTensors tensors(predictor);
  Predicted result;
  result.samples = tensors.add_all(data, command.data, command.gradient ? "--gradient" : "",
                                   calls_for<PredictorCalls>(progress, ranks));
  result.stopped = result.samples < data->size();
  if (result.stopped || !is_first(ranks)) {
    return result;
  }
  save_tensors(command.out, tensors.done(), prediction_metadata(predictor, model_file_names(command), *data),
               overwrite.at(command.out));
  return result;
}

Predicted into_folder(const PredictCommand& command, const Overwrite& overwrite,
                      const FilePredictor& predictor, Progress& progress,
                      const std::shared_ptr<Ranks>& ranks) {
  const auto data = checked_data(command, predictor);
  require_alike(ranks, predictor, data, command.data);
  progress.set_total(data->size());
  Predicted result;
  result.samples = predict_into_folder(predictor, data, command.data, command.out, command.probabilities,
                                       overwrite, calls_for<PredictorCalls>(progress, ranks));
  result.stopped = result.samples < data->size();
  return result;
}

Predicted into_trajectory(const PredictCommand& command, const Overwrite& overwrite,
                          const FilePredictor& predictor, Progress& progress,
                          const std::shared_ptr<Ranks>& ranks) {
  require<ConfigError>(ranks == nullptr, command.out, ": one trajectory is predicted by one process, got ",
                       count_of(ranks), " ranks");
  if (corrects_poses(predictor)) {
    const auto* windows = std::get_if<PoseWindowsDataOptions>(&predictor.subject().recipe.data.set);
    require<ConfigError>(
        windows != nullptr, command.out,
        ": a trajectory takes a model that was trained on data set pose_windows, whose length and ahead say "
        "what is asked: give a .safetensors file");
    PoseTrajectory found = trajectory_to_change(command.data, command.out, windows->repeated);
    check_units(command.as_is, predictor.interface(), units_of(found), command.data);
    warn_each(found.warnings);
    const CorrectedTrajectory done =
        correct_trajectory(predictor, *windows, std::move(found), command.data, command.out,
                           overwrite.at(command.out), calls_for<PredictorCalls>(progress, ranks));
    return {done.stopped ? 0 : 1, done.stopped, "trajectories",
            done.ahead > 0 ? text("; the last ", done.ahead, " of ", done.poses, " poses lie ahead")
                           : text("; ", done.poses, " poses")};
  }
  const auto data = checked_data(command, predictor);
  const auto* sequences = std::get_if<PoseSequencesDataOptions>(&predictor.subject().recipe.data.set);
  const FilledTrajectory filled =
      predict_trajectory(predictor, data, std::llround(predictor.interface().typical_nodes),
                         sequences != nullptr ? sequences->repeated : RepeatedTimes::refuse, command.data,
                         command.out, overwrite.at(command.out), calls_for<PredictorCalls>(progress, ranks));
  return {filled.stopped ? 0 : 1, filled.stopped, "trajectories",
          filled.stopped     ? ""
          : filled.place < 0 ? text("; nothing is missing of ", filled.poses, " poses")
                             : text("; pose ", filled.place + 1, " of ", filled.poses,
                                    " is the one that is most likely missing, by ", filled.agree, " of the ",
                                    filled.look, " windows that see its place")};
}

Predicted into_frames(const PredictCommand& command, const Overwrite& overwrite, FilePredictor& predictor,
                      Progress& progress, const std::shared_ptr<Ranks>& ranks) {
  check_no_facts(command.as_is);
  require<ConfigError>(
      !holds_frames(command.data) || FrameFiles::takes(command.data, asked(predictor.subject().recipe.data)),
      command.data,
      ": is a set of molecules with tables beside them, whose predictions go into a .safetensors file (--out)");
  require_alike(ranks, predictor, frames_path(command.data));
  const auto reader = open_frames(frames_path(command.data));
  std::optional<ExtendedXyzWriter> out;
  if (is_first(ranks)) {
    out.emplace(command.out, overwrite.at(command.out));
  }
  auto calls = calls_for<FrameCalls>(progress, ranks);
  calls.overrides = command.overrides;
  std::vector<std::string> own;  // of this rank in a round: its frames as text
  calls.round = [&] {
    tell_first<std::vector<std::string>>(*ranks, std::exchange(own, {}),
                                         [&](const std::vector<std::string>& frames) {
                                           for (const std::string& frame : frames) {
                                             out->write(frame);
                                           }
                                         });
  };
  const auto use = [&](const AtomsFrame& frame) {
    if (ranks == nullptr) {
      out->write(frame);
    } else {
      append_extended_xyz(own.emplace_back(), frame);
    }
  };
  const PredictedFrames done = predict_frames(predictor, *reader, use, calls);
  if (!done.stopped && out) {
    out->commit();
  }
  return {done.count, done.stopped, "frames",
          "; energies in " + done.units.energy + ", lengths in " + done.units.length};
}

double peak_mb() {
  return static_cast<double>(peak_resident_memory()) / 1e6;
}

}  // namespace

namespace {

int predict(const PredictCommand& given, const Systems& systems, const std::shared_ptr<Ranks>& ranks) {
  const PredictCommand command = with_folds(given, systems);
  const auto start = std::chrono::steady_clock::now();
  const Overwrite overwrite(command.force, inputs_of(command));
  check_output(command, overwrite);
  PredictorOptions options = predictor_options(command, ranks);
  options.batch = is_folder(command.out) ? 1 : options.batch;  // each sample is a file of its own
  FilePredictor predictor = predictor_of(command, options, systems);
  take_threads_for(command.machine, predictor, options.batch);
  say_notes(predictor.notes(/*of_places=*/false));
  catch_signals("every file that is there is whole");
  Progress progress("predict", 0, Progress::style_for_stderr(command.output.quiet || !is_first(ranks)));
  const Predicted done =
      is_tensors(command.out)      ? into_tensors(command, overwrite, predictor, progress, ranks)
      : is_folder(command.out)     ? into_folder(command, overwrite, predictor, progress, ranks)
      : is_trajectory(command.out) ? into_trajectory(command, overwrite, predictor, progress, ranks)
                                   : into_frames(command, overwrite, predictor, progress, ranks);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  progress.clear();
  if (done.stopped) {
    say(text("interrupted after ", done.samples, " ", done.what, ": ", command.out, " is not ",
             is_folder(command.out) ? "complete" : "written"));
    return exit_interrupted;
  }
  if (!is_first(ranks)) {
    return exit_done;
  }
  if (command.output.json) {
    std::cout << Json::object()
                     .set("samples", done.samples)
                     .set("seconds", seconds)
                     .set("peak_mb", peak_mb())
                     .set("out", command.out)
                     .dump()
              << "\n";
  } else {
    std::cout << command.out << "\n";
    say(text(done.samples, " ", done.what, " in ", clock_text(seconds), ", ", std::llround(peak_mb()),
             " MB of memory at most", done.more));
  }
  return exit_done;
}

}  // namespace

int run(const PredictCommand& command, const Systems& systems) {
  RankProcesses processes(command.ranks, command.machine);
  return processes.run([&] { return predict(command, systems, processes.ranks()); });
}

}  // namespace weyl
