#include "weyl/carriers/quantity.h"

#include <gtest/gtest.h>

namespace weyl {
namespace {

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
}

}  // namespace
}  // namespace weyl
