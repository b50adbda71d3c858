// Nearest neighbours by a k-d tree, against their definition written out.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tests/points_in_space.h"
#include "weyl/algebra/lattice/nearest_points.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace nearest_points_test {

TEST(NearestPoints, AreThoseOfTheDefinitionWithEqualDistancesByRow) {
  auto twice = drawn(60);
  twice.insert(twice.end(), twice.begin(), twice.begin() + 90);  // thirty places have two points
  auto line = drawn(90);
  for (size_t i = 0; i < line.size(); ++i) {
    line[i] = i % 3 == 1 ? std::round(4 * line[i]) : 0;
  }
  for (const auto& points : {drawn(500), lattice(6), twice, line, std::vector<double>(3 * 40, 1.5)}) {
    const int64_t all = std::ssize(points) / 3;
    const NearestPoints nearest(points);
    for (int64_t row = 0; row < all; row += 7) {
      std::vector<int64_t> wanted(all);
      std::iota(wanted.begin(), wanted.end(), int64_t{0});
      std::erase(wanted, row);
      std::ranges::sort(wanted, {}, [&](int64_t i) { return std::pair(square(points, row, i), i); });
      for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{9}, all - 1}) {
        ASSERT_EQ(nearest.of(row, count), std::vector<int64_t>(wanted.begin(), wanted.begin() + count))
            << "row " << row << " of " << all;
      }
    }
  }
}

TEST(NearestPoints, RefuseWhatCannotBe) {
  const auto points = drawn(4);
  const NearestPoints nearest(points);
  EXPECT_THROW(nearest.of(0, 4), ShapeError);
  EXPECT_THROW(nearest.of(4, 1), ShapeError);
  EXPECT_THROW(nearest.of(-1, 1), ShapeError);
  EXPECT_THROW(nearest.as_near(4, 1), ShapeError);
  EXPECT_THROW(nearest.as_near(0, -1), ShapeError);
  EXPECT_THROW(NearestPoints(std::vector<double>(5)), ShapeError);
}

TEST(NearestPoints, AsNearAreTheNearestAndAllAsFarAsTheLast) {
  auto twice = drawn(60);
  twice.insert(twice.end(), twice.begin(), twice.begin() + 90);
  int64_t more = 0;  // than asked for
  for (const auto& points : {drawn(500), lattice(6), twice, std::vector<double>(3 * 40, 1.5)}) {
    const int64_t all = std::ssize(points) / 3;
    const NearestPoints nearest(points);
    for (int64_t row = 0; row < all; row += 7) {
      for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{9}, all - 1, all + 5}) {
        std::vector<double> squares;
        for (int64_t i = 0; i < all; ++i) {
          if (i != row) {
            squares.push_back(square(points, row, i));
          }
        }
        std::ranges::sort(squares);
        std::vector<int64_t> wanted;
        for (int64_t i = 0; i < all && count > 0; ++i) {
          if (i != row && square(points, row, i) <= squares[std::min(count, all - 1) - 1] * (1 + 1e-4)) {
            wanted.push_back(i);
          }
        }
        ASSERT_EQ(nearest.as_near(row, count), wanted) << "row " << row << " of " << all;
        more += std::max<int64_t>(std::ssize(wanted) - count, 0);
      }
    }
  }
  EXPECT_GT(more, 100);
}

/// On a lattice the nine nearest are chosen by their rows, and so differ where the points are in another order.
TEST(NearestPoints, AsNearDoNotDependOnTheOrderOfThePoints) {
  const auto points = lattice(6);
  const int64_t all = std::ssize(points) / 3;
  std::vector<double> turned_round;
  for (int64_t i = all - 1; i >= 0; --i) {
    turned_round.insert(turned_round.end(), points.begin() + 3 * i, points.begin() + 3 * (i + 1));
  }
  const auto in_old_order = [&](std::vector<int64_t> rows) {
    for (int64_t& row : rows) {
      row = all - 1 - row;
    }
    std::ranges::sort(rows);
    return rows;
  };
  const NearestPoints nearest(points), other(turned_round);
  bool chosen_differ = false;
  for (int64_t row = 0; row < all; ++row) {
    EXPECT_EQ(in_old_order(other.as_near(all - 1 - row, 9)), nearest.as_near(row, 9));
    auto rows = nearest.of(row, 9);
    std::ranges::sort(rows);
    chosen_differ = chosen_differ || in_old_order(other.of(all - 1 - row, 9)) != rows;
  }
  EXPECT_TRUE(chosen_differ);
}

}  // namespace nearest_points_test
}  // namespace weyl
