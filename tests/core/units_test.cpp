#include "weyl/core/units.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/data/folder.h"
#include "weyl/core/check.h"

namespace weyl {
namespace units_test {

void expect_factor(const char* from, const char* to, double factor, double relative) {
  EXPECT_NEAR(unit_factor(from, to) / factor, 1, relative) << from << " to " << to;
  EXPECT_NEAR(unit_factor(to, from) * factor, 1, relative) << to << " to " << from;
}

// Figures as handbooks and the programs of the field print them.
TEST(Units, HandKnownFigures) {
  expect_factor("eV", "kcal/mol", 23.060548, 1e-7);
  expect_factor("Hartree", "kcal/mol", 627.509474, 1e-8);
  expect_factor("Hartree", "eV", 27.211386, 1e-8);
  expect_factor("Rydberg", "eV", 13.605693, 1e-7);
  expect_factor("eV", "kJ/mol", 96.485332, 1e-8);
  expect_factor("kcal/mol", "kJ/mol", 4.184, 1e-14);
  expect_factor("Bohr", "Angstrom", 0.529177211, 1e-8);
  expect_factor("nm", "A", 10, 1e-14);
  expect_factor("Hartree/Bohr", "eV/Angstrom", 51.422067, 1e-8);
  expect_factor("kcal/mol/Angstrom", "meV/Angstrom", 43.36410, 1e-7);
  expect_factor("eV/Angstrom^3", "GPa", 160.2176634, 1e-12);
  expect_factor("Hartree/Bohr^3", "GPa", 29421.016, 1e-7);
  expect_factor("THz", "1/ps", 1, 1e-14);
  expect_factor("kbar", "GPa", 0.1, 1e-14);
  expect_factor("Debye", "e*Angstrom", 0.208194333, 1e-8);
  expect_factor("e Bohr", "Debye", 2.5417464, 1e-7);
  expect_factor("meV/atom", "eV/atom", 1e-3, 1e-14);
  expect_factor("mm", "metre", 1e-3, 1e-14);
  expect_factor("ms", "seconds", 1e-3, 1e-14);
  expect_factor("amu*Angstrom^2/fs^2", "eV", 103.642697, 1e-7);
}

TEST(Units, OneUnitInManyWords) {
  for (const char* unit :
       {"kcal/mol/A", "kcal / mol / Ang", "kcal/(mol A)", "kcal*mol^-1*Angstrom^-1", "kcal/(mol*\u00c5)",
        "kcal\u00b7mol^-1\u00b7A^-1", "(kcal/mol)/angstrom", "1/A*kcal/mol", "kcal/mol/A**1"}) {
    EXPECT_NEAR(unit_factor(unit, "kcal/mol/Angstrom"), 1, 1e-14) << unit;
  }
  EXPECT_EQ(unit_factor("eV^0", "1"), 1);
}

TEST(Units, DifferentThingsAreNotConverted) {
  for (const auto& [from, to] :
       {std::pair{"eV", "A"}, {"eV/A", "eV"}, {"meV", "meV/atom"}, {"GPa", "eV/A^2"}, {"1", "K"}}) {
    EXPECT_NE(message_of<ConfigError>([&] { unit_factor(from, to); }).find("measure different things"),
              std::string::npos)
        << from << " to " << to;
  }
}

TEST(Units, WhatIsNoUnit) {
  const auto fault = [](const std::string& unit) {
    return message_of<ConfigError>([&] { parse_unit(unit); });
  };
  EXPECT_EQ(fault("furlong"), "unit 'furlong': unknown name 'furlong'");
  EXPECT_EQ(fault(""), "unit '': a name is missing at the end");
  EXPECT_EQ(fault("eV/"), "unit 'eV/': a name is missing at the end");
  EXPECT_EQ(fault("eV//A"), "unit 'eV//A': a name is missing before '/A'");
  EXPECT_EQ(fault("(eV"), "unit '(eV': a bracket is not closed");
  EXPECT_EQ(fault("eV)"), "unit 'eV)': a bracket is closed that was not opened");
  EXPECT_NE(fault("A^x").find("an exponent must be -9 .. 9, got 'x'"), std::string::npos);
  EXPECT_NE(fault("A^99"), "");
  EXPECT_NE(fault(std::string(1000, '(')), "");
  EXPECT_NE(fault("\xff\x01").find("unknown name '\\xff\\x01'"), std::string::npos);
}

TEST(Units, WhatIsMeantIsSuggested) {
  const auto fault = [](const std::string& unit) {
    return message_of<ConfigError>([&] { parse_unit(unit); });
  };
  EXPECT_EQ(fault("hartre"), "unit 'hartre': unknown name 'hartre'; did you mean 'Hartree'?");
  EXPECT_EQ(fault("kcal/mole"), "unit 'kcal/mole': unknown name 'mole'; did you mean 'mol'?");
  EXPECT_EQ(fault("EV"), "unit 'EV': unknown name 'EV'; did you mean 'eV'?");
  EXPECT_EQ(fault("kB"), "unit 'kB': unknown name 'kB'; did you mean 'kbar'?");  // VASP's
}

TEST(Units, OfAtomsAreOfTheirThingAndSize) {
  const auto fault = [](const std::string& unit, const std::string& like) {
    return message_of<ConfigError>([&] { check_unit(unit, like); });
  };
  for (const auto& [unit, like] : {std::pair{"kcal/mol", "eV"},
                                   {"J", "eV"},
                                   {"kJ/mol", "meV"},
                                   {"Hartree/Bohr", "eV/Angstrom"},
                                   {"kcal/mol/A", "eV/Angstrom"},
                                   {"GPa", "eV/Angstrom^3"},
                                   {"kbar", "eV/Angstrom^3"}}) {
    EXPECT_EQ(fault(unit, like), "") << unit;
  }
  EXPECT_NE(fault("kcal", "eV").find("unit 'kcal': must be of one molecule's size, got 2.61"),
            std::string::npos)
      << fault("kcal", "eV");
  EXPECT_TRUE(fault("kcal", "eV").ends_with("; did you mean 'kcal/mol'?")) << fault("kcal", "eV");
  EXPECT_TRUE(fault("kJ", "eV").ends_with("; did you mean 'kJ/mol'?"));
  EXPECT_TRUE(fault("cal", "eV").ends_with("; did you mean 'cal/mol'?"));
  EXPECT_TRUE(fault("kcal/A", "eV/Angstrom").ends_with("; did you mean 'kcal/mol/A'?"));
  EXPECT_EQ(fault("Hartree", "eV/Angstrom"),
            "units: 'Hartree' and 'eV/Angstrom' measure different things; did you mean 'Hartree/Angstrom'?");
  EXPECT_TRUE(fault("eV", "eV/Angstrom^3").ends_with("; did you mean 'eV/Angstrom^3'?"));
  EXPECT_EQ(fault("A", "eV"), "units: 'A' and 'eV' measure different things");
  EXPECT_EQ(fault("furlong", "eV"), "unit 'furlong': unknown name 'furlong'");
}

}  // namespace units_test
}  // namespace weyl
