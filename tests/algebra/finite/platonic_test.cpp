#include "weyl/algebra/finite/point_groups.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "tests/laws.h"
#include "weyl/core/check.h"

namespace weyl {
namespace platonic_test {

// "+y-z+x": row 0 gives +y, row 1 gives -z, row 2 gives +x. Anything else in the matrix: "?".
std::string rows(const FiniteGroup& group, int64_t g) {
  std::string written;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const double x = group.element(g)[3 * i + j];
      written += x == 0    ? ""
                 : x == 1  ? std::string("+") + "xyz"[j]
                 : x == -1 ? std::string("-") + "xyz"[j]
                           : "?";
    }
  }
  return written;
}

std::vector<int64_t> inverses(const FiniteGroup& group) {
  std::vector<int64_t> all;
  for (int64_t g = 0; g < group.order(); ++g) {
    all.push_back(group.inverse(g));
  }
  return all;
}

// The fingerprints of fact sheet section 8 item 1.
int64_t cayley_hash(const FiniteGroup& group) {
  int64_t sum = 0;
  for (int64_t i = 0; i < group.order(); ++i) {
    for (int64_t j = 0; j < group.order(); ++j) {
      sum += group.product(i, j) * i * j * (j + 1);
    }
  }
  return sum;
}

int64_t inverse_hash(const FiniteGroup& group) {
  int64_t sum = 0;
  for (int64_t i = 0; i < group.order(); ++i) {
    sum += group.inverse(i) * i * i;
  }
  return sum;
}

// Indices i with element i of `whole` equal to an element of `part`, in part's order; -1 for a miss.
std::vector<int64_t> embedding(const FiniteGroup& part, const FiniteGroup& whole) {
  std::vector<int64_t> into;
  for (int64_t g = 0; g < part.order(); ++g) {
    into.push_back(-1);
    for (int64_t h = 0; h < whole.order(); ++h) {
      if (std::ranges::equal(part.element(g), whole.element(h))) {
        into.back() = h;
      }
    }
  }
  return into;
}

TEST(Platonic, TetrahedralElementsStandInTheAuthorsOrder) {
  const auto group = tetrahedron();
  const std::vector<std::string> expected{"+x+y+z", "+x-y-z", "-x+y-z", "-x-y+z", "+z+x+y", "+y+z+x",
                                          "-z+x-y", "-y-z+x", "+z-x-y", "-y+z-x", "-z-x+y", "+y-z-x"};
  for (int64_t g = 0; g < 12; ++g) {
    EXPECT_EQ(rows(group, g), expected[g]) << g;
  }
  EXPECT_EQ(inverses(group), (std::vector<int64_t>{0, 1, 2, 3, 5, 4, 11, 8, 7, 10, 9, 6}));
}

TEST(Platonic, TetrahedralCayleyTableIsTheAuthors) {
  const int64_t expected[12][12] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {1, 0, 3, 2, 8, 11, 10, 9, 4, 7, 6, 5},
      {2, 3, 0, 1, 6, 9, 4, 11, 10, 5, 8, 7}, {3, 2, 1, 0, 10, 7, 8, 5, 6, 11, 4, 9},
      {4, 6, 10, 8, 5, 0, 7, 1, 9, 3, 11, 2}, {5, 7, 11, 9, 0, 4, 1, 6, 3, 8, 2, 10},
      {6, 4, 8, 10, 9, 2, 11, 3, 5, 1, 7, 0}, {7, 5, 9, 11, 3, 10, 2, 8, 0, 6, 1, 4},
      {8, 10, 6, 4, 11, 1, 9, 0, 7, 2, 5, 3}, {9, 11, 7, 5, 2, 6, 3, 4, 1, 10, 0, 8},
      {10, 8, 4, 6, 7, 3, 5, 2, 11, 0, 9, 1}, {11, 9, 5, 7, 1, 8, 0, 10, 2, 4, 3, 6}};
  const auto group = tetrahedron();
  for (int64_t g = 0; g < 12; ++g) {
    for (int64_t h = 0; h < 12; ++h) {
      EXPECT_EQ(group.product(g, h), expected[g][h]) << g << " " << h;
    }
  }
}

TEST(Platonic, OctahedralElementsStandInTheAuthorsOrder) {
  const auto group = octahedron();
  const std::vector<std::string> expected{"-y+x+z", "-y-x-z", "+y+x-z", "+y-x+z", "+z-y+x", "+x+z-y",
                                          "-z-y-x", "-x-z-y", "+z+y-x", "-x+z+y", "-z+y+x", "+x-z+y"};
  for (int64_t t = 0; t < 12; ++t) {
    EXPECT_EQ(rows(group, 12 + t), expected[t]) << t;
    EXPECT_EQ(rows(group, t), rows(tetrahedron(), t)) << t;
  }
  EXPECT_EQ(inverses(group), (std::vector<int64_t>{0,  1,  2,  3,  5,  4,  11, 8,  7,  10, 9,  6,
                                                   15, 13, 14, 12, 16, 23, 18, 19, 22, 21, 20, 17}));
}

