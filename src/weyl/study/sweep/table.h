#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weyl/study/sweep/runs.h"

namespace weyl {

/// What a folder of a sweep says of one trial: FOLDER/runs/ID is its run folder, ID.failed why it failed.
struct TrialOutcome {
  enum class State { waiting, done, failed } state = State::waiting;
  std::string reason;  // of one that failed
  double tokens = 0, flops = 0, flops_real = 0, seconds = 0;
  std::optional<double> valid;  // the best validation
  std::optional<double> loss;   // of the test data, by the model of that validation
  std::string missing;          // why there is no loss
};

/// The paths of a trial in a sweep's folder.
std::string run_of(const std::string& folder, const SweepTrial& trial);      // FOLDER/runs/ID
std::string failure_of(const std::string& folder, const SweepTrial& trial);  // FOLDER/runs/ID.failed

/// `loss`: the metric of the test data, empty: that of the validation. A result.json that is no whole one counts as none.
TrialOutcome outcome_of(const std::string& folder, const SweepTrial& trial, const std::string& loss);

/// What the table says of a model beside its runs.
struct ModelFacts {
  int64_t parameters = 0;    // stored real numbers that are trained
  double flops_a_token = 0;  // nominal ones of training
  double tokens = 0;         // of an epoch; 0: not known
};

/// The first line of the table of a sweep, which is all of it until a row has ended.
constexpr const char* sweep_table_header =
    "system,size,parameters,tokens,unique_tokens,flops,flops_real,budget,loss,seconds,seed,rate,note\n";

/// The table of a sweep as far as it has come, as CSV: a line for each row whose trials have all ended, in the order of
/// the rows,
///   system,size,parameters,tokens,unique_tokens,flops,flops_real,budget,loss,seconds,seed,rate,note
/// `facts`: of each model. The loss is that of the test data, of the checkpoint that validation chose, of the rate whose
/// best validation is the lowest; a row of which every trial failed has no loss, and its note says why. All but
/// `seconds` is the same however often the sweep was stopped.
std::string table_of(const SweepRuns& runs, const std::vector<ModelFacts>& facts, const std::string& folder);

/// Writes it to FOLDER/runs.csv, whole, while no other process does. ConfigError: the one that is there was not written so, and
/// is left alone.
void write_table(const SweepRuns& runs, const std::vector<ModelFacts>& facts, const std::string& folder);

}  // namespace weyl
