#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/saved/predictor.h"
#include "weyl/train/recipe.h"

namespace weyl {

/// A model with its recipe, data schema and task: from a run, a model file, or (untrained) a config.
struct Subject {
  Recipe recipe;
  Schema schema;  // of its inputs
  std::shared_ptr<Model> model;
  SampleFacts trained_on;      // what is known of its training data; nothing for a config
  std::shared_ptr<Task> task;  // null for a config with an [interface] and for weights without a task
  bool trained = false;        // false: the task is not fitted
};

/// The schema of a recipe's inputs: its [interface], else what its data set declares.
Schema schema_of(const Recipe& recipe);

/// Builds the untrained model of a recipe on `device` (meta: shapes only), with its weights drawn from train.seed.
/// Options of the model that are set but have no effect become warnings of the subject's recipe. `weights`: the shapes
/// of the weights that the model will be given; they decide what the recipe leaves open.
Subject build_subject(Recipe recipe, at::Device device, std::optional<at::ScalarType> dtype,
                      const Systems& systems = built_in_systems(), const TensorShapes& weights = {});

/// Checks a recipe as far as data set and task declare without a file what is in the files: builds the task and the model
/// (shapes only), and looks for the labels of the task, train.best, train.freeze and train.crop. Returns warnings, a line
/// each, about options of the model that are set but have no effect with its inputs and outputs. Those that the recipe's
/// warnings name already are left out. ConfigError, DataError: what `info` and `train` refuse, in their words.
std::vector<std::string> check_model(Recipe recipe, const Systems& systems = built_in_systems());

/// Loads the model of a run folder or model file, in evaluation mode. The data of its recipe are found by data_of_run.
Subject load_subject(const std::string& path, at::Device device, std::optional<at::ScalarType> dtype,
                     const Systems& systems = built_in_systems());

/// A Predictor that also knows the whole config of its model, and with it the data.
class FilePredictor : public Predictor {
 public:
  /// `path` is a run folder (its best checkpoint) or a model file. DataError, ConfigError: see load_model.
  explicit FilePredictor(const std::string& path, const PredictorOptions& options = {},
                         const Systems& systems = built_in_systems());
  /// Where the subject is untrained, predictions are the model's own outputs.
  explicit FilePredictor(Subject subject, const PredictorOptions& options = {});

  const Subject& subject() const { return subject_; }
  /// Predictor::join. ConfigError also: the other model was trained on volumes that were read to other values, which one
  /// reading of the data cannot give both.
  void join(FilePredictor other, const std::string& first, const std::string& name);

 private:
  Subject subject_;
};

/// The recipe with the labels of its data set extended to `steps` steps, however many they had in training.
/// ConfigError: the labels of the data set have a fixed number of steps.
Recipe with_rollout(Recipe recipe, int64_t steps, std::string_view where = "rollout");

/// The subject's recipe with other keys of its data set ("data.molecules.energy=REF_energy"), for files that name things
/// otherwise than those of the training. Where no key says the stress of the frames at `path`, a virial stands for one
/// that they lack (take_virial_of). ConfigError: a key of something else, or the path; a key with which the model would be
/// told or asked something else; a key that plays no part in data that a path gives, which are used whole.
Recipe with_data_keys(const Subject& subject, const std::vector<std::string>& overrides,
                      const std::string& path = {});

/// Whether a verb measures what a model predicts, as eval does and predict does not.
enum class Measures { yes, no };

/// Keys of a segmentation that say how predictions are measured, and change none.
constexpr std::array<std::string_view, 3> measuring_keys{"tolerance", "hd95", "regions"};

/// The key of "task.NAME.KEY=value" or of "task.NAME.KEY.MORE=value" where NAME is this task, else nothing.
std::string key_of_task(const std::string& item, const std::string& task);

/// Gives the subject other options of how its task predicts and measures, "task.segmentation.test_time_mirrors=true": of any task
/// test_time_rotations, of segmentations also test_time_mirrors, window, largest_component, tolerance, hd95 and regions. ConfigError:
/// another key, or a value that its own check refuses; what does not fit the model is refused by the first prediction. Returns a
/// line for each option that has no effect by what was changed, and, of predictions that nobody `measures`, for each key that says
/// how they are measured; of options that had no effect in training nothing is said.
std::vector<std::string> take_prediction_keys(Subject& subject, const std::vector<std::string>& overrides,
                                              Measures measures = Measures::yes);

/// In place of a split's name: that of testing, or where there is none that of validation or training.
constexpr const char* any_split = "any";

/// Opens a split of the data set in `path`, a folder with splits; a file, or a folder without, is used with all its
/// samples. With an empty `path` it is the recipe's data set. `split` empty: the test split; any_split: where there is none,
/// that of validation or training. DataError: the split is absent. ConfigError: a split is named, and what is at `path` has
/// none; there are keys (those of with_data_keys), and the data set does not read what is at `path`. `task`: DataError also
/// where a split lacks labels that it does not measure without; it names the splits that have them.
std::shared_ptr<const Dataset> open_data(const Recipe& recipe, const std::string& path,
                                         const std::string& split, Keep keep = Keep::in_memory,
                                         const std::vector<std::string>& keys = {},
                                         const Task* task = nullptr);

/// Inputs, and what whoever gives them should know of them, a line each.
struct GivenData {
  std::shared_ptr<const Dataset> data;
  std::vector<std::string> warnings;
};

/// Opens a file or folder of inputs, which need no labels. DataError: it does not exist, or does not hold what the
/// model takes. ConfigError: keys, as in open_data.
GivenData open_for_prediction(const Subject& subject, const std::string& path,
                              const std::vector<std::string>& keys = {});

}  // namespace weyl
