#pragma once

#include <cstdint>
#include <optional>

#include "weyl/train/loop/score.h"
#include "weyl/train/options.h"

namespace weyl {

/// How far training has come, in every unit in which a schedule or a budget is stated.
struct Elapsed {
  int64_t step = 0;    // optimiser steps done
  double epoch = 0;    // epochs done, including the fraction of the present one
  double seconds = 0;  // of training, summed over resumed parts
  double flops = 0;    // nominal FLOPs of the steps done
};

/// The factor on the learning rate as training proceeds,
///
///   factor(e) = law(t) * warm-up(e),   warm-up(e) = (e + 1e-6) / (w + 1e-6) for e < w epochs, else 1
///
/// where e is in epochs and t is the fraction of the budget that is used up. The laws are
///
///   constant     1
///   cosine       f + (1 - f) (1 + cos(pi t)) / 2        f = final_factor
///   linear       1 - (1 - f) t
///   exponential  f^t
///   step         factor ^ floor(e / every)
///   plateau      factor ^ (number of drops); a drop follows `patience` + 1 validations in a row without
///                improvement.
///
/// With `per_epoch` the factor of an epoch's start holds until the next one: epochs are rounded down. All laws but
/// plateau are pure functions of the progress; plateau has a state, which checkpoints keep.
///
/// The fraction t is the largest of the fractions of epochs, steps and FLOPs. It is the elapsed time only where the
/// budget is in seconds alone: such a run is not reproducible bit for bit.
class Schedule {
 public:
  /// What `observe` has seen. The defaults hold before the first validation.
  struct State {
    int64_t drops = 0;          // so far
    std::optional<Score> best;  // best seen
    int64_t waited = 0;         // validations since the best one or the last drop
    bool operator==(const State&) const = default;
  };

  /// Takes the schedule and the budget from `options`. ConfigError: no budget at all; see check.
  explicit Schedule(const TrainOptions& options);

  /// The factor for the step that starts at `now`.
  double factor(const Elapsed& now) const;
  /// Share of the budget that is used up at `now`, in [0, 1].
  double fraction(const Elapsed& now) const;
  /// Whether the budget ends at `now`.
  bool finished(const Elapsed& now) const;

  /// Takes note of one validation: its score by the chosen metric.
  void observe(const Score& score, bool lower_is_better);

  const State& state() const { return state_; }
  void load(const State& state) { state_ = state; }

 private:
  ScheduleOptions options_;
  std::optional<int64_t> epochs_, steps_;
  std::optional<double> flops_, seconds_;
  State state_;
};

}  // namespace weyl
