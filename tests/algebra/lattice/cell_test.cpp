#include "weyl/algebra/lattice/cell.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace weyl {
namespace cell_test {

double determinant(const CellRows& a) {
  return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
         a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
         a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

// Sheared by dozens of lattice vectors, the basis found is that of the lattice again: the same volume, no
// vector that another would shorten.
TEST(LatticeBasis, IsAReducedBasisOfTheLattice) {
  std::mt19937_64 draw(1);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 200; ++trial) {
    CellRows a{};
    for (Vector3& row : a) {
      row = {normal(draw), normal(draw), normal(draw)};
    }
    const double volume = determinant(a);
    const std::array<bool, 3> periodic{trial % 2 == 0, trial % 3 != 0, trial % 5 != 1};
    for (int k = 0; k < 3; ++k) {
      const int l = (k + 1 + trial % 2) % 3;
      const auto times = static_cast<double>(draw() % 40);
      for (int c = 0; c < 3 && periodic[k] && periodic[l]; ++c) {
        a[k][c] += times * a[l][c];
      }
    }
    LatticeBasis basis;
    ASSERT_EQ(reduced_basis(a[0].data(), periodic, basis), LatticeFault::none);
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 3; ++l) {
        EXPECT_NEAR(dot(basis.rows[k], basis.duals[l]), k == l ? 1 : 0, 1e-9);
        if (periodic[k] && periodic[l] && k != l) {
          EXPECT_LE(std::abs(dot(basis.rows[k], basis.rows[l])),
                    0.5 * (1 + 1e-9) * dot(basis.rows[l], basis.rows[l]));
        } else if (!periodic[k]) {
          EXPECT_NEAR(dot(basis.rows[k], basis.rows[l]), k == l ? 1 : 0, 1e-12);
        }
      }
      for (int c = 0; c < 3 && periodic[k]; ++c) {
        double made = 0;
        for (int l = 0; l < 3; ++l) {
          made += static_cast<double>(basis.given[k][l]) * a[l][c];
        }
        EXPECT_NEAR(made, basis.rows[k][c], 1e-6);
      }
    }
    if (periodic[0] && periodic[1] && periodic[2]) {
      EXPECT_NEAR(determinant(basis.rows) / volume, 1, 1e-9);
    }
  }
}

TEST(LatticeBasis, RefusesCellsWithoutVolume) {
  LatticeBasis basis;
  const double flat[] = {1, 0, 0, 0, 1, 0, 2, -3, 0};
  EXPECT_EQ(reduced_basis(flat, {true, true, true}, basis), LatticeFault::singular);
  EXPECT_EQ(reduced_basis(flat, {true, true, false}, basis), LatticeFault::none);
  EXPECT_EQ(reduced_basis(nullptr, {false, false, false}, basis), LatticeFault::none);
  const double zero[] = {0, 0, 0, 0, 1, 0, 0, 0, 1};
  EXPECT_EQ(reduced_basis(zero, {true, false, false}, basis), LatticeFault::singular);
  const double endless[] = {1, 0, 0, 0, std::numeric_limits<double>::infinity(), 0, 0, 0, 1};
  EXPECT_EQ(reduced_basis(endless, {true, true, true}, basis), LatticeFault::not_finite);
  EXPECT_EQ(reduced_basis(endless, {true, false, true}, basis), LatticeFault::none);
}

CellRows random_rows(std::mt19937_64& draw) {
  std::normal_distribution<double> normal;
  CellRows a{};
  for (Vector3& row : a) {
    row = {4 * normal(draw), 4 * normal(draw), 4 * normal(draw)};
  }
  return a;
}

TEST(Cell, DualsAreTheInverseAndCofactorsTheVolumeTimesIt) {
  std::mt19937_64 draw(2);
  for (int trial = 0; trial < 50; ++trial) {
    const CellRows a = random_rows(draw), duals = duals_of(a), c = cofactors(a);
    const double volume = volume_of(a);
    EXPECT_EQ(volume, determinant(a));
    EXPECT_EQ(volume_of({a[1], a[0], a[2]}) < 0, volume > 0);
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 3; ++l) {
        EXPECT_NEAR(dot(duals[k], a[l]), k == l ? 1 : 0, 1e-11);
        EXPECT_NEAR(c[k][l], volume * duals[k][l], 1e-11 * length(c[k]));
      }
    }
  }
  EXPECT_EQ(cross(std::array<__int128, 3>{1, 0, 0}, {0, __int128{1} << 80, 0})[2], __int128{1} << 80);
}

