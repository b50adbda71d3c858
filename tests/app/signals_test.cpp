// What a signal leaves behind. Each process that a signal ends is a fork of this one.
#include "weyl/app/terminal/signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <iterator>

#include "weyl/core/atomic_file.h"

namespace weyl {
namespace signals_test {

namespace fs = std::filesystem;

class Signals : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    write_file_atomically(folder_ + "/finished", "whole");
  }
  void TearDown() override { fs::remove_all(folder_); }

  int64_t files() const { return std::distance(fs::directory_iterator(folder_), {}); }

  /// The status of a process in which a signal arrives while a file is half-written.
  int ended(int signal, const std::function<void()>& prepare) const {
    const pid_t child = fork();
    if (child == 0) {
      prepare();
      AtomicFile done(folder_ + "/second");
      done.commit();
      AtomicFile file(folder_ + "/third");
      file.write("half");
      raise(signal);
      _exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  std::string folder_ = (fs::temp_directory_path() / "weyl-signals-XXXXXX").string();
};

TEST_F(Signals, EndWithoutLitter) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = ended(signal, remove_unfinished_on_signals);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(files(), 2) << "after signal " << signal;  // finished and second
  }
}

TEST_F(Signals, WithoutTheHandlerLitterStays) {
  ASSERT_TRUE(WIFSIGNALED(ended(SIGTERM, [] {})));
  EXPECT_EQ(files(), 3);
}

TEST_F(Signals, WhatIsIgnoredStaysIgnored) {
  const int status = ended(SIGHUP, [] {
    ::signal(SIGHUP, SIG_IGN);
    remove_unfinished_on_signals();
  });
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST_F(Signals, ASecondInterruptEndsAtOnceWithoutLitter) {
  const int status = ended(SIGINT, [] {
    catch_signals("everything is whole");
    raise(SIGINT);
  });
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT);
  EXPECT_EQ(files(), 2);
}

}  // namespace signals_test
}  // namespace weyl
