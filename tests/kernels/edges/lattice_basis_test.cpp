#include "weyl/kernels/edges/lattice_basis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace weyl::kernels {
namespace lattice_basis_test {

double determinant(const std::array<Vector3, 3>& a) {
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
    std::array<Vector3, 3> a{};
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
        EXPECT_NEAR(dot_of(basis.rows[k], basis.duals[l]), k == l ? 1 : 0, 1e-9);
        if (periodic[k] && periodic[l] && k != l) {
          EXPECT_LE(std::abs(dot_of(basis.rows[k], basis.rows[l])),
                    0.5 * (1 + 1e-9) * dot_of(basis.rows[l], basis.rows[l]));
        } else if (!periodic[k]) {
          EXPECT_NEAR(dot_of(basis.rows[k], basis.rows[l]), k == l ? 1 : 0, 1e-12);
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

}  // namespace lattice_basis_test
}  // namespace weyl::kernels
