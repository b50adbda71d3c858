#include "weyl/train/options.h"

namespace weyl {

void fields(Fields& f, OptimiserOptions& o) {
  f.renamed("law", "name");
  f("name", o.name,
    "how weights follow the gradient; adam couples the decay to the gradient, adamw does not");
  f("rate", o.rate, "largest learning rate", {0, 1e3});
  f("weight_decay", o.weight_decay,
    "decay of the weight matrices (biases, norms and frequencies never decay)", {0, 1e3});
  f("beta1", o.beta1, "decay of the mean gradient", {0, 0.999999});
  f("beta2", o.beta2, "decay of the mean squared gradient", {0, 0.99999999});
  f("epsilon", o.epsilon, "added to the root of the mean squared gradient", {1e-30, 1});
  f("clip", o.clip, "largest norm of the whole gradient; longer ones are shortened to it", {1e-12, 1e12});
}

void fields(Fields& f, ScheduleOptions& o) {
  f.renamed("law", "name");
  f("name", o.name, "how the learning rate changes after the warm-up");
  f("warmup", o.warmup, "epochs of linear warm-up, in fractions if need be", {0, 1e9});
  f("per_epoch", o.per_epoch, "change the rate between epochs only, not at every step");
  f("final_factor", o.final_factor, "cosine, linear: the last rate over the largest", {0, 1});
  f("factor", o.factor, "step, plateau: what the rate is multiplied by", {0, 1});
  f("every", o.every, "step: epochs between drops", {1e-6, 1e9});
  f("patience", o.patience, "plateau: validations without improvement before a drop", {0, 1e9});
}

void fields(Fields& f, TrainOptions& o) {
  f("seed", o.seed, "seed of every random stream of the run", {0});
  f("epochs", o.epochs, "budget: passes over the training data", {1, 1e9});
  f("steps", o.steps, "budget: optimiser steps", {1, 1e15});
  f("max_seconds", o.max_seconds,
    "budget: seconds of training; a run that it ends is not bit for bit repeatable", {0, 1e9});
  f("batch", o.batch, "graphs a batch", {1, 1e9});
  f("batch_tokens", o.batch_tokens, "nodes a batch, in place of `batch`: as many graphs as fit", {1, 1e12});
  f("accumulate", o.accumulate, "batches a step: their gradients are averaged", {1, 1e6});
  f("precision", o.precision, "float32, float64, or bf16: mixed precision, on CUDA only");
  f("augment", o.augment,
    "random motions of the training samples; of grids quarter turns (and reflections) that keep their shape");
  f("crop", o.crop,
    "of grids: train on a random part of each sample, of so many cells along each axis (one number: along "
    "all); none: on the whole",
    {1, 1e6});
  f("crop_foreground", o.crop_foreground, "share of the crops around a cell that is not background", {0, 1});
  f("average", o.average, "decay of the weights' moving average, which is validated and kept as best",
    {0, 0.99999999});
  f("average_warmup", o.average_warmup,
    "at step t the decay is at most 1 - 1/t, so that the weights before training do not count; false: the "
    "decay "
    "from the first step on");
  f("evaluate_every", o.evaluate_every, "epochs between validations, in fractions if need be", {1e-6, 1e9});
  f("save_every_seconds", o.save_every_seconds, "seconds between `last` checkpoints", {0, 1e9});
  f("save_every_steps", o.save_every_steps, "steps between `last` checkpoints; 0: by time alone", {0, 1e15});
  f("log_every_steps", o.log_every_steps, "steps between rows of metrics.csv; every validation has a row too",
    {1, 1e15});
  f("patience", o.patience, "validations without improvement before training stops", {1, 1e9});
  f("optimiser", o.optimiser, "what follows the gradient");
  f("schedule", o.schedule, "the learning rate over time");
}

}  // namespace weyl
