#include "weyl/algebra/lie/kabsch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "weyl/core/check.h"

namespace weyl {
namespace kabsch_test {

using Points3 = std::vector<Vector3>;

double rest_of(const RigidFit& fit, const Points3& from, const Points3& to) {
  double sum = 0;
  for (size_t n = 0; n < from.size(); ++n) {
    const Vector3 x = fit(from[n]);
    for (size_t c = 0; c < 3; ++c) {
      sum += (x[c] - to[n][c]) * (x[c] - to[n][c]);
    }
  }
  return sum;
}

void expect_proper(const RigidFit& fit) {
  const auto& r = fit.rotation;
  EXPECT_NEAR(dot(r[0], cross(r[1], r[2])), 1, 1e-13);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(dot(r[i], r[j]), i == j ? 1 : 0, 1e-13);
    }
  }
}

// tools/goldens/kabsch.py: SciPy's Rotation.align_vectors.
TEST(Kabsch, IsScipys) {
  std::ifstream file(WEYL_SOURCE_DIR "/tests/goldens/kabsch.txt");
  size_t cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    std::istringstream words(line);
    std::string name;
    size_t n = 0;
    words >> name >> n;
    const auto points = [&] {
      Points3 read(n);
      for (Vector3& p : read) {
        words >> p[0] >> p[1] >> p[2];
      }
      return read;
    };
    const Points3 from = points(), to = points();
    double rest = 0;
    ASSERT_TRUE(words >> rest) << name;
    const RigidFit fit = kabsch(from, to);
    expect_proper(fit);
    EXPECT_NEAR(rest_of(fit, from, to), rest, 1e-11) << name;
    double x = 0;
    for (size_t k = 0; words >> x; ++k) {
      EXPECT_NEAR(fit.rotation[k / 3][k % 3], x, 1e-9) << name;
    }
  }
  EXPECT_EQ(cases, 9u);
}

// A mirror image cannot be met by a turn: something is left, although a reflection would leave nothing.
TEST(Kabsch, NeverReflects) {
  const Points3 from{{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
  Points3 to = from;
  for (Vector3& p : to) {
    p[2] = -p[2];
  }
  const RigidFit fit = kabsch(from, to);
  expect_proper(fit);
  EXPECT_GT(rest_of(fit, from, to), 0.1);
}

TEST(Kabsch, OfPointsThatDoNotSayATurnIsTheSmallest) {
  const RigidFit none = kabsch({}, {});
  EXPECT_EQ(none.rotation[0][0], 1);
  const Points3 one{{1, 2, 3}}, other{{-4, 0, 7}};
  const RigidFit moved = kabsch(one, other);
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(moved.rotation[c][c], 1, 1e-15);
    EXPECT_NEAR(moved(one[0])[c], other[0][c], 1e-14);
  }
  // On a line: the turn from x to y is by 90 degrees about z, whatever turns about the line itself.
  const Points3 along_x{{0, 0, 0}, {1, 0, 0}, {3, 0, 0}}, along_y{{0, 0, 0}, {0, 1, 0}, {0, 3, 0}};
  const RigidFit quarter = kabsch(along_x, along_y);
  expect_proper(quarter);
  EXPECT_NEAR(quarter.rotation[2][2], 1, 1e-12);
  EXPECT_NEAR(rest_of(quarter, along_x, along_y), 0, 1e-20);
}

TEST(Kabsch, RefusesOtherNumbersOfPoints) {
  const Points3 one(1), two(2);
  EXPECT_THROW(kabsch(one, two), ShapeError);
}

}  // namespace kabsch_test
}  // namespace weyl
