#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weyl/saved/predictor.h"
#include "weyl/train/recipe.h"

namespace weyl {

/// A model with what belongs to it: from a run, from a model file, or (untrained) from a config.
struct Subject {
  Recipe recipe;
  Schema schema;  // of its inputs
  std::shared_ptr<Model> model;
  SampleFacts trained_on;      // what is known of the data that it was trained on; of a config: nothing
  std::shared_ptr<Task> task;  // null: a config with an [interface], weights without a task
  bool trained = false;        // else the task is not fitted
};

/// What the inputs of a recipe are: its [interface], else what its data set declares.
Schema schema_of(const Recipe& recipe);

/// The untrained model of a recipe on `device` (meta: shapes only), its weights drawn from train.seed. Options of the
/// model that are set but have no effect are warnings of its recipe. `weights`: what it will be given, whose
/// shapes decide what the recipe leaves open.
Subject build_subject(Recipe recipe, at::Device device, std::optional<at::ScalarType> dtype,
                      const Systems& systems = built_in_systems(), const TensorShapes& weights = {});

/// Options of the model that are set but have no effect with the inputs and outputs that it will have, as far as the code of
/// the data set and the task tell them without a file; a line each, but for those that are among the recipe's warnings.
/// What only the data could say is not looked at: nor is it a fault of the recipe here.
std::vector<std::string> warnings_on_model(Recipe recipe);

/// The model of a run folder or model file, in evaluation mode; data_of_run finds the data of its recipe from here.
Subject load_subject(const std::string& path, at::Device device, std::optional<at::ScalarType> dtype,
                     const Systems& systems = built_in_systems());

/// A Predictor that also knows where its model is from: the whole config, and with it the data.
class FilePredictor : public Predictor {
 public:
  /// `path` is a run folder (its best checkpoint) or a model file. DataError, ConfigError: see load_model.
  explicit FilePredictor(const std::string& path, const PredictorOptions& options = {},
                         const Systems& systems = built_in_systems());
  /// Of an untrained subject predictions are the model's own outputs.
  explicit FilePredictor(Subject subject, const PredictorOptions& options = {});

  const Subject& subject() const { return subject_; }

 private:
  Subject subject_;
};

/// A recipe whose data tell the motions of so many steps, whatever they told in training. ConfigError: the labels of its data
/// set have the steps that they have.
Recipe with_rollout(Recipe recipe, int64_t steps, std::string_view where = "rollout");

/// The data set in `path` (a folder with splits, or a file: all its samples) or, when that is empty, the recipe's.
/// DataError when the split is absent.
std::shared_ptr<const Dataset> open_data(const Recipe& recipe, const std::string& path,
                                         const std::string& split, Keep keep = Keep::in_memory);

/// A file (or folder) of inputs, labels not needed, checked against what the model is told. DataError.
std::shared_ptr<const Dataset> open_for_prediction(const Subject& subject, const std::string& path);

}  // namespace weyl
