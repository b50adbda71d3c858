#include "weyl/makers/molecules/molecules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/makers/molecules/molecule_walker.h"
#include "weyl/makers/molecules/smiles.h"
#include "weyl/makers/molecules/xtb.h"

namespace weyl {
namespace molecules_test {

namespace fs = std::filesystem;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<AtomsFrame> frames_of(const std::string& path) {
  ExtendedXyzReader reader(path);
  std::vector<AtomsFrame> frames;
  for (AtomsFrame frame; reader.next(frame);) {
    frames.push_back(frame);
  }
  return frames;
}

double real(const AtomsFrame& frame, const char* name) {
  return reals_of(frame.value(name)->values)->at(0);
}

std::vector<double> forces(const AtomsFrame& frame) {
  return *reals_of(frame.column("forces")->values);
}

class MoleculesMaker : public testing::Test {
 protected:
  void SetUp() override {
    if (xtb_version().empty()) {
      GTEST_SKIP() << "no xtb library";
    }
  }
  std::string made(const MoleculesMakerOptions& o, const std::string& name) const {
    EXPECT_TRUE(make_molecules(o, folder_ / name));
    EXPECT_FALSE(fs::exists(folder_ / (name + ".partial")));
    return folder_ / name;
  }
  std::string refusal(const MoleculesMakerOptions& o) const {
    const auto said = message_of<ConfigError>([&] { make_molecules(o, folder_ / "refused"); });
    EXPECT_FALSE(fs::exists(folder_ / "refused"));
    EXPECT_FALSE(fs::exists(folder_ / "refused.partial"));
    return said;
  }
  const MoleculesMakerOptions small_{
      .molecule = "water", .frames = 60, .train = 0, .valid = 0, .equilibration = 50, .walkers = 3};
  Folder folder_;
};

TEST_F(MoleculesMaker, LabelsAreThoseOfTheGeometriesWritten) {
  const auto frames = frames_of(made(small_, "a") + "/all.extxyz");
  ASSERT_EQ(frames.size(), 60u);
  Xtb xtb({8, 1, 1}, {});
  for (size_t i = 0; i < frames.size(); ++i) {
    const auto& frame = frames[i];
    ASSERT_EQ(frame.numbers, (std::vector<int>{8, 1, 1}));
    const SinglePoint point = xtb(frame.positions);
    EXPECT_EQ(real(frame, "energy"), point.energy) << i;
    EXPECT_EQ(forces(frame), point.forces);
    EXPECT_EQ(*reals_of(frame.column("charges")->values), point.charges);
    EXPECT_EQ(*reals_of(frame.value("dipole")->values),
              std::vector<double>(point.dipole.begin(), point.dipole.end()));
    EXPECT_EQ(real(frame, "walker"), static_cast<double>(i / 20));
    EXPECT_EQ(real(frame, "time"), 5.0 * static_cast<double>(i % 20 + 1));
    EXPECT_EQ(std::get<std::vector<std::string>>(frame.value("config_type")->values).at(0), "water");
  }
  std::set<double> energies;
  for (const auto& frame : frames) {
    energies.insert(real(frame, "energy"));
  }
  EXPECT_EQ(energies.size(), 60u);
}

TEST_F(MoleculesMaker, IsAFunctionOfItsOptionsWhateverTheThreads) {
  MoleculesMakerOptions o = small_;
  o.threads = 1;
  const auto one = contents(made(o, "one") + "/all.extxyz");
  o.threads = 3;
  EXPECT_EQ(contents(made(o, "three") + "/all.extxyz"), one);
  EXPECT_EQ(contents(folder_ / "one/molecules.toml"), contents(folder_ / "three/molecules.toml"));
  o.seed = 1;
  EXPECT_NE(contents(made(o, "other") + "/all.extxyz"), one);
}

TEST_F(MoleculesMaker, GoesOnWhereItWasStopped) {
  for (const auto sampling : {MoleculeSampling::nve, MoleculeSampling::displaced}) {
    MoleculesMakerOptions o = small_;
    o.sampling = sampling;
    o.frames = sampling == MoleculeSampling::displaced ? 1500 : 100;
    o.equilibration = 300;
    o.threads = 1;  // long enough to be stopped
    const std::string name(names_of(sampling)[static_cast<size_t>(sampling)]);
    const auto whole = contents(made(o, name) + "/all.extxyz");
    const std::string again = folder_ / (name + "-again"), partial = again + ".partial";
    int stops = 0;
    int64_t before = 0;
    while (true) {
      int64_t begun = -1, last = -1;
      JobHooks hooks;
      hooks.report = [&](int64_t done, int64_t) {
        begun = begun < 0 ? done : begun;
        last = done;
      };
      hooks.stop = [&] { return stops < 2 && last > begun; };
      if (make_molecules(o, again, hooks)) {
        break;
      }
      EXPECT_FALSE(fs::exists(again));
      EXPECT_GE(begun, before) << "nothing is made twice";
      before = last;
      ++stops;
    }
    EXPECT_GT(stops, 0) << name;
    EXPECT_EQ(contents(again + "/all.extxyz"), whole) << name;
    EXPECT_FALSE(fs::exists(partial));
  }
}

TEST_F(MoleculesMaker, RefusesWorkOfOtherOptionsAndBrokenWork) {
  MoleculesMakerOptions o = small_;
  o.frames = 3000;
  JobHooks hooks;
  int64_t seen = 0;
  hooks.report = [&](int64_t done, int64_t) { seen = done; };
  hooks.stop = [&] { return seen > 0; };
  ASSERT_FALSE(make_molecules(o, folder_ / "a", hooks));
  const std::string partial = folder_ / "a.partial";
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(partial)) {
    files.push_back(entry.path().string());
  }
  ASSERT_FALSE(files.empty());
  MoleculesMakerOptions other = o;
  other.temperature = 400;
  EXPECT_EQ(message_of<ConfigError>([&] { make_molecules(other, folder_ / "a"); }),
            partial + ": was begun with other options; give those, remove it, or choose another folder");
  for (const auto& file : files) {
    fs::resize_file(file, fs::file_size(file) - 8);
  }
  const auto said = message_of<DataError>([&] { make_molecules(o, folder_ / "a"); });
  EXPECT_NE(said.find(partial), std::string::npos) << said;
  EXPECT_FALSE(fs::exists(folder_ / "a"));
}

TEST_F(MoleculesMaker, SplitsAsMd17Does) {
  MoleculesMakerOptions o = small_;
  const auto all = frames_of(made(o, "all") + "/all.extxyz");
  o.train = 30;
  o.valid = 10;
  const std::string folder = made(o, "split");
  std::vector<std::vector<double>> drawn, expected;
  std::vector<size_t> sizes;
  for (const char* part : {"train", "valid", "test"}) {
    const auto frames = frames_of(folder + "/" + part + ".extxyz");
    sizes.push_back(frames.size());
    for (const auto& frame : frames) {
      drawn.push_back(frame.positions);
    }
  }
  for (const auto& frame : all) {
    expected.push_back(frame.positions);
  }
  EXPECT_EQ(sizes, (std::vector<size_t>{30, 10, 20}));
  EXPECT_NE(drawn, expected);
  std::ranges::sort(drawn);
  std::ranges::sort(expected);
  EXPECT_EQ(drawn, expected) << "each frame once";
  EXPECT_NE(message_of<ConfigError>([&] { make_molecules(o, folder); }).find("exists already"),
            std::string::npos);
}

TEST_F(MoleculesMaker, ConformersAreAtRestAndDisplacementsAsLargeAsAsked) {
  MoleculesMakerOptions o = small_;
  o.molecule = "methanol";
  o.frames = 3;
  o.sampling = MoleculeSampling::conformers;
  const auto relaxed = frames_of(made(o, "conformers") + "/all.extxyz");
  for (const auto& frame : relaxed) {
    for (const double f : forces(frame)) {
      EXPECT_LE(std::abs(f), 0.005);
    }
    EXPECT_NEAR(real(frame, "energy"), real(relaxed[0], "energy"), 1e-3) << "methanol has one conformer";
  }

  o = small_;
  o.frames = 400;
  o.sampling = MoleculeSampling::displaced;
  o.displacement = 0;
  const auto still = frames_of(made(o, "still") + "/all.extxyz");
  o.displacement = 0.04;
  double square = 0;
  for (const auto& frame : frames_of(made(o, "displaced") + "/all.extxyz")) {
    EXPECT_EQ(frame.value("time"), nullptr);
    for (size_t k = 0; k < 9; ++k) {
      square += std::pow(frame.positions[k] - still[0].positions[k], 2) / (400 * 9);
    }
  }
  EXPECT_NEAR(std::sqrt(square), 0.04, 0.002);
  EXPECT_EQ(still[0].positions, still[399].positions);
  EXPECT_LT(std::abs(forces(still[0])[1]), 0.005) << "from the relaxed geometry";
}

TEST_F(MoleculesMaker, StartsFromTheFramesOfAFile) {
  const std::string path = folder_ / "two.xyz";
  std::ofstream(path) << "3\nProperties=species:S:1:pos:R:3 config_type=wet\n"
                         "O 5 5 5\nH 5 5.8 5.6\nH 5 4.2 5.6\n"
                         "2\n\nH 0 0 0\nCl 0 0 1.3\n";
  MoleculesMakerOptions o = small_;
  o.molecule = "";
  o.file = path;
  o.relax = false;
  o.sampling = MoleculeSampling::displaced;
  o.displacement = 0;
  o.frames = 4;
  o.walkers = 2;
  const auto frames = frames_of(made(o, "labelled") + "/all.extxyz");
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(frames[0].numbers, (std::vector<int>{8, 1, 1}));
  EXPECT_EQ(frames[2].numbers, (std::vector<int>{1, 17}));
  EXPECT_EQ(std::get<std::vector<std::string>>(frames[0].value("config_type")->values).at(0), "wet");
  EXPECT_EQ(std::get<std::vector<std::string>>(frames[2].value("config_type")->values).at(0), "two");
  EXPECT_NEAR(frames[0].positions[4] - frames[0].positions[1], 0.8, 1e-12) << "as the file has them, centred";

  MoleculesMakerOptions sdf = o;
  sdf.file = folder_ / "acid.sdf";
  sdf.frames = sdf.walkers = 1;
  std::ofstream(sdf.file) << "acid\n  test\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n"
                             "    0.0000    0.0000    0.0000 H   0  0  0  0  0  0  0  0  0  0  0  0\n"
                             "    0.0000    0.0000    1.3000 Cl  0  0  0  0  0  0  0  0  0  0  0  0\n"
                             "  1  2  1  0\nM  END\n$$$$\n";
  EXPECT_EQ(forces(frames_of(made(sdf, "sdf") + "/all.extxyz")[0]), forces(frames[2])) << "another format";

  o.walkers = 1;
  EXPECT_NE(refusal(o).find("has 2 geometries; walkers must be at least as many, got 1"), std::string::npos);
  std::ofstream(path) << "1\nLattice=\"3 0 0 0 3 0 0 0 3\" Properties=species:S:1:pos:R:3\nHe 0 0 0\n";
  EXPECT_NE(message_of<DataError>([&] { make_molecules(o, folder_ / "x"); }).find("frame 1"),
            std::string::npos);
  std::ofstream(path) << "";
  EXPECT_NE(message_of<DataError>([&] { make_molecules(o, folder_ / "x"); }).find("two.xyz"),
            std::string::npos);
  std::ofstream(path) << "2\n\nH 0 0 0\nH 0 0 0.1\n";
  o.relax = true;
  EXPECT_EQ(message_of<DataError>([&] { make_molecules(o, folder_ / "x"); }),
            "molecules: the start geometry of two: atoms 1 and 2 must be at least 0.3 A apart, are 0.1");
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

TEST_F(MoleculesMaker, DeuteriumMovesWithItsMass) {
  MoleculesMakerOptions o;
  o.file = folder_ / "heavy.xyz";
  o.frames = o.walkers = 1;
  o.train = o.valid = 0;
  o.sampling = MoleculeSampling::displaced;
  std::ofstream(o.file) << "3\n\nO 0 0 0\nD 0.96 0 0\nH -0.24 0.93 0\n";
  const MoleculeStart start = molecule_starts(o).at(0);
  EXPECT_NEAR(start.masses.at(1), 2.0141, 1e-4);
  EXPECT_NEAR(start.masses.at(2), 1.008, 1e-4);
  const auto frames = frames_of(made(o, "heavy") + "/all.extxyz");
  EXPECT_EQ(frames.at(0).numbers, (std::vector<int>{8, 1, 1}));
  ASSERT_NE(frames[0].column("isotopes"), nullptr);
  EXPECT_EQ(std::get<std::vector<int64_t>>(frames[0].column("isotopes")->values),
            (std::vector<int64_t>{0, 2, 0}));
}

TEST_F(MoleculesMaker, StartsFromConformersOfASmiles) {
  MoleculesMakerOptions o = small_;
  o.molecule = "";
  o.smiles = "C(#N)/C=C\\F";  // quoted and escaped as config_type
  o.sampling = MoleculeSampling::displaced;
  o.displacement = 0;
  o.frames = o.walkers = 3;
  if (rdkit_version().empty()) {
    EXPECT_NE(refusal(o).find("smiles needs RDKit"), std::string::npos);
    return;
  }
  o.relax = false;
  const auto frames = frames_of(made(o, "a") + "/all.extxyz");
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(std::get<std::vector<std::string>>(frames[0].value("config_type")->values).at(0), o.smiles);
  EXPECT_NE(frames[0].positions, frames[1].positions) << "a conformer for each walker";
  EXPECT_NE(frames[1].positions, frames[2].positions);
  MoleculesMakerOptions other = o;
  other.frames = other.walkers = 2;
  EXPECT_EQ(frames_of(made(other, "fewer") + "/all.extxyz")[1].positions, frames[1].positions);
  other.seed = 1;
  EXPECT_NE(frames_of(made(other, "seed") + "/all.extxyz")[1].positions, frames[1].positions);

  // The same minimum as from the table: one conformer.
  o.smiles = "CO";
  o.relax = true;
  o.frames = o.walkers = 1;
  const auto methanol = frames_of(made(o, "b") + "/all.extxyz")[0];
  o.molecule = "methanol";
  o.smiles = "";
  EXPECT_NEAR(real(methanol, "energy"), real(frames_of(made(o, "c") + "/all.extxyz")[0], "energy"), 1e-4);
}

TEST_F(MoleculesMaker, TakesChargeAndUnpairedElectronsFromASmiles) {
  if (rdkit_version().empty()) {
    GTEST_SKIP() << "no RDKit in this build";
  }
  MoleculesMakerOptions o = small_;
  o.molecule = "";
  o.smiles = "[OH-]";
  o.sampling = MoleculeSampling::displaced;
  o.frames = o.walkers = 1;
  const auto anion = frames_of(made(o, "anion") + "/all.extxyz")[0];
  EXPECT_EQ(real(anion, "charge"), -1);
  const auto charges = *reals_of(anion.column("charges")->values);
  EXPECT_NEAR(charges[0] + charges[1], -1, 1e-6);
  EXPECT_NE(contents(folder_ / "anion/molecules.toml").find("charge = -1"), std::string::npos);
  o.charge = -1;
  o.unpaired = 0;
  EXPECT_EQ(contents(made(o, "said") + "/all.extxyz"), contents(folder_ / "anion/all.extxyz"));
  o.charge = 0;
  EXPECT_EQ(refusal(o),
            "molecules: charge must be -1, the sum of the charges in smiles '[OH-]', or left out, got 0");
  o.charge.reset();
  o.unpaired = 1;
  EXPECT_EQ(refusal(o),
            "molecules: unpaired must be 0, the number of the radical electrons in smiles '[OH-]', or left "
            "out, got 1");

  o.unpaired.reset();
  o.smiles = "[O][O]";
  const auto triplet = frames_of(made(o, "triplet") + "/all.extxyz")[0];
  EXPECT_EQ(real(triplet, "energy"), Xtb({8, 8}, {.unpaired = 2})(triplet.positions).energy);
  EXPECT_NE(real(triplet, "energy"), Xtb({8, 8}, {})(triplet.positions).energy);
  o.smiles = "O";
  o.walkers = 2;
  EXPECT_NE(refusal(o).find("walkers must be at most frames"), std::string::npos);
  o.smiles = "[Cl-]";
  o.walkers = 1;
  EXPECT_EQ(refusal(o), "molecules: there must be at least 2 atoms, got 1");
  o.smiles = "C1CC";
  EXPECT_EQ(refusal(o), "molecules: smiles 'C1CC': is no SMILES: unclosed ring");
}

TEST_F(MoleculesMaker, RefusesOptionsThatDoNotFit) {
  MoleculesMakerOptions o = small_;
  o.molecule = "";
  EXPECT_NE(refusal(o).find("give one of molecule=NAME"), std::string::npos);
  o.molecule = "watr";
  EXPECT_NE(refusal(o).find("did you mean 'water'?"), std::string::npos);
  o = small_;
  o.file = "x.xyz";
  EXPECT_NE(refusal(o).find("give one of molecule=NAME"), std::string::npos);
  o = small_;
  o.smiles = "O";
  EXPECT_NE(refusal(o).find("give one of molecule=NAME"), std::string::npos);
  o = small_;
  o.train = 50;
  o.valid = 10;
  EXPECT_NE(refusal(o).find("frames must be more than train and valid"), std::string::npos);
  o = small_;
  o.walkers = 61;
  EXPECT_NE(refusal(o).find("walkers must be at most frames"), std::string::npos);
  o = small_;
  o.charge = 1;
  EXPECT_NE(refusal(o).find("9 electrons"), std::string::npos);
}

}  // namespace molecules_test
}  // namespace weyl
