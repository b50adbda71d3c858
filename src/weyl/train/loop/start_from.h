#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/nn/module.h"
#include "weyl/train/loop/checkpoint.h"

namespace weyl {

/// Freezes the parameters below each of the prefixes (Module::freeze; train.freeze). ConfigError: a prefix below which
/// there are none, with the nearest that there is; nothing is left to train.
void freeze_parameters(Module& model, const std::vector<std::string>& prefixes);

/// What a new run took of a model (train.from).
struct Taken {
  std::string line;                   // "weights of MODEL: took 12 of 14 parameters"
  std::vector<std::string> warnings;  // what was not taken, or means something else now; a line each
  /// Every parameter is the model's, but for rows of types that it does not have: what the new model gives for its
  /// types is what it gave.
  bool whole = false;
};

/// Refuses a model that the recipe cannot go on from: ConfigError when it is of another system. `where` names it.
void require_same_system(const SavedModel& source, const ModelOptions& options, const std::string& where);

/// The interface of the new model: that of its data, with the number of nodes that the source was scaled for.
/// ConfigError: another carrier, dimension or group; another unit of lengths; types that do not begin with those of the
/// source, in its order.
Interface interface_from(const SavedModel& source, const Interface& data, const std::string& where);

/// Copies the parameters of the source that fit by name and shape. Where the two differ in further types alone, rows
/// (or columns) of types that the source has are taken as well, the others stay as they were drawn. ConfigError:
/// nothing fits.
Taken take_weights(Model& model, const SavedModel& source, const ModelOptions& options,
                   const std::string& where);

/// Statistics of a task that was fitted to `train`, for a model that took its weights from the source. Where it took
/// all: scales and shifts are the source's, so that the model predicts what it did, and references by composition are
/// moved by what that leaves of the labels (Task::keep, Task::refer); a source without a task gives predictions as they
/// are. Else they stay as they were fitted. `recipe` is the new run's. Returns lines for the log. DataError: a sample
/// that the model refuses.
std::vector<std::string> refit(Task& task, Model& model, const Recipe& recipe, const SavedModel& source,
                               const Taken& taken, const std::shared_ptr<const Dataset>& train,
                               const std::string& where);

}  // namespace weyl
