// Made molecules are what the readers of PCQM4Mv2 and Molecule3D read, and what xtb says of them.
#include "weyl/makers/molecules/orbital_gaps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/data/atoms/molecule_frames.h"
#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/data/atoms/molecule3d.h"
#include "weyl/data/atoms/pcqm4mv2.h"
#include "weyl/data/atoms/sdf.h"
#include "weyl/makers/molecules/conformers.h"
#include "weyl/makers/molecules/small_molecules.h"
#include "weyl/makers/molecules/smiles.h"
#include "weyl/makers/molecules/xtb.h"

namespace weyl {
namespace orbital_gaps_test {

namespace fs = std::filesystem;

class OrbitalGaps : public testing::Test {
 protected:
  void SetUp() override {
    if (xtb_version().empty() || rdkit_version().empty()) {
      GTEST_SKIP() << "no xtb library, or no RDKit in this build";
    }
  }
  std::string made() const {
    const OrbitalGapsMakerOptions o{.molecules = 8, .conformers = 2, .valid = 0.25, .test = 0.25};
    EXPECT_TRUE(make_orbital_gaps(o, folder_ / "made"));
    return folder_ / "made";
  }
  Folder folder_;
};

std::vector<int> composition(const AtomsFrame& frame) {
  std::vector<int> numbers = frame.numbers;
  std::ranges::sort(numbers);
  return numbers;
}

void expect_pcqm4mv2(const std::string& folder) {
  const Pcqm4mv2Files files(folder, 2);
  const auto frames = frames_of(*files.open());
  ASSERT_EQ(frames.size(), 8);
  const auto geometries = read(folder + "/pcqm4m-v2-train.sdf");
  EXPECT_EQ(files.splits().at("train").size(), geometries.size());
  for (size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i].column(relaxed_column) != nullptr, i < geometries.size());
    EXPECT_FALSE(frames[i].bonds.empty());
  }
  // Places have four decimals, gaps all.
  Xtb xtb(geometries[0].numbers, {});
  const SinglePoint point = xtb(geometries[0].positions);
  EXPECT_NEAR(real(frames[0], "gap"), point.lumo - point.homo, 2e-3);
}

void expect_molecule3d(const std::string& folder) {
  const auto frames = frames_of(*open_molecule3d(folder));
  ASSERT_EQ(frames.size(), 8);
  std::set<std::vector<int>> train, others;
  const SplitLists lists = read_split_lists(folder + "/scaffold_split_inds.json", {"train", "valid", "test"});
  size_t listed = 0;
  for (const auto& [name, samples] : lists) {
    listed += samples.size();
    for (const int64_t sample : samples) {
      (name == "train" ? train : others).insert(composition(frames[static_cast<size_t>(sample)]));
    }
  }
  EXPECT_EQ(listed, 8);
  for (const auto& numbers : others) {
    EXPECT_FALSE(train.contains(numbers)) << "a composition is in two splits";
  }
  for (const AtomsFrame& frame : frames) {
    EXPECT_NEAR(real(frame, "homolumogap"), real(frame, "lumo") - real(frame, "homo"), 1e-12);
    EXPECT_GT(real(frame, "homolumogap"), 0.5);
  }
}

TEST_F(OrbitalGaps, AsFilesOfBothSets) {
  const std::string folder = made();
  expect_pcqm4mv2(folder);
  expect_molecule3d(folder);
  EXPECT_NE(message_of<ConfigError>([&] { make_orbital_gaps({.molecules = 8}, folder); }).find("data.csv.gz"),
            std::string::npos);
}

/// The gap of water by GFN2-xTB (xtb 6.5.1 prints it as its HOMO-LUMO gap).
TEST_F(OrbitalGaps, OfWater) {
  const auto water = conformers_of_smiles("O", 1, 1, 1).front();
  const SinglePoint point = Xtb(water.numbers, {})(water.positions);
  EXPECT_NEAR(point.lumo - point.homo, 14.4, 0.4);
  EXPECT_NEAR(point.homo, -12.1, 0.4);
}

TEST_F(OrbitalGaps, SmallMoleculesAreDifferent) {
  const auto all = small_molecules();
  EXPECT_GT(all.size(), 2500);
  std::set<std::string> canonical;
  for (size_t i = 0; i < all.size(); i += 20) {
    EXPECT_TRUE(canonical.insert(canonical_smiles(all[i])).second) << all[i];
    EXPECT_LE(read_smiles(all[i]).numbers.size(), 30u) << all[i];
  }
}

class Conformers : public OrbitalGaps {};

