#include "weyl/data/atoms/convert_frames.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/frame_reader.h"

namespace weyl {
namespace convert_frames_test {

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/molecules/";

std::vector<AtomsFrame> read(const std::string& path) {
  std::vector<AtomsFrame> frames;
  const auto reader = open_frames(path);
  for (AtomsFrame frame; reader->next(frame);) {
    frames.push_back(frame);
  }
  return frames;
}

std::vector<double> reals(const AtomsFrame& frame, std::string_view name) {
  const auto* column = frame.column(name);
  const auto* value = frame.value(name);
  EXPECT_TRUE(column != nullptr || value != nullptr) << name;
  return reals_of(column != nullptr ? column->values : value->values).value();
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double factor) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i] * factor, 1e-14 * std::abs(a[i]) + 1e-300);
  }
}

TEST(ConvertFrames, UnitsThereAndBack) {
  const Folder folder;
  const auto frames = read(fixtures + "npz/rmd17.npz");
  convert_frames(fixtures + "npz/rmd17.npz", folder / "a.xyz", {.to = "eV"});
  const auto xyz = read(folder / "a.xyz");
  ASSERT_EQ(xyz.size(), 4);
  for (size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(xyz[t].positions, frames[t].positions);
    for (const char* name : {"energy", "forces", "old_energies", "old_forces"}) {
      expect_near(reals(xyz[t], name), reals(frames[t], name), 1 / 23.060547830619);
    }
    EXPECT_EQ(reals(xyz[t], "old_indices"), reals(frames[t], "old_indices"));
    EXPECT_EQ(std::get<std::vector<std::string>>(xyz[t].value("energy_unit")->values).at(0), "eV");
  }
  convert_frames(folder / "a.xyz", folder / "b.npz", {.from = "eV", .to = "Hartree"});
  EXPECT_EQ(open_frames(folder / "b.npz")->unit_of("energy"), "Hartree");
  EXPECT_EQ(open_frames(folder / "b.npz")->unit_of("forces"), "Hartree/Angstrom");
  convert_frames(folder / "b.npz", folder / "c.npz", {.to = "kcal/mol"});
  const auto again = read(folder / "c.npz");
  ASSERT_EQ(again.size(), 4);
  for (size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(again[t].numbers, frames[t].numbers);
    expect_near(reals(again[t], "energy"), reals(frames[t], "energy"), 1);
    expect_near(reals(again[t], "forces"), reals(frames[t], "forces"), 1);
  }
}

TEST(ConvertFrames, WithoutUnitsNumbersStayToTheBit) {
  const Folder folder;
  convert_frames(fixtures + "ase.xyz.gz", folder / "a.extxyz.gz", {});
  EXPECT_EQ(read(folder / "a.extxyz.gz"), read(fixtures + "ase.xyz"));
  convert_frames(fixtures + "npz/md17.npz", folder / "b.xyz", {});
  const auto found = read(folder / "b.xyz"), before = read(fixtures + "npz/md17.npz");
  EXPECT_EQ(reals(found[2], "energy"), reals(before[2], "energy"));
  EXPECT_EQ(std::get<std::vector<std::string>>(found[2].value("energy_unit")->values).at(0), "kcal/mol");
}

TEST(ConvertFrames, EveryFieldOfEnergyIsConverted) {
  const Folder folder;
  convert_frames(fixtures + "ase.xyz", folder / "a.xyz", {.from = "eV", .to = "meV"});
  const auto a = read(fixtures + "ase.xyz"), b = read(folder / "a.xyz");
  EXPECT_EQ(reals(b[1], "energy"), std::vector<double>{-3000});
  expect_near(reals(b[1], "stress"), reals(a[1], "stress"), 1000);
  expect_near(reals(b[1], "forces"), reals(a[1], "forces"), 1000);
  EXPECT_EQ(reals(b[0], "charges_dft"), reals(a[0], "charges_dft"));
  convert_frames(fixtures + "qm9.tar.gz", folder / "q.xyz", {.to = "eV"});
  const auto q = read(folder / "q.xyz");
  EXPECT_NEAR(reals(q[0], "gap")[0], 0.5048 * 27.211386, 1e-5);
  EXPECT_EQ(reals(q[0], "alpha")[0], 13.21);
  EXPECT_EQ(reals(q[0], "Cv")[0], 6.469);  // per kelvin
}

