#include "weyl/algebra/finite/real_characters.h"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/algebra/finite/spectra.h"

namespace weyl {
namespace real_characters_test {

using Table = std::vector<std::vector<double>>;

// Values on the first elements of classes, irreps in their order.
Table table_of(const GroupTable& group) {
  Table table;
  const ConjugacyClasses classes(group);
  for (const auto& character : real_characters(group)) {
    auto& row = table.emplace_back();
    for (const int64_t g : classes.first) {
      row.push_back(rounded(character.values[g]));
    }
  }
  return table;
}

TEST(RealCharacters, AreThoseOfTheBooks) {
  // Classes: 1, half-turns, thirds, thirds the other way.
  EXPECT_EQ(table_of(GroupTable(*named_group("tetrahedron"))),
            (Table{{1, 1, 1, 1}, {2, 2, -1, -1}, {3, -1, 0, 0}}));
  // Classes: 1, half-turns about the axes, thirds, then (from Rz(90)) quarters and the other half-turns.
  EXPECT_EQ(
      table_of(GroupTable(*named_group("octahedron"))),
      (Table{{1, 1, 1, 1, 1}, {1, 1, 1, -1, -1}, {2, 2, -1, 0, 0}, {3, -1, 0, 1, -1}, {3, -1, 0, -1, 1}}));
  EXPECT_EQ(
      table_of(GroupTable(*spectra::own_groups()[1])),  // Q8: 1, i, j, -1, k
      (Table{{1, 1, 1, 1, 1}, {1, 1, -1, 1, -1}, {1, -1, 1, 1, -1}, {1, -1, -1, 1, 1}, {4, 0, 0, -4, 0}}));
}

TEST(RealCharacters, OfTheIcosahedronHoldTheGoldenRatio) {
  const GroupTable group(*named_group("icosahedron"));
  const ConjugacyClasses classes(group);
  const auto table = table_of(group);
  const double phi = std::numbers::phi;
  std::vector<int64_t> dimensions;
  for (const auto& row : table) {
    dimensions.push_back(std::lround(row[0]));
  }
  EXPECT_EQ(dimensions, (std::vector<int64_t>{1, 3, 3, 4, 5}));
  const std::map<int64_t, std::vector<double>> by_size{{15, {1, -1, -1, 0, 1}}, {20, {1, 0, 0, 1, -1}}};
  for (int64_t c = 1; c < classes.count(); ++c) {
    for (size_t r = 0; r < table.size(); ++r) {
      const auto known = by_size.find(classes.sizes[c]);
      if (known != by_size.end()) {
        EXPECT_EQ(table[r][c], known->second[r]);
      } else if (r == 1 || r == 2) {
        EXPECT_NEAR(std::abs(table[r][c] - 0.5), phi - 0.5, 1e-15);  // phi or 1 - phi
      } else {
        EXPECT_EQ(table[r][c], r == 0 ? 1 : r == 3 ? -1 : 0);
      }
    }
    EXPECT_TRUE(classes.sizes[c] != 12 || std::abs(table[1][c] + table[2][c] - 1) < 1e-15);
  }
}

// <chi, chi'> = delta where they are one irrep, 0 where they are two, and (1/G) sum chi(g^2) = 1, 0, -2 by type.
TEST(RealCharacters, AreOrthogonalAndOfTheirType) {
  for (const auto& group : spectra::groups()) {
    SCOPED_TRACE(group->name());
    const GroupTable table(*group);
    const auto characters = real_characters(table);
    const auto G = static_cast<double>(table.order());
    int64_t elements = 0;
    for (size_t a = 0; a < characters.size(); ++a) {
      const int64_t d = characters[a].dimension, delta = commutant_dimension(characters[a].type);
      elements += d * d / delta;
      EXPECT_EQ(d % delta, 0);
      EXPECT_EQ(rounded(characters[a].values[table.identity()]), static_cast<double>(d));
      DoubleDouble squares;
      for (int64_t g = 0; g < table.order(); ++g) {
        squares += characters[a].values[table.product(g, g)];
      }
      const IrrepType type = characters[a].type;
      const double indicator = type == IrrepType::real ? 1 : type == IrrepType::complex ? 0 : -2;
      EXPECT_NEAR(squares.high / G, indicator, 1e-25);
      for (size_t b = 0; b < characters.size(); ++b) {
        DoubleDouble sum;
        for (int64_t g = 0; g < table.order(); ++g) {
          sum += characters[a].values[g] * characters[b].values[g];
        }
        EXPECT_NEAR(sum.high / G, a == b ? static_cast<double>(delta) : 0, 1e-25);
      }
    }
    EXPECT_EQ(elements, table.order());
  }
}

TEST(RealCharacters, StandInAnOrder) {
  for (const auto& group : spectra::groups()) {
    const auto characters = real_characters(GroupTable(*group));
    for (const auto& value : characters[0].values) {
      EXPECT_EQ(rounded(value), 1);
    }
    for (size_t r = 1; r < characters.size(); ++r) {
      EXPECT_TRUE(characters[r - 1].dimension < characters[r].dimension ||
                  (characters[r - 1].dimension == characters[r].dimension &&
                   characters[r - 1].type <= characters[r].type));
    }
  }
  // Turns of the circle by their frequency.
  const auto characters = real_characters(GroupTable(*named_group("cyclic_7")));
  for (int64_t k = 1; k <= 3; ++k) {
    EXPECT_EQ(rounded(characters[k].values[1]), rounded(cosine_of_turn(k, 7) * 2));
  }
}

}  // namespace real_characters_test
}  // namespace weyl
