// Two copies of a set of poses: what is asked for is the motion between them.
#include "weyl/makers/poses/pose_copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace pose_copies_test {

/// The largest distance, entry by entry, of the tokens of copy 0, carried over, from the nearest of copy 1.
double apart(const PoseCopies& s, size_t size, size_t length) {
  double worst = 0;
  for (size_t i = 0; i < length; ++i) {
    double nearest = 1e9;
    for (size_t j = length; j < 2 * length; ++j) {
      double off = 0;
      for (size_t k = 0; k < size; ++k) {
        off = std::max(off, std::abs(s.carried[i * size + k] - s.tokens[j * size + k]));
      }
      nearest = std::min(nearest, off);
    }
    worst = std::max(worst, nearest);
  }
  return worst;
}

TEST(PoseCopies, OneIsTheOtherMovedUpToNoise) {
  for (const LieGroup group : {LieGroup::so2, LieGroup::se2, LieGroup::so3, LieGroup::se3}) {
    const auto size = static_cast<size_t>(matrix_size(group) * matrix_size(group));
    const PoseCopiesMakerOptions exact{.group = group, .noise = 0, .angle_noise = 0}, noisy{.group = group};
    bool in_order = true;
    for (int64_t i = 0; i < 10; ++i) {
      const PoseCopies s = make_pose_copies(exact, "train", i), n = make_pose_copies(noisy, "train", i);
      EXPECT_LT(apart(s, size, 12), 1e-12) << name_of(group);
      EXPECT_GT(apart(n, size, 12), 1e-3) << name_of(group);
      for (size_t k = 0; k < size; ++k) {
        in_order = in_order && std::abs(s.carried[k] - s.tokens[12 * size + k]) < 1e-9;
      }
      EXPECT_EQ(std::count(s.copy.begin(), s.copy.end(), 1), 12);
    }
    EXPECT_FALSE(in_order);
  }
}

TEST(PoseCopies, AreAFunctionOfTheirNumberAndFilesHoldThem) {
  const PoseCopiesMakerOptions o{};
  EXPECT_EQ(make_pose_copies(o, "train", 3).tokens, make_pose_copies(o, "train", 3).tokens);
  EXPECT_NE(make_pose_copies(o, "train", 3).tokens, make_pose_copies(o, "train", 4).tokens);
  EXPECT_NE(make_pose_copies(o, "train", 3).tokens, make_pose_copies(o, "test", 3).tokens);
  const Folder made;
  const auto make = [&](const std::string& name, int64_t threads) {
    return make_pose_copies({.group = LieGroup::se2, .train = 6, .valid = 0, .test = 2, .threads = threads},
                            made / name);
  };
  ASSERT_TRUE(make("one", 1));
  ASSERT_TRUE(make("two", 2));
  const SafetensorsFile file(made / "one/train.safetensors"), other(made / "two/train.safetensors");
  EXPECT_EQ(file.entry("elements").shape, (std::vector<int64_t>{144, 3, 3}));
  EXPECT_EQ(file.entry("pose").shape, (std::vector<int64_t>{144, 3, 3}));
  EXPECT_EQ(file.entry("scalars").shape, (std::vector<int64_t>{144, 1}));
  EXPECT_EQ(file.bytes("elements"), other.bytes("elements"));
  EXPECT_THROW(make("one", 1), ConfigError);  // it is there
  EXPECT_THROW(make_pose_copies({.group = LieGroup::aff2}, "train", 0), ConfigError);
  EXPECT_THROW(make_pose_copies({.group = LieGroup::so3, .train = 1, .noise = 0.1}, made / "none"),
               ConfigError);
}

}  // namespace pose_copies_test
}  // namespace weyl
