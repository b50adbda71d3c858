#include "weyl/carriers/quantity.h"

#include <gtest/gtest.h>

namespace weyl {
namespace quantity_test {

TEST(Quantity, CountsChannelsByLevelAndKind) {
  const std::vector<Quantity> quantities{{"velocity", Level::node, Kind::vector, 1},
                                         {"force", Level::node, Kind::vector, 2},
                                         {"charge", Level::node, Kind::scalar, 3},
                                         {"gravity", Level::graph, Kind::vector, 4}};
  EXPECT_EQ(channels_of(quantities, Level::node, Kind::vector), 3);
  EXPECT_EQ(channels_of(quantities, Level::node, Kind::scalar), 3);
  EXPECT_EQ(channels_of(quantities, Level::graph, Kind::scalar), 0);
}

TEST(Quantity, IsFoundByItsName) {
  const std::vector<Quantity> quantities{{.name = "energy", .unit = "eV"}, {.name = "forces"}};
  EXPECT_EQ(find_quantity(quantities, "forces"), &quantities[1]);
  EXPECT_EQ(find_quantity(quantities, "force"), nullptr);
  EXPECT_EQ(find_quantity({}, "energy"), nullptr);
  EXPECT_EQ(unit_of(quantities, "energy"), "eV");
  EXPECT_EQ(unit_of(quantities, "stress"), "");
}

TEST(Quantity, ComponentsFollowKindAndDimension) {
  EXPECT_EQ(components(Kind::vector, 2), 2);
  EXPECT_EQ(components(Kind::axial_vector, 1), 0);
  EXPECT_EQ(components(Kind::axial_vector, 2), 1);
  EXPECT_EQ(components(Kind::axial_vector, 3), 3);
  EXPECT_EQ(components(Kind::symmetric_tensor, 3), 9);
  EXPECT_EQ(components(Kind::pseudoscalar, 3), 1);
  EXPECT_EQ(components(Kind::multivector, 3), 16);
}

TEST(Quantity, NeitherANumberNorAVectorIsAMultivector) {
  EXPECT_FALSE(is_number(Kind::multivector, 3));
  EXPECT_FALSE(is_vector(Kind::multivector, 3));
  EXPECT_EQ(kind_names[static_cast<size_t>(Kind::multivector)], "multivector");
}

TEST(Quantity, APlaceIsWhatTranslationsMove) {
  EXPECT_TRUE(has_place({.name = "line", .kind = Kind::multivector}));
  EXPECT_TRUE(has_place({.name = "exit", .kind = Kind::vector, .role = Role::point}));
  EXPECT_FALSE(has_place({.name = "velocity", .kind = Kind::vector}));
  EXPECT_FALSE(has_place({.name = "arm", .kind = Kind::vector, .role = Role::offset}));
  EXPECT_FALSE(has_place({.name = "charge"}));
}

}  // namespace quantity_test
}  // namespace weyl
