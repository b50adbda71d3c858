// The least that data can have: one frame, one case, forces without energies. What can be done with it is done.
#include <gtest/gtest.h>

#include "tests/app/new_config.h"

namespace weyl {
namespace small_sets_test {

const std::string water =
    "3\nProperties=species:S:1:pos:R:3:forces:R:3 energy=-470.2\nO 0 0 0 0.1 0 0\nH 0.9 0.1 0 0 0.2 0\nH -0.2 0.9 0.1 -0.1 -0.2 0\n";

/// The only run in the folder is audited, and gives predictions; what is said of them.
std::string expect_used(const std::string& folder, const std::string& data) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!fs::exists(entry.path() / "config.toml")) {
      continue;
    }
    const std::string run = entry.path().filename().string();
    const Outcome audited = weyl_program("audit " + run + " --samples 1 --threads 1", folder);
    EXPECT_LE(audited.code, 1) << audited.err;  // it is made, whatever it finds
    EXPECT_NE(audited.out.find("translations"), std::string::npos) << audited.out;
    const Outcome predicted =
        weyl_program("predict " + run + " " + data + " --out out.extxyz --threads 1", folder);
    EXPECT_EQ(predicted.code, 0) << predicted.err;
    return predicted.err;
  }
  ADD_FAILURE() << "no run in " << folder;
  return {};
}

TEST(SmallSets, OneFrame) {
  const std::string folder = scratch("small-frame");
  put(folder + "/one.xyz", water);
  const std::string config = trained(folder, "one.xyz");
  has(config, "One frame alone: it is learned by heart");
  expect_used(folder, "one.xyz");
}

TEST(SmallSets, ForcesAlone) {
  const std::string folder = scratch("small-forces");
  std::string frames = water + water;
  for (size_t at = frames.find(" energy=-470.2"); at != std::string::npos;
       at = frames.find(" energy=-470.2")) {
    frames.erase(at, 14);
  }
  put(folder + "/forces.xyz", frames);
  const std::string config = trained(folder, "forces.xyz");
  has(config, "energy_weight = 0.0");
  has(config, "force_unit = \"eV/Angstrom\"");
  has(config, "forces = \"forces\"");
  has_not(config, "energy_unit");
  has(expect_used(folder, "forces.xyz"), "energies were not learned");
}

TEST(SmallSets, OneOrTwoVolumes) {
  const std::string folder = scratch("small-volumes");
  for (const int cases : {1, 2}) {
    const std::string count = std::to_string(cases);
    ASSERT_EQ(weyl_program("data make phantoms --out set" + count +
                               " 'size=[12,12,12]' 'spacing=[12,12,12]' count=" + count,
                           folder)
                  .code,
              0);
    const Outcome made = weyl_program("config new --data set" + count + " --out v" + count + ".toml", folder);
    EXPECT_EQ(made.code, 0) << made.err;
    has(contents(folder + "/v" + count + ".toml"),
        cases == 1 ? "fractions = [1.0, 0.0, 0.0]" : "fractions = [0.5, 0.5, 0.0]");
  }
}

}  // namespace small_sets_test
}  // namespace weyl
