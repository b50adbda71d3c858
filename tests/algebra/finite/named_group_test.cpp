#include <gtest/gtest.h>

#include <map>

#include "tests/laws.h"
#include "weyl/algebra/finite/finite_group.h"
#include "weyl/core/check.h"

namespace weyl {
namespace named_group_test {

TEST(NamedGroup, EveryNameGivesAGroupOfItsOrderThatObeysTheLaws) {
  const std::map<std::string, std::pair<int64_t, int64_t>> expected{// name -> order, dimension
                                                                    {"trivial", {1, 3}},
                                                                    {"trivial_2", {1, 2}},
                                                                    {"trivial_10", {1, 10}},
                                                                    {"tetrahedron", {12, 3}},
                                                                    {"tetrahedron_full", {24, 3}},
                                                                    {"octahedron", {24, 3}},
                                                                    {"octahedron_full", {48, 3}},
                                                                    {"icosahedron", {60, 3}},
                                                                    {"icosahedron_full", {120, 3}},
                                                                    {"octahedron_reflections", {8, 3}},
                                                                    {"flop_2d_1", {2, 2}},
                                                                    {"flop_2d_2", {2, 2}},
                                                                    {"flop_3d_1", {2, 3}},
                                                                    {"flop_3d_2", {2, 3}},
                                                                    {"flop_3d_3", {2, 3}},
                                                                    {"cyclic_2", {2, 2}},
                                                                    {"cyclic_7", {7, 2}},
                                                                    {"cyclic_64", {64, 2}},
                                                                    {"dihedral_2", {4, 2}},
                                                                    {"dihedral_20", {40, 2}},
                                                                    {"cyclic_3d_2", {2, 3}},
                                                                    {"cyclic_3d_12", {12, 3}},
                                                                    {"dihedral_3d_3", {6, 3}},
                                                                    {"dihedral_3d_6", {12, 3}}};
  for (const auto& [name, order_dimension] : expected) {
    const auto group = named_group(name);
    EXPECT_EQ(group->name(), name);
    EXPECT_EQ(group->order(), order_dimension.first) << name;
    EXPECT_EQ(group->dimension(), order_dimension.second) << name;
    laws::expect_finite_group(*group);
  }
}

TEST(NamedGroup, AxisTurnsTheFamiliesInSpaceOnly) {
  const auto about_x = named_group("cyclic_3d_4", {2, 0, 0});
  EXPECT_EQ(laws::matrix(*about_x, 1), (std::vector<double>{1, 0, 0, 0, 0, -1, 0, 1, 0}));
  EXPECT_EQ(named_group("cyclic_4", {2, 0, 0})->dimension(), 2);
  EXPECT_THROW(named_group("dihedral_3d_4", {0, 0, 0}), ConfigError);
}

TEST(NamedGroup, RefusesOtherNamesWithAUsefulLine) {
  const auto message = [](const char* name) {
    try {
      named_group(name);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("no ConfigError");
  };
  EXPECT_EQ(message("cyclic_65"), "group 'cyclic_65': n must be 2 to 64 in cyclic_n, got 65");
  EXPECT_EQ(message("flop_3d_4"), "group 'flop_3d_4': n must be 1 to 3 in flop_3d_n, got 4");
  for (const char* name : {"", "cube", "cyclic_", "cyclic_04", "cyclic_-3", "cyclic_3d", "cyclic_3d_",
                           "cyclic_4 ", "dihedral_3x", "cyclic_99999999999999999999", "Tetrahedron"}) {
    EXPECT_NE(message(name).find("group: must be one of trivial, tetrahedron"), std::string::npos) << name;
  }
}

TEST(NamedGroup, NamesTheNearestGroup) {
  const auto message = [](const char* name) {
    try {
      named_group(name);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("no ConfigError");
  };
  EXPECT_TRUE(message("octohedron").ends_with("; got 'octohedron', did you mean 'octahedron'?"))
      << message("octohedron");
  EXPECT_TRUE(message("cyclc_12").ends_with("did you mean 'cyclic_12'?")) << message("cyclc_12");
  EXPECT_TRUE(message("cyclic_3d_x").ends_with("did you mean 'cyclic_3d_n', n a number?"))
      << message("cyclic_3d_x");
  EXPECT_TRUE(message("poincare").ends_with("got 'poincare'")) << message("poincare");
}

TEST(NamedGroup, EveryListedNameIsAccepted) {
  for (auto name : group_names()) {
    if (name.ends_with("_n")) {
      name.back() = '2';
    }
    EXPECT_NO_THROW(named_group(name)) << name;
  }
}

}  // namespace named_group_test
}  // namespace weyl
