// The exit code of processes of --ranks of which one fails. The processes are this test itself, started as a program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tests/app/program.h"
#include "weyl/app/verbs/ranks.h"
#include "weyl/core/check.h"

namespace weyl {
namespace rank_processes_test {

constexpr const char* does = "WEYL_TEST_RANK_DOES";

/// What two processes do of which the second does `what`, with the exit code of the first.
Outcome two_of_which_one(const std::string& what) {
  return shell(std::string(does) + "=" + what + " " +
                   std::filesystem::read_symlink("/proc/self/exe").string() +
                   " --gtest_filter=RankProcesses.DISABLED_One --gtest_also_run_disabled_tests",
               scratch("rank-processes"));
}

int work(const std::string& what, Ranks& ranks) {
  if (what == "fails_late") {
    if (ranks.rank() == 0) {
      return 0;
    }
    EXPECT_THROW(ranks.barrier(), RankError);  // the first one has come to its end
    throw DataError("what failed late");
  }
  if (ranks.rank() == 1) {
    _exit(4);  // and tells nobody
  }
  for (;;) {  // long work, which needs no other
    pause();
  }
}

// No test by itself, but each of the processes that the others start.
TEST(RankProcesses, DISABLED_One) {
  int code = 0;
  {
    RankProcesses processes(2, Machine{.threads = 1});
    code = processes.run([&] { return work(std::getenv(does), *processes.ranks()); });
  }
  _exit(code);
}

TEST(RankProcesses, OneThatFailsWhenTheFirstIsDoneIsNoSuccess) {
  const Outcome late = two_of_which_one("fails_late");
  EXPECT_EQ(late.code, 3) << late.err;
  EXPECT_EQ(std::ranges::count(late.err.substr(late.err.find("weyl: ")), '\n'), 1) << late.err;
  EXPECT_NE(late.err.find("weyl: what failed late"), std::string::npos) << late.err;
}

TEST(RankProcesses, TheExitCodeOfOneThatEndedWithoutAWordIsThatOfAll) {
  const Outcome dead = two_of_which_one("ends");
  EXPECT_EQ(dead.code, 4) << dead.err;
  EXPECT_NE(dead.err.find("rank 1 has ended with exit code 4"), std::string::npos) << dead.err;
}

}  // namespace rank_processes_test
}  // namespace weyl