TEST(Platonic, TablesHaveTheAuthorsFingerprints) {
  const auto expect = [](const FiniteGroup& group, int64_t cayley, int64_t inverse) {
    EXPECT_EQ(cayley_hash(group), cayley) << group.name();
    EXPECT_EQ(inverse_hash(group), inverse) << group.name();
  };
  expect(tetrahedron(), 179124, 3888);
  expect(octahedron(), 11390256, 73857);
  expect(tetrahedron_full(), 11360352, 75353);
  expect(icosahedron(), 3568447100, 2378220);
  expect(octahedron_reflections(), 21136, 784);
  expect(dihedral(2), 108, 36);
  expect(dihedral(3), 1828, 222);
  expect(dihedral(4), 12080, 768);
  expect(cyclic(4), 148, 20);
  expect(cyclic(6), 2422, 105);
}

TEST(Platonic, IcosahedralInversesStartAsTheAuthors) {
  const auto all = inverses(icosahedron());
  EXPECT_EQ(std::vector<int64_t>(all.begin(), all.begin() + 12),
            (std::vector<int64_t>{0, 4, 3, 2, 1, 5, 28, 24, 31, 57, 10, 47}));
}

TEST(Platonic, IcosahedralElementsAreTetrahedralTimesPowersOfAFifthOfATurn) {
  const auto solid = icosahedron(), part = tetrahedron();
  // c turns by 72 degrees about (phi, 1, 0): it fixes the axis, its trace is 1 + 2 cos 72.
  const auto c = solid.element(1);
  const double phi = std::numbers::phi;
  EXPECT_NEAR(c[0] * phi + c[1], phi, 1e-15);
  EXPECT_NEAR(c[3] * phi + c[4], 1, 1e-15);
  EXPECT_NEAR(c[6] * phi + c[7], 0, 1e-15);
  EXPECT_NEAR(c[0] + c[4] + c[8], 1 + 2 * std::cos(0.4 * std::numbers::pi), 1e-15);
  EXPECT_NEAR(c[2], 0.5, 0);
  EXPECT_EQ(embedding(part, solid), (std::vector<int64_t>{0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55}));
  for (int64_t t = 0; t < 12; ++t) {
    for (int64_t k = 1; k < 5; ++k) {
      EXPECT_EQ(solid.product(5 * t + k - 1, 1), 5 * t + k);
    }
  }
}

TEST(Platonic, IcosahedralEntriesAreHalvesAndGoldenRatiosExactly) {
  const double p = std::numbers::phi / 2, q = (std::numbers::phi - 1) / 2;
  const std::set<double> allowed{0, 0.5, 1, p, q};
  const auto group = icosahedron_full();
  for (int64_t g = 0; g < group.order(); ++g) {
    for (const double x : group.element(g)) {
      EXPECT_TRUE(allowed.contains(std::abs(x))) << g << " " << x;
    }
  }
}

TEST(Platonic, FullGroupsAreRotationsThenTheirNegatives) {
  for (const auto& [rotations, full] :
       {std::pair{octahedron(), octahedron_full()}, std::pair{icosahedron(), icosahedron_full()}}) {
    const int64_t n = rotations.order();
    ASSERT_EQ(full.order(), 2 * n);
    EXPECT_EQ(embedding(rotations, full), laws::indices(rotations));
    for (int64_t g = 0; g < n; ++g) {
      EXPECT_EQ(full.determinant(g), 1);
      EXPECT_EQ(full.determinant(n + g), -1);
      // -1 has index n and commutes with everything: the direct product with {1, -1}.
      EXPECT_EQ(full.product(n, g), n + g);
      EXPECT_EQ(full.product(g, n), n + g);
      for (int64_t h = 0; h < n; ++h) {
        EXPECT_EQ(full.product(g, h), rotations.product(g, h));
        EXPECT_EQ(full.product(n + g, n + h), rotations.product(g, h));
      }
    }
  }
}

TEST(Platonic, SubgroupsOfTheCube) {
  const auto cube = octahedron_full();
  for (const auto& part :
       {tetrahedron(), tetrahedron_full(), octahedron(), octahedron_reflections(), flop_3d(1), flop_3d(2),
        flop_3d(3), cyclic_3d(4), dihedral_3d(4), cyclic_3d(3, {1, 1, 1})}) {
    const auto into = embedding(part, cube);
    for (int64_t g = 0; g < part.order(); ++g) {
      ASSERT_GE(into[g], 0) << part.name() << " " << g;
      for (int64_t h = 0; h < part.order(); ++h) {
        EXPECT_EQ(into[part.product(g, h)], cube.product(into[g], into[h])) << part.name();
      }
    }
  }
  // T_d is T and the rotations of O outside T, inverted: not a subgroup of O.
  const auto diagonal = embedding(tetrahedron_full(), octahedron());
  EXPECT_EQ(std::ranges::count(diagonal, -1), 12);
}

