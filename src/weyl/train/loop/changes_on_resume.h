#pragma once

#include <span>
#include <string>
#include <string_view>

#include "weyl/models/options.h"
#include "weyl/train/loop/schedule.h"

namespace weyl {

/// model.platonic.linear says how results are worked out, not what they are: either form is the same function of the same
/// weights, to rounding, and nothing else of a checkpoint (states of the optimiser, averages) knows of it. So it may change
/// between a model and a run that starts from it, and when a run is resumed.
bool is_way_of_working(std::string_view key);

/// Makes the way of `into` that of `from`, two models of one system. A line that says what has changed; empty: nothing.
/// ConfigError: another one that is "auto", which the interface of a new model decides.
std::string take_way_of_working(const ModelOptions& from, ModelOptions& into);

/// The budget of a run, train.epochs, train.steps, train.flops and train.max_seconds, is the one part of what it learns by
/// that may change when it is resumed: nothing that was learned depends on it but through the schedule.

/// Whether a key is one of these.
bool is_budget(std::string_view key);

/// ConfigError for the first override ("train.epochs=20") of any other key but that of a way of working
/// (train/loop/changes_on_resume.h).
void require_may_change(std::span<const std::string> overrides);

bool same_budget(const TrainOptions& a, const TrainOptions& b);

/// Puts the budget of `from` into `into`.
void take_budget(const TrainOptions& from, TrainOptions& into);

/// "20 epochs", "20 epochs or 300 steps".
std::string budget_text(const TrainOptions& options);

/// What a new budget means for a run that has come so far: its schedule from here on. One line.
std::string change_of_budget(const TrainOptions& before, const TrainOptions& after,
                             const Schedule::State& state, const Elapsed& now);

/// Of a run that is at its end: "is finished: step 36, 4 of 4 epochs", and how to train on.
std::string finished_text(const std::string& run, const TrainOptions& options, const Elapsed& now,
                          bool out_of_patience);

}  // namespace weyl
