// A step may take minutes. A training that is asked to stop within one saves the state before it and leaves, and the
// run goes on to the bits of one that was never stopped. The training is a child process: this executable again.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "tests/train/small_training.h"
#include "weyl/core/check.h"
#include "weyl/train/loop/late_numbers.h"

namespace weyl {
namespace stop_request_test {

namespace fs = std::filesystem;

volatile sig_atomic_t asked = 0;

// The samples of another set, which hang from the n-th batch on: a step that does not end.
struct Hanging : Dataset {
  Hanging(std::shared_ptr<const Dataset> whole, int64_t batches, std::string sign)
      : set(std::move(whole)), left(batches), sign_file(std::move(sign)) {}
  int64_t size() const override { return set->size(); }
  const Schema& schema() const override { return set->schema(); }
  int64_t tokens(int64_t index) const override { return set->tokens(index); }
  Batch batch(std::span<const int64_t> indices) const override {
    if (left-- <= 0) {
      std::ofstream(sign_file) << "hangs";
      std::this_thread::sleep_for(std::chrono::minutes(5));
    }
    return set->batch(indices);
  }
  std::shared_ptr<const Dataset> set;
  mutable std::atomic<int64_t> left;
  std::string sign_file;
};

// A checkpoint is never saved by itself here.
TEST(Child, DISABLED_TrainsUntilItHangs) {
  const std::string run = std::getenv("WEYL_TEST_RUN"), split = std::getenv("WEYL_TEST_SPLIT");
  const int64_t batches = std::stol(std::getenv("WEYL_TEST_BATCHES"));
  signal(SIGTERM, [](int) { asked = 1; });
  Splits data = small_data();
  auto& hanging = split == "train" ? data.train : split == "valid" ? data.valid : data.test;
  hanging = std::make_shared<Hanging>(hanging, batches, run + ".hangs");
  const Recipe recipe = small_recipe();
  fs::create_directories(run);
  std::optional<ReadLate> late;
  if (std::getenv("WEYL_TEST_LATE") != nullptr) {
    late.emplace();
  }
  Trainer trainer(small_model(recipe, small_data()), recipe.train, data, run, nullptr,
                  [] { return asked != 0; });
  if (fs::exists(run + "/last")) {
    trainer.load(read_checkpoint(run));
  }
  trainer.set_on_stop_request([](const TrainResult& result, const std::exception_ptr& error) {
    _exit(error ? 3 : result.ending == Ending::interrupted ? 5 : 1);
  });
  trainer.run();
  _exit(0);
}

// Whether the first thread of a process sleeps, as "12 (name) S 3 ..." says; one that waits for a processor does not.
bool sleeps(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string stat(std::istreambuf_iterator<char>(file), {});
  const size_t name_ends = stat.rfind(')');
  return name_ends != std::string::npos && stat.compare(name_ends, 3, ") S") == 0;
}

bool has_ended(pid_t child) {
  siginfo_t how{};
  return ::waitid(P_PID, static_cast<id_t>(child), &how, WEXITED | WNOHANG | WNOWAIT) != 0 || how.si_pid != 0;
}

// Starts the child, waits until it hangs, asks it to stop; its exit code. A child that did not leave would hang for
// longer than what CTest allows.
int leave(const std::string& run, const std::string& split, int64_t batches, bool late = false) {
  fs::remove(run + ".hangs");
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("WEYL_TEST_RUN", run.c_str(), 1);
    ::setenv("WEYL_TEST_SPLIT", split.c_str(), 1);
    ::setenv("WEYL_TEST_BATCHES", std::to_string(batches).c_str(), 1);
    if (late) {
      ::setenv("WEYL_TEST_LATE", "1", 1);
    }
    ::execl("/proc/self/exe", "stop_request_test", "--gtest_filter=Child.*",
            "--gtest_also_run_disabled_tests", "--gtest_brief=1", nullptr);
    ::_exit(127);
  }
  // The batches that the loader has made ahead are used up when the training sleeps, at many looks in a row.
  int asleep = 0;
  for (int look = 0; look < 12'000 && asleep < 20 && !has_ended(child); ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    asleep = fs::exists(run + ".hangs") && sleeps(child) ? asleep + 1 : 0;
  }
  ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(OnStopRequest, WithinAStepSavesTheStateBeforeIt) {
  const ScratchFolder folder;
  train_small(small_recipe(), folder / "through");
  EXPECT_EQ(leave(folder / "run", "train", 12), 5);  // two batches a step
  const int64_t step = read_checkpoint(folder / "run").state.step;
  EXPECT_GT(step, 0);
  EXPECT_LE(step, 6);
  EXPECT_GT(read_csv(folder / "run/timing.csv").rows.size(), 0u);
  // From there again, within another step.
  EXPECT_EQ(leave(folder / "run", "train", 9), 5);
  EXPECT_GT(read_checkpoint(folder / "run").state.step, step);
  train_small(small_recipe(), folder / "run");
  expect_same_bits(folder / "through", folder / "run");
}

// The numbers of the step before have not been read then.
TEST(OnStopRequest, WithinAStepSavesTheOneWhoseNumbersAreLate) {
  const ScratchFolder folder;
  train_small(small_recipe(), folder / "through");
  for (const int64_t batches : {9, 6, 7}) {
    const int64_t before = fs::exists(folder / "run/last") ? read_checkpoint(folder / "run").state.step : 0;
    EXPECT_EQ(leave(folder / "run", "train", batches, /*late=*/true), 5);
    EXPECT_GT(read_checkpoint(folder / "run").state.step, before);
  }
  train_small(small_recipe(), folder / "run");
  expect_same_bits(folder / "through", folder / "run");
}

TEST(OnStopRequest, WithinAValidationIsResumedWithThatValidation) {
  const ScratchFolder folder;
  train_small(small_recipe(), folder / "through");
  // Each validation has three batches, and one sample is looked at before the first step.
  for (const int64_t batches : {2, 5, 1}) {
    EXPECT_EQ(leave(folder / "run", "valid", batches), 5);
    EXPECT_TRUE(read_checkpoint(folder / "run").state.unvalidated.has_value()) << batches;
  }
  train_small(small_recipe(), folder / "run");
  expect_same_bits(folder / "through", folder / "run");
}

TEST(OnStopRequest, WithinTheTestLosesNothing) {
  const ScratchFolder folder;
  const TrainResult through = train_small(small_recipe(), folder / "through");
  EXPECT_EQ(leave(folder / "run", "test", 1), 5);
  expect_same_bits(folder / "through", folder / "run");
  const TrainResult again = train_small(small_recipe(), folder / "run");
  EXPECT_EQ(again.test->metrics.at("mse").value, through.test->metrics.at("mse").value);
}

}  // namespace stop_request_test
}  // namespace weyl
