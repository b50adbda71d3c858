#include "weyl/algebra/lattice/closest_pair.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/sanitized.h"

namespace weyl {
namespace closest_pair_test {

struct System {
  std::vector<double> x;
  std::array<double, 9> cell{};
  std::array<bool, 3> pbc{};

  std::optional<ClosestPair> closest(double bound) const {
    return closest_pair(x, pbc == std::array<bool, 3>{} ? nullptr : cell.data(), pbc, bound);
  }
};

/// All images that may count, by brute force.
double brute_force(const System& system) {
  double best = INFINITY;
  const auto n = static_cast<size_t>(system.x.size() / 3);
  const auto range = [&](size_t d) { return system.pbc[d] ? 10 : 0; };
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      for (int u = -range(0); u <= range(0); ++u) {
        for (int v = -range(1); v <= range(1); ++v) {
          for (int w = -range(2); w <= range(2); ++w) {
            if (i == j && u == 0 && v == 0 && w == 0) {
              continue;
            }
            double square = 0;
            for (size_t d = 0; d < 3; ++d) {
              const auto& c = system.cell;
              const double x =
                  system.x[3 * i + d] - system.x[3 * j + d] + u * c[d] + v * c[3 + d] + w * c[6 + d];
              square += x * x;
            }
            best = std::min(best, std::sqrt(square));
          }
        }
      }
    }
  }
  return best;
}

TEST(ClosestPair, EqualsBruteForceInAnyCell) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> number(-1, 1);
  int within = 0;
  for (int trial = 0; trial < 200; ++trial) {
    System system;
    const int atoms = 1 + trial % 6;
    for (int i = 0; i < 3 * atoms; ++i) {
      system.x.push_back(12 * number(random));  // outside of the cell too
    }
    std::array<double, 9> cell{};
    for (size_t i = 0; i < 9; ++i) {
      cell[i] = 1.5 * number(random) + (i % 4 == 0 ? 4 : 0);
    }
    system.cell = cell;
    system.pbc = {trial % 2 == 1, trial / 2 % 2 == 1, trial / 4 % 2 == 1};
    const double expected = brute_force(system);
    const auto found = system.closest(5);
    if (expected < 5 - 1e-9) {
      ++within;
      ASSERT_TRUE(found) << trial << " should be " << expected;
      EXPECT_NEAR(found->distance, expected, 1e-9) << trial;
      EXPECT_LT(found->second, atoms);
      EXPECT_LE(found->first, found->second);
    } else {
      EXPECT_FALSE(found) << trial << " found " << found->distance << ", should be " << expected;
    }
  }
  EXPECT_GT(within, 100);
  EXPECT_LT(within, 200);
}

// A sheet of 100,000 atoms with one x took a minute. One of 250,000 would take six, and CTest allows five.
TEST(ClosestPair, OfManyAtomsIsFoundWhereverTheyAre) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> number(0, 1);
  for (const double thickness : {0.0, 1e-3, 1.0, 30.0}) {
    const int64_t most = under_sanitizers(10'000, thickness == 0 ? 250'000 : 100'000);
    for (const int64_t atoms : {int64_t{600}, int64_t{2'000}, most}) {
      System system;
      const double side = 0.4 * std::sqrt(static_cast<double>(atoms));
      for (int64_t i = 0; i < atoms; ++i) {
        system.x.insert(system.x.end(),
                        {thickness * number(random), side * number(random), side * number(random)});
      }
      const auto found = system.closest(5);
      ASSERT_TRUE(found);
      const auto apart = [&](int64_t a, int64_t b) {
        const double* x = system.x.data();
        return std::hypot(x[3 * a] - x[3 * b], x[3 * a + 1] - x[3 * b + 1], x[3 * a + 2] - x[3 * b + 2]);
      };
      EXPECT_EQ(found->distance, apart(found->first, found->second));
      for (int64_t a = 0; a < atoms && atoms <= 2'000; ++a) {
        for (int64_t b = 0; b < a; ++b) {
          ASSERT_GE(apart(a, b), found->distance) << atoms << " atoms, thickness " << thickness;
        }
      }
    }
  }
  System clump;  // of as many, all within the bound
  for (int64_t i = 0; i < 3 * under_sanitizers(25'000, 250'000); ++i) {
    clump.x.push_back(number(random));
  }
  EXPECT_TRUE(clump.closest(5));
}

}  // namespace closest_pair_test
}  // namespace weyl
