// A training that is killed with SIGKILL at random instants, and resumed each time, ends with the bits of one
// that ran through. The trainings are child processes: this executable again, with the child's test alone.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/train/small_training.h"
#include "weyl/core/check.h"

namespace weyl {
namespace kill_test {

Recipe recipe_of_the_child() {
  Recipe recipe = small_recipe();
  recipe.train.epochs = 20;
  recipe.train.save_every_steps = 7;
  return recipe;
}

// The child. WEYL_TEST_RUN: the folder; WEYL_TEST_FILE_LIMIT: bytes that a file may have.
TEST(Child, DISABLED_Trains) {
  const char* run = std::getenv("WEYL_TEST_RUN");
  ASSERT_NE(run, nullptr);
  if (const char* limit = std::getenv("WEYL_TEST_FILE_LIMIT")) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit bytes;
    bytes.rlim_cur = bytes.rlim_max = std::stoul(limit);
    setrlimit(RLIMIT_FSIZE, &bytes);
    try {
      train_small(recipe_of_the_child(), run);
    } catch (const DataError& error) {
      const std::string message = error.what();
      _exit(message.find('\n') == std::string::npos && message.find("File too large") != std::string::npos
                ? 3
                : 1);
    }
    _exit(0);
  }
  train_small(recipe_of_the_child(), run);
  _exit(HasFailure() ? 1 : 0);
}

pid_t start_child(const std::string& run, const char* limit = nullptr) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("WEYL_TEST_RUN", run.c_str(), 1);
    if (limit != nullptr) {
      ::setenv("WEYL_TEST_FILE_LIMIT", limit, 1);
    }
    ::execl("/proc/self/exe", "kill_test", "--gtest_filter=Child.*", "--gtest_also_run_disabled_tests",
            "--gtest_brief=1", nullptr);
    ::_exit(127);
  }
  return child;
}

int exit_code(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Kill, AtRandomInstantsLosesNothing) {
  const ScratchFolder folder;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(exit_code(start_child(folder / "through")), 0);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Stream stream(11, "kill");
  int kills = 0, saved = 0;
  double late = 1;  // on a busy machine a child may be slower or faster than the one that was timed
  for (int children = 0; children < 40 && (kills < 6 || saved == 0); ++children) {
    const pid_t child = start_child(folder / "killed");
    std::this_thread::sleep_for(
        std::chrono::duration<double>(late * seconds * (0.2 + 0.3 * stream.uniform())));
    ::kill(child, SIGKILL);
    const int code = exit_code(child);
    if (code == 0 && kills >= 2 && saved > 0) {
      break;  // it was done already
    }
    if (code == 0) {  // before enough had happened: again
      std::filesystem::remove_all(folder / "killed");
      kills = saved = 0;
      late /= 2;
      continue;
    }
    ASSERT_EQ(code, -SIGKILL);
    ++kills;
    if (std::filesystem::exists(folder / "killed/last")) {
      // `last` is whole at any instant.
      const auto state = read_checkpoint(folder / "killed").state;
      EXPECT_EQ(load_model(folder / "killed/last").metadata.count("recipe"), 1u);
      saved = state.step > 0 ? saved + 1 : saved;
    }
    late *= saved == 0 ? 1.15 : 1;
  }
  EXPECT_GE(kills, 2);
  EXPECT_GE(saved, 1);
  ASSERT_EQ(exit_code(start_child(folder / "killed")), 0);
  expect_same_bits(folder / "through", folder / "killed");
}

TEST(Kill, AFullDiskIsOneLineAndLeavesTheLastCheckpointWhole) {
  const ScratchFolder folder;
  train_small(recipe_of_the_child(), folder / "run", small_data(), nullptr, stop_after(20));
  const auto before = bits_of(folder / "run");
  EXPECT_EQ(exit_code(start_child(folder / "run", "6000")), 3);  // no checkpoint fits
  const auto after = bits_of(folder / "run");
  for (const char* name : {"last/model.safetensors", "last/state.safetensors", "best/model.safetensors"}) {
    EXPECT_FALSE(before.at(name).empty());
    EXPECT_EQ(before.at(name), after.at(name)) << name;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "run")) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
    EXPECT_NE(entry.path().filename(), "last.new");
  }
  ASSERT_EQ(exit_code(start_child(folder / "run")), 0);  // space again
  train_small(recipe_of_the_child(), folder / "through");
  expect_same_bits(folder / "run", folder / "through");
}

}  // namespace kill_test
}  // namespace weyl
