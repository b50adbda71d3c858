#pragma once

#include <cstdint>
#include <optional>

#include "weyl/train/options.h"

namespace weyl {

/// How far training has come, in every unit that a schedule or a budget is stated in.
struct Elapsed {
  int64_t step = 0;    // optimiser steps done
  double epoch = 0;    // epochs done, with the fraction of the one that runs
  double seconds = 0;  // of training, sums over resumed parts
  double flops = 0;    // nominal ones of the steps done
};

/// The factor on the learning rate as training proceeds,
///   factor(e) = law(fraction) * warm-up(e),   warm-up(e) = (e + 1e-6) / (w + 1e-6) for e <= w epochs, else 1
/// with, in the fraction t of the budget that is used up,
///   constant  1
///   cosine    f + (1 - f) (1 + cos(pi t)) / 2        f = final_factor
///   linear    1 - (1 - f) t
///   step      factor ^ floor(e / every)
///   plateau   factor ^ (number of drops); a drop follows `patience` + 1 validations in a row without
///             improvement.
/// `per_epoch` holds the factor of an epoch's start until the next one: epochs are rounded down. All laws but
/// plateau are pure functions of the progress; plateau has a state, which checkpoints keep.
///
/// The fraction is the largest of epochs, steps and FLOPs used up. Only a budget in seconds alone makes it the
/// elapsed time: such a run is not reproducible bit for bit.
class Schedule {
 public:
  /// What `observe` has seen; the defaults before the first validation.
  struct State {
    int64_t drops = 0;           // so far
    std::optional<double> best;  // value seen
    int64_t waited = 0;          // validations since then
    bool operator==(const State&) const = default;
  };

  /// Takes the budget from `options` too. ConfigError: no budget at all.
  explicit Schedule(const TrainOptions& options);

  /// The factor for the step that starts at `now`.
  double factor(const Elapsed& now) const;
  /// Share of the budget that is used up at `now`, in [0, 1].
  double fraction(const Elapsed& now) const;
  /// Whether the budget ends at `now`.
  bool finished(const Elapsed& now) const;

  /// One validation's headline value.
  void observe(double value, bool lower_is_better);

  const State& state() const { return state_; }
  void load(const State& state) { state_ = state; }

 private:
  ScheduleOptions options_;
  std::optional<int64_t> epochs_, steps_;
  std::optional<double> flops_, seconds_;
  State state_;
};

}  // namespace weyl
