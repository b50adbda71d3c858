// Farthest-point sampling, against its definition written out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/points_in_space.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/data/clouds/cloud_view.h"
#include "weyl/data/clouds/surface.h"

namespace weyl {
namespace cloud_points_test {

/// The largest distance of any point to the nearest of the chosen ones, squared.
double radius(const std::vector<double>& points, const std::vector<int64_t>& chosen) {
  double largest = 0;
  for (int64_t i = 0; i < std::ssize(points) / 3; ++i) {
    double least = INFINITY;
    for (const int64_t row : chosen) {
      least = std::min(least, square(points, i, row));
    }
    largest = std::max(largest, least);
  }
  return largest;
}

TEST(FarthestPoints, EachIsTheFarthestFromAllBefore) {
  for (const auto& points : {drawn(120), lattice(5)}) {
    const int64_t all = std::ssize(points) / 3;
    for (const int64_t first : {int64_t{0}, all / 2, all - 1}) {
      const auto rows = farthest_points(points, all, first);
      ASSERT_EQ(rows.front(), first);
      std::vector<int64_t> chosen{first};
      while (std::ssize(chosen) < all) {
        std::pair<double, int64_t> best{-1, -1};
        for (int64_t i = 0; i < all; ++i) {
          double least = INFINITY;
          for (const int64_t row : chosen) {
            least = std::min(least, square(points, i, row));
          }
          if (std::ranges::find(chosen, i) == chosen.end() && least > best.first) {
            best = {least, i};
          }
        }
        chosen.push_back(best.second);
      }
      EXPECT_EQ(rows, chosen);
    }
  }
}

TEST(FarthestPoints, BeginFarthestFromTheMeanUnlessTold) {
  auto points = drawn(50);
  points[3 * 17] += 40;
  EXPECT_EQ(farthest_points(points, 1).front(), 17);
  for (size_t i = 0; i < points.size(); i += 3) {  // wherever the cloud is
    points[i] -= 300;
  }
  EXPECT_EQ(farthest_points(points, 1).front(), 17);
}

TEST(FarthestPoints, DoNotDependOnHowACloudIsTurned) {
  auto points = drawn(300);
  const auto rows = farthest_points(points, 40);
  Stream stream(3, "turn");
  turn(std::span(points), draw_rotation(Turning::uniform, 2, stream));
  EXPECT_EQ(farthest_points(points, 40), rows);
}

TEST(FarthestPoints, NoneIsTakenTwiceEvenAtOnePlace) {
  const std::vector<double> points(3 * 5, 0.25);
  EXPECT_EQ(farthest_points(points, 5), (std::vector<int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(farthest_points(points, 3, 2), (std::vector<int64_t>{2, 0, 1}));
}

TEST(FarthestPoints, CoverACloudBetterThanPointsThatAreDrawn) {
  const auto points = drawn(2000);
  std::vector<int64_t> first(64);
  std::iota(first.begin(), first.end(), int64_t{0});
  EXPECT_LT(radius(points, farthest_points(points, 64)), 0.5 * radius(points, first));
}

TEST(FarthestPoints, RefuseWhatCannotBe) {
  const auto points = drawn(4);
  EXPECT_THROW(farthest_points(points, 5), ShapeError);
  EXPECT_THROW(farthest_points(points, 0), ShapeError);
  EXPECT_THROW(farthest_points(points, 2, 4), ShapeError);
  EXPECT_THROW(farthest_points(std::vector<double>(4), 1), ShapeError);
}

}  // namespace cloud_points_test
}  // namespace weyl
