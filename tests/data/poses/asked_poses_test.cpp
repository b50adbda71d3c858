#include "weyl/data/poses/asked_poses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/data/folder.h"
#include "weyl/algebra/lie/group.h"
#include "weyl/core/check.h"

namespace weyl {
namespace asked_poses_test {

/// exp(t v) at the times, v as given in se3 and se2: a screw.
std::vector<double> screw(LieGroup group, const std::vector<double>& v, const std::vector<double>& times) {
  const Lie<double> lie(group);
  std::vector<double> g(compact_size(group)), matrix(matrix_size(group) * matrix_size(group)), all;
  for (const double t : times) {
    std::vector<double> w = v;
    for (double& x : w) {
      x *= t;
    }
    lie.exp(w, g);
    lie.to_matrix(g, matrix);
    all.insert(all.end(), matrix.begin(), matrix.end());
  }
  return all;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    worst = std::max(worst, std::abs(a[k] - b[k]));
  }
  return worst;
}

const std::vector<double> uneven{0, 0.7, 1.1, 2.4, 2.9, 4.1};

TEST(AskedPoses, AScrewIsForecastExactlyAtUnevenTimes) {
  for (const auto& [group, v] :
       {std::pair{LieGroup::se3, std::vector<double>{0.3, -0.2, 0.1, 0.2, 0.1, -0.3}},
        {LieGroup::se2, {0.4, 0.1, 0.3}}}) {
    Stream stream(1, "asked poses test");
    const auto poses = screw(group, v, uneven);
    const AskedPoses window = ask_poses(group, poses, uneven, 2, {}, stream);
    EXPECT_LT(largest_difference(window.tokens, poses), 1e-14) << name_of(group);
    EXPECT_EQ(window.truth, poses);
    EXPECT_EQ(window.asked, (std::vector<double>{0, 0, 0, 0, 1, 1}));
    EXPECT_NEAR(window.time[0], -2.4, 1e-15);
    EXPECT_NEAR(window.time[5], 1.7, 1e-15);
    // As if times were even it is not.
    const std::vector<double> even{0, 1, 2, 3, 4, 5};
    EXPECT_GT(largest_difference(ask_poses(group, poses, even, 2, {}, stream).tokens, poses), 0.05);
  }
}

TEST(AskedPoses, NoiseIsOfThePosesThatAreGiven) {
  const std::vector<double> times{0, 1, 2, 3};
  const auto poses = screw(LieGroup::se3, {0.3, -0.2, 0.1, 0.2, 0.1, -0.3}, times);
  Stream stream(2, "asked poses test");
  double length = 0, angle = 0;
  int64_t count = 0;
  const Lie<double> lie(LieGroup::se3);
  for (int64_t k = 0; k < 500; ++k) {
    const AskedPoses window = ask_poses(LieGroup::se3, poses, times, 0, {0.2, 0.05}, stream);
    EXPECT_EQ(window.truth, poses);
    EXPECT_EQ(window.asked, std::vector<double>(4, 1.0));
    for (size_t p = 0; p < 4; ++p) {
      std::vector<double> a(compact_size(LieGroup::se3)), b(a), r(a), w(6);
      lie.from_matrix(std::span(window.truth).subspan(16 * p, 16), a);
      lie.from_matrix(std::span(window.tokens).subspan(16 * p, 16), b);
      lie.between(a, b, r);
      lie.log(r, w);
      length += w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
      angle += w[3] * w[3] + w[4] * w[4] + w[5] * w[5];
      count += 3;
    }
  }
  EXPECT_NEAR(std::sqrt(length / static_cast<double>(count)), 0.2, 0.01);
  EXPECT_NEAR(std::sqrt(angle / static_cast<double>(count)), 0.05, 0.0025);
  // Ahead without a time between the last two given: where the last is.
  const AskedPoses still = ask_poses(LieGroup::se3, poses, std::vector<double>{0, 1, 1, 2}, 1, {}, stream);
  EXPECT_LT(largest_difference({still.tokens.begin() + 48, still.tokens.end()},
                               {poses.begin() + 32, poses.begin() + 48}),
            1e-15);
  EXPECT_THROW(ask_poses(LieGroup::se3, poses, times, 3, {}, stream), ShapeError);
}

/// Turned by `tilt` about x after a turn by `heading` about z.
PoseTrajectory tilted(double heading, double tilt) {
  PoseTrajectory t;
  const double c = std::cos(heading), s = std::sin(heading), ct = std::cos(tilt), st = std::sin(tilt);
  t.matrices = {c, -s * ct, s * st, 1, s, c * ct, -c * st, 2, 0, st, ct, 3, 0, 0, 0, 1};
  return t;
}

TEST(PosesIn, OtherGroupsAreWhatIsLeftOfThePoses) {
  const PoseTrajectory upright = tilted(0.7, 0);
  const auto planar = poses_in(upright, LieGroup::se2, Axis::z, "file");
  const double c = std::cos(0.7), s = std::sin(0.7);
  EXPECT_LT(largest_difference(planar.matrices, {c, -s, 1, s, c, 2, 0, 0, 1}), 1e-15);
  EXPECT_EQ(planar.tilt, 0);
  const auto leaning = poses_in(tilted(0.7, 0.4), LieGroup::so2, Axis::z, "file");
  EXPECT_NEAR(leaning.tilt, 0.4, 1e-12);
  EXPECT_LT(largest_difference(leaning.matrices, {c, -s, s, c}), 1e-12);  // of a tilt about the body's own x
  EXPECT_EQ(poses_in(upright, LieGroup::so3, Axis::z, "file").matrices,
            (std::vector<double>{c, -s, 0, s, c, 0, 0, 0, 1}));
  // About x the plane is y z: nothing turns about x, and the body's x leans by the heading.
  const auto about_x = poses_in(upright, LieGroup::se2, Axis::x, "file");
  EXPECT_NEAR(about_x.tilt, 0.7, 1e-12);
  EXPECT_LT(largest_difference(about_x.matrices, {1, 0, 2, 0, 1, 3, 0, 0, 1}), 1e-12);
  EXPECT_NE(message_of<DataError>([&] {
              poses_in(tilted(0, 1.6), LieGroup::se2, Axis::z, "file");
            }).find("file: pose 0 must be less than a quarter turn from upright (z) to have a heading"),
            std::string::npos);
  EXPECT_THROW(poses_in(upright, LieGroup::aff3, Axis::z, "file"), ConfigError);
}

}  // namespace asked_poses_test
}  // namespace weyl