// Rows along axes that are not periodic mean nothing: zeros and tilted ones are replaced, periodic ones keep their bits.
TEST(Cell, IsCompletedByUnitVectorsNormalToPeriodicRows) {
  std::mt19937_64 draw(3);
  for (int flags = 0; flags < 8; ++flags) {
    const std::array<bool, 3> periodic{(flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0};
    for (const double scale : {0.0, 1.0}) {
      CellRows a = random_rows(draw);
      for (int k = 0; k < 3; ++k) {
        for (double& x : a[k]) {
          x *= periodic[k] ? 1 : scale;
        }
      }
      const CellRows rows = completed(a, periodic);
      for (int k = 0; k < 3; ++k) {
        if (periodic[k]) {
          EXPECT_EQ(rows[k], a[k]);
          continue;
        }
        EXPECT_NEAR(length(rows[k]), 1, 1e-14);
        for (int l = 0; l < 3; ++l) {
          EXPECT_NEAR(dot(rows[k], rows[l]), k == l ? 1 : 0, 1e-12 * length(rows[l])) << flags;
        }
      }
    }
  }
  EXPECT_EQ(completed({}, {false, false, false}), (CellRows{Vector3{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}));
  EXPECT_TRUE(std::isnan(completed({Vector3{1, 2, 0}, {2, 4, 0}, {0, 0, 1}}, {true, true, false})[2][0]));
}

/// The shortest of all images of a step.
double shortest_of(const Vector3& step, const CellRows& a, const std::array<bool, 3>& periodic) {
  double best = std::numeric_limits<double>::infinity();
  const auto range = [&](int k) { return periodic[k] ? 12 : 0; };
  for (int u = -range(0); u <= range(0); ++u) {
    for (int v = -range(1); v <= range(1); ++v) {
      for (int w = -range(2); w <= range(2); ++w) {
        Vector3 moved = step;
        for (int c = 0; c < 3; ++c) {
          moved[c] += u * a[0][c] + v * a[1][c] + w * a[2][c];
        }
        best = std::min(best, length(moved));
      }
    }
  }
  return best;
}

TEST(NearestImage, IsTheShortestOfAllInACellWithRightAngles) {
  std::mt19937_64 draw(4);
  std::normal_distribution<double> normal;
  int moved = 0, slanted_and_longer = 0;
  for (int trial = 0; trial < 240; ++trial) {
    const std::array<bool, 3> periodic{trial % 2 == 0, trial / 2 % 2 == 0, trial / 4 % 2 == 0};
    CellRows a{Vector3{0, 3, 0}, {0, 0, -4}, {5, 0, 0}};
    const Vector3 step{9 * normal(draw), 9 * normal(draw), 9 * normal(draw)};
    for (const double other : {0.0, 1.0}) {  // rows of open axes mean nothing
      CellRows given = a;
      for (int k = 0; k < 3; ++k) {
        given[k] = periodic[k] ? a[k] : Vector3{other, 2 * other, -other};
      }
      const Vector3 image = nearest_image(step, given, periodic);
      EXPECT_NEAR(length(image), shortest_of(step, a, periodic), 1e-12);
      for (int k = 0; k < 3; ++k) {
        const double turns =
            dot(a[k], {step[0] - image[0], step[1] - image[1], step[2] - image[2]}) / dot(a[k], a[k]);
        EXPECT_NEAR(turns, periodic[k] ? std::round(turns) : 0, 1e-12);
        moved += std::abs(turns) > 0.5 ? 1 : 0;
      }
    }
    a[1] = {0, 2.5, -4};
    const double best = shortest_of(step, a, {true, true, true}),
                 found = length(nearest_image(step, a, {true, true, true}));
    EXPECT_GE(found, best - 1e-12);
    slanted_and_longer += found > best + 1e-9 ? 1 : 0;
  }
  EXPECT_GT(moved, 100);
  EXPECT_GT(slanted_and_longer, 0);  // the corners of which the header speaks
  EXPECT_LT(slanted_and_longer, 80);
}

TEST(NearestImage, LeavesStepsInACellWithoutVolume) {
  const CellRows flat{Vector3{1, 0, 0}, {0, 1, 0}, {2, -3, 0}};
  EXPECT_EQ(nearest_image({7.25, 8.5, 9}, flat, {true, true, true}), (Vector3{7.25, 8.5, 9}));
  EXPECT_EQ(nearest_image({7.25, 8.5, 9}, flat, {true, true, false}), (Vector3{0.25, -0.5, 9}));
  EXPECT_EQ(nearest_image({7.25, 8.5, 9}, flat, {false, false, false}), (Vector3{7.25, 8.5, 9}));
}

}  // namespace cell_test
}  // namespace weyl
