// Files of frames that users reported as drafted or trained on wrongly (tests/fixtures/reports), from the shell.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>

#include "tests/app/new_config.h"
#include "tests/app/refusals.h"

namespace weyl {
namespace reports_test {

const std::string reports = fixtures + "reports/";
const std::string bare_water =
    "3\nProperties=species:S:1:pos:R:3 energy=-470.2 config_type=water\nO 0 0 0\nH 0.9 0.1 0\nH -0.2 0.9 0.1\n";

TEST(Reports, SlabsWithAStressTrainWithoutIt) {
  const std::string folder = scratch("reports-slab");
  const std::string config = trained(folder, reports + "08_slab_with_stress.xyz");
  has_not(config, "stress = \"stress\"");
  has_not(config, "stress = true");
  has_not(config, "stress_unit");
  has(config, "is left out: no frame that has it is periodic along all three lattice vectors");
}

/// `count` crystals of two atoms with a stress, between so many molecules, which can have none.
std::string crystals_and_molecules(int crystals, int molecules) {
  std::string all;
  const auto row = [](int i) {
    return "\nCu 0 0 0 0.1 0 0\nCu 1." + std::to_string(800 + i) + " 0 0 -0.1 0 0\n";
  };
  for (int i = 0; i < std::max(crystals, molecules); ++i) {
    const std::string energy = "energy=-1." + std::to_string(i);
    if (i < molecules) {
      all += "2\nProperties=species:S:1:pos:R:3:forces:R:3 " + energy + row(i);
    }
    if (i < crystals) {
      all += "2\nLattice=\"4 0 0 0 4 0 0 0 4\" Properties=species:S:1:pos:R:3:forces:R:3 " + energy +
             " stress=\"0.01 0 0 0 0.02 0 0 0 0.0" + std::to_string(1 + i % 9) + "\"" + row(i);
    }
  }
  return all;
}

TEST(Reports, CrystalsAmongMoleculesKeepTheirStress) {
  const std::string folder = scratch("reports-mixed");
  put(folder + "/half.xyz", crystals_and_molecules(20, 20));
  put(folder + "/few.xyz", crystals_and_molecules(20, 60));
  for (const char* path : {"half.xyz", "few.xyz"}) {
    const std::string config = trained(folder, path);
    has(config, "stress = \"stress\"");
    has(config, "stress = true");
    has(config, "missing = \"mask\"");
  }
  // One crystal is in one split only: that is said, and what is drafted trains.
  put(folder + "/one.xyz", crystals_and_molecules(1, 30));
  const std::string config = trained(folder, "one.xyz");
  has(config, "The stress, stress, is left out: none of the frames that have one (1) is in the ");
  has_not(config, "stress = true");
}

TEST(Reports, AnIsolatedAtomDoesNotTakeTheStress) {
  const std::string folder = scratch("reports-stress");
  put(folder + "/all.xyz",
      contents(reports + "11_stress_in_GPa_nothing_said.xyz") +
          "1\nProperties=species:S:1:pos:R:3 energy=-0.1 config_type=IsolatedAtom\nCu 0 0 0\n");
  const std::string config = trained(folder, "all.xyz");
  has(config, "stress = \"stress\"");
  has(config, "stress = true");
  has(config, "missing = \"mask\"");
}

TEST(Reports, TheOrderOfSixNumbersStandsInTheConfig) {
  const std::string folder = scratch("reports-order");
  const std::string config = trained(folder, reports + "04_vasp_six.xyz");
  has(config, "stress_order = \"voigt\"");
  has(config, "\"vasp\" where the six are xx yy zz xy yz zx");
}

TEST(Reports, IsolatedAtomsLackForces) {
  const std::string folder = scratch("reports-isolated"),
                    path = reports + "24_isolated_atoms_without_forces.xyz";
  for (const char* seed : {"0", "5"}) {
    trained(folder, path, std::string("data.molecules.seed=") + seed);
  }
  // Their energies are the references: those of H and O in the file.
  ASSERT_EQ(weyl_program("config new --data " + path + " --out r.toml", folder).code, 0);
  ASSERT_EQ(weyl_program("train r.toml train.steps=1 --out refers --threads 1", folder).code, 0);
  const std::string bytes =
      TensorFile(folder + "/refers/best/model.safetensors").tensors.at("task.references").bytes;
  std::array<double, 2> references{};
  ASSERT_EQ(bytes.size(), sizeof references);
  std::memcpy(references.data(), bytes.data(), sizeof references);
  EXPECT_EQ(references, (std::array{-13.6, -430.1}));
}

TEST(Reports, ATestSplitWithoutForcesIsMeasuredWithoutThem) {
  const std::string folder = scratch("reports-no-forces");
  const std::string all = contents(reports + "24_isolated_atoms_without_forces.xyz");
  const std::string waters = all.substr(0, all.find("1\nProperties"));
  put(folder + "/data/train.xyz", waters);
  put(folder + "/data/valid.xyz", waters);
  put(folder + "/data/test.xyz", bare_water);
  put(folder + "/c.toml",
      "[data]\nset = \"molecules\"\n[data.molecules]\npath = \"data\"\nelements = [\"H\", \"O\"]\n"
      "[task]\nname = \"force_field\"\n[model]\nsystem = \"geomformer\"\n[model.geomformer]\npreset = \"et\"\nwidth = 16\nheads = 2\n"
      "blocks = 1\nkernels = 8\ncutoff = { radius = 5.0 }\n[train]\nsteps = 1\n");
  const Outcome run = weyl_program("train c.toml --out run --threads 1", folder);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("test split: has no known label 'forces', and is measured without it"),
            std::string::npos)
      << run.err;
  const Outcome eval = weyl_program("eval run --split test --json --threads 1", folder);
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_NE(eval.out.find("energy_mae"), std::string::npos) << eval.out;
  EXPECT_EQ(eval.out.find("force_mae"), std::string::npos) << eval.out;
  EXPECT_NE(eval.err.find("has no known label 'forces'"), std::string::npos) << eval.err;
  // Under another name they may be there, which is said.
  std::string named = waters;
  for (size_t at = 0; (at = named.find(":forces:", at)) != std::string::npos;) {
    named.replace(at, 8, ":my_F:");
  }
  put(folder + "/named.xyz", named);
  const Outcome other_name = weyl_program("eval run --data named.xyz --threads 1", folder);
  ASSERT_EQ(other_name.code, 0) << other_name.err;
  EXPECT_NE(other_name.err.find("measured without it; its files also have"), std::string::npos)
      << other_name.err;
  EXPECT_NE(other_name.err.find("'my_F'"), std::string::npos) << other_name.err;
  // Where only some frames lack them, it is a fault, or said to be none.
  put(folder + "/data/test.xyz", waters + bare_water);
  const Outcome partly = weyl_program("train c.toml --out partly --threads 1", folder);
  EXPECT_EQ(partly.code, 3) << partly.err;
  EXPECT_NE(partly.err.find("needs the label 'forces'"), std::string::npos) << partly.err;
  put(folder + "/data/test.xyz", bare_water);
  // By the validation split the best model is chosen: it must have what is chosen by.
  put(folder + "/data/valid.xyz", bare_water);
  EXPECT_NE(weyl_program("train c.toml --out other --threads 1", folder).code, 0);
}

TEST(Reports, UnitsThatTheFilesSayAreNotDenied) {
  const std::string folder = scratch("reports-units");
  const std::string config = trained(folder, reports + "05a_energy-unit_hartree.xyz");
  has(config, "As the files say, energies in hartree");
  has_not(config, "energy_unit");
  has_not(config, "the files say none");
  std::string metal;
  for (int i = 0; i < 3; ++i) {
    metal += "3\nProperties=species:S:1:pos:R:3 units=metal energy=-" + std::to_string(i) +
             "\nO 0 0 0\nH 0.9 0.1 0\nH -0.2 0.9 0.1\n";
  }
  put(folder + "/metal.xyz", metal);
  const Outcome drafted = weyl_program("config new --data metal.xyz", folder);
  EXPECT_EQ(drafted.code, 0) << drafted.err;
  has(drafted.out, "the files say 'units' = 'metal', which is not read");
  has_not(drafted.out, "the files say none");
  // What nobody reads is asked for by its own option.
  std::string unread = contents(reports + "11_stress_in_GPa_nothing_said.xyz");
  for (size_t at = 0; (at = unread.find(" energy=", at)) != std::string::npos; at += 60) {
    unread.insert(at, " energy_unit=eV stress-unit=metal forces_units=metal");
  }
  put(folder + "/unread.xyz", unread);
  const std::string asked = trained(folder, "unread.xyz");
  has(asked, "the files say 'stress-unit' = 'metal', which is not read; GPa or kbar");
  has(asked, "stress_unit = \"eV/Angstrom^3\"");
  has(asked, "the files say 'forces_units' = 'metal', which is not read; put theirs");
  has(asked, "force_unit = \"eV/Angstrom\"");
  // What the files say of forces alone is not nothing.
  std::string forces = contents(reports + "11_stress_in_GPa_nothing_said.xyz");
  for (size_t at = 0; (at = forces.find(" energy=", at)) != std::string::npos; at += 22) {
    forces.insert(at, " forces_units=metal");
  }
  put(folder + "/forces.xyz", forces);
  const Outcome of_forces = weyl_program("config new --data forces.xyz", folder);
  has(of_forces.out, "the files say no unit of lengths");
  has_not(of_forces.out, "the files say none");
}

/// The warnings that doubt a unit, a line each without what stands before "energies" or "stresses".
std::string doubts(const std::string& talk) {
  std::string found;
  std::istringstream lines(talk);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" seem to be in ") != std::string::npos) {
      EXPECT_NE(line.find("warning"), std::string::npos) << line;
      found += line.substr(std::min(line.find("energies seem"), line.find("stresses seem"))) + "\n";
    }
  }
  return found;
}