TEST(ConvertFrames, WritesUnitsThatAreReadBack) {
  const Folder folder;
  convert_frames(fixtures + "npz/rmd17.npz", folder / "a.xyz", {.to = "Hartree"});
  const auto reader = open_frames(folder / "a.xyz");
  AtomsFrame frame;
  ASSERT_TRUE(reader->next(frame));
  EXPECT_EQ(reader->unit_of("energy"), "Hartree");
  EXPECT_NEAR(unit_factor(reader->unit_of("forces"), "Hartree/Angstrom"), 1, 1e-12);
  // Places in Bohr become Angstrom, and forces with them.
  std::ofstream(folder / "b.xyz") << "1\nProperties=species:S:1:pos:R:3:forces:R:3 energy=2 length_unit=Bohr "
                                     "energy_unit=Hartree\nH 0 0 1 0 0 1\n";
  convert_frames(folder / "b.xyz", folder / "c.xyz", {});
  const auto c = read(folder / "c.xyz");
  const double bohr = unit_factor("Bohr", "Angstrom");
  EXPECT_EQ(reals(c[0], "energy")[0], 2);
  EXPECT_NEAR(c[0].positions[2], bohr, 1e-14);
  EXPECT_NEAR(reals(c[0], "forces")[2], 1 / bohr, 1e-13);
  EXPECT_EQ(std::get<std::vector<std::string>>(c[0].value("length_unit")->values)[0], "Angstrom");
}

TEST(ConvertFrames, ConvertsAllUsualKeys) {
  const Folder folder;
  std::ofstream(folder / "a.xyz")
      << "1\nLattice=\"4 0 0 0 4 0 0 0 4\" "
         "Properties=species:S:1:pos:R:3:REF_forces:R:3 REF_energy=1 free_energy=2 dft_energy=3 "
         "virials=\"1 0 0 0 1 0 0 0 1\" dft_stress=[[1,0,0],[0,1,0],[0,0,1]] charge=5\nH 0 0 1 0 0 1\n";
  convert_frames(folder / "a.xyz", folder / "b.xyz", {.from = "eV", .to = "meV"});
  const auto b = read(folder / "b.xyz");
  EXPECT_NEAR(reals(b[0], "REF_energy")[0], 1000, 1e-9);
  EXPECT_NEAR(reals(b[0], "free_energy")[0], 2000, 1e-9);
  EXPECT_NEAR(reals(b[0], "dft_energy")[0], 3000, 1e-9);
  EXPECT_NEAR(reals(b[0], "virials")[0], 1000, 1e-9);
  EXPECT_NEAR(reals(b[0], "dft_stress")[0], 1000, 1e-9);
  EXPECT_EQ(b[0].value("dft_stress")->shape, std::vector<int64_t>{9});
  EXPECT_NEAR(reals(b[0], "REF_forces")[2], 1000, 1e-9);
  EXPECT_EQ(reals(b[0], "charge")[0], 5);
}

TEST(ConvertFrames, SaysWhatAnNpzLeavesOut) {
  const Folder folder;
  std::ofstream(folder / "a.xyz")
      << "1\nProperties=species:S:1:pos:R:3:forces:R:3:q:R:1 energy=1 charge=5\nH 0 0 1 0 0 1 2\n";
  EXPECT_EQ(convert_frames(folder / "a.xyz", folder / "a.npz", {.from = "eV"}),
            (std::vector<std::string>{"charge", "q"}));
}

TEST(ConvertFrames, BondsBecomeAValue) {
  const Folder folder;
  convert_frames(fixtures + "v2000.sdf", folder / "a.xyz", {});
  const auto frames = read(folder / "a.xyz");
  ASSERT_EQ(frames.size(), 2);
  EXPECT_EQ(frames[0].value("bonds")->shape, (std::vector<int64_t>{7, 3}));
  EXPECT_EQ(std::get<std::vector<int64_t>>(frames[0].value("bonds")->values)[2], 2);
}

