#include <algorithm>
#include <iostream>
#include <string>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/scale_tables.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/overwrite.h"
#include "weyl/core/quote.h"
#include "weyl/study/scaling/study_json.h"

namespace weyl {
namespace {

ScalingStudy derived(const ScaleFitCommand& command) {
  std::vector<GivenLaw> laws = read_coefficients(command.coefficients);
  for (const auto& [system, xi] : command.xi) {
    const auto found = std::ranges::find(laws, system, &GivenLaw::system);
    require<ConfigError>(found != laws.end(), "--xi ", quote(system), ": must be a system of ",
                         command.coefficients);
    require<ConfigError>(!found->xi, "--xi ", quote(system), ": ", command.coefficients, " says its xi");
    found->xi = xi;
  }
  ScalingStudy study = derived_study(command.coefficients, laws, command.budgets);
  study.asked.xi = command.xi;
  return study;
}

ScalingStudy fitted(const ScaleFitCommand& command) {
  ScalingOptions options;
  options.xi = command.xi;
  options.budgets = command.budgets;
  options.bootstraps = command.bootstraps.value_or(options.bootstraps);
  options.threads = command.threads.value_or(0);
  options.seed = static_cast<uint64_t>(command.seed.value_or(0));
  options.hold_out = command.hold_out;
  options.most_epochs = command.epochs;
  options.report = [](const std::string& what) { say(what); };
  return fit_study(read_runs(command.runs), options);
}

void warn_of(const ScalingStudy& study) {
  for (const RefusedLine& refused : study.refused) {
    warn(text(study.file, ":", refused.line, ": ", refused.reason));
  }
  for (const LeftOut& system : study.refused_systems) {
    warn(text(printable(system.quantity), ": is not fitted: ", system.reason));
  }
  for (const SystemFit& fit : study.systems) {
    for (const std::string& note : fit.notes) {
      warn(printable(fit.system) + ": " + note);
    }
  }
}

}  // namespace

int run(const ScaleFitCommand& command) {
  const Overwrite overwrite(command.force, {command.runs, command.coefficients});
  const Existing existing = command.out.empty() ? Existing::keep : overwrite.at(command.out);
  const ScalingStudy study = command.coefficients.empty() ? fitted(command) : derived(command);
  warn_of(study);
  const std::string json = to_json(study).dump() + "\n";
  if (!command.out.empty()) {
    write_file_atomically(command.out, json, existing);
  }
  std::cout << (command.talk.json ? json : text_of(study));
  return exit_done;
}

}  // namespace weyl
