#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/grid_augmentation.h"
#include "weyl/config/fields.h"

namespace weyl {

/// adam: weight decay coupled to the gradient (L2), as in torch. lamb: adamw with the step of each matrix scaled to the
/// norm of its weights.
enum class OptimiserLaw { adamw, adam, lamb };
constexpr auto names_of(OptimiserLaw) {
  return std::array<std::string_view, 3>{"adamw", "adam", "lamb"};
}

/// Which parameters decay: those that their module declares to, which are matrices, or all.
enum class Decaying { matrices, all };
constexpr auto names_of(Decaying) {
  return std::array<std::string_view, 2>{"matrices", "all"};
}

enum class ScheduleLaw { constant, cosine, linear, exponential, step, plateau };
constexpr auto names_of(ScheduleLaw) {
  return std::array<std::string_view, 6>{"constant", "cosine", "linear", "exponential", "step", "plateau"};
}
/// Whether a law is a function of the fraction of the budget that is used up.
constexpr bool follows_budget(ScheduleLaw law) {
  return law == ScheduleLaw::cosine || law == ScheduleLaw::linear || law == ScheduleLaw::exponential;
}

enum class Precision { float32, float64, bf16 };  // bf16: autocast, on CUDA only
constexpr auto names_of(Precision) {
  return std::array<std::string_view, 3>{"float32", "float64", "bf16"};
}

enum class Augmentation { none, rotations, rotoreflections, motions };  // motions: by the group of the poses
constexpr auto names_of(Augmentation) {
  return std::array<std::string_view, 4>{"none", "rotations", "rotoreflections", "motions"};
}

struct OptimiserOptions {
  OptimiserLaw name = OptimiserLaw::adamw;
  double rate = 1e-3, weight_decay = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  Decaying decaying = Decaying::matrices;
  std::optional<double> clip;  // global gradient norm
};
void fields(Fields& f, OptimiserOptions& o);

struct ScheduleOptions {
  ScheduleLaw name = ScheduleLaw::cosine;
  double warmup = 0;        // epochs of linear warm-up
  bool per_epoch = false;   // the rate changes between epochs only
  double final_factor = 0;  // share of the rate that is left at the end (cosine, linear, exponential)
  double factor = 0.1;      // step, plateau
  double every = 100;       // step: epochs between drops
  int64_t patience = 10;    // plateau: evaluations without improvement
};
void fields(Fields& f, ScheduleOptions& o);

/// ConfigError: step with `every` of no length; exponential with a final factor of zero.
void check(const ScheduleOptions& options);

/// The budget ends at whichever of epochs, steps, FLOPs and seconds comes first; at least one is set.
struct TrainOptions {
  int64_t seed = 0;
  std::optional<int64_t> epochs, steps;
  std::optional<double> flops;          // nominal FLOPs of the steps taken (models/work.h)
  std::optional<double> max_seconds;    // of training; with it a resumed run may differ in its bits
  int64_t batch = 32;                   // graphs a step
  std::optional<int64_t> batch_tokens;  // in place of `batch`: as many graphs as fit
  int64_t accumulate = 1;               // batches a step
  Precision precision = Precision::float32;
  bool tf32 = false;           // products of float32 in TF32 in training steps, on NVIDIA GPUs
  bool deterministic = false;  // deterministic algorithms, on GPUs
  Augmentation augment = Augmentation::none;
  std::vector<int64_t> crop;        // grids: cells per axis of a random part of each sample; none: the whole
  double crop_foreground = 0;       // share of the crops that lie around a cell that is not background
  GridAugmentation grids;           // random changes of images and volumes
  int64_t loaders = 1;              // threads that make batches
  std::optional<double> average;    // EMA decay of the weights, used for validation and kept as best
  bool average_warmup = true;       // early averages are plain means of the steps so far
  double evaluate_every = 1;        // epochs between validations
  double save_every_seconds = 60;   // between `last` checkpoints
  int64_t save_every_steps = 0;     // steps between them (0: by time alone)
  int64_t log_every_steps = 50;     // between rows of metrics.csv (every validation has its row too)
  std::optional<int64_t> patience;  // validations without improvement before stopping
  std::string best;  // the metric that picks the best model, or a weighted sum of metrics; empty: the
                     // task's headline
  std::string from;  // a run or model file whose weights the run starts with; empty: none
  std::vector<std::string> freeze;  // prefixes of the names of parameters that keep their values
  OptimiserOptions optimiser;
  ScheduleOptions schedule;
};
void fields(Fields& f, TrainOptions& o);

/// Reports options that are set but have no effect (config/unused_options.h).
void require_effects(const TrainOptions& options);

}  // namespace weyl
