// Work in a child: what it sends arrives, and however it dies the parent gets one line.
#include "weyl/core/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/data/folder.h"
#include "weyl/core/check.h"

namespace weyl {
namespace child_process_test {

using Sender = ChildProcess::Sender;

/// The message with which receiving a number of `work` fails; "" when it does not.
std::string fault(const ChildProcess::Work& work, const ChildLimits& limits = {}) {
  return message_of<DataError>([&] {
    ChildProcess child("x.h5", limits, work);
    int number = 0;
    child.receive(std::as_writable_bytes(std::span(&number, 1)));
  });
}

TEST(ChildProcess, SendsWhatItMade) {
  std::vector<int> sent(5'000'000);  // far more than a pipe holds
  std::iota(sent.begin(), sent.end(), -7);
  ChildProcess child("x.h5", {}, [&](Sender& out) {
    out.send(std::as_bytes(std::span(sent)));
    out.send({});
    sent.assign(3, 1);  // is not seen by the parent
    out.send(std::as_bytes(std::span(sent)));
  });
  std::vector<int> all(sent.size()), three(3);
  child.receive(std::as_writable_bytes(std::span(all)));
  child.receive({});
  child.receive(std::as_writable_bytes(std::span(three)));
  EXPECT_EQ(all, sent);
  EXPECT_EQ(three, (std::vector<int>{1, 1, 1}));
  int more = 0;
  EXPECT_THROW(child.receive(std::as_writable_bytes(std::span(&more, 1))), DataError);
}

TEST(ChildProcess, HandsItsErrorsOn) {
  EXPECT_EQ(fault([](Sender&) { throw DataError("x.h5: 'data' is missing"); }), "x.h5: 'data' is missing");
  EXPECT_EQ(fault([](Sender&) { throw std::bad_alloc(); }),
            "x.h5: needs more memory than its size allows; it is corrupt");
  EXPECT_EQ(fault([](Sender&) { throw DataError(std::string(100'000, 'x')); }).size(), 4096U);
  EXPECT_EQ(fault([](Sender&) { throw 3; }), "x.h5: what reads it ended early; it is corrupt");
  EXPECT_EQ(fault([](Sender& out) { out.send(std::as_bytes(std::span("abc"))); }), "");
  EXPECT_EQ(fault([](Sender& out) { out.send(std::as_bytes(std::span("abcdef"))); }),
            "x.h5: what reads it has lost its way; it is corrupt");
}

TEST(ChildProcess, MayDieInAnyWay) {
  const auto dies_of = [](int signal) { return fault([signal](Sender&) { ::raise(signal); }); };
  EXPECT_EQ(dies_of(SIGSEGV), "x.h5: what reads it crashed (Segmentation fault); it is corrupt");
  EXPECT_EQ(dies_of(SIGABRT), "x.h5: what reads it crashed (Aborted); it is corrupt");
  EXPECT_EQ(dies_of(SIGKILL), "x.h5: what reads it crashed (Killed); it is corrupt");
  EXPECT_EQ(fault([](Sender&) { ::_exit(7); }), "x.h5: what reads it ended early; it is corrupt");
  EXPECT_EQ(fault([](Sender&) {}), "x.h5: what reads it ended early; it is corrupt");
  // In the middle of what it sends: the mapping behind the array has only its first page.
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  auto* pages =
      static_cast<std::byte*>(::mmap(nullptr, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ::mprotect(pages + page, page, PROT_NONE);
  std::vector<std::byte> to(2 * page);
  ChildProcess child("x.h5", {}, [&](Sender& out) { out.send({pages, 2 * page}); });
  EXPECT_EQ(message_of<DataError>([&] { child.receive(to); }),
            "x.h5: what reads it ended early; it is corrupt");
  ::munmap(pages, 2 * page);
}

TEST(ChildProcess, EndsAtItsLimits) {
  volatile bool ever = true;
  const auto spins = [&](Sender&) {
    while (ever) {
    }
  };
  EXPECT_EQ(fault(spins, {.seconds = 1}), "x.h5: what reads it did not end within 1 s; it is corrupt");
#ifndef WEYL_SANITIZED
  EXPECT_EQ(fault([](Sender&) { std::vector<char> much(200U << 20U); }),
            "x.h5: needs more memory than its size allows; it is corrupt");
#endif
  int number = 0;
  ChildProcess child("x.h5", {}, [](Sender& out) {
    out.allow(300U << 20U);
    const std::vector<char> much(200U << 20U, 1);
    const int last = much.back();
    out.send(std::as_bytes(std::span(&last, 1)));
  });
  child.receive(std::as_writable_bytes(std::span(&number, 1)));
  EXPECT_EQ(number, 1);
}

TEST(ChildProcess, OpensAndWritesNoFilesAndPrintsNothing) {
  const Folder folder;
  const std::string path = folder / "a";
  std::ofstream(path) << "old";
  ::testing::internal::CaptureStderr();
  std::FILE* open = std::fopen(path.c_str(), "r+");
  ASSERT_NE(open, nullptr);
  int opened = 1;
  ChildProcess child("x.h5", {}, [&](Sender& out) {
    std::fputs("noise\n", stderr);
    const int one = std::ifstream(path).is_open() ? 1 : 0;
    out.send(std::as_bytes(std::span(&one, 1)));
    std::fputs("new", open);
    std::fflush(open);
  });
  child.receive(std::as_writable_bytes(std::span(&opened, 1)));
#ifndef WEYL_SANITIZED
  EXPECT_EQ(opened, 0);
#endif
  EXPECT_EQ(message_of<DataError>([&] { child.receive(std::as_writable_bytes(std::span(&opened, 1))); }),
            "x.h5: what reads it crashed (File size limit exceeded); it is corrupt");
  std::fclose(open);
  std::string text;
  std::ifstream(path) >> text;
  EXPECT_EQ(text, "old");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(ChildProcess, IsEndedWithItsParentsInterestAndLeavesNoZombie) {
  {
    // Left to itself the first child would outlast what CTest allows.
    const ChildLimits hours{.seconds = 10'000};
    const ChildProcess sleeps("x.h5", hours, [](Sender&) { ::pause(); });
    const ChildProcess writes("x.h5", hours, [](Sender& out) {
      out.send(std::vector<std::byte>(1U << 24U));
      out.send({});
    });
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(ChildProcess, LivesWithSignalsOfTheParent) {
  static volatile sig_atomic_t seen = 0;
  const auto count = [](int) { seen = seen + 1; };
  struct sigaction handler{}, before{};
  handler.sa_handler = count;  // without SA_RESTART: calls are interrupted
  ::sigaction(SIGUSR1, &handler, &before);
  int number = 0;
  {
    ChildProcess child("x.h5", {}, [](Sender& out) {
      ::raise(SIGUSR1);  // waits: signals are for the parent
      ::kill(::getppid(), SIGUSR1);
      ::usleep(50'000);
      const int value = 5 + seen;
      out.send(std::as_bytes(std::span(&value, 1)));
    });
    child.receive(std::as_writable_bytes(std::span(&number, 1)));
  }
  EXPECT_EQ(number, 5);
  EXPECT_EQ(seen, 1);
  ::sigaction(SIGUSR1, &before, nullptr);
  // A parent that ignores its children cannot ask how they died.
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &ignore, &before);
  EXPECT_EQ(fault([](Sender&) { ::raise(SIGSEGV); }), "x.h5: what reads it ended early; it is corrupt");
  EXPECT_EQ(fault([](Sender& out) {
              const int one = 1;
              out.send(std::as_bytes(std::span(&one, 1)));
            }),
            "");
  ::sigaction(SIGCHLD, &before, nullptr);
}

TEST(ChildProcess, MayBeMadeByManyThreads) {
  std::vector<std::thread> threads;
  std::vector<int> results(8, -1);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&results, i] {
      ChildProcess child("x.h5", {}, [i](Sender& out) {
        const std::vector<int> values(100'000, i);  // allocates
        out.send(std::as_bytes(std::span(values)));
      });
      std::vector<int> values(100'000);
      child.receive(std::as_writable_bytes(std::span(values)));
      results[i] = values.back();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(results, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

}  // namespace child_process_test
}  // namespace weyl
