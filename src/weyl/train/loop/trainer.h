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
#include "weyl/tasks/task.h"
#include "weyl/train/loop/average.h"
#include "weyl/train/loop/best_metric.h"
#include "weyl/train/loop/checkpoint.h"
#include "weyl/train/loop/gradient_sums.h"
#include "weyl/train/loop/late_numbers.h"
#include "weyl/train/loop/optimiser.h"
#include "weyl/train/loop/schedule.h"
#include "weyl/train/loop/stop_request.h"
#include "weyl/train/run/journal.h"

namespace weyl {

/// What a training begins with.
struct TrainStart {
  std::string run;  // its folder
  std::string device, precision;
  int64_t samples = 0, steps_per_epoch = 0, parameters = 0, threads = 0;
  int64_t resumed_step = 0;        // 0: from the beginning
  std::vector<LabelCount> labels;  // how many labels of each kind the task will use
  bool atoms = false;              // whether samples are frames of atoms
  std::vector<std::string> best;   // the metrics that pick the best model (train.best); none: no validation
  std::vector<std::string> facts;  // Model::facts
  std::string taken;               // what train.from gave: "12 of 12 parameters"; empty: nothing
};

/// A step that is done.
struct TrainTick {
  Elapsed elapsed;
  double fraction = 0;  // of the budget
  double loss = 0, rate = 0, gradient_norm = 0;
};

/// Watches a training: the program's progress line, a test, nobody. The library itself never prints. Its functions are
/// called from the training's own thread, between steps; an exception from them ends the training.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  /// The data are open, the task is fitted to them (in a resumed run: loaded) and the model fits. Nothing has been
  /// written yet.
  virtual void opened(const Splits&, const Task&) {}
  /// The run folder exists and is locked. What is said from now on may go into its log.txt.
  virtual void entered(const std::string& /*run*/) {}
  virtual void started(const TrainStart&) {}
  virtual void stepped(const TrainTick&) {}
  virtual void validated(const TrainTick&, const Metrics&, bool /*best*/) {}
  virtual void saved(const std::string& /*folder*/, int64_t /*step*/) {}
  virtual void noted(const std::string& /*line*/) {}  // something the user should know
};

/// The model that was kept: the best on the validation set by train.best.
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
  int64_t tokens = 0;              // of the steps
  double flops = 0;                // estimate of what the steps did (training_flops)
  double nominal_flops = 0;        // what train.flops counts
  std::optional<double> waited;    // share of the training's time, since it began or was resumed, for batches
  std::optional<Best> best;        // nothing without a validation set
  std::optional<Evaluation> test;  // of the best model, when there is a test set and the training ended
  Ending ending = Ending::finished;
};

/// Ends the process, with the result of the training so far, or with the error because of which its state could not be
/// saved.
using OnStopRequest = std::function<void(const TrainResult&, const std::exception_ptr&)>;

/// The training loop. It owns what changes (optimiser, average, schedule, journal); task, model and data own what is
/// learned.
///
/// One step takes `accumulate` batches, each loss weighted by its share of the graphs, then clips by the global norm,
/// steps the optimiser and updates the average. Before a step torch's default generator is seeded from (seed, step), so
/// that the step is a pure function of the weights, the optimiser and (seed, epoch, batch, step). A run that was killed
/// and resumed therefore gives the same bits as one that was not (same machine, same number of threads, no
/// train.max_seconds). A budget of FLOPs is counted in tokens, which checkpoints keep.
///
/// On devices other than the CPU the loss and the norm of a step are read when the next step has been queued, or before
/// anything is logged, validated or saved, so that the device never waits for the host (LateNumbers). Observers hear of
/// a step when its numbers are there.
///
/// With `ranks` several processes train together: a batch is one of them all, each has a part of it by tokens, gradients are
/// summed (GradientSums), and weights, moments and schedule are the same everywhere to the bit. Validation and test are shared,
/// too (evaluate.h). The first rank alone writes, logs, saves and keeps the clock; the run folder of the others is its. A stop
/// that any of them is asked for ends all after the step. Norms over the batch are over that of all ranks (nn/shared_batch.h).
///
/// A checkpoint is saved before the first step, then as the options say, and at the end; soon there are two of them.
///
/// A loss or gradient norm that is not finite ends the training before the optimiser has used it. The checkpoint of
/// that moment is saved, and an error says at which step it happened, and why (overflow.h): DataError when samples are
/// at fault, which it names, else Error.
class Trainer {
 public:
  /// `saved` holds the model (on its device, in its dtype) and the fitted task. `run` is an existing folder, locked by
  /// the caller; the model's system is one of `systems`. ConfigError: bf16 on a CPU; an empty training set; no budget;
  /// a train.best that does not exist (BestMetric), or a train.best without validation data.
  Trainer(SavedModel saved, const TrainOptions& options, Splits data, std::string run,
          TrainObserver* observer = nullptr, std::function<bool()> stop = {},
          const Systems& systems = built_in_systems(), std::shared_ptr<Ranks> ranks = nullptr);

