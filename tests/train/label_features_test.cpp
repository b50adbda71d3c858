#include "weyl/train/preflight/label_features.h"

#include <gtest/gtest.h>

#include "weyl/core/check.h"

namespace weyl {
namespace label_features_test {

Recipe potential(const std::vector<std::string>& features, const std::string& energy = "") {
  Recipe recipe;
  MoleculesDataOptions molecules;
  molecules.features = features;
  molecules.energy = energy;
  recipe.data.set = molecules;
  recipe.task.task = ForceFieldOptions{};
  return recipe;
}

std::string refusal(const Recipe& recipe) {
  try {
    require_features_are_no_labels(recipe);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(LabelFeatures, OfAForceFieldAreRefusedByNameKeyAndAlias) {
  EXPECT_EQ(refusal(potential({})), "");
  EXPECT_EQ(refusal(potential({"charge", "spin", "xtb_energy", "energy_of_solvation"})), "");
  EXPECT_EQ(refusal(potential({"charge", "energy"})),
            "data.molecules.features: 'energy' must not be a feature, because task.force_field learns "
            "'energy': the "
            "model would be told the answer");
  EXPECT_EQ(
      refusal(potential({"pbe"}, "pbe")),
      "data.molecules.features: 'pbe' must not be a feature, because task.force_field learns 'energy' "
      "(data.molecules.energy = 'pbe'), of which it is another name: the model would be told the answer");
  for (const char* name : {"Energy", "dft_energy", "DFT-energy", "REF_energy", "free_energy", "forces",
                           "force", "stress", "virial", "dft_stress"}) {
    EXPECT_NE(refusal(potential({name})), "") << name;
    EXPECT_NE(refusal(potential({name}, "pbe")), "") << name;
  }
  Recipe forces_alone = potential({"energy"});
  std::get<ForceFieldOptions>(forces_alone.task.task).energy_weight = 0;
  EXPECT_NE(refusal(forces_alone), "");
}

TEST(LabelFeatures, OfPropertiesAreRefusedWhereTheyAreLearned) {
  Recipe recipe = potential({"gap"});
  recipe.task.task = PropertyOptions{.targets = {"homo"}};
  EXPECT_EQ(refusal(recipe), "");
  recipe.task.task = PropertyOptions{.targets = {"Q", "v"}};
  EXPECT_EQ(refusal([&] {  // a charge is no quadrupole
              Recipe r = potential({"q", "V"});
              r.task.task = recipe.task.task;
              return r;
            }()),
            "");
  EXPECT_NE(refusal([&] {
              Recipe r = potential({"Q"});
              r.task.task = recipe.task.task;
              return r;
            }()),
            "");
  recipe.task.task = PropertyOptions{.targets = {"homo", "gap"}};
  EXPECT_EQ(refusal(recipe),
            "data.molecules.features: 'gap' must not be a feature, because task.property.targets learns "
            "'gap': the model "
            "would be told the answer");
  EXPECT_EQ(refusal([] {  // an energy of another method is no answer to what is not learned
              Recipe r = potential({"energy"});
              r.task.task = PropertyOptions{.targets = {"gap"}};
              return r;
            }()),
            "");
}

TEST(LabelFeatures, OfTensorsAndOfAProgramAreRefusedByName) {
  Recipe recipe;
  recipe.data.set = TensorsDataOptions{};
  recipe.task.task = TrajectoryOptions{};
  recipe.interface.emplace();
  recipe.interface->features = {{.name = "velocity", .kind = Kind::vector}};
  EXPECT_EQ(refusal(recipe), "");
  recipe.interface->features.push_back({.name = "displacement", .kind = Kind::vector});
  EXPECT_NE(refusal(recipe).find("interface.features: 'displacement' must not be a feature"),
            std::string::npos);
  const std::vector<Quantity> labels{{.name = "y", .level = Level::graph}},
      features{{.name = "x"}, {.name = "y"}};
  EXPECT_NO_THROW(require_features_are_no_labels(std::span(features).first(1), labels, "property"));
  EXPECT_THROW(require_features_are_no_labels(features, labels, "property"), ConfigError);
}

}  // namespace label_features_test
}  // namespace weyl
