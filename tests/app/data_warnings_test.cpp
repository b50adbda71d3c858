// What the program says of odd data, and how it ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/app/atoms.h"
#include "weyl/core/json.h"

namespace weyl {
namespace data_warnings_test {

TEST(DataWarnings, OfASplitAreWarnings) {
  const std::string folder = scratch("doubts-split");
  auto frames = atoms::frames(40, 1);
  atoms::write(folder + "/sound.xyz", frames);
  const Outcome sound = weyl_program("data split sound.xyz --out sound", folder);
  EXPECT_EQ(sound.code, 0);
  EXPECT_EQ(sound.err, "");
  for (size_t i = 0; i < 20; ++i) {  // every frame twice
    frames[i + 20] = frames[i];
  }
  atoms::write(folder + "/twice.xyz", frames);
  const Outcome twice = weyl_program("data split twice.xyz --out twice --json", folder);
  EXPECT_EQ(twice.code, 0) << twice.err;
  EXPECT_NE(twice.err.find("of a sample of train"), std::string::npos) << twice.err;
  EXPECT_NE(twice.err.find("twice/valid.extxyz: frame "), std::string::npos) << twice.err;
  const Json json = Json::parse(twice.out, "stdout");
  ASSERT_NE(json.find("warnings"), nullptr) << twice.out;
  EXPECT_NE(twice.out.find("of a sample of train"), std::string::npos) << twice.out;
}

TEST(DataWarnings, OfATrainingAreInItsLog) {
  const std::string folder = atoms::prepared("doubts-train");
  const Outcome sound = weyl_program("train c.toml train.steps=2 --out sound", folder);
  EXPECT_EQ(sound.code, 0) << sound.err;
  for (const char* word : {"inputs of", "beyond 20", "has one sample"}) {
    EXPECT_EQ(sound.err.find(word), std::string::npos) << sound.err;
  }
  auto frames = atoms::frames(60, 1);
  frames[12].set("energy", -1234.0);
  atoms::write(folder + "/data/train.xyz", frames);
  atoms::write(folder + "/data/valid.xyz", {frames[3]});
  const Outcome odd = weyl_program("train c.toml train.steps=2 --out odd", folder);
  EXPECT_EQ(odd.code, 0) << odd.err;
  const std::string log = contents(folder + "/odd/log.txt");
  for (const char* line :
       {"train: energy: 1 of 60 samples is beyond 20 median absolute deviations: sample 12 has -1234 eV",
        "valid: has one sample alone", "valid: 1 of 1 samples has the inputs of a sample of train"}) {
    EXPECT_NE(odd.err.find(line), std::string::npos) << odd.err;
    EXPECT_NE(log.find(line), std::string::npos) << log;
  }
}

TEST(DataWarnings, AFeatureThatIsLearnedIsRefused) {
  const std::string folder = atoms::prepared("doubts-feature");
  for (const char* verb : {"train", "config check"}) {
    for (const char* feature : {"energy", "dft_energy"}) {
      const Outcome refused =
          weyl_program(std::string(verb) + " c.toml 'data.molecules.features=[\"" + feature + "\"]'", folder);
      EXPECT_EQ(refused.code, 2) << refused.err;
      EXPECT_NE(
          refused.err.find(std::string("data.molecules.features: '") + feature + "' must not be a feature"),
          std::string::npos)
          << refused.err;
      EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
    }
    EXPECT_EQ(std::filesystem::exists(folder + "/runs"), false);
  }
  EXPECT_EQ(weyl_program("config check c.toml 'data.molecules.features=[\"charge\"]'", folder).code, 0);
}

}  // namespace data_warnings_test
}  // namespace weyl
