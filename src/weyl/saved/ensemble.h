#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
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

/// The predictions of several models for one batch, taken one after the other: memory holds mean and spread, not the members.
class EnsembleMean {
 public:
  /// `outputs`: those of one model.
  explicit EnsembleMean(std::vector<Quantity> outputs) : outputs_(std::move(outputs)) {}

  /// ShapeError: the member lacks an output.
  void add(const Named& member);
  /// What all of them say, at least one. Classes are those that `task` takes of the mean probabilities (Task::likeliest), without
  /// one those of the largest. ConfigError: there are classes without probabilities. To be asked once.
  Named done(const Task* task = nullptr);

 private:
  struct Moments {
    Tensor mean, square;  // float64; square: the sum of squares of what the members are off the mean
  };

  std::vector<Quantity> outputs_;
  std::map<std::string, Moments> moments_;
  int64_t members_ = 0;
};

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
