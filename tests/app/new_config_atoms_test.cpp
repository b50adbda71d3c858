// `weyl config new` on frames of atoms of every format: what it writes is checked, and trains for a step.
#include <gtest/gtest.h>

#include "tests/app/atoms.h"
#include "tests/app/new_config.h"

namespace weyl {
namespace new_config_atoms_test {

std::string gap_of(int i) {
  return "0." + std::to_string(4100 + 70 * i);
}

/// QM9's first molecule so many times, with other gaps and energies.
void write_methanes(const std::string& place, int count) {
  const std::string methane = contents(fixtures + "molecules/qm9/dsgdb9nsd_000001.xyz");
  for (int i = 0; i < count; ++i) {
    std::string molecule = methane;
    molecule.replace(molecule.find("0.5048"), 6, gap_of(i));
    molecule.replace(molecule.find("-40.47893"), 9, "-40." + std::to_string(47800 + 13 * i));
    put(place + "/dsgdb9nsd_" + std::to_string(100001 + i) + ".xyz", molecule);
  }
}

TEST(NewConfig, OfFramesInOneFileNamesTheirKeysElementsAndCutoff) {
  const std::string folder = scratch("new-config-xyz");
  atoms::write(folder + "/all.extxyz", atoms::frames(40, 1));
  const std::string config = trained(folder, "all.extxyz");
  has(config, "set = \"molecules\"");
  has(config, "path = \"all.extxyz\"");
  has(config, "elements = [\"H\", \"O\"]");
  has(config, "energy = \"energy\"");
  has(config, "forces = \"forces\"");
  has(config, "fractions = [0.8, 0.1, 0.1]");
  has(config, "name = \"force_field\"");
  has(config, "preset = \"et\"");
  has(config, "neighbours an atom here");
  has_not(config, "missing");
  has_not(config, "stress");
  has_not(config, "0000001");  // of a number that is not written plainly
}

TEST(NewConfig, OfAFolderWithSplitsOfAllFramesThatLackForces) {
  const std::string folder = scratch("new-config-folder");
  fs::create_directories(folder + "/data");
  auto frames = atoms::frames(24, 1);
  std::erase_if(frames[3].columns, [](const AtomColumn& c) { return c.name == "forces"; });
  atoms::write(folder + "/data/train.xyz", frames);
  atoms::write(folder + "/data/valid.xyz", atoms::frames(4, 2));
  const std::string config = trained(folder, "data");
  has(config, "missing = \"mask\"");
  has(config, "1 of 28 frames lack it");
  has(config, "train 24, valid 4");
  has_not(config, "fractions =");
}

// Folders of published sets, whose splits are lists of their own, and slabs, which no potential is learned from.
TEST(NewConfig, OfSetsOfMoleculesAndOfSlabs) {
  const std::string folder = scratch("new-config-sets");
  const std::string gaps = trained(folder, fixtures + "molecules/pcqm4mv2");
  has(gaps, "set = \"pcqm4mv2\"");
  has(gaps, "targets = [\"gap\"]");
  has(gaps, "elements = [\"C\", \"N\", \"O\", \"F\", \"Cl\"]");
  const std::string molecules = trained(folder, fixtures + "molecules/molecule3d");
  has(molecules, "set = \"molecule3d\"");
  has(molecules, "targets = [\"homolumogap\"]");
  fs::create_directories(folder + "/slabs");
  for (const char* split : {"train", "valid"}) {
    fs::copy_file(fixtures + "molecules/oc20/slabs.extxyz", folder + "/slabs/" + split + ".extxyz");
  }
  const std::string slabs = trained(folder, "slabs");
  has(slabs, "set = \"oc20\"");
  has(slabs, "target = \"energy\"");
  // One file of them is no potential's either; the set reads a folder.
  const Outcome file = weyl_program("config new --data slabs/train.extxyz", folder);
  EXPECT_EQ(file.code, 2) << file.out;
  EXPECT_NE(file.err.find("which data set oc20 reads from a folder with files train.*"), std::string::npos)
      << file.err;
}

TEST(NewConfig, OfPeriodicFramesIsTorchMdNets) {
  const std::string folder = scratch("new-config-periodic");
  auto frames = atoms::frames(24, 1);
  for (AtomsFrame& frame : frames) {
    frame.cell = {6, 0, 0, 0, 6, 0, 0, 0, 6};
    frame.pbc = {true, true, true};
    frame.set(FrameValue{"stress", {9}, std::vector<double>{.1, 0, 0, 0, .1, 0, 0, 0, .2}});
  }
  atoms::write(folder + "/all.xyz", frames);
  const std::string config = trained(folder, "all.xyz");
  has(config, "system = \"geomformer\"");
  has(config, "preset = \"et\"");
  has(config, "stress = true");
  const Outcome other = weyl_program("config new --data all.xyz --system platonic", folder);
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("\"geomformer\""), std::string::npos) << other.err;
}

// Atoms in other cells than the first, as molecular dynamics leaves them, and slabs whose third vector is zero, had only a
// part of their neighbours, or none in other images.
TEST(NewConfig, CountsNeighboursWhereverAtomsAreAndAlongPeriodicAxesAlone) {
  const std::string folder = scratch("new-config-neighbours");
  const auto neighbours = [&](bool moved, bool slab, double third) {
    auto frames = atoms::frames(24, 1);
    for (AtomsFrame& frame : frames) {
      frame.cell = {4, 0, 0, 0, 4.5, 0, 0, 0, third};
      frame.pbc = {true, true, !slab};
      for (size_t i = 0; moved && i < frame.positions.size(); i += 3) {
        frame.positions[i] += 4 * (static_cast<double>(i) - 3);
      }
    }
    atoms::write(folder + "/all.xyz", frames);
    const Outcome drafted = weyl_program("config new --data all.xyz", folder);
    EXPECT_EQ(drafted.code, 0) << drafted.err;
    const size_t end = drafted.out.find(" neighbours an atom here"), begin = drafted.out.rfind("about ", end);
    return end == std::string::npos ? "" : drafted.out.substr(begin, end - begin);
  };
  const std::string crystal = neighbours(false, false, 5), slab = neighbours(false, true, 40);
  EXPECT_NE(crystal, "");
  EXPECT_NE(slab, crystal);
  EXPECT_EQ(neighbours(true, false, 5), crystal);
  EXPECT_EQ(neighbours(true, true, 40), slab);
  EXPECT_EQ(neighbours(false, true, 0), slab);
}

TEST(NewConfig, OfFramesWithOtherNumbersIsOfProperties) {
  const std::string folder = scratch("new-config-property");
  auto frames = atoms::frames(24, 1);
  double number = 1;
  for (AtomsFrame& frame : frames) {
    std::erase_if(frame.columns, [](const AtomColumn& c) { return c.name == "forces"; });
    frame.set("gap", number += 0.25);
  }
  atoms::write(folder + "/both.xyz", frames);
  const Outcome asked = weyl_program("config new --data both.xyz", folder);
  EXPECT_EQ(asked.code, 2);
  EXPECT_NE(asked.err.find("force_field (energies) or property (the numbers gap)"), std::string::npos)
      << asked.err;
  has(trained(folder, "both.xyz --task property"), "properties = [{ key = \"gap\" }]");
  has(trained(folder, "both.xyz --task force_field"), "forces = \"none\"");
}

TEST(NewConfig, TakesNoGapOrWeightForTheEnergy) {
  const std::string folder = scratch("new-config-gap");
  atoms::write(folder + "/all.xyz", atoms::frames(24, 1));
  std::string frames = contents(folder + "/all.xyz");
  for (size_t at = frames.find(" energy="); at != std::string::npos; at = frames.find(" energy=", at + 20)) {
    frames.replace(at, 8, " energy_weight=2 energy_gap=");
  }
  put(folder + "/gap.xyz", frames);
  const std::string config = trained(folder, "gap.xyz");
  has(config, "name = \"property\"");
  has(config, "properties = [{ key = \"energy_gap\" }]");
}

TEST(NewConfig, OfTheOtherFormatsOfFrames) {
  const std::string folder = scratch("new-config-formats"), files = fixtures + "molecules/";
  trained(folder, files + "deepmd");
  has(trained(folder, files + "npz/rmd17.npz"), "kcal/mol");
  trained(folder, files + "npz/md17.npz --system platonic");
  write_methanes(folder + "/qm9", 12);
  std::string sdf;
  for (int i = 0; i < 12; ++i) {
    sdf +=
        "water\n  test\n\n  3  2  0  0  0  0  0  0  0  0999 V2000\n"
        "    0.0000    0.0000    0.1000 O   0  0\n    0.7600    0.0000   -0.4800 H   0  0\n"
        "   -0.7600    0.0000   -0.4" +
        std::to_string(800 + i) +
        " H   0  0\n"
        "  1  2  1  0\n  1  3  1  0\nM  END\n> <gap>\n" +
        gap_of(i) + "\n\n$$$$\n";
  }
  has(trained(folder, "qm9"), "set = \"qm9\"");
  put(folder + "/water.sdf", sdf);
  has(trained(folder, "water.sdf"), "targets = [\"gap\"]");
}

TEST(NewConfig, EveryConfigOfTheGuideOfMoleculesTrains) {
  const std::string folder = scratch("new-config-guide");
  auto frames = atoms::frames(24, 1);
  for (AtomsFrame& frame : frames) {
    frame.cell = {6, 0, 0, 0, 6, 0, 0, 0, 6};
    frame.pbc = {true, true, true};
    frame.set(FrameValue{"stress", {9}, std::vector<double>{.1, 0, 0, 0, .1, 0, 0, 0, .2}});
  }
  fs::create_directories(folder + "/data");
  atoms::write(folder + "/data/water.extxyz", frames);
  write_methanes(folder + "/data/qm9", 12);
  const std::string page = contents(WEYL_SOURCE_DIR "/docs/guide/molecules.md"), fence = "```toml\n";
  int count = 0;
  for (size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1), ++count) {
    const size_t begin = at + fence.size();
    const std::string name = "guide" + std::to_string(count);
    put(folder + "/" + name + ".toml", page.substr(begin, page.find("```", begin) - begin));
    const Outcome run =
        weyl_program("train " + name + ".toml train.steps=1 --threads 1 --out " + name, folder);
    EXPECT_EQ(run.code, 0) << run.err << contents(folder + "/" + name + ".toml");
  }
  EXPECT_EQ(count, 2);
}

}  // namespace new_config_atoms_test
}  // namespace weyl
