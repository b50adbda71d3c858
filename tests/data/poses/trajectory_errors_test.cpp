#include "weyl/data/poses/trajectory_errors.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "weyl/core/check.h"

namespace weyl {
namespace trajectory_errors_test {

const std::string pose_fixtures = WEYL_SOURCE_DIR "/tests/fixtures/poses/";

TrajectoryErrors compare(const PoseTrajectory& truth, const PoseTrajectory& estimate) {
  return trajectory_errors(truth, estimate, "truth", "estimate");
}

// tools/goldens/trajectory_errors.py: the package evo.
TEST(TrajectoryErrors, AreEvos) {
  std::ifstream file(WEYL_SOURCE_DIR "/tests/goldens/trajectory_errors.txt");
  size_t cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    std::istringstream words(line);
    std::string name;
    int64_t pairs = 0;
    std::array<double, 9> golden{};
    words >> name >> pairs;
    for (double& x : golden) {
      words >> x;
    }
    ASSERT_TRUE(words) << line;
    const TrajectoryErrors found = compare(read_poses(pose_fixtures + name + ".truth.tum"),
                                           read_poses(pose_fixtures + name + ".estimate.tum"));
    EXPECT_EQ(found.pairs, pairs) << name;
    ASSERT_TRUE(found.ape_se3 && found.ape_sim3 && found.rpe) << name;
    const std::array<double, 9> here{found.ape.translation,
                                     found.ape.angle,
                                     found.ape_se3->translation,
                                     found.ape_se3->angle,
                                     found.ape_sim3->translation,
                                     found.ape_sim3->angle,
                                     found.rpe->translation,
                                     found.rpe->angle,
                                     found.scale};
    for (size_t k = 0; k < here.size(); ++k) {
      EXPECT_NEAR(here[k], golden[k], 1e-9) << name << " " << k;
    }
  }
  EXPECT_EQ(cases, 2u);
}

PoseTrajectory poses_of(const std::string& text) {
  return parse_poses(text, "text");
}

TEST(TrajectoryErrors, OfItselfAreNothingAndOfAMovedCopyTheMotion) {
  const PoseTrajectory loop = read_poses(pose_fixtures + "loop.truth.tum");
  const TrajectoryErrors none = compare(loop, loop);
  EXPECT_EQ(none.pairs, loop.size());
  EXPECT_EQ(none.ape.translation, 0);
  EXPECT_LT(none.ape_se3->translation, 1e-14);
  PoseTrajectory moved = loop;  // by 3 m along x, whatever the pose: g -> a g
  for (int64_t k = 0; k < moved.size(); ++k) {
    moved.matrices[static_cast<size_t>(16 * k + 3)] += 3;
  }
  const TrajectoryErrors found = compare(loop, moved);
  EXPECT_NEAR(found.ape.translation, 3, 1e-12);
  EXPECT_NEAR(found.ape.angle, 0, 1e-6);
  EXPECT_LT(found.ape_se3->translation, 1e-12);
  EXPECT_LT(found.rpe->translation, 1e-12);  // a motion from the left does not drift
}

// Times that are 10 ms apart are the same, 11 ms apart are not; without times poses go by their order.
TEST(TrajectoryErrors, PairByTimeOrByOrder) {
  const PoseTrajectory truth = poses_of("0.0 0 0 0 0 0 0 1\n1.0 1 0 0 0 0 0 1\n2.0 2 0 0 0 0 0 1\n");
  const PoseTrajectory late = poses_of("0.0099 0 0 0 0 0 0 1\n1.0110 1 0 0 0 0 0 1\n1.9901 2 0 0 0 0 0 1\n");
  EXPECT_EQ(compare(truth, late).pairs, 2);
  EXPECT_EQ(compare(late, truth).pairs, 2);
  EXPECT_FALSE(compare(truth, late).ape_se3);  // on a line
  const PoseTrajectory one = poses_of("1.0 1 0 0 0 0 0 1\n");
  EXPECT_FALSE(compare(truth, one).rpe);
  const PoseTrajectory untimed =
      poses_of("1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 1 0 1 0 0 0 0 1 0\n1 0 0 2 0 1 0 0 0 0 1 0.5\n");
  EXPECT_NEAR(compare(truth, untimed).ape.translation, 0.5 / std::sqrt(3.0), 1e-15);
  const PoseTrajectory elsewhen = poses_of("7.0 1 0 0 0 0 0 1\n");
  const auto refused = [&](const PoseTrajectory& other) {
    try {
      compare(truth, other);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused(elsewhen), "estimate: must have poses within 0.01 s of those of truth, has none");
  EXPECT_EQ(refused(poses_of("1 0 0 0 0 1 0 0 0 0 1 0\n")),
            "estimate: without times must have as many poses as truth, 3, got 1");
}

// Two times as far in decimals need not be so in float64, in which evo takes the first that is nearest: numpy's argmin of
// |[1311868164.3611, 1311868164.3693] - 1311868164.3652| is 1, of |[1311868164.361, 1311868164.369] - 1311868164.365| 0.
TEST(TrajectoryErrors, TakeTheNearestInFloat64) {
  const std::string pose = " 0 0 0 0 0 1\n";
  EXPECT_EQ(compare(poses_of("1311868164.3611 1" + pose + "1311868164.3693 2" + pose),
                    poses_of("1311868164.3652 2" + pose))
                .ape.translation,
            0);
  EXPECT_EQ(compare(poses_of("1311868164.361 1" + pose + "1311868164.369 2" + pose),
                    poses_of("1311868164.365 1" + pose))
                .ape.translation,
            0);
}

}  // namespace trajectory_errors_test
}  // namespace weyl