TEST(Reports, UnitsThatAreLikelyOthersAreDoubtedByEveryVerb) {
  const std::string folder = scratch("reports-units-doubted");
  std::string ethanol;  // of MD17, in kcal/mol
  for (int i = 0; i < 20; ++i) {
    ethanol += "9\nProperties=species:S:1:pos:R:3 energy=-" + std::to_string(97079 + i) +
               "\nC 0 0 0\nC 1.5 0 0\nO 2 1.3 0\nH -0.4 1 0\nH -0.4 -0.5 0.9\nH -0.4 -0.5 -0.9\n"
               "H 1.9 -0.5 0.9\nH 1.9 -0.5 -0.9\nH 3 1.3 0." +
               std::to_string(i + 10) + "\n";
  }
  put(folder + "/ethanol.xyz", ethanol);
  struct Case {
    std::string path, unit, option;
  };
  for (const auto& [path, unit, option] :
       {Case{reports + "11_stress_in_GPa_nothing_said.xyz", "GPa", "stress_unit"},
        Case{"ethanol.xyz", "kcal/mol", "energy_unit"}, Case{reports + "04_truth_nine.xyz", "", ""}}) {
    const std::string config = option + ".toml";
    const Outcome inspected = weyl_program("data inspect " + path, folder),
                  drafted = weyl_program("config new --data " + path + " --out " + config, folder),
                  train = weyl_program(
                      "train " + config + " train.steps=1 --out run" + option + " --threads 1", folder);
    EXPECT_EQ(inspected.code + drafted.code + train.code, 0) << drafted.err << train.err;
    const std::string said = doubts(drafted.err);
    EXPECT_EQ(doubts(inspected.out + inspected.err), said);
    EXPECT_EQ(doubts(train.err), said);
    EXPECT_EQ(doubts(contents(folder + "/run" + option + "/log.txt")), said);
    if (unit.empty()) {
      EXPECT_EQ(said, "");
      continue;
    }
    EXPECT_NE(said.find(" seem to be in " + unit + ", not eV"), std::string::npos) << said;
    has(said, "(data.molecules: " + option + " = \"" + unit + "\")\n");
    has(contents(folder + "/" + config), "likely " + unit);
    const std::string mended = "data.molecules." + option + "=" + unit;
    EXPECT_EQ(doubts(weyl_program("train " + config + " train.steps=1 " + mended + " --out mended" + option +
                                      " --threads 1",
                                  folder)
                         .err),
              "");
    EXPECT_EQ(
        weyl_program("train " + config + " train.steps=1 --strict --out strict --threads 1", folder).code, 2);
  }
}

