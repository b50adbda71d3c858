#include "weyl/train/options.h"

#include "weyl/config/unused_options.h"
#include "weyl/core/check.h"

namespace weyl {

void fields(Fields& f, OptimiserOptions& o) {
  f("name", o.name,
    "how weights follow the gradient; adam couples the decay to the gradient, adamw does not; lamb scales "
    "the step of each tensor that may decay to the tensor's norm, for large batches");
  f.also_called("name", {"type", "algorithm"});
  f("rate", o.rate, "largest learning rate", {0, 1e3});
  f.also_called("rate", {"lr", "learning_rate", "base_lr", "max_lr", "peak_lr"});
  f("weight_decay", o.weight_decay, "weight decay, of what `decaying` says", {0, 1e3});
  f.also_called("weight_decay", {"wd"});
  f("decaying", o.decaying,
    "what decays: the weight matrices, or all parameters (biases, norms and frequencies too)");
  f("beta1", o.beta1, "decay of the mean gradient", {0, 0.999999});
  f("beta2", o.beta2, "decay of the mean squared gradient", {0, 0.99999999});
  f("epsilon", o.epsilon, "added to the root of the mean squared gradient", {1e-30, 1});
  f.also_called("epsilon", {"eps", "adam_eps"});
  f("clip", o.clip, "largest norm of the whole gradient; longer ones are shortened to it", {1e-12, 1e12});
  f.also_called("clip", {"clip_grad", "clip_grad_norm", "clip_norm", "grad_clip", "gradient_clip",
                         "gradient_clip_val", "grad_norm_clip", "max_grad_norm"});
}

void fields(Fields& f, ScheduleOptions& o) {
  f("name", o.name, "how the learning rate changes after the warm-up");
  f.also_called("name", {"type"});
  f("warmup", o.warmup, "epochs of linear warm-up, in fractions if need be", {0, 1e9});
  f.also_called("warmup", {"warm_up", "warmup_epochs", "warmup_steps", "num_warmup_steps"});
  f("per_epoch", o.per_epoch, "change the rate between epochs only, not at every step");
  f("final_factor", o.final_factor, "cosine, linear, exponential (above 0): the last rate over the largest",
    {0, 1});
  f("factor", o.factor, "step, plateau: what the rate is multiplied by", {0, 1});
  f("every", o.every, "step: epochs between drops", {1e-6, 1e9});
  f("patience", o.patience, "plateau: validations without improvement before a drop", {0, 1e9});
}

void fields(Fields& f, TrainOptions& o) {
  f("seed", o.seed, "seed of every random stream of the run", {0});
  f.also_called("seed", {"random_seed", "manual_seed"});
  f("epochs", o.epochs, "budget: passes over the training data", {1, 1e9});
  f.also_called("epochs", {"max_epochs", "num_epochs", "n_epochs", "num_train_epochs"});
  f("steps", o.steps, "budget: optimiser steps", {1, 1e15});
  f.also_called("steps", {"max_steps", "num_steps", "n_steps", "iterations", "max_iters", "num_iterations"});
  f("flops", o.flops,
    "budget: nominal floating-point operations of the steps taken, as scaling laws count them: six for each "
    "use of a weight by a token, without attention (transformer, platonic, gatr; other systems: three "
    "forward passes with it; `weyl info`: flops_per_token.nominal); the step that reaches it is the last",
    {0, 1e30});
  f.also_called("flops", {"max_flops", "flop_budget", "compute", "compute_budget"});
  f("max_seconds", o.max_seconds,
    "budget: seconds of training; a run that it ends is not bit for bit repeatable", {0, 1e9});
  f.also_called("max_seconds", {"max_time", "time_limit"});
  f("batch", o.batch, "graphs a batch", {1, 1e9});
  f.also_called("batch", {"batch_size", "bs", "batchsize", "minibatch_size"});
  f("batch_tokens", o.batch_tokens, "nodes a batch, in place of `batch`: as many graphs as fit", {1, 1e12});
  f.also_called("batch_tokens", {"batch_atoms", "batch_nodes", "max_tokens", "tokens_per_batch"});
  f("accumulate", o.accumulate,
    "batches a step, which learns from them as from one batch that holds them all", {1, 1e6});
  f.also_called("accumulate", {"accumulate_grad_batches", "accumulation_steps", "grad_accum",
                               "gradient_accumulation", "gradient_accumulation_steps"});
  f("precision", o.precision, "float32, float64, or bf16: mixed precision, on CUDA only");
  f.also_called("precision", {"dtype", "mixed_precision"});
  f("tf32", o.tf32,
    "on NVIDIA GPUs, training steps may round the factors of float32 products to TF32, some three decimal "
    "digits, which is faster; validation, eval, predict and audit never do");
  f.also_called("tf32", {"allow_tf32", "use_tf32"});
  f("deterministic", o.deterministic,
    "on GPUs, use deterministic algorithms alone: slower, but the same run has the same bits, as it has on "
    "CPUs anyway; an operation that has none ends the training, as in nets with pooling or upsampling");
  f.also_called("deterministic", {"deterministic_algorithms", "use_deterministic_algorithms"});
  f("augment", o.augment,
    "random motions of the training samples; of grids quarter turns (and reflections) that keep their shape");
  f.also_called("augment", {"augmentation", "augmentations", "data_augmentation"});
  f("crop", o.crop,
    "of grids: train on a random part of each sample, of so many cells along each axis (one number: along "
    "all); none: on the whole",
    {1, 1e6});
  f("crop_foreground", o.crop_foreground, "share of the crops around a cell that is not background", {0, 1});
  f("grids", o.grids,
    "random changes of training images and volumes, each switched on by its table or by `= true`; none unless said");
  f("loaders", o.loaders,
    "threads that read and change the training samples while the model learns; the run's bits do not depend on them",
    {1, 256});
  f.also_called("loaders", {"num_workers", "workers", "dataloader_num_workers", "loader_threads"});
  f("average", o.average, "decay of the weights' moving average, which is validated and kept as best",
    {0, 0.99999999});
  f.also_called("average", {"ema", "ema_decay", "ema_rate"});
  f("average_warmup", o.average_warmup,
    "at step t the decay is at most 1 - 1/t, so that the weights before training do not count; false: the "
    "decay from the first step on");
  f("evaluate_every", o.evaluate_every, "epochs between validations, in fractions if need be", {1e-6, 1e9});
  f.also_called("evaluate_every",
                {"check_val_every_n_epoch", "eval_every", "eval_interval", "val_every", "val_interval"});
  f("save_every_seconds", o.save_every_seconds, "seconds between `last` checkpoints", {0, 1e9});
  f("save_every_steps", o.save_every_steps, "steps between `last` checkpoints; 0: by time alone", {0, 1e15});
  f("log_every_steps", o.log_every_steps, "steps between rows of metrics.csv; every validation has a row too",
    {1, 1e15});
  f.also_called("log_every_steps", {"log_every", "log_every_n_steps", "log_interval"});
  f("patience", o.patience, "validations without improvement before training stops", {1, 1e9});
  f.also_called("patience", {"early_stopping", "early_stopping_patience"});
  f("best", o.best,
    "the metric of the validation data that picks the best model, and that patience and a plateau follow, or "
    "a weighted sum such as energy_mae + 10 force_mae, of metrics that are all better when lower or all when "
    "higher; empty: the task's own");
  f("from", o.from,
    "a run folder or model file: training starts with those of its weights that fit by name and shape; "
    "empty: with random ones");
  f("freeze", o.freeze,
    "parameters that keep their values: their names, or what these begin with, such as layers.0");
  f("optimiser", o.optimiser, "what follows the gradient");
  f.also_called("optimiser", {"optim"});
  f("schedule", o.schedule, "the learning rate over time");
  f.also_called("schedule", {"lr_schedule", "lr_scheduler", "scheduler"});
}

void check(const ScheduleOptions& o) {
  require<ConfigError>(o.name != ScheduleLaw::step || o.every > 0,
                       "train.schedule.every: must be above 0, got ", o.every);
  require<ConfigError>(o.name != ScheduleLaw::exponential || o.final_factor > 0,
                       "train.schedule.final_factor: must be above 0 with name = \"exponential\", got ",
                       o.final_factor);
}

void require_effects(const TrainOptions& o) {
  check(o.schedule);
  check(o.grids, "train.grids");
  const ScheduleLaw law = o.schedule.name;
  const bool falls = follows_budget(law);
  const bool drops = law == ScheduleLaw::step || law == ScheduleLaw::plateau;
  const auto name = std::string(names_of(law)[static_cast<size_t>(law)]);
  const std::string so = "with train.schedule.name = \"" + name + "\"";
  const Conditional options[] = {
      {"optimiser.decaying", o.optimiser.weight_decay > 0 || o.optimiser.name == OptimiserLaw::lamb,
       "with train.optimiser.weight_decay = 0"},
      {"tf32", o.precision != Precision::float64, "with train.precision = \"float64\""},
      {"crop_foreground", !o.crop.empty(), "without crop"},
      {"average_warmup", o.average.has_value(), "without average"},
      {"schedule.per_epoch", falls || law == ScheduleLaw::step || o.schedule.warmup > 0,
       so + " and no warmup"},
      {"schedule.final_factor", falls, so},
      {"schedule.factor", drops, so},
      {"schedule.every", law == ScheduleLaw::step, so},
      {"schedule.patience", law == ScheduleLaw::plateau, so}};
  refuse_unused("train", o, TrainOptions{}, options);
}

}  // namespace weyl
