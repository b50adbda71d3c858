#include "weyl/data/base/duplicates.h"

#include <gtest/gtest.h>

#include "weyl/core/check.h"

namespace weyl {
namespace duplicates_test {

using Lines = std::vector<std::string>;

Duplicates::Name name(const std::string& of) {
  return [of](int64_t sample) { return text(of, " ", sample); };
}

TEST(Duplicates, AreCountedAndNamedWithinSplitsAndBetweenThem) {
  Duplicates seen;
  EXPECT_EQ(seen.lines(), Lines{});
  seen.begin("train", name("frame"));
  for (const uint64_t inputs : {1, 2, 3, 1, 4}) {
    seen.add(inputs, inputs);
  }
  EXPECT_EQ(seen.lines(),
            (Lines{"train: 1 of 5 samples has the inputs of an earlier one: frame 3 those of frame 0"}));
  seen.begin("valid", name("other"));
  for (const uint64_t inputs : {5, 6}) {
    seen.add(inputs, 0);
  }
  EXPECT_EQ(seen.lines(), Lines{});  // the control
  seen.begin("test", name("last"));
  seen.skip();
  for (const uint64_t inputs : {1, 2, 3, 4, 6}) {
    seen.add(inputs, inputs + (inputs == 4 ? 1 : 0));
  }
  EXPECT_EQ(
      seen.lines(),
      (Lines{
          "test: 4 of 6 samples have the inputs of a sample of train, 1 with another label: last 1 those of "
          "frame 0, last 2 those of frame 1, last 3 those of frame 2 and 1 more",
          "test: 1 of 6 samples has the inputs of a sample of valid, 1 with another label: last 5 those of "
          "other 1"}));
}

TEST(Duplicates, SplitsOfOneSampleOrNoneAreDoubted) {
  EXPECT_EQ(warning_about_size("valid", 2, "frame"), "");
  EXPECT_EQ(warning_about_size("valid", 1, "frame"),
            "valid: has one frame alone, from which nothing can be said of others");
  EXPECT_EQ(warning_about_size("valid", 0, "frame"), "valid: has no frames");
  EXPECT_EQ(warnings_about_absent({""}), Lines{});  // of one file
  EXPECT_EQ(warnings_about_absent({"train", "valid"}), Lines{});
  EXPECT_EQ(warnings_about_absent({"train", "test"}).size(), 1U);
  EXPECT_EQ(warnings_about_absent({"test"}).size(), 2U);
}

}  // namespace duplicates_test
}  // namespace weyl
