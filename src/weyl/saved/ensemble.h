#pragma once

#include <string>
#include <vector>

#include "weyl/saved/saved_model.h"

namespace weyl {

/// What several models of the same inputs say together: `NAME` is the mean of their predictions, `NAME_std` their standard
/// deviation, number by number (so that of a vector does not turn with the sample), both in float64; the n models are
/// all there are, so it is divided by n. Classes (`class`, `mask`) are those of the largest mean probability and have
/// no deviation.

/// The predictions of an ensemble: each number of `outputs` is followed by its deviation. ConfigError: elements of a Lie
/// group, of which there is no mean here.
std::vector<Quantity> ensemble_outputs(const std::vector<Quantity>& outputs);

/// `members`: the predictions of each, at least one, by the names of `outputs` (those of one model), of one batch. Classes are
/// those that `task` takes of the mean probabilities (Task::likeliest), without one those of the largest. Beside the members
/// memory holds three numbers of 64 bits for each of an output.
Named ensemble_predictions(const std::vector<Named>& members, const std::vector<Quantity>& outputs,
                           const Task* task = nullptr);

/// "energy_std" -> "energy", where `outputs` are those of an ensemble and hold both; else the name as it is.
std::string without_deviation(const std::vector<Quantity>& outputs, const std::string& name);

/// ConfigError when two models are not told the same or do not say the same: carrier, types, features, units, outputs,
/// names of classes. `a` and `b` name them.
void require_same_inputs_and_outputs(const SavedModel& first, const std::vector<Quantity>& first_outputs,
                                     const std::string& a, const SavedModel& second,
                                     const std::vector<Quantity>& second_outputs, const std::string& b);

/// ConfigError when no data can be what both were trained on: spacing, names of channels and of classes.
void require_same_data(const SampleFacts& first, const std::string& a, const SampleFacts& second,
                       const std::string& b);

}  // namespace weyl
