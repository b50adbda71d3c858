#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/loader.h"
#include "weyl/saved/evaluate.h"
#include "weyl/train/average.h"
#include "weyl/train/best_metric.h"
#include "weyl/train/checkpoint.h"
#include "weyl/train/journal.h"
#include "weyl/train/late_numbers.h"
#include "weyl/train/observer.h"
#include "weyl/train/optimiser.h"
#include "weyl/train/schedule.h"
#include "weyl/train/step_watch.h"

namespace weyl {

/// The model that was kept: best on the validation set, by train.best.
struct Best {
  std::string metric, unit;
  double value = 0;
  int64_t step = 0;
};

enum class Ending { finished, patience, interrupted };

struct TrainResult {
  std::string run;
  int64_t steps = 0;
  double seconds = 0;              // of training, over all its parts
  int64_t tokens = 0;              // of its steps
  double flops = 0;                // about what these steps did (training_flops)
  double nominal_flops = 0;        // what train.flops counts
  std::optional<Best> best;        // nothing without a validation set
  std::optional<Evaluation> test;  // of the best model, when there is a test set and the training ended
  Ending ending = Ending::finished;
};

/// Ends the process with what a training has come to, or with why its state could not be saved.
using Leave = std::function<void(const TrainResult&, const std::exception_ptr&)>;

/// The training loop. It owns what changes (optimiser, average, schedule, journal) and nothing of what is
/// learned: that is the task's, the model's and the data's.
///
/// One step: `accumulate` batches, each loss weighted by its share of the graphs; global-norm clipping;
/// optimiser; average. Before it, torch's default generator is seeded from (seed, step), so that a step is a
/// pure function of the weights, the optimiser and (seed, epoch, batch, step): a run that was killed and
/// resumed gives the same bits as one that was not (same machine, same number of threads, no
/// train.max_seconds). A budget of FLOPs is counted in tokens, which checkpoints keep.
///
/// On devices other than the CPU the loss and the norm of a step are read when the next step has been queued, or before
/// anything is logged, validated or saved, so that the device never waits for the host (LateNumbers). Observers hear of a
/// step when its numbers are there.
///
/// A checkpoint is saved before the first step, then as the options say and at the end: there are soon two of them.
///
/// A loss or gradient norm that is not finite ends the training before the optimiser has used it: the
/// checkpoint of that moment is saved and an error says at which step, and why (overflow.h): DataError when samples are at
/// fault, which it names, else Error.
class Trainer {
 public:
  /// `saved` holds model (on its device, in its dtype) and task (fitted). `run` is an existing folder, locked
  /// by the caller; `systems` holds the model's. ConfigError: bf16 on a CPU, an empty training set, no budget, a
  /// train.best that there is not (BestMetric), or one without validation data.
  Trainer(SavedModel saved, const TrainOptions& options, Splits data, std::string run,
          TrainObserver* observer = nullptr, std::function<bool()> stop = {},
          const Systems& systems = built_in_systems());

  /// Continues from a checkpoint. DataError when it does not fit the model or the data.
  void load(const Resumed& resumed);

  /// From now on `run` can be left inside a step, which may take long: when `stop` has said yes for two seconds, the
  /// state before the step is saved and `leave` is called, both by a thread of its own; `leave` must end the process
  /// (StepWatch). `stop` is then asked by that thread too. The same holds for a validation, which a resumed run
  /// begins anew. Where the state cannot be saved `leave` gets the error.
  void leave_by(const Leave& leave);

  /// Trains until the budget ends, patience runs out or `stop` says so (asked between steps: then the state
  /// is saved).
  TrainResult run();

  int64_t samples() const { return data_.train->size(); }
  int64_t steps_per_epoch() const;  // of the first epoch
  const SavedModel& saved() const { return saved_; }
  /// What picks the best model; nothing without a validation set.
  const std::optional<BestMetric>& best_metric() const { return best_; }

 private:
  /// A step that was done but for its numbers: the device may still be working on it.
  struct Queued {
    int64_t step = 0, epoch = 0, batch = 0;  // of the state before it
    std::optional<int64_t> tokens;
    NamedTensors statistics;  // before it: parameters that the step itself changes
    StepTimes times;          // before it
    TrainTick tick;           // but for its numbers
    LateNumbers numbers;
    bool settled = false;  // whether what is saved knows them
  };

  Elapsed elapsed() const;
  int64_t tokens_until(int64_t epoch, int64_t batch) const;  // of the samples that were given until then
  void begin();
  void train_step();  // names the sample that model or task refuse
  void take_step();
  std::vector<Batch> batches_of_step();
  LateNumbers gradients_of(const std::vector<Batch>& batches);
  void settle();
  void settle_state();
  std::vector<int64_t> samples_of_step() const;  // that begins where `state_` is
  [[noreturn]] void refuse_step(const StepNumbers& numbers);
  std::optional<Metrics> validate();
  void log(const std::optional<Metrics>& metrics);
  void save();
  void save_state();
  void save_and(const Leave& leave);
  bool log_due() const;
  bool save_due() const;
  TrainResult result(Ending ending) const;

  SavedModel saved_;
  Systems systems_;
  Splits data_;
  std::string run_;
  TrainObserver* observer_;
  std::function<bool()> stop_;
  TrainOptions options_;
  Schedule schedule_;
  Loader loader_;
  Optimiser optimiser_;
  std::optional<Average> average_;
  std::optional<BestMetric> best_;
  std::vector<std::string> metrics_;  // that a validation may give, by the alphabet
  bool told_undefined_ = false;
  std::optional<Journal> journal_;
  TrainState state_;
  double nominal_ = 0;                   // FLOPs of a token
  std::optional<TrainOptions> resumed_;  // options of the run that goes on
  TrainTick tick_;                       // the last step
  StepTimes times_;                      // since the last row of timing.csv
  bool unsaved_ = false;                 // whether `state_` is newer than the last checkpoint
  /// As they were before the step that is being computed, for a checkpoint of that instant.
  NamedTensors statistics_before_;  // parameters that the step itself changes
  StepTimes times_before_;
  bool late_;                     // whether numbers are read late
  std::optional<Queued> queued_;  // the last step, until they are
  std::chrono::steady_clock::time_point start_, saved_at_;
  double seconds_before_ = 0;       // of training, in earlier parts
  std::optional<StepWatch> watch_;  // the last member: its thread reads the others
};

}  // namespace weyl
