#include "weyl/app/terminal/progress.h"

#include <gtest/gtest.h>

namespace weyl {
namespace progress_test {

TEST(Progress, WritesSecondsAsPeopleReadThem) {
  EXPECT_EQ(clock_text(0), "0:00");
  EXPECT_EQ(clock_text(187.4), "3:07");
  EXPECT_EQ(clock_text(3765), "1:02:45");
}

TEST(Progress, TellsWhatIsDoneAndHowLongIsLeft) {
  EXPECT_EQ(progress_line("train", 250, 1000, 10, "loss 0.1", 0),
            "train 250/1000 25%  0:10 left 0:30  loss 0.1");
  EXPECT_EQ(progress_line("train", 500, 1000, 10, "", 10), "train [#####.....] 500/1000 50%  0:10 left 0:10");
  EXPECT_EQ(progress_line("read", 7, 0, 61, "", 10), "read 7  1:01");
}

TEST(Progress, PrintsNothingWhenQuiet) {
  testing::internal::CaptureStderr();
  {
    Progress progress("train", 10, Progress::Style::none, 0);
    progress.update(5);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, PrintsWholeLinesWhenPiped) {
  testing::internal::CaptureStderr();
  {
    Progress progress("train", 10, Progress::Style::lines, 0);
    progress.update(5, "loss 1");
    progress.update(10);
  }
  const std::string out = testing::internal::GetCapturedStderr();
  EXPECT_EQ(out.find('\r'), std::string::npos);
  EXPECT_NE(out.find("train 5/10 50%"), std::string::npos);
  EXPECT_NE(out.find("train 10/10 100%"), std::string::npos);
}

}  // namespace progress_test
}  // namespace weyl
