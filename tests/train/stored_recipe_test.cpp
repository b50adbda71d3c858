// Recipes that trainings wrote before a key was there: the key has the value that the model had then.
#include "weyl/train/stored_recipe.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "weyl/config/toml.h"
#include "weyl/models/lie/options.h"

namespace weyl {
namespace stored_recipe_test {

constexpr const char* variant_c = R"([model]
system = "lie"
[model.lie]
variant = "C"
)";

lie::ScoreActivation activation_of(const Recipe& recipe) {
  const auto* options = recipe.model.system.get_if<lie::Options>();
  EXPECT_NE(options, nullptr);
  return options->score_activation;
}

Recipe stored(const std::string& toml) {
  Recipe recipe;
  read_toml_text(toml, "stored", {}, [&](Fields& f) { fields_of_stored(f, recipe); });
  return recipe;
}

TEST(StoredRecipe, ModelCOfBeforeTheKeyHadGelu) {
  EXPECT_EQ(activation_of(stored(variant_c)), lie::ScoreActivation::gelu);
  EXPECT_EQ(activation_of(stored(std::string(variant_c) + "score_activation = \"relu\"\n")),
            lie::ScoreActivation::relu);
  EXPECT_EQ(activation_of(stored("model.system = \"lie\"")), lie::ScoreActivation::relu);  // G has no network
}

TEST(StoredRecipe, WhatItIsReadWithIsWrittenAndReadAgain) {
  Recipe recipe = stored(variant_c);
  const std::string resolved = write_toml([&](Fields& f) { fields(f, recipe); });
  EXPECT_NE(resolved.find("score_activation = \"gelu\""), std::string::npos) << resolved;
  Recipe again;
  read_toml_text(resolved, "resolved", {}, [&](Fields& f) { fields(f, again); });
  EXPECT_EQ(activation_of(again), lie::ScoreActivation::gelu);
  Recipe fresh;  // the known defaults are left alone
  fresh.model = recipe.model;
  read_toml_text(std::string("[model]\nsystem = \"geomformer\""), "other", {},
                 [&](Fields& f) { fields(f, fresh); });
  read_toml_text(variant_c, "new", {}, [&](Fields& f) { fields(f, fresh); });
  EXPECT_EQ(activation_of(fresh), lie::ScoreActivation::relu);
}

// The config.toml of a run is one, a config of that name in any other folder is none.
TEST(StoredRecipe, ConfigsOfRunsAreOnes) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "weyl-stored-recipe";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string config = (folder / "config.toml").string();
  std::ofstream(config) << variant_c;
  EXPECT_FALSE(is_stored_recipe(config));
  EXPECT_EQ(activation_of(read_recipe(config)), lie::ScoreActivation::relu);
  std::ofstream(folder / "environment.json") << "{}\n";
  EXPECT_TRUE(is_stored_recipe(config));
  EXPECT_EQ(activation_of(read_recipe(config)), lie::ScoreActivation::gelu);
  EXPECT_EQ(activation_of(read_recipe(config, {"model.lie.score_activation=relu"})),
            lie::ScoreActivation::relu);
  EXPECT_FALSE(is_stored_recipe((folder / "environment.json").string()));
}

}  // namespace stored_recipe_test
}  // namespace weyl
