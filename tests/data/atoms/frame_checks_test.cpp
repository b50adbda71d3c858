#include "weyl/data/atoms/frame_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "tests/app/atoms.h"
#include "tests/data/folder.h"
#include "weyl/data/atoms/inspect_frames.h"
#include "weyl/data/formats.h"
#include "weyl/data/inspect.h"

namespace weyl {
namespace frame_checks_test {

/// The warnings of all splits of a path, a line each.
std::string warnings(const std::string& path) {
  std::string all;
  FrameFiles::inspect(path, [&](const std::string&, const AnyInspection& found) {
    for (const auto& line : std::get<FrameInspection>(found).warnings) {
      all += line + "\n";
    }
  });
  return all;
}

struct FrameChecksTest : testing::Test {
  Folder folder;
  std::vector<AtomsFrame> frames = atoms::frames(60, 1);

  std::string of(const std::vector<AtomsFrame>& all, const std::string& name = "a.xyz") {
    atoms::write(folder / name, all);
    return warnings(folder / name);
  }
};

TEST_F(FrameChecksTest, SoundFramesAreNotDoubted) {
  EXPECT_EQ(of(frames), "");
  EXPECT_EQ(of({frames[0], frames[2]}, "b.xyz"), "");
}

TEST_F(FrameChecksTest, AWeightOfAFrameIsNoNumberThatIsFar) {
  for (size_t i = 0; i < frames.size(); ++i) {
    frames[i].set("config_weight", i == 0 ? 100. : 1.);
    frames[i].set("stress_weight", i == 3 ? 0.01 : 1.);
  }
  EXPECT_EQ(of(frames), "");
}

TEST_F(FrameChecksTest, AnEnergyAmongOthersIsNamed) {
  frames[12].set("energy", -1234.);
  const std::string said = of(frames);
  EXPECT_EQ(said.find("energy: 1 of 60 samples is beyond 20 median absolute deviations: " +
                      (folder / "a.xyz") + ": frame 13 has -1234 where -20"),
            0U)
      << said;
}

TEST_F(FrameChecksTest, AForceIsNamedByItsElement) {
  AtomColumn forces = *frames[7].column("forces");
  std::get<std::vector<double>>(forces.values)[4] = 1e30;  // of the second atom, H
  frames[7].set(forces);
  const std::string said = of(frames);
  EXPECT_EQ(said.find("forces of H: 1 of 60 samples has a norm beyond 20 times the median "), 0U) << said;
  EXPECT_NE(said.find("a.xyz: frame 8 has 1e+30\n"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST_F(FrameChecksTest, AStressOfFiveNumbersIsNamed) {
  for (size_t i = 0; i < frames.size(); ++i) {
    frames[i].set(
        FrameValue{"stress", {6}, std::vector<double>{1, 2, 3, 0.1 * static_cast<double>(i), 0, 0}});
  }
  EXPECT_EQ(of(frames), "");
  frames[4].set(FrameValue{"stress", {5}, std::vector<double>{1, 2, 3, 4, 5}});
  const std::string said = of(frames);
  EXPECT_NE(said.find("stress must be 9 numbers, or 6, which 1 frame has not: the first has 5 in " +
                      (folder / "a.xyz") + ": frame 5"),
            std::string::npos)
      << said;
}

TEST_F(FrameChecksTest, IdenticalFramesAreNamedWithTheirFiles) {
  const auto others = atoms::frames(20, 2);
  std::filesystem::create_directories(folder / "set");
  atoms::write(folder / "set/train.xyz", frames);
  atoms::write(folder / "set/valid.xyz", others);
  EXPECT_EQ(warnings(folder / "set"), "");
  frames[30] = frames[20];
  frames[30].set("energy", reals_of(frames[20].value("energy")->values)->at(0) + 1e-3);
  std::vector<AtomsFrame> valid = others;
  valid[3] = frames[1];
  std::filesystem::remove_all(folder / "set");
  std::filesystem::create_directories(folder / "set");
  atoms::write(folder / "set/train.xyz", frames);
  atoms::write(folder / "set/valid.xyz", valid);
  const std::string said = warnings(folder / "set");
  const std::string train = folder / "set/train.xyz", there = folder / "set/valid.xyz";
  EXPECT_EQ(said, "train: 1 of 60 samples has the inputs of an earlier one, 1 with another label: " + train +
                      ": frame 31 those of " + train +
                      ": frame 21\nvalid: 1 of 20 samples has the inputs of a sample "
                      "of train: " +
                      there + ": frame 4 those of " + train + ": frame 2\n");
}

TEST_F(FrameChecksTest, SplitsOfOneFrameOrNoneAreDoubted) {
  std::filesystem::create_directories(folder / "set");
  atoms::write(folder / "set/train.xyz", frames);
  EXPECT_EQ(warnings(folder / "set"),
            "valid: there is no such split, by which the best model of a training is chosen\n");
  atoms::write(folder / "set/valid.xyz", atoms::frames(1, 2));
  EXPECT_EQ(warnings(folder / "set"),
            "valid: has one frame alone, from which nothing can be said of others\n");
}

TEST(FramePlaces, AreThoseOfTheReaders) {
  FramePlaces places;
  for (const char* where : {"a.xyz: frame 1, line 1", "a.xyz: frame 2, line 9", "b.xyz: frame 1, line 1",
                            "b.xyz: frame 2, line 4", "mol_7", "mol_8", "c.npz: frame 5"}) {
    places.add(where);
  }
  EXPECT_EQ(places(0), "a.xyz: frame 1");
  EXPECT_EQ(places(1), "a.xyz: frame 2");
  EXPECT_EQ(places(3), "b.xyz: frame 2");
  EXPECT_EQ(places(4), "mol_7");
  EXPECT_EQ(places(5), "mol_8");
  EXPECT_EQ(places(6), "c.npz: frame 5");
  EXPECT_THROW(places(7), ShapeError);
}

TEST(FrameHash, IsOfWhatAModelSeesAndOfTheRest) {
  const AtomsFrame frame = atoms::frames(1, 3)[0];
  const FrameHash hash = hash_of(frame);
  AtomsFrame other = frame;
  EXPECT_EQ(hash_of(other).inputs, hash.inputs);
  EXPECT_EQ(hash_of(other).labels, hash.labels);
  other.set("energy", 1.0);
  EXPECT_EQ(hash_of(other).inputs, hash.inputs);
  EXPECT_NE(hash_of(other).labels, hash.labels);
  for (const auto& change : std::vector<std::function<void(AtomsFrame&)>>{
           [](AtomsFrame& f) { f.positions[5] += 1e-15; }, [](AtomsFrame& f) { f.numbers[1] = 9; },
           [](AtomsFrame& f) { f.cell = {4, 0, 0, 0, 4, 0, 0, 0, 4}; }}) {
    AtomsFrame moved = frame;
    change(moved);
    EXPECT_NE(hash_of(moved).inputs, hash.inputs);
  }
}

}  // namespace frame_checks_test
}  // namespace weyl
