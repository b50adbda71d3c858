#include "weyl/makers/molecules/smiles.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "tests/data/folder.h"
#include "weyl/core/check.h"

namespace weyl {
namespace smiles_test {

using Place = std::array<double, 3>;

Place difference(const std::vector<double>& x, int i, int j) {
  return {x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1], x[3 * i + 2] - x[3 * j + 2]};
}

Place cross(const Place& a, const Place& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Place& a, const Place& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double distance(const std::vector<double>& x, int i, int j) {
  const Place d = difference(x, i, j);
  return std::sqrt(dot(d, d));
}

/// The triple product of three directions from atom `centre`.
double triple(const std::vector<double>& x, int centre, int a, int b, int c) {
  return dot(difference(x, a, centre), cross(difference(x, b, centre), difference(x, c, centre)));
}

std::string refusal(const std::string& smiles) {
  return message_of<ConfigError>([&] { conformer_of_smiles(smiles, 0); });
}

TEST(SmilesWithoutRdkit, SaysHowToGetIt) {
  if (!rdkit_version().empty()) {
    EXPECT_EQ(message_of<ConfigError>([] { read_smiles("CCO"); }), "") << "it is there";
    return;
  }
  for (const auto& said : {message_of<ConfigError>([] { read_smiles("CCO"); }), refusal("CCO")}) {
    EXPECT_EQ(said,
              "molecules: smiles needs RDKit, which this build is without; run scripts/setup --with rdkit, "
              "then scripts/build");
  }
}

class Smiles : public testing::Test {
 protected:
  void SetUp() override {
    if (rdkit_version().empty()) {
      GTEST_SKIP() << "no RDKit in this build";
    }
  }
};

TEST_F(Smiles, SaysAtomsChargeAndUnpairedElectrons) {
  EXPECT_EQ(read_smiles("CCO").numbers, (std::vector<int>{6, 6, 8, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(read_smiles("[H][H]").numbers, (std::vector<int>{1, 1}));
  EXPECT_EQ(read_smiles("c1ccncc1").numbers.size(), 11u);
  struct Case {
    const char* smiles;
    int charge;
    std::optional<int> unpaired;
  };
  for (const auto& [smiles, charge, unpaired] : {Case{"CCO", 0, 0},
                                                 {"[NH4+]", 1, 0},
                                                 {"CC(=O)[O-]", -1, 0},
                                                 {"[NH3+]CC(=O)[O-]", 0, 0},
                                                 {"[O-][N+](=O)C", 0, 0},
                                                 {"[CH3]", 0, 1},
                                                 {"[O][O]", 0, 2},
                                                 {"O=O", 0, 0},
                                                 {"[CH2]", 0, 2},
                                                 {"[O-][O]", -1, 1},
                                                 {"[Fe](Cl)Cl", 0, std::nullopt}}) {
    EXPECT_EQ(read_smiles(smiles).charge, charge) << smiles;
    EXPECT_EQ(read_smiles(smiles).unpaired, unpaired) << smiles;
  }
}

TEST_F(Smiles, ConformersHaveTheShapesOfTheirMolecules) {
  const auto ethanol = conformer_of_smiles("CCO", 1);
  ASSERT_EQ(ethanol.size(), 27u);
  EXPECT_NEAR(distance(ethanol, 0, 1), 1.52, 0.03);
  EXPECT_NEAR(distance(ethanol, 1, 2), 1.42, 0.03);
  for (int h = 3; h < 8; ++h) {
    EXPECT_NEAR(distance(ethanol, h < 6 ? 0 : 1, h), 1.09, 0.02) << h;
  }
  EXPECT_NEAR(distance(ethanol, 2, 8), 0.97, 0.02);

  const auto acid = conformer_of_smiles("C#N", 1);
  EXPECT_NEAR(distance(acid, 1, 2), distance(acid, 0, 1) + distance(acid, 0, 2), 1e-3) << "straight";
  const auto benzene = conformer_of_smiles("c1ccccc1", 1);
  for (int a = 0; a < 6; ++a) {
    EXPECT_NEAR(distance(benzene, a, (a + 1) % 6), 1.39, 0.02);
    EXPECT_NEAR(triple(benzene, 0, 1, 2, a + 6), 0, 1e-2) << "flat";
  }
  // UFF, for MMFF94 knows no boron.
  EXPECT_NEAR(distance(conformer_of_smiles("B", 1), 0, 1), 1.19, 0.05);
}

TEST_F(Smiles, KeepsHandsAndSidesOfDoubleBonds) {
  // "@@": seen from N, what follows goes clockwise (H, methyl, carboxyl), so N . (methyl x carboxyl) < 0. It
  // is L-alanine: seen from H, carboxyl, methyl and N go clockwise too ("CORN").
  for (const uint64_t seed : {0, 1, 2, 3}) {
    EXPECT_LT(triple(conformer_of_smiles("N[C@@H](C)C(=O)O", seed), 1, 0, 2, 3), -1) << seed;
    EXPECT_GT(triple(conformer_of_smiles("N[C@H](C)C(=O)O", seed), 1, 0, 2, 3), 1) << seed;
    EXPECT_NEAR(distance(conformer_of_smiles("F/C=C/F", seed), 0, 3), 3.5, 0.2) << "trans";
    EXPECT_NEAR(distance(conformer_of_smiles("F/C=C\\F", seed), 0, 3), 2.8, 0.2) << "cis";
  }
}

TEST_F(Smiles, ConformersAreAFunctionOfTheirSeed) {
  const auto butane = conformer_of_smiles("CCCC", 5);
  EXPECT_EQ(conformer_of_smiles("CCCC", 5), butane);
  EXPECT_NE(conformer_of_smiles("CCCC", 6), butane);
  EXPECT_NO_THROW(conformer_of_smiles("CCCC", UINT64_MAX));
  int gauche = 0, trans = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const double ends = distance(conformer_of_smiles("CCCC", seed), 0, 3);
    gauche += ends > 2.9 && ends < 3.3;
    trans += ends > 3.8 && ends < 4.0;
  }
  EXPECT_EQ(gauche + trans, 30);
  EXPECT_GT(gauche, 0);
  EXPECT_GT(trans, 0);
}

TEST_F(Smiles, RefusesWhatIsNoMolecule) {
  const auto of = [](const std::string& smiles, const std::string& fault) {
    return "molecules: smiles '" + smiles + "': " + fault;
  };
  const std::string blanks = "must be one SMILES of ASCII characters without blanks";
  EXPECT_EQ(refusal(""), of("", "must have 1 to 4000 characters, has 0"));
  EXPECT_NE(refusal(std::string(4001, 'C')).find("must have 1 to 4000 characters, has 4001"),
            std::string::npos);
  EXPECT_EQ(refusal("CC O"), of("CC O", blanks));
  EXPECT_EQ(refusal("CC\nO"), of("CC\\x0aO", blanks));
  EXPECT_EQ(refusal("C\xc3\xa9"), of("C\\xc3\\xa9", blanks));
  EXPECT_EQ(refusal("C(C"), of("C(C", "is no SMILES: extra open parentheses"));
  EXPECT_EQ(refusal("C1CC"), of("C1CC", "is no SMILES: unclosed ring"));
  EXPECT_EQ(refusal("CX"), of("CX", "is no SMILES: syntax error"));
  EXPECT_EQ(refusal("ethanol"), of("ethanol", "is no SMILES: syntax error"));
  EXPECT_EQ(
      refusal("C(C)(C)(C)(C)C"),
      of("C(C)(C)(C)(C)C", "RDKit says: Explicit valence for atom # 0 C, 5, is greater than permitted"));
  EXPECT_EQ(refusal("c1ccc1n"), of("c1ccc1n", "RDKit says: non-ring atom 4 marked aromatic"));
  EXPECT_EQ(refusal("c1cccc1"),
            of("c1cccc1", "RDKit says: Can't kekulize mol.  Unkekulized atoms: 0 1 2 3 4"));
  EXPECT_EQ(refusal("C*"), of("C*", "atom 2 must be an element"));
  EXPECT_EQ(refusal("C[2H]"),
            of("C[2H]", "atom 2 is an isotope; masses are those of the elements, so leave the number out"));
  EXPECT_EQ(
      refusal("[Na+].[Cl-]"),
      of("[Na+].[Cl-]",
         "must be one molecule, has 2 that no bond joins; give file=PATH, which says where they stand"));
  EXPECT_NE(refusal(std::string(70, 'C')).find("must have 1 to 200 atoms, has 212"), std::string::npos);
  EXPECT_EQ(refusal("C1C[C@H]2CC[C@H]1C2"),
            of("C1C[C@H]2CC[C@H]1C2",
               "RDKit finds no geometry of it in 30 tries; are its stereocentres possible?"));
  EXPECT_EQ(refusal("O=[Cr](=O)O"),
            of("O=[Cr](=O)O", "neither MMFF94 nor UFF has parameters of it; give file=PATH"));
  EXPECT_EQ(read_smiles("CCO").charge, 0) << "goes on after all that";
}

}  // namespace smiles_test
}  // namespace weyl
