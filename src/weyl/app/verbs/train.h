#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/app/verbs/verbs.h"
#include "weyl/core/json.h"
#include "weyl/train/train.h"

namespace weyl {

/// A training as `weyl train` does it: its lines and bar on stderr, result.json and plots/ in the run. It prints nothing on
/// stdout, but where a signal ends the process from within a step, as `weyl train` would. `ranks`: the processes that train
/// together; null: this one alone.
struct TrainedRun {
  struct Row {
    std::string name;
    Metrics metrics;
  };

  bool leads = true;  // false: of another rank than the first, which alone has more than an ending
  TrainResult result;
  Json json;                 // what result.json has
  std::vector<Row> metrics;  // of the test split, beside those of simple answers
};
TrainedRun train_run(const TrainCommand& command, const Systems& systems,
                     const std::shared_ptr<Ranks>& ranks = nullptr);

}  // namespace weyl
