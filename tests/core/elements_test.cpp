#include "weyl/core/elements.h"

#include <gtest/gtest.h>

#include <set>

#include "weyl/core/check.h"

namespace weyl {
namespace elements_test {

TEST(Elements, SymbolsAndNumbersAreOneToOne) {
  std::set<std::string_view> seen;
  for (int z = 0; z <= most_elements; ++z) {
    EXPECT_EQ(atomic_number(element_symbol(z)), z);
    EXPECT_TRUE(seen.insert(element_symbol(z)).second);
  }
  EXPECT_EQ(element_symbol(0), "X");
  EXPECT_EQ(element_symbol(17), "Cl");
  EXPECT_EQ(element_symbol(118), "Og");
}

// An upper-case CO is no cobalt, and CA of a protein no calcium.
TEST(Elements, WordsThatAreNone) {
  for (const char* word : {"", "CL", "cl", "h", "CO", "Hx", "H1", "Clx", "1", " H", "\xff\xff", "Zz", "D"}) {
    EXPECT_EQ(atomic_number(word), -1) << word;
  }
  EXPECT_EQ(unknown_element("CL"), "unknown element 'CL' (did you mean 'Cl'?)");
  EXPECT_EQ(unknown_element("Qq"), "unknown element 'Qq'");
  EXPECT_EQ(unknown_element("D"), "unknown element 'D' (an isotope of hydrogen, H)");
  EXPECT_EQ(unknown_element("\x1b[1m"), "unknown element '\\x1b[1m'");
}

// IUPAC's table of standard atomic weights (2021), conventional values; technetium has none: the isotope 98.
TEST(Elements, Masses) {
  EXPECT_EQ(standard_mass(0), 0);
  EXPECT_EQ(standard_mass(1), 1.008);
  EXPECT_EQ(standard_mass(6), 12.011);
  EXPECT_EQ(standard_mass(17), 35.45);
  EXPECT_EQ(standard_mass(18), 39.95);
  EXPECT_NEAR(standard_mass(43), 97.907, 1e-3);
  EXPECT_NEAR(standard_mass(79), 196.96657, 1e-5);
  EXPECT_EQ(standard_mass(82), 207.2);
  // Masses grow with Z but for the known pairs.
  const std::set<int> lighter{19, 28, 53, 61, 91, 93, 95, 97, 98, 108, 109};
  for (int z = 2; z < 104; ++z) {
    EXPECT_TRUE(standard_mass(z) > standard_mass(z - 1) || lighter.contains(z)) << z;
  }
  EXPECT_THROW(standard_mass(119), ShapeError);
  EXPECT_EQ(isotope_mass(1, 0), standard_mass(1));
  EXPECT_NEAR(isotope_mass(1, hydrogen_isotope("D")), 2.0141, 1e-4);
  EXPECT_NEAR(isotope_mass(1, hydrogen_isotope("T")), 3.0160, 1e-4);
  EXPECT_EQ(isotope_mass(6, 13), 13);
  EXPECT_EQ(hydrogen_isotope("H"), 0);
  EXPECT_THROW(element_symbol(-1), ShapeError);
}

}  // namespace elements_test
}  // namespace weyl
