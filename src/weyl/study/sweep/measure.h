#pragma once

#include <c10/core/Device.h>
#include <map>
#include <optional>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/core/json.h"
#include "weyl/models/systems.h"
#include "weyl/study/sweep/estimate.h"

namespace weyl {

/// What the splits of a data set hold as far as losses are numbers of it, for require_comparable (study/sweep/comparable.h):
/// of each split there is the number of "samples" and a hash of "labels", the same for a sample as points and as a
/// grid; of validation and test also "tokens" and "places_and_labels" (train/run/fingerprint.h). Labels are those of all
/// samples, of large splits of a thousand evenly spread ones.
Json evaluated_samples(const Splits& data);

/// How models are timed.
struct MeasureOptions {
  at::Device device = at::kCPU;
  int64_t jobs = 1;  // that train side by side: while one is timed the others compute too
  int64_t threads =
      0;  // of each; 0: by the rule of train/loop/compute_settings.h, of an equal share of the machine's
  int64_t steps = 5;    // the median counts; 0: nothing is timed
  std::string loss;     // the table's, a metric of the test data; empty: the one that picks the best model
  bool choose = false;  // between runs, by validation
  std::optional<double> memory;  // bytes that all the jobs have; nothing: what is available
};

/// Data sets of a sweep, each opened once.
class SweepData {
 public:
  /// The splits that a recipe's data options name; null where there are no such files.
  const Splits* of(const Recipe& recipe);
  /// What they hold, by which losses are told apart (study/sweep/measure.h); null where there are no such files, or
  /// where all that were opened so far are one.
  Json evaluated(const Recipe& recipe);

 private:
  struct Opened {
    Splits splits;
    Json evaluated;
  };
  Opened* open(const Recipe& recipe);

  std::map<std::string, Opened> opened_;
};

/// What a model costs, its data given (null: as cost_without_data has it): parameters and FLOPs; and with `steps`, seconds:
/// of training steps as train takes them, of a validation and of the test. Where a batch does not fit into the memory
/// that each of the jobs has, smaller ones are timed, as many as make a batch (`accumulate`; on CUDA, memory is not
/// foreseen), and `how` says so. `fixed_seconds` and `evaluated` are left to others. ConfigError: a metric of which higher
/// is better, or that there is not, picks the best model or is the loss; validation is to choose between runs, and
/// there are no such data.
ModelCost cost_of(const Recipe& recipe, const Splits* data, const MeasureOptions& options,
                  const Systems& systems);

/// cost_of a model whose data are not there: random tokens in their place, samples that would take minutes cut, and the
/// time and memory taken to grow with the FLOPs and the tokens; validation and test as forward passes of as many samples
/// as the data's options say. `epoch_tokens` is by those options too.
ModelCost cost_without_data(const Recipe& recipe, const MeasureOptions& measure, const Systems& systems);

}  // namespace weyl
