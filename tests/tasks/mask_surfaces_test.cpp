// Distances between the surfaces of masks, against SciPy's distance transform and against every pair of cells.
#include "weyl/tasks/mask_surfaces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>

#include "weyl/core/check.h"
#include "weyl/core/quantile.h"
#include "weyl/core/random.h"

namespace weyl {
namespace mask_surfaces_test {

std::vector<uint8_t> cells_of(const std::string& digits) {
  std::vector<uint8_t> cells;
  for (const char c : digits) {
    cells.push_back(c == '1' ? 1 : 0);
  }
  return cells;
}

// tools/goldens/mask_surfaces.py
TEST(MaskSurfaces, AreAsFarApartAsSciPySays) {
  std::ifstream file(WEYL_SOURCE_DIR "/tests/goldens/mask_surfaces.txt");
  std::string row;
  int cases = 0;
  for (; std::getline(file, row); ++cases) {
    std::istringstream in(row);
    std::string name, first, second;
    MaskView a;
    double larger = 0, pooled = 0, near = 0;
    int64_t of_first = 0, of_second = 0;
    in >> name >> a.sizes[0] >> a.sizes[1] >> a.sizes[2] >> a.spacing[0] >> a.spacing[1] >> a.spacing[2] >>
        first >> second >> larger >> pooled >> near >> of_first >> of_second;
    ASSERT_TRUE(in) << name;
    const std::vector<uint8_t> x = cells_of(first), y = cells_of(second);
    a.plane = a.sizes[0] == 1;
    MaskView b = a;
    a.cells = x;
    b.cells = y;
    const SurfaceDistances d = surface_distances(a, b);
    EXPECT_EQ(std::ssize(d.from_first), of_first) << name;
    EXPECT_EQ(std::ssize(d.from_second), of_second) << name;
    EXPECT_NEAR(hd95(d, false), larger, 1e-9) << name;
    EXPECT_NEAR(hd95(d, true), pooled, 1e-9) << name;
    EXPECT_NEAR(surface_dice(d, 1), near, 1e-12) << name;
  }
  EXPECT_EQ(cases, 10);
}

// A voxel away is within a tolerance of one voxel, though files have its size in float32.
TEST(MaskSurfaces, ATieWithTheToleranceIsWithinIt) {
  for (const float spacing : {0.3F, 0.7F, 1.1F, 1.2F, 3.3F}) {
    std::vector<uint8_t> first(6), second(6);
    first[2] = second[3] = 1;
    const std::array<double, 3> apart{1, 1, spacing};
    const auto d = surface_distances({first, {1, 1, 6}, apart}, {second, {1, 1, 6}, apart});
    const double tolerance = std::stod(text(spacing));
    EXPECT_EQ(surface_dice(d, tolerance), 1) << spacing;
    EXPECT_EQ(surface_dice(d, 0.999 * tolerance), 0) << spacing;
  }
}

// Every voxel of a volume of one slice has a face on what is outside, along whichever axis it is thin; pixels have not.
TEST(MaskSurfaces, AVolumeOfOneSliceIsAllSurface) {
  const std::vector<uint8_t> all(25, 1);
  for (const std::array<int64_t, 3>& sizes : {std::array<int64_t, 3>{1, 5, 5}, {5, 1, 5}, {5, 5, 1}}) {
    EXPECT_EQ(std::ranges::count(surface_of({all, sizes}), 1), 25);
  }
  EXPECT_EQ(std::ranges::count(surface_of({.cells = all, .sizes = {1, 5, 5}, .plane = true}), 1), 16);
}

TEST(MaskSurfaces, DistancesAreThoseToTheNearestCell) {
  Stream stream(1, "masks");
  for (const double share : {0.001, 0.02, 0.4}) {
    MaskView mask{{}, {5, 11, 7}, {2.0, 0.3, 1.1}};
    std::vector<uint8_t> cells(5 * 11 * 7);
    for (uint8_t& c : cells) {
      c = stream.uniform() < share ? 1 : 0;
    }
    mask.cells = cells;
    const std::vector<double> found = distances_to(mask);
    const auto place = [&](size_t i, int axis) {
      const std::array<size_t, 3> at{i / 77, i / 7 % 11, i % 7};
      return mask.spacing[axis] * static_cast<double>(at[axis]);
    };
    for (size_t i = 0; i < cells.size(); ++i) {
      double least = std::numeric_limits<double>::infinity();
      for (size_t j = 0; j < cells.size(); ++j) {
        if (cells[j] != 0) {
          least = std::min(least, std::hypot(place(i, 0) - place(j, 0), place(i, 1) - place(j, 1),
                                             place(i, 2) - place(j, 2)));
        }
      }
      if (std::isinf(least)) {
        EXPECT_EQ(found[i], least);
      } else {
        EXPECT_NEAR(found[i], least, 1e-12);
      }
    }
  }
}

TEST(MaskSurfaces, OfEmptyMasksAreInfinitelyFarApartOrNothing) {
  const std::vector<uint8_t> none(27, 0), all(27, 1);
  const MaskView empty{none, {3, 3, 3}}, full{all, {3, 3, 3}};
  for (const bool pooled : {false, true}) {
    EXPECT_TRUE(std::isnan(hd95(surface_distances(empty, empty), pooled)));
    EXPECT_TRUE(std::isinf(hd95(surface_distances(empty, full), pooled)));
    EXPECT_TRUE(std::isinf(hd95(surface_distances(full, empty), pooled)));
    EXPECT_EQ(hd95(surface_distances(full, full), pooled), 0);
  }
  EXPECT_TRUE(std::isnan(surface_dice(surface_distances(empty, empty), 1)));
  EXPECT_EQ(surface_dice(surface_distances(empty, full), 1e9), 0);
  EXPECT_EQ(surface_dice(surface_distances(full, full), 0), 1);
  EXPECT_EQ(std::ssize(surface_distances(full, full).from_first), 26);  // all but the one in the middle
  const MaskView other{all, {3, 3, 3}, {1, 1, 2}};
  EXPECT_THROW(surface_distances(full, other), ShapeError);
}

TEST(MaskSurfaces, PercentilesAreLinearBetweenRanks) {
  std::vector<double> x(21);
  std::iota(x.begin(), x.end(), 0);
  EXPECT_DOUBLE_EQ(quantile(x, 0.95), 19);
  x.push_back(21);
  EXPECT_DOUBLE_EQ(quantile(x, 0.95), 19.95);
  EXPECT_DOUBLE_EQ(quantile({3}, 0.95), 3);
  EXPECT_TRUE(std::isnan(quantile({}, 0.95)));
}

}  // namespace mask_surfaces_test
}  // namespace weyl