  /// Continues from a checkpoint. DataError when it does not fit the model or the data.
  void load(const Resumed& resumed);

  /// From now on the process can be ended while `run` is inside a step, which may take long. When `stop` has said yes
  /// for two seconds, a thread of its own saves the state before the step and calls `on_stop_request`, which must end
  /// the process (StopRequestWatch). That thread asks `stop`, too. The same holds for a validation, which a resumed run
  /// begins anew. Where the state cannot be saved, `on_stop_request` gets the error.
  void set_on_stop_request(const OnStopRequest& on_stop_request);

  /// Trains until the budget ends, patience runs out or `stop` says yes. `stop` is asked between steps, and the state
  /// is then saved.
  TrainResult run();

  int64_t samples() const { return data_.train->size(); }
  int64_t steps_per_epoch() const;  // of the first epoch
  /// How many samples of a batch each rank has and how evenly their work is shared, in words, by the first batches; empty: alone.
  std::string shares() const;
  const SavedModel& saved() const { return saved_; }
  /// The metric that picks the best model; nothing without a validation set.
  const std::optional<BestMetric>& best_metric() const { return best_; }

 private:
  /// A step that is done except that its numbers are not read: the device may still be computing it.
  struct Queued {
    int64_t step = 0, epoch = 0, batch = 0;  // of the state before it
    std::optional<int64_t> tokens;
    NamedTensors statistics;  // parameters that the step itself changes, as before it
    StepTimes times;          // before it
    TrainTick tick;           // without its numbers
    LateNumbers numbers;
    bool settled = false;  // whether the state to be saved takes account of them
  };

  Elapsed elapsed() const;
  double seconds() const;
  bool stop_asked() const;
  bool leads() const { return is_first(ranks_); }
  int64_t tokens_of(int64_t sample) const;                   // as it is trained on
  int64_t tokens_until(int64_t epoch, int64_t batch) const;  // of the samples given until then
  void begin();
  void start_alike();
  void train_step();  // an error names the sample that model or task refuse
  void take_step();
  std::vector<Batch> batches_of_step();
  LateNumbers gradients_of(std::vector<Batch> batches);
  void settle();
  void settle_state();
  std::vector<int64_t> samples_of_step();  // of the step that begins at `state_`
  [[noreturn]] void refuse_step(const StepNumbers& numbers);
  Evaluation measured(Model& model, const Task& task, const std::shared_ptr<const Dataset>& data,
                      const std::string& where) const;
  std::optional<Metrics> validate();
  void log(const std::optional<Metrics>& metrics);
  void save();
  void save_state();
  void save_and(const OnStopRequest& on_stop_request);
  bool log_due() const;
  bool save_due() const;
  TrainResult result(Ending ending) const;

  std::shared_ptr<Ranks> ranks_;  // null: alone
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
  std::unique_ptr<GradientSums> sums_;  // with ranks
  bool shares_norms_ = false;           // with ranks: the model has norms over the batch
  bool agreed_stop_ = false;            // with ranks: what all know since the last step
  double agreed_seconds_ = 0;
  EpochPlan plan_;  // of an epoch, where a step has asked for it
  int64_t planned_epoch_ = -1;
  std::optional<Average> average_;
  std::optional<BestMetric> best_;
  std::vector<std::string> metrics_;  // that a validation may give, in alphabetical order
  bool told_undefined_ = false;
  std::optional<Journal> journal_;
  TrainState state_;
  double nominal_ = 0;                   // FLOPs of a token
  std::optional<TrainOptions> resumed_;  // the options of the run that is resumed
  TrainTick tick_;                       // the last step
  StepTimes times_;                      // since the last row of timing.csv
  bool unsaved_ = false;                 // whether `state_` is newer than the last checkpoint
  /// As they were before the step that is being computed, for a checkpoint of that instant.
  NamedTensors statistics_before_;  // parameters that the step itself changes
  StepTimes times_before_;
  bool late_;                     // whether numbers are read late
  std::optional<Queued> queued_;  // the last step, until its numbers are read
  std::chrono::steady_clock::time_point start_, saved_at_;
  double seconds_before_ = 0;              // of training, in earlier parts
  double waited_ = 0;                      // seconds for batches, in this part
  std::optional<StopRequestWatch> watch_;  // the last member: its thread reads the others
};

}  // namespace weyl
