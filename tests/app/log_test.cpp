// The log on a disk that is full, and beside a stderr that is closed: work goes on, and one line says it.
#include "weyl/app/terminal/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>

#include "tests/app/program.h"

namespace weyl {
namespace log_test {

// A fresh copy of this executable for each, since a process has one log: run by the tests below.
TEST(Child, DISABLED_LogsToTheFileOfItsArgument) {
  start_log(std::getenv("WEYL_TEST_QUIET") != nullptr);
  add_log_file(std::getenv("WEYL_TEST_LOG"));
  for (int i = 0; i < 200; ++i) {
    say("line " + std::to_string(i) + std::string(100, '.'));
  }
  end_log(std::getenv("WEYL_TEST_FAILED") != nullptr);
  ::_exit(7);
}

struct Logged {
  int code;
  std::string err;
};

/// `before` and `after` stand around the child's command in a shell.
Logged log_to(const std::string& file, const std::string& before, const std::string& after) {
  const std::string err = scratch("log-err") + "/err";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "{ " + before + " WEYL_TEST_LOG='" + file + "' '" + self +
                              "' --gtest_filter=Child.* --gtest_also_run_disabled_tests " + after +
                              "; } > /dev/null 2> '" + err + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, contents(err)};
}

int64_t lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

TEST(Log, OfAFullDiskIsOneLineOfOurs) {
  const Logged full = log_to("/dev/full", "WEYL_TEST_QUIET=1", "");
  EXPECT_EQ(full.code, 7);
  EXPECT_EQ(full.err,
            "weyl: /dev/full: the log must be writable, but lines of it are lost: No space left on device\n");
  // The talk itself goes on.
  EXPECT_EQ(lines(log_to("/dev/full", "", "").err), 201);
}

// A verb that the full disk ends says so itself: the log's line stood beside it.
TEST(Log, OfAVerbThatFailedSaysNothingMore) {
  const Logged full = log_to("/dev/full", "WEYL_TEST_QUIET=1 WEYL_TEST_FAILED=1", "");
  EXPECT_EQ(full.code, 7);
  EXPECT_EQ(full.err, "");
}

TEST(Log, ThatTookNoLineLeavesNoFile) {
  const std::string file = scratch("log-empty") + "/log.txt";
  EXPECT_EQ(log_to(file, "trap '' XFSZ; ulimit -f 0;", "2>/dev/null").code, 7);
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(file).parent_path()));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Log, BeyondAFileSizeLimitIsOneLineOfOurs) {
  const std::string file = scratch("log-limit") + "/log.txt";
  const Logged limited = log_to(file, "trap '' XFSZ; ulimit -f 4; WEYL_TEST_QUIET=1", "");
  EXPECT_EQ(limited.code, 7);
  EXPECT_EQ(lines(limited.err), 1);
  EXPECT_NE(limited.err.find(file + ": the log must be writable"), std::string::npos) << limited.err;
  EXPECT_GT(contents(file).size(), 2000U);  // the control: the limit was met while lines were written
}

TEST(Log, BesideAClosedStandardErrorGoesOn) {
  const std::string file = scratch("log-closed") + "/log.txt";
  const Logged closed = log_to(file, "", "2>&-");
  EXPECT_EQ(closed.code, 7);
  EXPECT_EQ(closed.err, "");
  EXPECT_GT(contents(file).size(), 20000U);
}

// A file opened later would take the number of the closed stream, and get what is said there too.
TEST(Log, OfAProgramWithClosedStreamsHoldsItsOwnLinesAlone) {
  const std::string folder = scratch("closed-streams");
  ASSERT_EQ(weyl_program("data make nbody train=2 valid=2 test=2 --out data/nbody", folder).code, 0);
  weyl_program("train '" WEYL_SOURCE_DIR
               "/configs/nbody/geomformer.toml' train.epochs=1 "
               "data.nbody.train=2 data.nbody.valid=2 data.nbody.test=2 --threads 1 --out run 0<&- 2>&- ; :",
               folder);
  std::istringstream log(contents(folder + "/run/log.txt"));
  int count = 0;
  for (std::string line; std::getline(log, line); ++count) {
    EXPECT_TRUE(line.starts_with("20")) << line;  // the year
  }
  EXPECT_GE(count, 4);
  EXPECT_EQ(contents(folder + "/run/.lock"), "");
}

}  // namespace log_test
}  // namespace weyl
