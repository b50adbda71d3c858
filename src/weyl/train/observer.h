#pragma once

#include <string>
#include <vector>

#include "weyl/saved/evaluate.h"
#include "weyl/tasks/task.h"
#include "weyl/train/schedule.h"

namespace weyl {

/// What a training begins with.
struct TrainStart {
  std::string run;  // its folder
  std::string device, precision;
  int64_t samples = 0, steps_per_epoch = 0, parameters = 0, threads = 0;
  int64_t resumed_step = 0;        // 0: from the beginning
  std::vector<LabelCount> labels;  // how many of each the task will use
  bool atoms = false;              // whether samples are frames of atoms
  std::vector<std::string> best;   // the metrics that pick the best model (train.best); none: no validation
  std::string taken;               // what train.from gave: "12 of 12 parameters"; empty: nothing
};

/// One step that was done.
struct TrainTick {
  Elapsed elapsed;
  double fraction = 0;  // of the budget
  double loss = 0, rate = 0, gradient_norm = 0;
};

/// Who watches a training: the program's progress line, a test, nobody. The library itself never prints.
/// Called from the training's own thread, between steps; an exception from here ends the training.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  /// The data are open, the task is fitted to them (of a resumed run: loaded) and the model fits: before
  /// anything is written.
  virtual void opened(const Splits&, const Task&) {}
  /// The run folder is there and locked; what is said from now on may go into its log.txt.
  virtual void entered(const std::string& /*run*/) {}
  virtual void started(const TrainStart&) {}
  virtual void stepped(const TrainTick&) {}
  virtual void validated(const TrainTick&, const Metrics&, bool /*best*/) {}
  virtual void saved(const std::string& /*folder*/, int64_t /*step*/) {}
  virtual void noted(const std::string& /*line*/) {}  // something the user should know
};

}  // namespace weyl
