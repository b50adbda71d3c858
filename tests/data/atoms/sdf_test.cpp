// Tables of atoms and bonds, V2000 and V3000.
#include "weyl/data/atoms/sdf.h"

#include <gtest/gtest.h>

#include "tests/data/atoms/molecule_frames.h"
#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/data/containers/byte_source.h"

namespace weyl {
namespace sdf_test {

TEST(Sdf, FilesOfRdkit) {
  for (const char* name : {"v2000.sdf", "v3000.sdf"}) {
    const auto frames = read(fixtures + name);
    ASSERT_EQ(frames.size(), 2) << name;
    const auto& formate = frames[0];
    EXPECT_EQ(formate.numbers, (std::vector{6, 8, 8, 7, 1, 1, 1, 1, 1})) << name;
    EXPECT_EQ(formate.positions[3], 0.125);
    EXPECT_EQ(formate.positions[4], -0.25);
    EXPECT_EQ(formate.positions[5], 1.5);
    EXPECT_EQ(std::get<Integers>(formate.column("formal_charges")->values),
              (Integers{0, 0, -1, 1, 0, 0, 0, 0, 0}));
    EXPECT_EQ(std::get<Integers>(formate.column("isotopes")->values), (Integers{13, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(formate.column("radicals"), nullptr);
    ASSERT_EQ(formate.bonds.size(), 7) << name;
    EXPECT_EQ(formate.bonds[0], (Bond{0, 1, 2}));
    EXPECT_EQ(formate.bonds[1], (Bond{0, 2, 1}));
    EXPECT_EQ(words(formate, "name"), "ammonium formate");
    EXPECT_EQ(real(formate, "dimensions"), 3);
    EXPECT_EQ(real(formate, "energy"), -245.125);
    EXPECT_EQ(words(formate, "note"), "first line\nsecond line");
    const auto& benzene = frames[1];
    EXPECT_EQ(benzene.numbers, std::vector<int>(6, 6));
    EXPECT_EQ(benzene.bonds.size(), 6);
    EXPECT_EQ(benzene.bonds[5].order, 4);
    EXPECT_EQ(benzene.column("isotopes"), nullptr);
    EXPECT_EQ(benzene.value("energy"), nullptr);
  }
}

std::vector<AtomsFrame> parse_sdf(std::string_view file) {
  SdfReader reader(bytes_of(std::as_bytes(std::span(file)), "x.sdf"), "x.sdf");
  return frames_of(reader);
}

// Codes of the atom block, D and T, three digits without blanks between them, blank header lines, no $$$$ at
// the end.
TEST(Sdf, WhatOldFilesDo) {
  std::string big = "\n\n\n101100  0  0  0  0            999 V2000\n";
  for (int i = 0; i < 101; ++i) {
    big += "    1.0000   -2.5000    0.0001 " +
           std::string(i == 0   ? "D  "
                       : i == 1 ? "T  "
                                : "N  ") +
           (i == 2   ? " 0  3"
            : i == 3 ? " 0  5"
            : i == 4 ? " 0  4"
                     : " 0  0") +
           "  0\n";
  }
  for (int i = 0; i < 100; ++i) {
    const std::string a = std::to_string(i + 1), b = std::to_string(i + 2);
    big += std::string(3 - a.size(), ' ') + a + std::string(3 - b.size(), ' ') + b +
           (i == 99 ? "  9" : "  1") + "  0\n";
  }
  const auto frames = parse_sdf(big + "M  END\n");
  ASSERT_EQ(frames.size(), 1);
  EXPECT_EQ(frames[0].size(), 101);
  EXPECT_EQ(frames[0].numbers[0], 1);
  const auto isotopes = std::get<Integers>(frames[0].column("isotopes")->values);
  EXPECT_EQ(isotopes[0], 2);
  EXPECT_EQ(isotopes[1], 3);
  const auto charges = std::get<Integers>(frames[0].column("formal_charges")->values);
  EXPECT_EQ(charges[2], 1);
  EXPECT_EQ(charges[3], -1);
  EXPECT_EQ(std::get<Integers>(frames[0].column("radicals")->values)[4], 2);
  EXPECT_EQ(frames[0].bonds[99], (Bond{99, 100, 0}));
  EXPECT_TRUE(frames[0].values.empty());
  // M  CHG unsays the codes.
  const auto said = parse_sdf(big + "M  CHG  1  10  -2\nM  END\n> <a> (7)\n12\n\n>  25 <b c>\n\n$$$$\n");
  const auto charged = std::get<Integers>(said.at(0).column("formal_charges")->values);
  EXPECT_EQ(charged[2], 0);
  EXPECT_EQ(charged[9], -2);
  EXPECT_EQ(said[0].column("radicals"), nullptr);
  EXPECT_EQ(real(said[0], "a"), 12);
  EXPECT_EQ(words(said[0], "b c"), "");
  // A field may be called as what the first line says.
  const auto named = parse_sdf("title" + big + "M  END\n> <name>\nfield\n\n> <name>\nfield\n\n$$$$\n");
  EXPECT_EQ(words(named.at(0), "name"), "field");
}

TEST(Sdf, ContinuedLinesAndIndicesOfAnyOrder) {
  const auto frames = parse_sdf(
      "\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS 2 1 0 0 0\nM  V30 "
      "BEGIN ATOM\n"
      "M  V30 7 C 0 0 -\nM  V30 1.5 0 CHG=1 MASS=13 -\nM  V30 RAD=2\nM  V30 3 O 0 0 0 0\nM  V30 END ATOM\n"
      "M  V30 BEGIN BOND\nM  V30 1 2 3 7\nM  V30 END BOND\nM  V30 BEGIN COLLECTION\nM  V30 anything\n"
      "M  V30 END COLLECTION\nM  V30 END CTAB\nM  END\n$$$$\n");
  ASSERT_EQ(frames.size(), 1);
  EXPECT_EQ(frames[0].numbers, (std::vector{6, 8}));
  EXPECT_EQ(frames[0].positions, (Reals{0, 0, 1.5, 0, 0, 0}));
  EXPECT_EQ(frames[0].bonds, (std::vector<Bond>{{1, 0, 2}}));
  EXPECT_EQ(std::get<Integers>(frames[0].column("formal_charges")->values), (Integers{1, 0}));
  EXPECT_EQ(std::get<Integers>(frames[0].column("isotopes")->values), (Integers{13, 0}));
  EXPECT_EQ(std::get<Integers>(frames[0].column("radicals")->values), (Integers{2, 0}));
}

TEST(Sdf, DataFieldsOfAMoleculeHaveALimit) {
  const std::string begin = "\n\n\n  0  0  0  0  0  0            999 V2000\nM  END\n",
                    line(size_t{1} << 20, 'x');
  std::string file = begin + ">  <long>\n";
  for (int i = 0; i < 15; ++i) {
    file += line + "\n";
  }
  EXPECT_EQ(words(parse_sdf(file + "\n$$$$\n" + file).at(1), "long").size(), 15 * (line.size() + 1) - 1);
  const auto refusal = [](const std::string& text) {
    return message_of<DataError>([&] { parse_sdf(text); });
  };
  EXPECT_NE(refusal(file + line + "\n").find("the data fields of a molecule must have at most"),
            std::string::npos);
  // Many fields are as long as one.
  std::string many = begin;
  for (int i = 0; i < 17; ++i) {
    many += ">  <" + std::to_string(i) + line + ">\n1\n\n";
  }
  EXPECT_NE(refusal(many).find("the data fields of a molecule must have at most"), std::string::npos);
}

TEST(Sdf, TwoAtomsHaveOneBond) {
  const std::string atom = "    0.0000    0.0000    0.0000 C   0  0\n";
  const std::string said = message_of<DataError>([&] {
    parse_sdf("\n\n\n  3  3  0  0  0  0            999 V2000\n" + atom + atom + atom +
              "  1  2  1\n  2  3  1\n  2  1  2\nM  END\n");
  });
  EXPECT_NE(said.find("two atoms must have one bond, 1 and 2 have two"), std::string::npos) << said;
}

}  // namespace sdf_test
}  // namespace weyl
