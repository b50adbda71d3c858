#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "weyl/app/command_line.h"
#include "weyl/core/json.h"
#include "weyl/train/checkpoint.h"
#include "weyl/train/evaluate.h"

namespace weyl {

/// "float64" -> at::kDouble; nothing for nothing.
std::optional<at::ScalarType> dtype_of(const std::optional<std::string>& name);

/// The device that a command names; ConfigError when this build or machine has no such one.
at::Device device_of(const Machine& machine);

/// Whether an argument names a config rather than a model: it ends in ".toml".
bool is_config(const std::string& path);

/// What the inputs of a recipe are: its [interface], else what its data set declares.
Schema schema_of(const Recipe& recipe);

/// A model with what belongs to it, from a run, a model file or (untrained) a config.
struct Subject {
  Recipe recipe;
  Schema schema;
  std::shared_ptr<Model> model;
  std::unique_ptr<Task> task;  // null: a config with an [interface], weights without a task, or not fitted
  bool trained = false;
};

/// Of a config: builds on `device` (meta: shapes only) with weights drawn from train.seed; the task is not
/// fitted.
Subject build_subject(const ConfigArguments& config, at::Device device, std::optional<at::ScalarType> dtype);

/// Of a run folder or model file; the data of its recipe are found from here (data_of_run).
Subject load_subject(const std::string& path, at::Device device, std::optional<at::ScalarType> dtype);

/// The data set named by `--data` (a folder with splits, or a file; all its samples) or, when empty, by the
/// recipe. DataError when the split is absent.
std::shared_ptr<const Dataset> open_data(const Recipe& recipe, const std::string& path,
                                         const std::string& split);

/// A file (or folder) of inputs, labels not needed, checked against what the model is told. DataError.
std::shared_ptr<const Dataset> open_for_prediction(const Subject& subject, const std::string& path);

/// Calls `use` with the samples [0, size) in their order, at most `batch` at a time (grids of one size), on
/// the device in the dtype. A ShapeError becomes a DataError that names the sample of `where`; `use` has then
/// seen it once more.
void stream(const std::string& where, const Dataset& data, int64_t batch, const Model& model,
            const std::function<void(const Batch&)>& use, bool on_cpu = false);

/// Samples at a time of a verb that only reads them: as many as asked for, but of grids, whose cells are
/// many, no more than training takes.
int64_t batch_of(const Subject& subject, int64_t asked);

/// What everyone who uses a task's predictions must know, on stderr, a line each.
void say_notes(const Task* task);

/// {name: {value, unit}}; {classes, counts}, rows the truth; {by: [{name, metrics}]}; {samples, seconds,
/// metrics, confusion, breakdowns}.
Json to_json(const Metrics& metrics);
Json to_json(const Confusion& confusion);
Json to_json(const std::vector<Breakdown>& breakdowns);
Json to_json(const Evaluation& evaluation);

/// Of many metrics (more than eight) those that are no part of another, as dice_1 is of dice.
Metrics chief(const Metrics& metrics);

/// For people: the metrics in a row of text, "mse 0.0123 Å²  mae 0.08 Å".
std::string metrics_text(const Metrics& metrics);

/// For people: a table of a row each, columns in line, units in the head.
std::string table_text(const Breakdown& breakdown);

}  // namespace weyl
