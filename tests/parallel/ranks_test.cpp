// Three processes over the loopback: what they sum, send and gather, and what they say when one is missing.
#include "weyl/parallel/ranks.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/data/folder.h"
#include "tests/parallel/processes.h"

namespace weyl {
namespace ranks_test {

at::Tensor numbers(int rank, int64_t n, at::ScalarType type) {
  return (at::arange(n, at::kDouble) * 0.37 + rank * 1.3).sin().to(type);
}

TEST(Ranks, SumSendAndGather) {
  const Folder folder;
  const auto codes = run_ranks(3, folder / "meet", [](const std::shared_ptr<Ranks>& all) {
    for (const auto type : {at::kFloat, at::kDouble}) {
      for (const int64_t n : {1, 7, 100'003}) {
        const at::Tensor x = numbers(all->rank(), n, type);
        const at::Tensor expected =
            numbers(0, n, at::kDouble) + numbers(1, n, at::kDouble) + numbers(2, n, at::kDouble);
        all->sum(x);
        EXPECT_LE((x - expected).abs().max().item<double>(), type == at::kFloat ? 2e-6 : 1e-14);
        // Everywhere the same bits, and again the same.
        const at::Tensor again = numbers(all->rank(), n, type);
        auto sum = all->start_sum(again);
        sum.wait();
        EXPECT_TRUE(at::equal(x, again));
        const at::Tensor first = x.clone();
        all->broadcast(first, 0);
        EXPECT_TRUE(at::equal(first, x));
      }
    }
    const at::Tensor told = at::full({4}, all->rank(), at::kLong);
    all->broadcast(told, 2);
    EXPECT_TRUE((told == 2).all().item<bool>());
    const std::vector<std::string> all_words =
        all->gather(std::string(static_cast<size_t>(3 * all->rank()), 'a' + static_cast<char>(all->rank())));
    EXPECT_EQ(all_words, (std::vector<std::string>{"", "bbb", "cccccc"}));
    all->barrier();
    std::string large(static_cast<size_t>(all->rank()) * 3'000'000, 'x');  // of the first none
    if (!large.empty()) {
      large.back() = static_cast<char>('0' + all->rank());
    }
    size_t given = 0;
    all->collect(large, [&](const std::string& bytes) {
      ASSERT_EQ(bytes.size(), given * 3'000'000);
      EXPECT_TRUE(bytes.empty() || bytes.back() == static_cast<char>('0' + given));
      ++given;
    });
    EXPECT_EQ(given, all->rank() == 0 ? 3u : 0u);
    EXPECT_EQ(all->total(int64_t{1} << (40 + all->rank())), int64_t{7} << 40);
    EXPECT_EQ(all->hosts().size(), 3u);
    EXPECT_EQ(all->hosts()[0], all->hosts()[2]);
    EXPECT_EQ(all->sharing_cores(), 3);
    EXPECT_EQ(all->local_rank(), all->rank());
  });
  EXPECT_EQ(codes, (std::vector<int>{0, 0, 0}));
}

TEST(Ranks, WhatMustBeTheSameIsRefusedByAll) {
  const Folder folder;
  EXPECT_EQ(
      run_ranks(3, folder / "meet",
                [](const std::shared_ptr<Ranks>& all) {
                  all->require_same("the data", "seven");
                  try {
                    all->require_same("the data", all->rank() == 2 ? "six" : "seven");
                    ADD_FAILURE();
                  } catch (const DataError& error) {
                    EXPECT_STREQ(
                        error.what(),
                        "the data: must be the same for all ranks, but rank 0 has seven and rank 2 has six");
                  }
                }),
      (std::vector<int>{0, 0, 0}));
}

// A rank that is bound to cores of its own shares them with no other.
TEST(Ranks, CoresOfItsOwnAreNotShared) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  if (CPU_COUNT(&mine) < 2) {
    GTEST_SKIP() << "one core alone";
  }
  const Folder folder;
  EXPECT_EQ(run_ranks(
                3, folder / "meet",
                [](const std::shared_ptr<Ranks>& all) {
                  EXPECT_EQ(all->sharing_cores(), all->rank() == 2 ? 1 : 2);
                },
                std::chrono::seconds(60), "",
                [&](int rank) {
                  if (rank == 2) {
                    cpu_set_t one = mine;
                    for (int core = CPU_SETSIZE - 1; CPU_COUNT(&one) > 1; --core) {
                      CPU_CLR(core, &one);
                    }
                    sched_setaffinity(0, sizeof one, &one);
                  }
                }),
            (std::vector<int>{0, 0, 0}));
}

// Where nobody says which of its host's a rank is, those of the same host are counted.
TEST(Ranks, AreCountedOnEachHost) {
  const pid_t tries = fork();
  if (tries == 0) {
    _exit(unshare(CLONE_NEWUTS) == 0 && sethostname("elsewhere", 9) == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(tries, &status, 0);
  if (status != 0) {
    GTEST_SKIP() << "this process may not name a host of its own";
  }
  const Folder folder;
  EXPECT_EQ(run_ranks(
                4, folder / "meet",
                [](const std::shared_ptr<Ranks>& all) {
                  const bool away = all->rank() % 2 == 1;
                  EXPECT_EQ(all->hosts()[static_cast<size_t>(all->rank())] == "elsewhere", away);
                  EXPECT_EQ(all->local_rank(), all->rank() / 2);
                  EXPECT_EQ(all->sharing_cores(), 2);
                },
                std::chrono::seconds(60), "",
                [](int rank) {
                  if (rank % 2 == 1) {
                    EXPECT_EQ(unshare(CLONE_NEWUTS), 0);
                    EXPECT_EQ(sethostname("elsewhere", 9), 0);
                  }
                }),
            (std::vector<int>{0, 0, 0, 0}));
}

// The first one alone may take as long as it needs.
TEST(Ranks, TheFirstOneIsWaitedFor) {
  const Folder folder;
  const auto codes = run_ranks(
      2, folder / "meet",
      [](const std::shared_ptr<Ranks>& all) {
        if (all->rank() == 0) {
          usleep(6'000'000);  // longer than ranks wait for one another
        }
        all->wait_for_first();
        all->barrier();
        all->wait_for_first();  // another time
      },
      std::chrono::seconds(4));
  EXPECT_EQ(codes, (std::vector<int>{0, 0}));
}

// At an address the first rank stays until the others, busy for longer than it waits for a killed one, have heard.
TEST(Ranks, AFaultIsHeardOfLater) {
  const auto codes = run_ranks(
      2, "",
      [](const std::shared_ptr<Ranks>& all) {
        all->barrier();
        if (all->rank() == 0) {
          EXPECT_FALSE(all->failed_before(3).has_value());
        } else {
          usleep(3'000'000);
          EXPECT_THROW(all->barrier(), RankError);
          EXPECT_EQ(all->failed_before(1), 3);
        }
        all->leave(std::chrono::seconds(60));
      },
      std::chrono::seconds(60), "127.0.0.1:" + std::to_string(20000 + (getpid() + 1) % 12000));
  EXPECT_EQ(codes, (std::vector<int>{0, 0}));
}

// Rank 2 has a fault of its own; the others, which end since it does, hear of its exit code and say nothing.
TEST(Ranks, TheFirstToFailSaysIt) {
  const Folder folder;
  for (const bool at_address : {false, true}) {
    const std::string file = at_address ? "" : folder / "meet";
    const auto codes = run_ranks(
        3, file,
        [&](const std::shared_ptr<Ranks>& all) {
          all->barrier();
          std::optional<int> before;
          if (all->rank() == 2) {
            before = all->failed_before(3);
          } else if (all->rank() == 1) {
            before = all->failure_of_another(1);
          } else {
            EXPECT_THROW(all->barrier(), RankError);
            before = all->failed_before(1);
          }
          EXPECT_EQ(before.has_value(), all->rank() != 2);
          EXPECT_EQ(before.value_or(3), 3);
          all->leave(std::chrono::seconds(60));
        },
        std::chrono::seconds(60), at_address ? "127.0.0.1:" + std::to_string(20000 + getpid() % 12000) : "");
    EXPECT_EQ(codes, (std::vector<int>{0, 0, 0}));
  }
}

TEST(Ranks, OneThatIsKilledIsToldOfByTheOthers) {
  const Folder folder;
  const auto codes = run_ranks(3, folder / "meet", [](const std::shared_ptr<Ranks>& all) {
    all->barrier();
    if (all->rank() == 1) {
      kill(getpid(), SIGKILL);
    }
    all->sum(at::ones({10}));
  });
  EXPECT_EQ(codes, (std::vector<int>{9, -SIGKILL, 9}));
}

// Rank 1 hangs until rank 0 has given it up.
TEST(Ranks, OneThatDoesNotAnswerIsToldOfInTime) {
  const Folder folder;
  const std::string given_up = folder / "given up";
  const auto codes = run_ranks(
      2, folder / "meet",
      [&](const std::shared_ptr<Ranks>& all) {
        if (all->rank() == 1) {
          while (!std::filesystem::exists(given_up)) {
            usleep(10'000);
          }
          return;
        }
        try {
          all->sum(at::ones({10}));
        } catch (const RankError&) {
          std::ofstream out(given_up);
          throw;
        }
      },
      std::chrono::seconds(5));
  EXPECT_EQ(codes, (std::vector<int>{9, 0}));
}

TEST(Ranks, OneThatNeverComesIsToldOf) {
  const Folder folder;
  EXPECT_THROW(Ranks({.rank = 0, .size = 2, .local_size = 2},
                     {.file = folder / "meet", .timeout = std::chrono::milliseconds(500)}),
               RankError);
}

}  // namespace ranks_test
}  // namespace weyl
