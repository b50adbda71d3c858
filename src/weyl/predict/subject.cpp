#include "weyl/predict/subject.h"

#include <ATen/Context.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "weyl/carriers/augmented_grid.h"
#include "weyl/carriers/loader.h"
#include "weyl/config/toml.h"
#include "weyl/config/unused_options.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/random.h"
#include "weyl/data/atoms/molecules.h"
#include "weyl/data/open.h"
#include "weyl/data/volumes/decathlon.h"
#include "weyl/train/loop/best_metric.h"
#include "weyl/train/loop/start_from.h"
#include "weyl/train/run/run_data.h"

namespace weyl {
namespace {

const Interface* interface_of(const Recipe& recipe) {
  return recipe.interface ? &*recipe.interface : nullptr;
}

/// An interface is inputs and outputs: as data, inputs alone.
Schema inputs_of(const Interface& interface) {
  Schema schema = schema_of(interface);
  schema.labels.clear();
  return schema;
}

std::string said(const Schema& schema) {
  const auto& group = schema.interface.group;
  return std::string(name_of(schema.carrier())) + (group ? text(" of ", name_of(*group)) : "");
}

/// What a file holds must be what the model takes: DataError, before the model's own ShapeError.
void require_same_carrier(const std::string& path, const Schema& found, const Schema& wanted) {
  const auto &has = found.interface.group, &takes = wanted.interface.group;
  require<DataError>(found.carrier() == wanted.carrier() && (!has || !takes || has == takes), path,
                     ": must hold ", said(wanted), ", got ", said(found));
}

/// What a model is told. An [interface] with outputs stands alone; without, or where they are classes, which no model
/// gives as such, the task says what it wants and is made.
Interface told(const Recipe& recipe, const Schema& schema, std::shared_ptr<Task>& task) {
  Interface stated = recipe.interface.value_or(Interface{});
  if (std::ranges::all_of(stated.outputs, [](const Quantity& q) { return q.kind == Kind::category; })) {
    task = make_task(recipe.task);
    return task->interface(schema);
  }
  return stated;
}

/// The data set that knows the classes and states which the model has learned.
DataOptions as_learned(DataOptions data, const TaskOptions& task, const SampleFacts& trained_on) {
  const std::vector<std::string>& classes = trained_on.classes;
  const auto* clouds = std::get_if<CloudsDataOptions>(&data.set);
  const bool of_points = clouds != nullptr && !clouds->point_label.empty();  // which the task's names are of
  data = know_classes(std::move(data),
                      classes.empty() && !of_points ? names_of_classes(task, classes) : classes);
  return know_states(std::move(data), trained_on.states);
}

const char* name_of_set(const DataOptions& data) {
  return std::visit([](const auto& o) { return o.name_in_config; }, data.set);
}

}  // namespace

Schema schema_of(const Recipe& recipe) {
  const Interface* interface = interface_of(recipe);
  if (interface == nullptr || std::holds_alternative<TensorsDataOptions>(recipe.data.set)) {
    return declared_schema(recipe.data, interface);
  }
  return inputs_of(*interface);
}

Subject build_subject(Recipe recipe, at::Device device, std::optional<at::ScalarType> dtype,
                      const Systems& systems, const TensorShapes& weights) {
  Subject subject;
  subject.recipe = std::move(recipe);
  require_objects(subject.recipe);
  subject.schema = schema_of(subject.recipe);
  const Interface interface = told(subject.recipe, subject.schema, subject.task);
  const bool wide = subject.recipe.train.precision == Precision::float64;
  const BuildOn build_on(device, dtype.value_or(wide ? at::kDouble : at::kFloat));
  if (!device.is_meta()) {
    // As train/train.cpp does, so that a config's audit sees the weights that its training starts from.
    at::manual_seed(Stream(static_cast<uint64_t>(subject.recipe.train.seed), "weights").bits());
  }
  subject.recipe.model.system.resolve(interface, weights);
  subject.model = build(subject.recipe.model, interface, systems);
  std::ranges::move(unused_option_warnings([&] { subject.recipe.model.system.require_effects(&interface); },
                                           subject.recipe.warnings),
                    std::back_inserter(subject.recipe.warnings));
  return subject;
}

namespace {

/// Whether only the files of a set say how many classes there are.
bool leaves_classes_to_files(const DataOptions& data) {
  return std::visit(
      [](const auto& o) {
        if constexpr (requires { o.point_classes; }) {
          const bool of_points = !o.point_label.empty();
          return (of_points && o.point_classes == 0) || ((!of_points || o.class_input) && o.classes == 0);
        } else if constexpr (requires { o.classes; }) {
          return o.classes == 0;
        }
        return false;
      },
      data.set);
}

/// The fewest classes that a task speaks of; two where it speaks of none.
int64_t classes_of_task(const TaskOptions& task) {
  int64_t classes = 2;
  const auto at_least = [&](int64_t count) { classes = std::max(classes, count); };
  std::visit(
      [&](const auto& o) {
        if constexpr (requires { o.class_weights; }) {
          at_least(std::ssize(o.names));
          at_least(std::ssize(o.class_weights));
        }
        if constexpr (requires { o.regions; }) {
          for (const Region& region : o.regions) {
            std::ranges::for_each(region.labels, [&](int64_t label) { at_least(label + 1); });
          }
        }
      },
      task.task);
  return classes;
}

}  // namespace

std::vector<std::string> check_model(Recipe recipe, const Systems& systems) {
  const bool guessed = leaves_classes_to_files(recipe.data);
  if (guessed) {  // any number that the task allows does, to build the model
    for (const char* label : {"class", "mask"}) {
      recipe.data = count_classes(std::move(recipe.data), label, classes_of_task(recipe.task));
    }
  }
  const std::vector<std::string> known = recipe.warnings;
  const Subject subject = build_subject(std::move(recipe), at::kMeta, std::nullopt, systems);
  const TrainOptions& train = subject.recipe.train;
  const bool trains =
      !subject.recipe.interface || std::holds_alternative<TensorsDataOptions>(subject.recipe.data.set);
  if (trains && subject.task != nullptr) {
    require_labels(*subject.task, subject.schema);
    if (!train.best.empty() && !guessed) {  // a metric may be of a class that only the files show
      const BestMetric best(train.best, *subject.task,
                            subject.task->meter(subject.model->interface)->names(subject.schema));
    }
  }
  freeze_parameters(*subject.model, train.freeze);
  require_crop(train.crop, subject.schema);
  require_grid_augmentation(train.grids, subject.schema);
  return {subject.recipe.warnings.begin() + std::ssize(known), subject.recipe.warnings.end()};
}

Subject load_subject(const std::string& path, at::Device device, std::optional<at::ScalarType> dtype,
                     const Systems& systems) {
  SavedModel saved = load_model(path, device, dtype, systems);
  Subject subject;
  subject.recipe = read_stored_recipe(saved.recipe.text, model_file(path), options_of(systems));
  subject.schema = schema_of(subject.recipe);
  subject.schema.interface = inputs_of(saved.interface).interface;
  subject.recipe.data =
      as_learned(data_of_run(subject.recipe.data, path), subject.recipe.task, saved.trained_on);
  subject.model = std::move(saved.model);
  subject.trained_on = std::move(saved.trained_on);
  subject.task = std::move(saved.task);
  subject.trained = true;
  return subject;
}

namespace {

/// What a predictor needs of a subject, whose model and task they share.
SavedModel saved_of(const Subject& subject) {
  SavedModel saved;
  saved.recipe = saved_recipe(subject.recipe);
  saved.interface = subject.model->interface;
  saved.model = subject.model;
  saved.task = subject.trained ? subject.task : nullptr;
  saved.trained_on = subject.trained_on;
  return saved;
}

}  // namespace

FilePredictor::FilePredictor(const std::string& path, const PredictorOptions& options, const Systems& systems)
    : FilePredictor(load_subject(path, options.device, options.dtype, systems), options) {}

FilePredictor::FilePredictor(Subject subject, const PredictorOptions& options)
    : Predictor(saved_of(subject), options), subject_(std::move(subject)) {}

namespace {

/// How the clouds of a set are given; null: it has none.
const CloudInput* cloud_input_of(const DataOptions& data) {
  const auto* clouds = std::get_if<CloudsDataOptions>(&data.set);
  const auto* shapes = std::get_if<ModelnetDataOptions>(&data.set);
  return clouds != nullptr ? &clouds->input : shapes != nullptr ? &shapes->input : nullptr;
}

}  // namespace

void FilePredictor::join(FilePredictor other, const std::string& first, const std::string& name) {
  const auto* own = std::get_if<DecathlonDataOptions>(&subject_.recipe.data.set);
  const auto* others = std::get_if<DecathlonDataOptions>(&other.subject_.recipe.data.set);
  if (const std::string key = own != nullptr && others != nullptr ? differently_read(*own, *others) : "";
      !key.empty()) {
    throw ConfigError(text(name, ": its volumes must be read as those of ", first, ", but data.decathlon.",
                           key, " differs; predict with each alone"));
  }
  const CloudInput *here = cloud_input_of(subject_.recipe.data),
                   *there = cloud_input_of(other.subject_.recipe.data);
  require<ConfigError>(
      here == nullptr || there == nullptr || !(here->moments() || there->moments()) ||
          (here->neighbours == there->neighbours && here->neighbours_as == there->neighbours_as),
      name, ": its nodes must be told of as many neighbours as those of ", first,
      ", since moments are of so many; predict with each alone");
  Predictor::join(std::move(other), first, name);
}

Recipe with_rollout(Recipe recipe, int64_t steps, std::string_view where) {
  auto* bodies = std::get_if<RigidBodiesDataOptions>(&recipe.data.set);
  const char* set = name_of_set(recipe.data);
  require<ConfigError>(bodies != nullptr, where,
                       ": needs data set rigid_bodies, whose labels go as far as is asked; those of ", set,
                       " have the steps that they have");
  bodies->rollout = steps;
  return recipe;
}

namespace {

std::string toml_of(DataOptions data) {
  return write_toml([&](Fields& f) { f("data", data, "what the model is measured on"); });
}

void read_data(const std::string& stored, const std::vector<std::string>& overrides, DataOptions& data) {
  read_toml_text(stored, "the model's config", overrides,
                 [&](Fields& f) { f("data", data, "what the model is measured on"); });
}

/// ConfigError: what a key changes plays no part in data that a path gives, as the number of training samples.
void require_effect_on_paths(const std::string& item, const DataOptions& then, const std::string& stored) {
  DataOptions now = then;
  read_data(stored, {item}, now);
  const std::string path = path_of(then);
  require<ConfigError>(toml_of(now) == stored || toml_of(all_of(now, path)) != toml_of(all_of(then, path)),
                       "override '", item,
                       "': has no effect on data that a path gives, which are used whole");
}

/// ConfigError unless there are no keys, or the set of which they are has read what is at `path`.
void require_read_by_set(bool read, const std::string& path, const DataOptions& data,
                         const std::vector<std::string>& keys) {
  require<ConfigError>(read || keys.empty(), "override '", keys.empty() ? "" : keys.front(),
                       "': has no effect, because ", path, " is not read by the data set ",
                       name_of_set(data));
}

}  // namespace

Recipe with_data_keys(const Subject& subject, const std::vector<std::string>& overrides,
                      const std::string& path) {
  Recipe recipe = subject.recipe;
  constexpr std::string_view stress = "data.molecules.stress=";
  const auto named =
      std::ranges::find_if(overrides, [&](const auto& item) { return item.starts_with(stress); });
  if (auto* molecules = std::get_if<MoleculesDataOptions>(&recipe.data.set)) {
    if (named != overrides.end()) {
      name_stress(*molecules, named->substr(stress.size()));
    } else if (!path.empty()) {
      take_virial_of(path, *molecules);
    }
  }
  if (overrides.empty()) {
    return recipe;
  }
  const std::string table = text("data.", name_of_set(recipe.data), ".");
  for (const std::string& item : overrides) {
    const std::string key = item.substr(0, item.find('='));
    require<ConfigError>(key.starts_with(table) && key != table + "path", "override '", item,
                         "': must be a key of the data set, ", table,
                         "KEY, and not its path, which --data gives");
  }
  DataOptions data = recipe.data;
  const std::string stored = toml_of(data);
  read_data(stored, overrides, data);
  for (const std::string& item : overrides) {
    require_effect_on_paths(item, recipe.data, stored);
  }
  const Schema now = declared_schema(data, interface_of(recipe)),
               then = declared_schema(subject.recipe.data, interface_of(recipe));
  require<ConfigError>(now.interface == then.interface && now.labels == then.labels, "override '",
                       overrides.front(), overrides.size() > 1 ? "' and those after it" : "'",
                       ": must say how files are read, but the model would be told or asked something else");
  const auto* windows = std::get_if<PoseWindowsDataOptions>(&data.set);
  const auto* learned = std::get_if<PoseWindowsDataOptions>(&recipe.data.set);
  require<ConfigError>(
      windows == nullptr || (windows->ahead > 0) == (learned->ahead > 0), "data.pose_windows.ahead: must ",
      learned != nullptr && learned->ahead > 0 ? "be above 0, for the model was trained to forecast"
                                               : "stay 0, for the model was trained to denoise",
      ", got ", windows != nullptr ? windows->ahead : 0);
  recipe.data = as_learned(std::move(data), recipe.task, subject.trained_on);
  return recipe;
}

std::string key_of_task(const std::string& item, const std::string& task) {
  const std::string table = text("task.", task, ".");
  return item.starts_with(table)
             ? item.substr(table.size(), item.find_first_of(".=", table.size()) - table.size())
             : "";
}

std::vector<std::string> take_prediction_keys(Subject& subject, const std::vector<std::string>& overrides,
                                              Measures measures) {
  if (overrides.empty()) {
    return {};
  }
  require<ConfigError>(subject.task != nullptr && subject.trained, "override '", overrides.front(),
                       "': needs a trained model with a task");
  constexpr std::array<std::string_view, 4> predicting{"test_time_rotations", "test_time_mirrors", "window",
                                                       "largest_component"};
  std::vector<std::string> keys(predicting.begin(), predicting.end());
  keys.insert(keys.end(), measuring_keys.begin(), measuring_keys.end());
  std::vector<std::string> without_effect;
  const std::string table = text("task.", subject.task->name(), ".");
  for (const std::string& item : overrides) {
    const std::string key = key_of_task(item, subject.task->name());
    require<ConfigError>(std::ranges::count(keys, key) > 0, "override '", item,
                         "': of a trained model must be how its task predicts: ", table, "KEY, one of ",
                         joined(keys));
    if (measures == Measures::no && std::ranges::count(measuring_keys, key) > 0) {
      without_effect.push_back(
          text(item, ": has no effect on predictions; it says how `weyl eval` measures them"));
    }
  }
  TaskOptions options = subject.recipe.task;
  const auto visit = [&](Fields& f) { f("task", options, "what the model has learned"); };
  const std::string stored = write_toml(visit);
  const std::vector<std::string> before = unused_option_warnings([&] { require_effects(options); });
  read_toml_text(stored, "the model's config", overrides, visit);
  std::vector<std::string> warnings = unused_option_warnings([&] { require_effects(options); });
  std::erase_if(warnings, [&](const std::string& line) { return std::ranges::count(before, line) > 0; });
  std::ranges::move(without_effect, std::back_inserter(warnings));
  std::shared_ptr<Task> task = make_task(options);
  task->load(subject.task->state());
  subject.task = std::move(task);
  subject.recipe.task = std::move(options);
  return warnings;
}

namespace {

/// Which label the samples lack that a task does not measure without; empty: none.
std::string lacks(const Task& task, const Dataset& data) {
  try {
    require_labels(task, data.schema(), true);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

/// What the files of a data set have, labels as outputs. Units are what each file says itself.
Interface as_declared(const Recipe& recipe) {
  Schema schema = schema_of(recipe);
  for (Quantity& feature : schema.interface.features) {
    feature.unit.clear();
  }
  schema.interface.outputs = std::move(schema.labels);
  return std::move(schema.interface);
}

/// Whether a folder has splits, not one set of samples that is taken for testing.
bool has_splits(const std::string& folder, const Splits& splits) {
  const auto some = [](const auto& split) { return split != nullptr && split->size() > 0; };
  return some(splits.train) || some(splits.valid) ||
         std::ranges::any_of(std::filesystem::directory_iterator(folder), [](const auto& entry) {
           return entry.path().filename().string().starts_with("test");
         });
}

}  // namespace

std::shared_ptr<const Dataset> open_data(const Recipe& recipe, const std::string& path,
                                         const std::string& split, Keep keep,
                                         const std::vector<std::string>& keys, const Task* task) {
  const auto require_splits = [&](bool there) {
    require<ConfigError>(split.empty() || there, path,
                         ": must have splits of its own for --split, but is one set of samples, which is "
                         "used as a whole; leave --split out");
  };
  // What is asked of a trajectory is known to the set alone, which cuts it into windows.
  const bool of_windows = std::holds_alternative<PoseSequencesDataOptions>(recipe.data.set) ||
                          std::holds_alternative<PoseWindowsDataOptions>(recipe.data.set);
  const bool trajectory = of_windows && is_pose_file(path) && !std::filesystem::is_directory(path);
  if (!path.empty() && !trajectory && !std::filesystem::is_directory(path)) {
    require_splits(false);
    OpenedAs how;
    const std::optional<Interface> poses = of_windows ? std::optional(as_declared(recipe)) : std::nullopt;
    auto data =
        open_file(path, recipe.data, poses ? &*poses : interface_of(recipe), Values::checked, keep, &how);
    require_read_by_set(how.by_options, path, recipe.data, keys);
    require_same_carrier(path, data->schema(), schema_of(recipe));
    return data;
  }
  // The run's own splits were trained and tested with what they have: a state that the training part lacks is no reason to
  // refuse them.
  const Splits splits = open_splits(path.empty() ? know_states(recipe.data, {}) : all_of(recipe.data, path),
                                    interface_of(recipe), keep);
  require_splits(path.empty() || (!trajectory && has_splits(path, splits)));
  const std::string name = split.empty() ? "test" : split;
  auto chosen = name == "train" ? splits.train : name == "valid" ? splits.valid : splits.test;
  if (name == any_split && chosen == nullptr) {
    chosen = splits.valid != nullptr ? splits.valid : splits.train;
  }
  const auto there = [&](const auto& holds) {
    std::string names;
    for (const auto& [of, part] :
         {std::pair{"train", splits.train}, {"valid", splits.valid}, {"test", splits.test}}) {
      names += part == nullptr || !holds(*part) ? "" : text(names.empty() ? "" : ", ", "--split ", of);
    }
    return names;
  };
  const std::string all = there([](const Dataset&) { return true; });
  require<DataError>(chosen != nullptr, path.empty() ? "the data set" : path, ": must have a ", name,
                     " split, but has none; there is ", all.empty() ? "no split at all" : all);
  if (const std::string wrong = task == nullptr ? "" : lacks(*task, *chosen); !wrong.empty()) {
    const std::string others = there([&](const Dataset& part) { return lacks(*task, part).empty(); });
    throw DataError(text(wrong, others.empty() ? "" : "; its labels are in ", others));
  }
  return chosen;
}

GivenData open_for_prediction(const Subject& subject, const std::string& path,
                              const std::vector<std::string>& keys) {
  require<DataError>(std::filesystem::exists(path), path,
                     ": must be a data file or folder, but does not exist");
  OpenedAs how;
  const std::shared_ptr<const Dataset> data =
      open_file(path, of_any_classes(subject.recipe.data), &subject.model->interface, Values::checked,
                Keep::in_memory, &how);
  require_read_by_set(how.by_options, path, subject.recipe.data, keys);
  const Schema& found = data->schema();
  require_same_carrier(path, found, subject.schema);
  require<DataError>(found.interface.dimension == subject.schema.interface.dimension, path, ": must have ",
                     subject.schema.interface.dimension, " dimensions, got ", found.interface.dimension);
  GivenData given{data, found.warnings};
  if (!how.part.empty()) {
    given.warnings.push_back(std::move(how.part));
  }
  return given;
}

}  // namespace weyl
