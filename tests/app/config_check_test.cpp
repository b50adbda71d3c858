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
  const Outcome out = weyl_program("config check c.toml", folder);
  EXPECT_EQ(out.code, 0) << out.err;
}

}  // namespace config_check_test
}  // namespace weyl
