#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "weyl/carriers/loader.h"
#include "weyl/train/average.h"
#include "weyl/train/checkpoint.h"
#include "weyl/train/evaluate.h"
#include "weyl/train/journal.h"
#include "weyl/train/observer.h"
#include "weyl/train/optimiser.h"
#include "weyl/train/schedule.h"

namespace weyl {

/// The model that was kept: best on the validation set.
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
  std::optional<Best> best;        // nothing without a validation set
  std::optional<Evaluation> test;  // of the best model, when there is a test set and the training ended
  Ending ending = Ending::finished;
};

/// The training loop. It owns what changes (optimiser, average, schedule, journal) and nothing of what is
/// learned: that is the task's, the model's and the data's.
///
/// One step: `accumulate` batches, each loss weighted by its share of the graphs; global-norm clipping;
/// optimiser; average. Before it, torch's default generator is seeded from (seed, step), so that a step is a
/// pure function of the weights, the optimiser and (seed, epoch, batch, step): a run that was killed and
/// resumed gives the same bits as one that was not (same machine, same number of threads, no
/// train.max_seconds).
///
/// A loss or gradient norm that is not finite ends the training before the optimiser has used it: the
/// checkpoint of that moment is saved and `Error` says at which step.
class Trainer {
 public:
  /// `saved` holds model (on its device, in its dtype) and task (fitted). `run` is an existing folder, locked
  /// by the caller; `systems` holds the model's. ConfigError: bf16 on a CPU, an empty training set, no budget.
  Trainer(SavedModel saved, Splits data, std::string run, TrainObserver* observer = nullptr,
          std::function<bool()> stop = {}, const Systems& systems = built_in_systems());

  /// Continues from a checkpoint. DataError when it does not fit the model.
  void load(const Resumed& resumed);

  /// Trains until the budget ends, patience runs out or `stop` says so (asked between steps: then the state
  /// is saved).
  TrainResult run();

  int64_t samples() const { return data_.train->size(); }
  int64_t steps_per_epoch() const;  // of the first epoch
  const SavedModel& saved() const { return saved_; }

 private:
  Elapsed elapsed() const;
  void train_step();  // names the sample that model or task refuse
  void take_step();
  std::optional<Metrics> validate();
  void log(const std::optional<Metrics>& metrics);
  void save();
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
  std::optional<Journal> journal_;
  TrainState state_;
  TrainTick tick_;   // the last step
  StepTimes times_;  // since the last row of timing.csv
  std::chrono::steady_clock::time_point start_, saved_at_;
  double seconds_before_ = 0;  // of training, in earlier parts
};

}  // namespace weyl
