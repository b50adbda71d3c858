// Windows of moving bodies: each kind of motion is forecast by a constant velocity as its law says.
#include "weyl/makers/poses/pose_windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace pose_windows_test {

double off_truth(const PoseWindow& w) {
  double worst = 0;
  for (size_t k = 0; k < w.poses.truth.size(); ++k) {
    worst = std::max(worst, std::abs(w.poses.truth[k] - w.poses.tokens[k]));
  }
  return worst;
}

TEST(PoseWindows, SteadyMotionIsForecastExactlyAndOtherIsNot) {
  for (const LieGroup group : {LieGroup::so2, LieGroup::se2, LieGroup::so3, LieGroup::se3}) {
    PoseWindowsMakerOptions o{.group = group, .noise = 0, .angle_noise = 0};
    std::array<int64_t, 3> of_class{};
    for (int64_t i = 0; i < 60; ++i) {
      const PoseWindow w = make_pose_window(o, "train", i);
      ++of_class.at(static_cast<size_t>(w.motion));
      EXPECT_EQ(w.poses.time[7], 0);  // eight are given
      EXPECT_GT(w.speed, 0);
      if (w.motion == 0) {
        EXPECT_LT(off_truth(w), 1e-12) << name_of(group);
      } else {
        EXPECT_GT(off_truth(w), 1e-6) << name_of(group) << " " << w.motion;
      }
    }
    EXPECT_GT(*std::ranges::min_element(of_class), 8);
  }
}

TEST(PoseWindows, AreAFunctionOfTheirNumber) {
  const PoseWindowsMakerOptions o{};
  EXPECT_EQ(make_pose_window(o, "train", 3).poses.tokens, make_pose_window(o, "train", 3).poses.tokens);
  EXPECT_NE(make_pose_window(o, "train", 3).poses.tokens, make_pose_window(o, "train", 4).poses.tokens);
  EXPECT_NE(make_pose_window(o, "train", 3).poses.tokens, make_pose_window(o, "test", 3).poses.tokens);
  EXPECT_GT(off_truth(make_pose_window(o, "train", 3)), 1e-4);  // noise
}

TEST(PoseWindows, FilesHoldWhatIsAskedAndLabels) {
  const Folder made;
  const std::string folder = made / "windows";
  ASSERT_TRUE(
      make_pose_windows({.group = LieGroup::se2, .train = 6, .valid = 0, .test = 2, .ahead = 0}, folder));
  const SafetensorsFile file(folder + "/train.safetensors");
  EXPECT_EQ(file.entry("elements").shape, (std::vector<int64_t>{72, 3, 3}));
  EXPECT_EQ(file.entry("pose").shape, (std::vector<int64_t>{72, 3, 3}));
  EXPECT_EQ(file.entry("scalars").shape, (std::vector<int64_t>{72, 2}));
  EXPECT_EQ(file.entry("class").shape, (std::vector<int64_t>{6, 1}));
  EXPECT_EQ(file.header().metadata.at("group"), "se2");
  EXPECT_THROW(make_pose_windows({.train = 1, .valid = 0, .test = 0}, folder), ConfigError);  // it is there
  EXPECT_THROW(make_pose_window({.group = LieGroup::aff2}, "train", 0), ConfigError);
  EXPECT_THROW(make_pose_window({.length = 5, .ahead = 4}, "train", 0), ConfigError);
  EXPECT_THROW(make_pose_windows({.group = LieGroup::so2, .train = 1, .step = 1}, made / "none"),
               ConfigError);
}

}  // namespace pose_windows_test
}  // namespace weyl
