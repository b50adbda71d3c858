// What the fuzzer of verbs must call a fault, each planted once.
#include "tests/fuzz/verbs/server.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <new>
#include <vector>

namespace weyl::fuzz {
namespace server_test {

Ended ended(const std::function<int()>& work, double seconds = 60) {
  return run_forked(std::filesystem::temp_directory_path().string(), {.seconds = seconds, .memory = 1 << 28},
                    work);
}

int says(int code, const char* line) {
  std::fputs(line, stderr);
  std::fflush(stderr);
  return code;
}

TEST(FuzzServer, LetsTheProgramsOwnEndsPass) {
  EXPECT_EQ(ended([] { return 0; }).fault(false), "");
  EXPECT_EQ(ended([] { return says(3, "weyl: a.xyz: must have a line, got none\n"); }).fault(false), "");
  EXPECT_EQ(
      ended([] { return says(4, "weyl: a.npz: needs 9 MiB of memory, 8 are available\n"); }).fault(false),
      "");
}

TEST(FuzzServer, SeesWhatRunsTooLong) {
  const auto spins = [] {
    while (std::clock() >= 0) {
    }
    return 0;
  };
  const Ended slow = ended(spins, 1);
  EXPECT_EQ(slow.fault(false), "took more than its time");
  EXPECT_GT(slow.seconds, 1);
}

TEST(FuzzServer, SeesWhatTakesTooMuchMemory) {
#ifndef WEYL_SANITIZED  // which ends the process itself
  const Ended large = ended([] {
    try {
      const std::vector<char> bytes(1 << 29, 'x');
      return bytes[17] == 'x' ? 0 : 3;
    } catch (const std::bad_alloc&) {
      return says(4, "weyl: out of memory: take smaller batches (train.batch, --batch) or a smaller model\n");
    }
  });
  EXPECT_EQ(large.fault(false), "took more than its memory");
  EXPECT_EQ(large.fault(true), "");
#endif
  const Ended some = ended([] {
    const std::vector<char> bytes(1 << 27, 'x');
    return bytes[17] == 'x' ? 0 : 3;
  });
  EXPECT_EQ(some.fault(false), "");
  EXPECT_GE(some.memory, 1 << 27);
}

TEST(FuzzServer, SeesSignalsInternalErrorsAndEscapeCodes) {
#ifndef WEYL_SANITIZED  // which takes the signal
  EXPECT_EQ(ended([] { return raise(SIGSEGV); }).fault(false), "ended by signal 11");
#endif
  EXPECT_EQ(ended([] { return says(1, "weyl: vector::_M_range_check\n"); }).fault(false),
            "ended with the exit code 1");
  EXPECT_EQ(ended([] {
              return says(1, "the runs' test data are not the same, so their metrics are not compared\n");
            }).fault(false),
            "");
  EXPECT_EQ(ended([]() -> int { _exit(127); }).fault(false), "ended with the exit code 127");
  EXPECT_EQ(ended([] { return 3; }).fault(false), "gave no reason for its exit code 3");
  EXPECT_EQ(ended([] { return says(3, "weyl: \x1b[31mred\n"); }).fault(false), "said an escape code");
  EXPECT_EQ(ended([] { return says(3, "weyl: Exception raised from f\n"); }).fault(false),
            "said \"Exception raised from\"");
}

}  // namespace server_test
}  // namespace weyl::fuzz
