// Every option of training does something to a run, or is refused with a reason: see tests/effects.h. And what is in the
// recipes of configs/ is read by the models that they name.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/effects.h"
#include "tests/recipe_files.h"
#include "tests/train/small_training.h"
#include "weyl/config/toml.h"
#include "weyl/core/alternatives.h"
#include "weyl/data/open.h"
#include "weyl/models/transformer/options.h"
#include "weyl/predict/subject.h"

namespace weyl {
namespace effects_test {

/// The rows of metrics.csv (rates, losses, gradients, validations) and the best weights of a short run. Runs repeat to
/// the last bit, so what is equal here is equal.
Effect run_outcome(const TrainOptions& options) {
  static const Splits data{small_set(24, 1), small_set(8, 2), nullptr};
  return outcome_of([&] {
    const ScratchFolder folder;
    Recipe recipe = small_recipe();
    recipe.train = options;
    TrainRequest request;
    request.strict = true;
    request.out = folder / "run";
    request.data = data;
    const TrainResult result = train(recipe, request);
    Effect outcome;
    outcome.words["metrics.csv"] = read_if_there(request.out + "/metrics.csv");
    outcome.words["steps"] = std::to_string(result.steps);
    record_parameters(*load_model(request.out).model, outcome);
    return outcome;
  });
}

TrainOptions short_training() {
  TrainOptions o = small_recipe().train;
  o.epochs = 3;
  o.batch = 4;
  o.log_every_steps = 1;
  o.schedule = {};
  o.schedule.warmup = 1;
  return o;
}

const std::map<std::string, std::string> outside_of_runs{
    {"max_seconds", "a budget of seconds ends a run where the machine has come to, which no test repeats"},
    {"save_every_seconds", "when `last` is saved: what it holds does not depend on it"},
    {"save_every_steps", "likewise"},
    {"loaders", "how many threads make the same batches"},
    {"tf32", "on GPUs alone; elsewhere a line says that it has no effect"},
    {"deterministic", "likewise"},
    {"patience", "only where validations stop to improve: see Patience"}};

TEST(EffectsOfTraining, EveryKey) {
  TrainOptions o = short_training();
  expect_effects("training", o, run_outcome, {}, outside_of_runs);
}

TEST(EffectsOfTraining, TheSchedule) {
  for (const ScheduleLaw law : {ScheduleLaw::constant, ScheduleLaw::linear, ScheduleLaw::step}) {
    TrainOptions o = short_training();
    o.schedule.warmup = 0;
    o.schedule.name = law;
    if (law == ScheduleLaw::step) {
      o.schedule.every = 0.5;
    }
    expect_effects(std::string(names_of(law)[static_cast<size_t>(law)]), o, run_outcome, {}, {}, "schedule.");
  }
}

/// At a rate that moves nothing in float32 every validation is like the one before: patience runs out.
TEST(EffectsOfTraining, Patience) {
  TrainOptions o = short_training();
  o.schedule.warmup = 0;
  o.schedule.name = ScheduleLaw::plateau;
  o.schedule.patience = 0;
  o.optimiser.rate = 1e-30;
  o.optimiser.weight_decay = 0;
  o.average.reset();
  expect_effects("plateau", o, run_outcome, {}, {}, "schedule.");
  expect_effects("patience", o, run_outcome, {}, {}, "patience");
}

TEST(EffectsOfTraining, WhatIsBesideAnother) {
  TrainOptions o = short_training();
  o.average.reset();
  expect_effects("without an average", o, run_outcome, {}, {}, "average");
  o.batch = TrainOptions{}.batch;
  o.batch_tokens = 16;
  expect_effects("batches of tokens", o, run_outcome, {}, {}, "batch_tokens");
}

/// As `weyl info` builds them, with the interface that data and task make: as written, and as resolved.
TEST(EffectsOfRecipes, ModelsReadWhatRecipesSay) {
  const ScratchFolder folder;
  size_t recipes = 0;
  for (const std::string& file : recipe_files()) {
    ++recipes;
    Recipe recipe = read_recipe(file);
    EXPECT_TRUE(build_subject(recipe, at::kMeta, {}).recipe.warnings.empty()) << file;
    const std::string resolved = folder / "resolved.toml";
    std::ofstream(resolved) << write_toml([&](Fields& f) { fields(f, recipe); });
    EXPECT_TRUE(build_subject(read_recipe(resolved), at::kMeta, {}).recipe.warnings.empty()) << file;
  }
  EXPECT_GT(recipes, 30u);
}

/// Attention inside objects is refused where the data declare none, before any file is looked for; what train/recipe.cpp
/// knows of the sets is what they declare.
TEST(EffectsOfRecipes, ObjectsThatDataDoNotHaveAreRefused) {
  const auto objects = [](const std::vector<Quantity>& all) {
    return std::ranges::any_of(all, [](const Quantity& q) { return q.level == Level::object; });
  };
  size_t refused = 0;
  each_alternative<DataSet>([&]<class Set>(std::type_identity<Set>) {
    if constexpr (!std::is_same_v<Set, TensorsDataOptions>) {  // whose files alone know
      Recipe recipe;
      recipe.data.set = Set{};
      transformer::Options options;
      options.attention = AttentionScope::hierarchical;
      recipe.model.system = options;
      Schema schema;
      try {
        schema = declared_schema(recipe.data);
      } catch (const ConfigError&) {  // of images a class must be named, say: grids, at any rate
      }
      if (objects(schema.labels) || objects(schema.interface.features)) {
        EXPECT_NO_THROW(require_objects(recipe)) << Set::name_in_config;
      } else {
        EXPECT_THROW(require_objects(recipe), ConfigError) << Set::name_in_config;
        ++refused;
      }
    }
  });
  EXPECT_GT(refused, 10u);
  const std::string configs = WEYL_SOURCE_DIR "/configs/";
  for (const char* key : {"axial=true", "attention=hierarchical"}) {
    try {
      build_subject(read_recipe(configs + "nbody/gatr.toml", {std::string("model.gatr.") + key}), at::kMeta,
                    {});
      FAIL() << key;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(": data set nbody has no objects"), std::string::npos)
          << error.what();
    }
  }
}

/// A trained run is not asked: what it was trained with, it was trained with.
TEST(EffectsOfRecipes, StoredModelsAreNotRefused) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train = short_training();
  recipe.model.system.get_if<transformer::Options>()->pooling = Pooling::mean;
  TrainRequest request;
  request.out = folder / "refused";
  request.strict = true;
  request.data = Splits{small_set(24, 1), small_set(8, 2), nullptr};
  try {
    train(recipe, request);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(
        error.what(),
        "model.transformer.pooling = \"mean\" has no effect where every output is of nodes or extensive");
  }
  EXPECT_FALSE(std::filesystem::exists(request.out));
  const std::string run = folder / "stored";
  train_small(recipe, run, *request.data);
  EXPECT_NO_THROW(load_model(run));
}

}  // namespace effects_test
}  // namespace weyl
