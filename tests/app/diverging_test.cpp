// A rate that is too high is no fault of the data.
#include <gtest/gtest.h>

#include "tests/app/program.h"
#include "weyl/app/terminal/exit_codes.h"

namespace weyl {
namespace diverging_test {

// Every frame is an exact Morse cluster and is learned at a rate of 0.003; at 0.05 one of them was blamed. Whether that rate
// diverges at all is a matter of the last bits.
TEST(Diverging, BlamesNoneOfExactFrames) {
  const std::string folder = scratch("diverging");
  std::filesystem::copy_file(WEYL_SOURCE_DIR "/tests/fixtures/reports/25_blamed_sample.xyz",
                             folder + "/a.xyz");
  const Outcome drafted = weyl_program("config new --data a.xyz --out c.toml --quiet", folder);
  ASSERT_EQ(drafted.code, exit_done) << drafted.err;
  int diverged = 0;
  for (const char* rate : {"0.003", "0.05", "0.07", "0.1", "0.3", "1"}) {
    const Outcome run = weyl_program("train c.toml train.steps=60 train.optimiser.rate=" + std::string(rate) +
                                         " --threads 1 --quiet --no-pictures --out run-" + rate,
                                     folder);
    EXPECT_TRUE(run.code == exit_done || run.code == exit_failed) << rate << ": " << run.err;
    if (run.code == exit_failed) {
      EXPECT_NE(run.err.find("the weights have diverged"), std::string::npos) << run.err;
      ++diverged;
    }
  }
  EXPECT_GT(diverged, 0);
}

}  // namespace diverging_test
}  // namespace weyl
