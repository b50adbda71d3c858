#include "weyl/train/loop/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "weyl/core/check.h"

namespace weyl {
namespace {

// At the very start the rate is not zero but a millionth of an epoch's, as in the authors' code.
constexpr double warmup_offset = 1e-6;

double warmup(double epoch, double epochs) {
  return epoch < epochs ? (epoch + warmup_offset) / (epochs + warmup_offset) : 1.0;
}

}  // namespace

Schedule::Schedule(const TrainOptions& options)
    : options_(options.schedule),
      epochs_(options.epochs),
      steps_(options.steps),
      flops_(options.flops),
      seconds_(options.max_seconds) {
  require<ConfigError>(epochs_ || steps_ || flops_ || seconds_,
                       "train: one of train.epochs, train.steps, train.flops and train.max_seconds must be "
                       "set, got none");
  check(options_);
}

double Schedule::fraction(const Elapsed& now) const {
  double used = 0;
  if (epochs_) {
    used = std::max(used, now.epoch / static_cast<double>(std::max<int64_t>(*epochs_, 1)));
  }
  if (steps_) {
    used = std::max(used, static_cast<double>(now.step) / static_cast<double>(std::max<int64_t>(*steps_, 1)));
  }
  if (flops_) {
    used = std::max(used, *flops_ > 0 ? now.flops / *flops_ : 1);
  }
  if (!epochs_ && !steps_ && !flops_) {
    used = *seconds_ > 0 ? now.seconds / *seconds_ : 1;
  }
  return std::clamp(used, 0.0, 1.0);
}

bool Schedule::finished(const Elapsed& now) const {
  return (epochs_ && now.epoch >= static_cast<double>(*epochs_)) || (steps_ && now.step >= *steps_) ||
         (flops_ && now.flops >= *flops_) || (seconds_ && now.seconds >= *seconds_);
}

double Schedule::factor(const Elapsed& now) const {
  double epoch = now.epoch;
  double used = fraction(now);
  if (options_.per_epoch) {
    epoch = std::floor(now.epoch);
    // A budget in epochs counts whole epochs exactly; any other their proportional share.
    const bool by_epochs = epochs_ && used == std::min(1.0, now.epoch / static_cast<double>(*epochs_));
    if (by_epochs) {
      used = std::min(1.0, epoch / static_cast<double>(*epochs_));
    } else if (now.epoch > 0) {
      used *= epoch / now.epoch;
    }
  }
  double law = 1;
  switch (options_.name) {
    case ScheduleLaw::constant:
      break;
    case ScheduleLaw::cosine:
      law =
          options_.final_factor + (1 - options_.final_factor) * 0.5 * (1 + std::cos(std::numbers::pi * used));
      break;
    case ScheduleLaw::linear:
      law = 1 - (1 - options_.final_factor) * used;
      break;
    case ScheduleLaw::exponential:
      law = std::pow(options_.final_factor, used);
      break;
    case ScheduleLaw::step:
      law = std::pow(options_.factor, std::floor(epoch / options_.every));
      break;
    case ScheduleLaw::plateau:
      law = std::pow(options_.factor, static_cast<double>(state_.drops));
      break;
  }
  return law * warmup(epoch, options_.warmup);
}

void Schedule::observe(const Score& score, bool lower_is_better) {
  if (is_better(score, state_.best, lower_is_better)) {
    state_.best = score;
    state_.waited = 0;
  } else if (++state_.waited > options_.patience) {
    ++state_.drops;
    state_.waited = 0;
  }
}

}  // namespace weyl