TEST(Reports, DataSplitWritesNineNumbersOfAStress) {
  const std::string folder = scratch("reports-split");
  const Outcome split = weyl_program("data split " + reports + "01_row_stress.aselmdb --out parts", folder);
  ASSERT_EQ(split.code, 0) << split.err;
  const std::string train = contents(folder + "/parts/train.extxyz");
  EXPECT_NE(train.find("stress=\"0.01 0.004 0.006 0.004 0.02 0.005 0.006 0.005 0.03\""), std::string::npos)
      << train;
  EXPECT_EQ(train.find("stress=\"0.01 0.02 "), std::string::npos);
  // Of six numbers in VASP's order, which is said, the same nine as `data convert` writes.
  const std::string six =
      "1\nLattice=\"4 0 0 0 4 0 0 0 4\" energy=-1 stress=\"0.01 0.02 0.03 0.004 0.005 0.006\"\nH 0 0 0\n";
  put(folder + "/six.xyz", six + six + six);
  for (const auto& [order, nine] :
       {std::pair{"", "0.01 0.006 0.005 0.006 0.02 0.004 0.005 0.004 0.03"},
        {" stress_order=vasp", "0.01 0.004 0.006 0.004 0.02 0.005 0.006 0.005 0.03"}}) {
    const std::string out = "six" + std::to_string(std::string(order).size());
    const Outcome parts = weyl_program("data split six.xyz --out " + out + order, folder);
    ASSERT_EQ(parts.code, 0) << parts.err;
    has(contents(folder + "/" + out + "/train.extxyz"), std::string("stress=\"") + nine + "\"");
    ASSERT_EQ(weyl_program("data convert six.xyz " + out + ".xyz" + order, folder).code, 0);
    has(contents(folder + "/" + out + ".xyz"), std::string("stress=\"") + nine + "\"");
  }
  const Outcome unknown = weyl_program("data split six.xyz --out no stress_ordr=vasp", folder);
  EXPECT_EQ(unknown.code, 2) << unknown.err;
  EXPECT_FALSE(fs::exists(folder + "/no"));
  const Outcome isolated =
      weyl_program("data split " + reports + "24_isolated_atoms_without_forces.xyz --out atoms", folder);
  ASSERT_EQ(isolated.code, 0) << isolated.err;
  has(contents(folder + "/atoms/train.extxyz"), "isolated_atom");
  has_not(contents(folder + "/atoms/valid.extxyz") + contents(folder + "/atoms/test.extxyz"),
          "isolated_atom");
}

}  // namespace reports_test
}  // namespace weyl
