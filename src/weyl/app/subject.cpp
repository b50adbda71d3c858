#include "weyl/app/subject.h"

#include <ATen/Context.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>

#include "weyl/app/log.h"
#include "weyl/carriers/faulty_sample.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/data/open.h"
#include "weyl/train/run_data.h"

namespace weyl {

std::optional<at::ScalarType> dtype_of(const std::optional<std::string>& name) {
  if (!name) {
    return {};
  }
  return *name == "float64" ? at::kDouble : at::kFloat;
}

at::Device device_of(const Machine& machine) {
  const at::Device device(machine.device);
  if (device.is_cuda()) {
    require<ConfigError>(at::hasCUDA(), "--device ", machine.device,
                         ": must be a device of this machine, but LibTorch finds no CUDA");
    const c10::DeviceIndex count = at::detail::getCUDAHooks().deviceCount();
    require<ConfigError>(!device.has_index() || device.index() < count, "--device ", machine.device,
                         ": must be one of the ", std::to_string(count), " CUDA devices of this machine");
  }
  return device;
}

bool is_config(const std::string& path) {
  return path.ends_with(".toml");
}

Schema schema_of(const Recipe& recipe) {
  const Interface* interface = recipe.interface ? &*recipe.interface : nullptr;
  if (interface == nullptr || std::holds_alternative<TensorsDataOptions>(recipe.data.set)) {
    return declared_schema(recipe.data, interface);
  }
  Schema schema = schema_of(*interface);
  schema.labels.clear();
  return schema;
}

Subject build_subject(const ConfigArguments& config, at::Device device, std::optional<at::ScalarType> dtype) {
  Subject subject;
  subject.recipe = read_recipe(config.path, config.overrides);
  subject.schema = schema_of(subject.recipe);
  Interface interface;
  if (subject.recipe.interface) {
    interface = *subject.recipe.interface;
  }
  // An [interface] with outputs stands alone; without, or where they are classes, which no model gives as
  // such, the task says what it wants.
  const auto& outputs = interface.outputs;
  if (std::all_of(outputs.begin(), outputs.end(), [](const auto& q) { return q.kind == Kind::category; })) {
    subject.task = make_task(subject.recipe.task);
    interface = subject.task->interface(subject.schema);
  }
  const bool wide = subject.recipe.train.precision == Precision::float64;
  const BuildOn build_on(device, dtype.value_or(wide ? at::kDouble : at::kFloat));
  if (!device.is_meta()) {
    // As train/train.cpp does, so that a config's audit sees the weights that its training starts from.
    at::manual_seed(Stream(static_cast<uint64_t>(subject.recipe.train.seed), "weights").bits());
  }
  subject.model = build(subject.recipe.model, interface);
  return subject;
}

Subject load_subject(const std::string& path, at::Device device, std::optional<at::ScalarType> dtype) {
  SavedModel saved = load_model(path, device, dtype);
  Subject subject;
  subject.schema = schema_of(saved.recipe);
  subject.schema.interface = saved.interface;
  subject.schema.interface.outputs.clear();
  subject.recipe = std::move(saved.recipe);
  subject.recipe.data = data_of_run(subject.recipe.data, path);
  subject.model = std::move(saved.model);
  subject.task = std::move(saved.task);
  subject.trained = true;
  subject.model->train(false);
  return subject;
}

namespace {

const Interface* interface_of(const Recipe& recipe) {
  return recipe.interface ? &*recipe.interface : nullptr;
}

std::string said(const Schema& schema) {
  const auto& group = schema.interface.group;
  return std::string(name_of(schema.carrier())) + (group ? text(" of ", name_of(*group)) : "");
}

// What a file holds must be what the model takes: DataError, before the model's own ShapeError.
void require_same_carrier(const std::string& path, const Schema& found, const Schema& wanted) {
  const auto &has = found.interface.group, &takes = wanted.interface.group;
  require<DataError>(found.carrier() == wanted.carrier() && (!has || !takes || has == takes), path,
                     ": must hold ", said(wanted), ", got ", said(found));
}

}  // namespace

std::shared_ptr<const Dataset> open_data(const Recipe& recipe, const std::string& path,
                                         const std::string& split) {
  if (!path.empty() && !std::filesystem::is_directory(path)) {
    auto data = open_file(path, recipe.data, interface_of(recipe));
    require_same_carrier(path, data->schema(), schema_of(recipe));
    return data;
  }
  const Splits splits =
      open_splits(path.empty() ? recipe.data : all_of(recipe.data, path), interface_of(recipe));
  const auto& chosen = split == "train" ? splits.train : split == "valid" ? splits.valid : splits.test;
  require<DataError>(chosen != nullptr, path.empty() ? "the data set" : path, ": must have a ", split,
                     " split, but has none");
  return chosen;
}

std::shared_ptr<const Dataset> open_for_prediction(const Subject& subject, const std::string& path) {
  require<DataError>(std::filesystem::exists(path), path,
                     ": must be a data file or folder, but does not exist");
  const std::shared_ptr<const Dataset> data = open_file(path, subject.recipe.data, &subject.model->interface);
  const Schema& found = data->schema();
  require_same_carrier(path, found, subject.schema);
  require<DataError>(found.interface.dimension == subject.schema.interface.dimension, path, ": must have ",
                     subject.schema.interface.dimension, " dimensions, got ", found.interface.dimension);
  return data;
}

void stream(const std::string& where, const Dataset& data, int64_t batch, const Model& model,
            const std::function<void(const Batch&)>& use, bool on_cpu) {
  const at::Device device = on_cpu ? at::Device(at::kCPU) : model.device();
  const auto run = [&](std::span<const int64_t> samples) {
    use(to(data.batch(samples), device, model.dtype()));
  };
  const bool grids = data.schema().carrier() == Carrier::grid;
  for (int64_t begin = 0, end = 0; begin < data.size(); begin = end) {
    end = std::min(begin + batch, data.size());
    for (int64_t i = begin + 1; grids && i < end; ++i) {
      end = data.lattice(i).alike(data.lattice(begin)) ? end : i;
    }
    std::vector<int64_t> indices(static_cast<size_t>(end - begin));
    std::iota(indices.begin(), indices.end(), begin);
    try {
      run(indices);
    } catch (const ShapeError& error) {
      blame_sample(where, error, indices, [&](int64_t sample) { run({&sample, 1}); });
    }
  }
}

int64_t batch_of(const Subject& subject, int64_t asked) {
  return subject.schema.carrier() == Carrier::grid ? std::min(asked, subject.recipe.train.batch) : asked;
}

namespace {

// Of UTF-8: bytes that begin one.
size_t characters(const std::string& words) {
  return static_cast<size_t>(
      std::count_if(words.begin(), words.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

Metrics chief(const Metrics& metrics) {
  if (metrics.size() <= 8) {
    return metrics;
  }
  Metrics result;
  for (const auto& entry : metrics) {
    const auto within = [&](const auto& other) { return entry.first.starts_with(other.first + "_"); };
    if (std::none_of(metrics.begin(), metrics.end(), within)) {
      result.insert(entry);
    }
  }
  return result;
}

std::string metrics_text(const Metrics& metrics) {
  std::string line;
  for (const auto& [name, metric] : metrics) {
    char number[32];
    std::snprintf(number, sizeof number, "%.5g", metric.value);
    line += (line.empty() ? "" : "  ") + name + " " + number + (metric.unit.empty() ? "" : " " + metric.unit);
  }
  return line;
}

std::string table_text(const Breakdown& breakdown) {
  std::vector<std::vector<std::string>> cells{{breakdown.by}};
  std::vector<std::string> names;
  for (const auto& [name, metrics] : breakdown.rows) {
    for (const auto& [metric, value] : metrics) {
      if (std::find(names.begin(), names.end(), metric) == names.end()) {
        names.push_back(metric);
        cells[0].push_back(metric + (value.unit.empty() ? "" : " (" + value.unit + ")"));
      }
    }
  }
  for (const auto& [name, metrics] : breakdown.rows) {
    std::vector<std::string> row{name};
    for (const std::string& metric : names) {
      const auto found = metrics.find(metric);
      char number[32] = "-";
      if (found != metrics.end()) {
        std::snprintf(number, sizeof number, "%.5g", found->second.value);
      }
      row.emplace_back(number);
    }
    cells.push_back(std::move(row));
  }
  std::string result;
  for (const auto& row : cells) {
    for (size_t c = 0; c < row.size(); ++c) {
      size_t width = 0;
      for (const auto& other : cells) {
        width = std::max(width, characters(other[c]));
      }
      const std::string space(width - characters(row[c]), ' ');
      result += (c > 0 ? "  " : "") + (c == 0 ? row[c] + space : space + row[c]);
    }
    result += "\n";
  }
  return result;
}

void say_notes(const Task* task) {
  for (const std::string& note : task != nullptr ? task->notes() : std::vector<std::string>{}) {
    say("note: " + note);
  }
}

}  // namespace weyl