TEST(ConvertFrames, WhatIsRefused) {
  const Folder folder;
  const auto fault = [&](const std::string& in, const std::string& out, const FrameConvertOptions& options) {
    const std::string said = message_of<Error>([&] { convert_frames(fixtures + in, folder / out, options); });
    EXPECT_FALSE(std::filesystem::exists(folder / out));
    return said;
  };
  EXPECT_NE(fault("ase.xyz", "a.xyz", {.to = "kcal/mol"})
                .find("frame 1, line 1: the unit of 'forces' is not known, say from=UNIT"),
            std::string::npos);
  EXPECT_NE(fault("ase.xyz", "a.npz", {}).find("frame 1, line 1: the unit of energies is not known"),
            std::string::npos);
  EXPECT_NE(
      fault("ase.xyz", "a.npz", {.from = "eV"}).find("frame 2: an .npz of this kind holds one molecule"),
      std::string::npos);
  EXPECT_NE(fault("deepmd", "a.npz", {}).find("cannot hold a cell"), std::string::npos);
  EXPECT_NE(fault("ase.xyz", "a.xyz", {.from = "eV/A", .to = "eV"}).find("must be a unit of energy"),
            std::string::npos);
  EXPECT_NE(fault("ase.xyz", "a.xyz", {.from = "eVs"}).find("unknown name 'eVs'"), std::string::npos);
  EXPECT_NE(fault("npz/md17.npz", "a.xyz", {.from = "eV"}).find("the format says kcal/mol"),
            std::string::npos);
  EXPECT_TRUE(converts_frames(fixtures + "qm9", "x.extxyz.gz"));
  EXPECT_FALSE(converts_frames(fixtures + "qm9", "x.safetensors"));
  EXPECT_FALSE(converts_frames(WEYL_SOURCE_DIR "/tests/fixtures/numpy/stored.npz", "x.npz"));
}