TEST(Platonic, TetrahedronFullIsReflectionTimesRotation) {
  const auto group = tetrahedron_full();
  EXPECT_EQ(rows(group, 12), "+y+x+z");
  for (int64_t t = 0; t < 12; ++t) {
    EXPECT_EQ(group.product(12, t), 12 + t);
    EXPECT_EQ(group.determinant(12 + t), -1);
  }
  // It maps the tetrahedron (1,1,1), (1,-1,-1), (-1,1,-1), (-1,-1,1) to itself.
  for (int64_t g = 0; g < 24; ++g) {
    const auto r = group.element(g);
    const double x = r[0] + r[1] + r[2], y = r[3] + r[4] + r[5], z = r[6] + r[7] + r[8];
    EXPECT_EQ(x * y * z, 1) << g;
  }
}

TEST(Platonic, SignFlipsHaveTheirIdentityLast) {
  const auto group = octahedron_reflections();
  EXPECT_EQ(group.identity(), 7);
  EXPECT_EQ(rows(group, 0), "-x-y-z");
  EXPECT_EQ(rows(group, 1), "-x-y+z");
  EXPECT_EQ(rows(group, 4), "+x-y-z");
  EXPECT_EQ(rows(flop_3d(2), 1), "+x-y+z");
}

TEST(Platonic, TurnsAboutAnAxisFixItAndTurnTheRightWay) {
  const std::array<double, 3> axes[] = {{0, 0, 1},  {1, 0, 0},           {0, -3, 0},
                                        {1, 2, -2}, {1e-200, 1e-200, 0}, {0.3, -0.1, 1e3}};
  for (const auto& axis : axes) {
    for (const int64_t n : {2, 3, 5, 6, 12}) {
      const auto turns = cyclic_3d(n, axis);
      const auto prism = dihedral_3d(n, axis);
      ASSERT_EQ(turns.order(), n);
      ASSERT_EQ(prism.order(), 2 * n);
      EXPECT_FALSE(prism.has_reflections());
      laws::expect_finite_group(turns);
      laws::expect_finite_group(prism, 1.5e-15);
      const double largest = std::max({std::abs(axis[0]), std::abs(axis[1]), std::abs(axis[2])});
      for (int64_t k = 0; k < 2 * n; ++k) {
        const auto r = prism.element(k);
        for (int i = 0; i < 3; ++i) {
          const double image = r[3 * i] * axis[0] + r[3 * i + 1] * axis[1] + r[3 * i + 2] * axis[2];
          EXPECT_NEAR(image / largest, (k < n ? 1 : -1) * axis[i] / largest, 1e-14);
        }
      }
      // Right-handed by 2 pi k / n: trace 1 + 2 cos, antisymmetric part along +axis times sin.
      const double angle = 2 * std::numbers::pi / static_cast<double>(n);
      const auto r = turns.element(1);
      EXPECT_NEAR(r[0] + r[4] + r[8], 1 + 2 * std::cos(angle), 1e-14);
      const double along =
          ((r[7] - r[5]) * axis[0] + (r[2] - r[6]) * axis[1] + (r[3] - r[1]) * axis[2]) / largest;
      const double scaled = std::hypot(axis[0] / largest, axis[1] / largest, axis[2] / largest);
      EXPECT_NEAR(along, 2 * std::sin(angle) * scaled, 1e-12);
    }
  }
}

TEST(Platonic, TurnsAboutZAreThePlanarOnesAndHalfTurnsStartWithX) {
  const auto solid = cyclic_3d(5);
  const auto prism = dihedral_3d(5);
  const auto planar = cyclic(5), flat = dihedral(5);
  for (int64_t k = 0; k < 10; ++k) {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        if (k < 5) {
          EXPECT_EQ(solid.element(k)[3 * i + j], planar.element(k)[2 * i + j]);
        }
        EXPECT_NEAR(prism.element(k)[3 * i + j], flat.element(k)[2 * i + j], 1e-16);
      }
    }
    EXPECT_EQ(prism.element(k)[8], k < 5 ? 1 : -1);
  }
  EXPECT_EQ(rows(prism, 5), "+x-y-z");
}

TEST(Platonic, RefusesAnAxisWithoutDirection) {
  EXPECT_THROW(cyclic_3d(3, {0, 0, 0}), ConfigError);
  EXPECT_THROW(dihedral_3d(3, {1, std::nan(""), 0}), ConfigError);
  EXPECT_THROW(dihedral_3d(3, {1, INFINITY, 0}), ConfigError);
}

}  // namespace platonic_test
}  // namespace weyl