TEST_F(Conformers, OfATable) {
  std::ofstream(folder_ / "table.csv") << "id,smiles\na,CCO\nb,[Fe+2]\nc,[Na+].CC(=O)[O-]\n";
  const auto make = [&](ConformersMakerOptions o, const std::string& to) {
    o.file = folder_ / "table.csv";
    o.conformers = 3;
    EXPECT_TRUE(make_conformers(o, folder_ / to));
  };
  make({}, "all");
  const auto frames = read(folder_ / "all/conformers.sdf");
  ASSERT_EQ(std::ranges::count_if(frames, [](const AtomsFrame& f) { return real(f, "idx") == 0; }), 3);
  EXPECT_EQ(frames[0].numbers, (std::vector{6, 6, 8}));
  EXPECT_NE(frames[0].positions, frames[1].positions);
  EXPECT_EQ(frames[0].bonds, (std::vector<Bond>{{0, 1, 1}, {1, 2, 1}}));
  EXPECT_EQ(frames.back().numbers, (std::vector{11, 6, 6, 8, 8}));
  EXPECT_EQ(std::get<Integers>(frames.back().column("formal_charges")->values), (Integers{1, 0, 0, 0, -1}));
  // Sodium is beside acetate, not in it.
  const auto& salt = frames.back().positions;
  for (size_t atom = 1; atom < 5; ++atom) {
    EXPECT_GE(
        std::hypot(salt[3 * atom] - salt[0], salt[3 * atom + 1] - salt[1], salt[3 * atom + 2] - salt[2]),
        2.9);
  }
  // Parts, made by themselves and by any number of threads, are the whole.
  make({.first = 0, .count = 1, .threads = 2}, "parts");
  make({.first = 1, .count = 2}, "parts");
  EXPECT_EQ(contents_of(folder_ / "parts/conformers-000000000.sdf") +
                contents_of(folder_ / "parts/conformers-000000001.sdf"),
            contents_of(folder_ / "all/conformers.sdf"));
  std::ofstream(folder_ / "table.csv") << "id,smiles\na,CCO\nb,C(\n";
  EXPECT_NE(message_of<DataError>([&] {
              make_conformers({.file = folder_ / "table.csv", .conformers = 3}, folder_ / "wrong");
            }).find("line 3"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "wrong"));
}

// Isotopes are kept, with their hydrogens. Bonds are those of a Kekule structure, without which nobody knows where the hydrogen of
// pyrrole is; the reader gives them as aromatic ones.
TEST_F(Conformers, SayWhatASdfReaderCannotGuess) {
  const std::vector<std::string> smiles{"[2H]C([2H])O", "[13CH4]", "c1cc[nH]c1", "c1ccccc1"};
  std::string table = "idx,smiles,homolumogap\n", relaxed;
  for (size_t i = 0; i < smiles.size(); ++i) {
    table += text(i, ",", smiles[i], ",5\n");
    append_sdf(relaxed, conformers_of_smiles(smiles[i], 1, 7, 1).front());
  }
  std::ofstream(folder_ / "data.csv") << table;
  std::ofstream(folder_ / "split_dict.json") << R"({"train": [0, 1, 2, 3], "valid": [], "test-dev": []})";
  std::ofstream(folder_ / "pcqm4m-v2-train.sdf") << relaxed;
  ASSERT_TRUE(make_conformers({.file = folder_ / "data.csv", .conformers = 2}, folder_.path()));
  const auto isotopes = [](const AtomsFrame& frame) {
    const AtomColumn* column = frame.column(isotopes_column);
    return column == nullptr ? Integers() : std::get<Integers>(column->values);
  };
  const auto in_file = read(folder_ / "conformers.sdf");
  ASSERT_EQ(in_file.size(), 8);
  EXPECT_EQ(in_file[0].numbers, (std::vector{1, 6, 1, 8}));
  EXPECT_EQ(isotopes(in_file[0]), (Integers{2, 0, 2, 0}));
  EXPECT_EQ(isotopes(in_file[2]), Integers{13});
  EXPECT_EQ(in_file[4].numbers, (std::vector{6, 6, 6, 7, 6}));
  EXPECT_EQ(in_file[4].bonds, (std::vector<Bond>{{0, 1, 1}, {1, 2, 2}, {2, 3, 1}, {3, 4, 1}, {4, 0, 2}}));
  EXPECT_EQ(in_file[6].numbers, std::vector<int>(6, 6));
  const auto frames = frames_of(*Pcqm4mv2Files(folder_.path(), 2).open());
  ASSERT_EQ(frames.size(), 4);
  EXPECT_EQ(frames[0].numbers, (std::vector{1, 6, 1, 8}));
  EXPECT_EQ(frames[2].numbers, (std::vector{6, 6, 6, 7, 6}));
  for (const size_t row : {2, 3}) {
    for (const Bond& bond : frames[row].bonds) {
      EXPECT_EQ(bond.order, 4);
    }
    EXPECT_EQ(frames[row].value(aromatic_bonds_value), nullptr);
  }
  EXPECT_NE(frames[3].column(relaxed_column), nullptr);
}

}  // namespace orbital_gaps_test
}  // namespace weyl
