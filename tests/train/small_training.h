#pragma once

#include <ATen/ATen.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "weyl/core/random_tensor.h"
#include "weyl/models/transformer/options.h"
#include "weyl/train/run/append_file.h"
#include "weyl/train/train.h"

namespace weyl {

/// A folder that lives as long as this does.
struct ScratchFolder {
  std::filesystem::path path;
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "weyl-train-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

/// Graphs of three to five charged points whose displacement is a smooth function of velocities and charges.
inline std::shared_ptr<const Dataset> small_set(int64_t samples, uint64_t seed) {
  Stream stream(seed, "small data");
  std::vector<int64_t> sizes;
  int64_t nodes = 0;
  for (int64_t i = 0; i < samples; ++i) {
    sizes.push_back(3 + stream.below(3));
    nodes += sizes.back();
  }
  Points points;
  points.positions = normal_tensor({nodes, 3}, stream);
  points.vectors = normal_tensor({nodes, 1, 3}, stream);
  points.scalars = normal_tensor({nodes, 1}, stream).sign();
  points.graphs = Segments::of_sizes(sizes);
  Schema schema;
  schema.interface.typical_nodes = static_cast<double>(nodes) / static_cast<double>(samples);
  schema.interface.features = {{"velocity", Level::node, Kind::vector},
                               {"charge", Level::node, Kind::scalar}};
  schema.labels = {{"displacement", Level::node, Kind::vector, 1, Role::offset, false, "m"}};
  Batch all;
  all.labels["displacement"] = points.vectors * (0.5 + 0.3 * points.scalars.unsqueeze(2));
  all.input = points;
  return std::make_shared<InMemory>(std::move(all), std::move(schema));
}

inline Splits small_data() {
  return {small_set(70, 1), small_set(20, 2), small_set(20, 3)};
}

/// Everything that has a state is on: dropout, augmentation, accumulation, clipping, average, plateau.
inline Recipe small_recipe() {
  Recipe recipe;
  transformer::Options model;
  model.width = 16;
  model.heads = 2;
  model.blocks = 1;
  model.dropout = 0.1;
  recipe.model.system = model;
  TrainOptions& o = recipe.train;
  o.seed = 5;
  o.epochs = 4;
  o.batch = 8;
  o.accumulate = 2;
  o.augment = Augmentation::rotations;
  o.average = 0.9;
  o.evaluate_every = 0.7;
  o.save_every_seconds = 1e9;
  o.log_every_steps = 3;
  o.optimiser.rate = 3e-3;
  o.optimiser.weight_decay = 0.01;
  o.optimiser.clip = 0.5;
  o.schedule.name = ScheduleLaw::plateau;
  o.schedule.patience = 1;
  o.schedule.warmup = 1;
  return recipe;
}

inline SavedModel small_model(const Recipe& recipe, const Splits& data) {
  SavedModel saved;
  saved.recipe = saved_recipe(recipe);
  saved.task = make_task(recipe.task);
  saved.task->fit(*data.train);
  saved.interface = saved.task->interface(data.train->schema());
  at::manual_seed(static_cast<uint64_t>(recipe.train.seed) + 99);
  const BuildOn build_on(at::kCPU, recipe.train.precision == Precision::float64 ? at::kDouble : at::kFloat);
  saved.model = build(recipe.model, saved.interface);
  return saved;
}

/// Begins a run in a folder, or continues it when there is a checkpoint.
inline TrainResult train_small(const Recipe& recipe, const std::string& run,
                               const Splits& data = small_data(), TrainObserver* observer = nullptr,
                               std::function<bool()> stop = {}, std::shared_ptr<Ranks> ranks = nullptr) {
  std::filesystem::create_directories(run);
  const bool resumes = std::filesystem::exists(run + "/last");
  if (ranks != nullptr) {
    ranks->barrier();  // before the first one writes
  }
  Trainer trainer(small_model(recipe, data), recipe.train, data, run, observer, std::move(stop),
                  built_in_systems(), std::move(ranks));
  if (resumes) {
    trainer.load(read_checkpoint(run));
  }
  return trainer.run();
}

/// Asks to stop before the (n + 1)-th step of this part.
inline std::function<bool()> stop_after(int64_t n) {
  return [n]() mutable { return n-- == 0; };
}

/// The files of a run that must agree to the last bit, each as one string.
inline std::map<std::string, std::string> bits_of(const std::string& run) {
  std::map<std::string, std::string> bits;
  for (const char* name :
       {"last/model.safetensors", "last/state.safetensors", "best/model.safetensors", "metrics.csv"}) {
    bits[name] = read_if_there(run + "/" + name);
  }
  return bits;
}

inline void expect_same_bits(const std::string& run, const std::string& other) {
  const auto a = bits_of(run), b = bits_of(other);
  for (const auto& [name, contents] : a) {
    EXPECT_FALSE(contents.empty()) << name;
    EXPECT_TRUE(contents == b.at(name)) << name << " differs between " << run << " and " << other;
  }
}

}  // namespace weyl
