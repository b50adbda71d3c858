// `weyl config check` warns of what training would warn of: options without effect with the model's inputs and outputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/app/program.h"

namespace weyl {
namespace config_check_test {

/// Both verbs warn with the same line, which says this; strictly, it is an error.
void expect_warned(const std::string& config, const std::string& override, const std::string& words) {
  const std::string folder = scratch("config-check");
  const std::string what = " '" WEYL_SOURCE_DIR "/configs/" + config + "' " + override;
  const Outcome check = weyl_program("config check" + what, folder),
                info = weyl_program("info" + what, folder),
                strict = weyl_program("config check --strict" + what, folder);
  EXPECT_EQ(check.code, 0) << override;
  EXPECT_EQ(check.err.find("warning: " + words), 0u) << check.err;
  EXPECT_EQ(check.err, info.err);
  EXPECT_EQ(std::count(check.err.begin(), check.err.end(), '\n'), 1) << check.err;
  EXPECT_EQ(strict.code, 2) << override;
  EXPECT_EQ(strict.out, "");
  EXPECT_EQ("warning: " + strict.err.substr(strict.err.find(' ') + 1), check.err);
}

TEST(ConfigCheck, WarnsOfOptionsWithoutEffectWithTheInterface) {
  expect_warned(
      "md/gatr.toml", "model.gatr.point_regulariser=0.01",
      "model.gatr.point_regulariser = 0.01 has no effect where no output is a point or an offset of one");
  expect_warned("nbody/platonic.toml", "model.platonic.pooling=mean",
                "model.platonic.pooling = \"mean\" has no effect");
  expect_warned("nbody/transformer.toml", "model.transformer.pooling=mean",
                "model.transformer.pooling = \"mean\" has no effect");
  expect_warned("nbody/geomformer.toml", "model.geomformer.pooling=sum",
                "model.geomformer.pooling = \"sum\" has no effect");
}

/// What is wrong for certain is an error, strictly or not, though options without effect stand beside it.
TEST(ConfigCheck, RefusesWhatIsWrong) {
  const std::string folder = scratch("config-check-wrong");
  for (const auto& [config, overrides, words] :
       {std::tuple{"nbody/platonic.toml", "train.schedule.name=exponential train.schedule.final_factor=0",
                   "train.schedule.final_factor: must be above 0"},
        {"nbody/platonic.toml", "task.name=classification", "needs the label 'class'"},
        {"nbody/platonic.toml", "model.platonic.group=octagon", "model.platonic.group"},
        {"nbody/platonic.toml", "model.platonic.heads=7", "model.platonic.heads"},
        {"nbody/gatr.toml", "train.best=nothing", "train.best"},
        {"nbody/gatr.toml", "'train.freeze=[\"nothing\"]'", "train.freeze"},
        {"nbody/gatr.toml", "'train.crop=[4]'", "crop: needs grids"},
        {"md/et.toml", "task.name=property", "task.property.targets"},
        {"glyphs/platonic.toml", "data.rotated_mnist.carrier=grid", "'platonic' does not work on grid"},
        {"glyphs/platonic.toml", "'task.classification.names=[\"a\"]'",
         "task.classification.names: must be 10"},
        {"qm9/platonic.paper.toml", "data.qm9.inputs=pyg 'data.qm9.elements=[\"H\"]'", "data.qm9.elements"},
        {"modelnet/platonic.toml", "data.modelnet.points=64 data.modelnet.centres=128",
         "data.modelnet.centres"}}) {
    const Outcome out = weyl_program(
        "config check '" WEYL_SOURCE_DIR "/configs/" + std::string(config) + "' " + overrides, folder);
    EXPECT_EQ(out.code, 2) << overrides;
    EXPECT_EQ(out.out, "");
    EXPECT_NE(out.err.find(words), std::string::npos) << out.err;
    EXPECT_EQ(std::count(out.err.begin(), out.err.end(), '\n'), 1) << out.err;
  }
}

/// A label that the data set declares to be absent, in the words and with the exit code of `train`.
TEST(ConfigCheck, LooksForTheLabelsOfTheTask) {
  const std::string folder = scratch("config-check-labels");
  for (const auto& [config, override, label] :
       {std::tuple{"nbody/platonic.toml", "task.name=force_field", "energy"},
        {"qm9/et.paper.toml", "'task.property.targets=[\"nothing\"]'", "nothing"}}) {
    const Outcome out = weyl_program(
        "config check '" WEYL_SOURCE_DIR "/configs/" + std::string(config) + "' " + override, folder);
    EXPECT_TRUE(out.code == 2 || out.code == 3) << override;
    EXPECT_NE(out.err.find(std::string("'") + label + "'"), std::string::npos) << out.err;
  }
}

/// One override makes another key idle: a warning, never a refusal.
TEST(ConfigCheck, OptionsThatAnOverrideMakesIdleWarn) {
  const std::string folder = scratch("config-check-idle");
  for (const auto& [config, overrides] :
       {std::pair{"nbody/platonic.toml", "model.platonic.linear_norm=mean"},
        {"md/et.toml", "task.force_field.energy_weight=0"},
        {"md/et.toml", "'data.molecules.fractions=[0.5,0.25,0.25]'"},
        {"phantoms/steerable-transformer.toml", "train.crop_foreground=0.5"},
        {"glyphs/steerable-transformer.toml", "data.rotated_mnist.patch=2"},
        {"glyphs/steerable-transformer.toml", "model.steerable.encoder.depth=0"},
        {"solids/steerable-transformer.toml", "data.modelnet.fill=points"}}) {
    const Outcome out = weyl_program(
        "config check '" WEYL_SOURCE_DIR "/configs/" + std::string(config) + "' " + overrides, folder);
    EXPECT_EQ(out.code, 0) << overrides << out.err;
    EXPECT_NE(out.err.find("has no effect"), std::string::npos) << overrides << out.err;
  }
}

TEST(ConfigCheck, TakesWhatIsRead) {
  const std::string folder = scratch("config-check-sound");
  for (const char* config : {"md/gatr.toml", "planets/gatr.toml", "nbody/gatr.toml"}) {
    const Outcome out =
        weyl_program("config check '" WEYL_SOURCE_DIR "/configs/" + std::string(config) + "'", folder);
    EXPECT_EQ(out.code, 0) << out.err;
  }
}

/// What only the files say, such as the number of classes, is no fault of a config.
TEST(ConfigCheck, AsksForNoFiles) {
  const std::string folder = scratch("config-check-files");
  std::ofstream(folder + "/c.toml") << R"([data]
set = "clouds"
[data.clouds]
path = "nowhere"
[task]
name = "classification"
[model]
system = "platonic"
)";
  for (const char* overrides :
       {"", " 'task.classification.class_weights=[1,1,2]'", " train.best=accuracy_2",
        " 'task.classification.names=[\"a\",\"b\",\"c\"]' 'task.classification.class_weights=[1,1,2]'"}) {
    const Outcome out = weyl_program(std::string("config check c.toml") + overrides, folder);
    EXPECT_EQ(out.code, 0) << overrides << out.err;
  }
  // A number that is given holds, and names and weights are of the same classes.
  for (const char* overrides :
       {" data.clouds.classes=2 'task.classification.class_weights=[1,1,2]'",
        " 'task.classification.names=[\"a\",\"b\"]' 'task.classification.class_weights=[1,1,2]'"}) {
    EXPECT_EQ(weyl_program(std::string("config check c.toml") + overrides, folder).code, 2) << overrides;
  }
}

TEST(ConfigCheck, AsksForNoFilesOfImages) {
  const std::string folder = scratch("config-check-images");
  std::ofstream(folder + "/c.toml") << R"([data]
set = "images"
[data.images]
path = "nowhere"
[task]
name = "classification"
[model]
system = "steerable"
[model.steerable]
orders = 3
stages = [{ middle = 4, channels = 4, kernel = 5, pool = 2 }]
encoder = { depth = 1, heads = 4 }
)";
  for (const char* overrides : {"", " 'task.classification.class_weights=[1,1,2]'",
                                " data.images.target=mask task.name=segmentation"}) {
    const Outcome out = weyl_program(std::string("config check c.toml") + overrides, folder);
    EXPECT_EQ(out.code, 0) << overrides << out.err;
  }
}

}  // namespace config_check_test
}  // namespace weyl