TEST(ConvertFrames, ForcesAndStressKeepTheirOwnUnitOrBecomeTheEnergys) {
  const Folder folder;
  std::ofstream(folder / "a.xyz")
      << "1\nProperties=species:S:1:pos:R:3:forces:R:3 Lattice=\"4 0 0 0 4 0 0 0 4\" "
         "energy=-10 stress=\"1 2 3 4 5 6\" energy_unit=eV force_unit=Hartree/Bohr "
         "stress_unit=GPa\nO 1 2 3 0.1 0.2 0.3\n";
  convert_frames(folder / "a.xyz", folder / "b.xyz", {});
  const auto same = read(folder / "b.xyz");
  EXPECT_EQ(reals(same[0], "forces"), (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(open_frames(folder / "b.xyz")->unit_of("forces"), "");  // before a frame is read
  EXPECT_EQ(std::get<std::vector<std::string>>(same[0].value("force_unit")->values).at(0), "Hartree/Bohr");
  convert_frames(folder / "a.xyz", folder / "c.xyz", {.to = "kcal/mol"});
  const auto kcal = read(folder / "c.xyz");
  expect_near(reals(kcal[0], "energy"), {-10}, unit_factor("eV", "kcal/mol"));
  expect_near(reals(kcal[0], "forces"), {0.1, 0.2, 0.3},
              unit_factor("Hartree/Bohr", "(kcal/mol)*Angstrom^-1"));
  expect_near(reals(kcal[0], "stress"), {1, 6, 5, 6, 2, 4, 5, 4, 3},
              unit_factor("GPa", "(kcal/mol)*Angstrom^-3"));
  EXPECT_EQ(kcal[0].value("force_unit"), nullptr);
  EXPECT_EQ(kcal[0].value("stress_unit"), nullptr);
  // An .npz says the units of energies and lengths alone.
  std::ofstream(folder / "molecule.xyz")
      << "1\nProperties=species:S:1:pos:R:3:forces:R:3 energy=-10 energy_unit=eV "
         "force_unit=Hartree/Bohr\nO 1 2 3 0.1 0.2 0.3\n";
  convert_frames(folder / "molecule.xyz", folder / "d.npz", {});
  const auto npz = read(folder / "d.npz");
  expect_near(reals(npz[0], "forces"), {0.1, 0.2, 0.3}, unit_factor("Hartree/Bohr", "(eV)*Angstrom^-1"));
  // Predictions are in the units that the file says, as labels are.
  std::ofstream(folder / "p.xyz") << "1\nProperties=species:S:1:pos:R:3:weyl_forces:R:3 weyl_energy=-10 "
                                     "energy_unit=kcal/mol\nO 1 2 3 0.1 0.2 0.3\n";
  convert_frames(folder / "p.xyz", folder / "q.xyz", {.to = "eV"});
  expect_near(reals(read(folder / "q.xyz")[0], "weyl_energy"), {-10}, unit_factor("kcal/mol", "eV"));
  expect_near(reals(read(folder / "q.xyz")[0], "weyl_forces"), {0.1, 0.2, 0.3},
              unit_factor("kcal/mol", "eV"));
  EXPECT_NE(message_of<ConfigError>([&] {
              convert_frames(folder / "a.xyz", folder / "e.xyz", {.to = "kcal"});
            }).find("did you mean 'kcal/mol'?"),
            std::string::npos);
}

TEST(ConvertFrames, OptionsSayTheUnitsOfForcesAndStress) {
  const Folder folder;
  const std::string atom = "1\nProperties=species:S:1:pos:R:3:forces:R:3 energy=-10 ",
                    row = "\nO 1 2 3 0.1 0.2 0.3\n";
  std::ofstream(folder / "a.xyz") << atom << "stress=\"1 2 3 4 5 6\"" << row;
  const FrameConvertOptions options{
      .from = "Hartree", .force_unit = "Hartree/Bohr", .stress_unit = "kbar", .to = "eV"};
  convert_frames(folder / "a.xyz", folder / "b.xyz", options);
  const auto frames = read(folder / "b.xyz");
  expect_near(reals(frames[0], "energy"), {-10}, unit_factor("Hartree", "eV"));
  expect_near(reals(frames[0], "forces"), {0.1, 0.2, 0.3}, unit_factor("Hartree/Bohr", "(eV)*Angstrom^-1"));
  expect_near(reals(frames[0], "stress"), {1, 6, 5, 6, 2, 4, 5, 4, 3},
              unit_factor("kbar", "(eV)*Angstrom^-3"));
  EXPECT_EQ(frames[0].value("force_unit"), nullptr);
  // Without another unit of energies they stay, and are said.
  convert_frames(folder / "a.xyz", folder / "c.xyz",
                 {.from = "Hartree", .force_unit = "Hartree/Bohr", .stress_unit = "kbar"});
  const auto kept = read(folder / "c.xyz");
  EXPECT_EQ(reals(kept[0], "forces"), (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(std::get<std::vector<std::string>>(kept[0].value("force_unit")->values).at(0), "Hartree/Bohr");
  EXPECT_EQ(std::get<std::vector<std::string>>(kept[0].value("stress_unit")->values).at(0), "kbar");
  const auto fault = [&](const std::string& in, const FrameConvertOptions& o) {
    return message_of<ConfigError>([&] { convert_frames(in, folder / "d.xyz", o); });
  };
  EXPECT_NE(
      fault(folder / "a.xyz", {.force_unit = "Hartree"}).find("convert: force_unit: units: 'Hartree' and"),
      std::string::npos);
  std::ofstream(folder / "said.xyz") << atom << "energy_unit=eV" << row;
  EXPECT_NE(fault(folder / "said.xyz", {.force_unit = "Hartree/Bohr", .to = "kcal/mol"})
                .find("convert: Hartree/Bohr for 'forces' is not asked for, the format says eV/(Angstrom)"),
            std::string::npos)
      << fault(folder / "said.xyz", {.force_unit = "Hartree/Bohr", .to = "kcal/mol"});
}

}  // namespace convert_frames_test
}  // namespace weyl
