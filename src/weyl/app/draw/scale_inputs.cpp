#include "weyl/app/draw/scale_inputs.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "weyl/app/terminal/log.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/study/scaling/study_json.h"

namespace weyl {
namespace {

// A system of `study` that `all` has already; empty: none.
std::string known_system(const ScalingStudy& all, const ScalingStudy& study) {
  for (const SystemFit& fit : study.systems) {
    if (std::ranges::find(all.systems, fit.system, &SystemFit::system) != all.systems.end()) {
      return fit.system;
    }
  }
  return "";
}

template <class T>
void append(std::vector<T>& to, std::vector<T> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void merge(ScalingStudy& all, ScalingStudy study) {
  if (all.systems.empty()) {
    all.file = study.file;
    all.bootstraps = study.bootstraps;
    all.seed = study.seed;
    all.asked = study.asked;
  } else {
    all.file += ", " + study.file;
  }
  append(all.systems, std::move(study.systems));
  append(all.ratios, std::move(study.ratios));
  append(all.refused_systems, std::move(study.refused_systems));
}

void fit_table(const RunTable& table, std::optional<int64_t> bootstraps, int64_t threads,
               ScaleInputs& inputs) {
  ScalingOptions options;
  options.threads = threads;
  options.bootstraps = bootstraps.value_or(options.bootstraps);
  options.hold_out = true;
  options.report = [](const std::string& what) { say(what); };
  try {
    ScalingStudy study = fit_study(table, options);
    const std::string known = known_system(inputs.study, study);
    if (known.empty()) {
      merge(inputs.study, std::move(study));
    } else {
      inputs.notes.push_back(table.file + ": is not fitted: " + quote(known) + " stands in an earlier table");
    }
  } catch (const DataError& error) {
    inputs.notes.push_back(error.what());
    append(inputs.unfitted, table.systems());
  }
}

/// Each once, and none that another table has a law of.
void keep_unfitted(ScaleInputs& inputs) {
  std::vector<std::string> kept;
  for (const std::string& name : inputs.unfitted) {
    if (std::ranges::find(kept, name) == kept.end() &&
        std::ranges::find(inputs.study.systems, name, &SystemFit::system) == inputs.study.systems.end()) {
      kept.push_back(name);
    }
  }
  inputs.unfitted = std::move(kept);
}

}  // namespace

std::string runs_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? path + "/runs.csv" : path;
}

std::vector<ScalingRun> ScaleInputs::runs() const {
  std::vector<ScalingRun> all;
  for (const RunTable& table : tables) {
    append(all, table.runs);
  }
  return all;
}

ScaleInputs read_scale_inputs(const std::vector<std::string>& paths, std::optional<int64_t> bootstraps,
                              int64_t threads) {
  ScaleInputs inputs;
  inputs.fitted =
      std::ranges::none_of(paths, [](const std::string& path) { return path.ends_with(".json"); });
  require<ConfigError>(inputs.fitted || !bootstraps,
                       "--bootstraps: a fit is given, so that nothing is fitted");
  for (const std::string& path : paths) {
    if (path.ends_with(".json")) {
      ScalingStudy study = read_study(path);
      const std::string known = known_system(inputs.study, study);
      require<ConfigError>(known.empty(), path, ": system ", quote(known), ": must stand in one fit alone");
      merge(inputs.study, std::move(study));
    } else {
      RunTable table = read_runs(runs_file(path));
      for (const RefusedLine& refused : table.refused) {
        inputs.notes.push_back(text(table.file, ":", refused.line, ": ", refused.reason));
      }
      inputs.tables.push_back(std::move(table));
    }
  }
  for (const RunTable& table : inputs.tables) {
    if (inputs.fitted) {
      fit_table(table, bootstraps, threads, inputs);
    }
  }
  for (const LeftOut& system : inputs.study.refused_systems) {
    inputs.notes.push_back(printable(system.quantity) + ": is not fitted: " + system.reason);
    inputs.unfitted.push_back(system.quantity);
  }
  keep_unfitted(inputs);
  return inputs;
}

}  // namespace weyl
