#pragma once

#include <string>
#include <vector>

#include "weyl/app/cli/command_line.h"
#include "weyl/study/sweep/estimate.h"
#include "weyl/study/sweep/measure.h"

namespace weyl {

/// The runs of a sweep file; --dtype is that of every config.
SweepRuns runs_of_file(const std::string& path, const Machine& machine, const Systems& systems);

/// What each model costs, by `options` (loss and choose are those of the sweep); with `options.steps`, timed, which is
/// told on stderr unless `quiet`. `without_data`: whether a sweep whose data are not there is taken; DataError otherwise.
/// ConfigError: also models whose losses cannot be compared (require_comparable).
std::vector<ModelCost> costs_of(const SweepRuns& runs, const MeasureOptions& options, const Systems& systems,
                                bool without_data, bool quiet);

/// The words of the command that trains a trial with so many processes, but for --out or --resume. The threads of a training are
/// divided among them, unless the machine says how many each has.
struct TrainWords {
  std::vector<std::string> train, resume;
};
TrainWords words_of(const SweepRuns& runs, const SweepRow& row, const SweepTrial& trial,
                    const ModelCost& cost, const Machine& machine, int64_t ranks = 1);

}  // namespace weyl
