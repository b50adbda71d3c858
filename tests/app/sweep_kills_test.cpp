// Sweeps and trainings that are killed: `weyl scale run` goes on, and the table is that of an undisturbed one.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/app/sweep.h"
#include "weyl/core/json.h"
#include "weyl/core/random.h"

namespace weyl {
namespace sweep_kills_test {

TEST(ScaleRun, SecondsAreNotGivenAnewAndBatchesOfAStepAreCounted) {
  const std::string folder =
      prepared("sweep-seconds", "base = \"" WEYL_SOURCE_DIR
                                "/configs/nbody/transformer.toml\"\n"
                                "set = [\"train.batch=10\", \"train.accumulate=5\", "
                                "\"train.save_every_steps=5\", \"train.log_every_steps=5\"]\n"
                                "unit = \"seconds\"\nbudgets = [6]\nepochs = \"repeat\"\n"
                                "[[systems]]\nname = \"plain\"\nwidths = [8]\nblocks = [1]\n");
  const std::string timing = folder + "/a/runs/plain-w8b1-6-seed0-rate0.001/timing.csv";
  for (int kills = 0; kills < 2; ++kills) {
    const pid_t child = start_weyl({"scale", "run", "sweep.toml", "--out", "a", "--quiet"}, folder);
    const auto size = [&] { return fs::exists(timing) ? fs::file_size(timing) : 0; };
    const auto before = size();
    for (int look = 0; look < 1000 && size() < before + 200; ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  ASSERT_EQ(weyl_program("scale run sweep.toml --out a --quiet", folder).code, 0);
  const Rows times = rows_of(timing), table = rows_of(folder + "/a/runs.csv");
  ASSERT_EQ(table.size(), 1u);
  int64_t spent = 0;  // rows that were written when the budget was spent
  for (size_t i = 0; i < times.size(); ++i) {
    const double seconds = std::stod(times[i].at("seconds"));
    EXPECT_GE(seconds, i > 0 ? std::stod(times[i - 1].at("seconds")) : 0);
    spent += seconds >= 6 ? 1 : 0;
  }
  EXPECT_GE(spent, 1);
  EXPECT_LE(spent, 2);  // that of the last step, and of one before it whose validation ended then
  EXPECT_GE(std::stod(table[0].at("seconds")), 6);
  EXPECT_EQ(table[0].at("unique_tokens"), "500");
  EXPECT_EQ(table[0].at("note"), "");
  const Json result =
      Json::parse(contents(folder + "/a/runs/plain-w8b1-6-seed0-rate0.001/result.json"), "result");
  // Five batches of ten samples of five particles are a step.
  EXPECT_EQ(std::stod(table[0].at("tokens")), 250 * result.find("steps")->number_or(0));
}

/// The processes that another has started.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    const std::string stat = process > 0 ? contents(entry.path() / "stat") : "";
    const size_t name_ends = stat.rfind(')');  // "12 (name) S 3 ...": the parent is 3
    if (name_ends != std::string::npos &&
        std::atoi(stat.c_str() + std::min(stat.size(), name_ends + 4)) == parent) {
      children.push_back(process);
    }
  }
  return children;
}

/// Runs the sweep while each of its trainings is killed as soon as it appears; its exit code.
int run_while_trainings_are_killed(const std::string& folder) {
  const pid_t child = start_weyl({"scale", "run", "sweep.toml", "--out", "a", "--quiet"}, folder);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    for (const pid_t training : children_of(child)) {
      kill(training, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A sweep of one training.
std::string one_training() {
  std::string sweep = tiny;
  for (const auto& [what, by] :
       std::map<std::string, std::string>{{"budgets = [4e7, 2e8]", "budgets = [4e7]"},
                                          {"seeds = [2, 1]\n", ""},
                                          {"rates = [1e-3, 3e-3]\n", "rates = [1e-3]\n"},
                                          {"rates_until = 1e8\n", ""},
                                          {"widths = [8, 16]", "widths = [8]"},
                                          {"blocks = [1, 1]", "blocks = [1]"},
                                          {"largest = [\"w8b1\"]\n", ""}}) {
    sweep.replace(sweep.find(what), what.size(), by);
  }
  return sweep;
}

// As the system ends what memory does not suffice for, at every start anew.
TEST(ScaleRun, ATrainingThatIsKilledAgainAndAgainHasFailed) {
  const std::string folder = prepared("sweep-training-killed", one_training());
  const std::string run = folder + "/a/runs/plain-w8b1-4e+07-seed0-rate0.001";
  EXPECT_EQ(run_while_trainings_are_killed(folder), 5);  // killed twice: the next start goes on
  EXPECT_TRUE(contents(run + ".killed").starts_with("2\n"));
  EXPECT_TRUE(rows_of(folder + "/a/runs.csv").empty());
  EXPECT_EQ(run_while_trainings_are_killed(folder), 1);
  EXPECT_FALSE(fs::exists(run + ".killed"));
  const std::string reason =
      "ended by signal 9 (Killed), 3 times in all, as the system does where memory runs out";
  EXPECT_EQ(contents(run + ".failed"), reason + "\n");
  const Rows failed = rows_of(folder + "/a/runs.csv");
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].at("loss"), "");
  EXPECT_EQ(failed[0].at("note"), "rate 0.001 failed: " + reason);
  EXPECT_EQ(weyl_program("scale run sweep.toml --out a --quiet", folder).code, 1);  // not tried again
  const Outcome again = weyl_program("scale run sweep.toml --out a --retry --quiet", folder);
  EXPECT_EQ(again.code, 0) << again.err;
  const Rows rows = rows_of(folder + "/a/runs.csv");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_GT(std::stod(rows[0].at("loss")), 0);
  EXPECT_EQ(rows[0].at("note"), "");
}

// What is removed to begin anew takes the count of its kills with it.
TEST(ScaleRun, ARunFolderThatWasRemovedIsCountedAnew) {
  const std::string folder = prepared("sweep-removed", one_training());
  const std::string run = folder + "/a/runs/plain-w8b1-4e+07-seed0-rate0.001";
  fs::create_directories(folder + "/a/runs");
  write(run + ".killed", "2\nbegun\n");
  EXPECT_EQ(run_while_trainings_are_killed(folder), 5);
  EXPECT_TRUE(contents(run + ".killed").starts_with("2\n")) << contents(run + ".killed");
  EXPECT_FALSE(fs::exists(run + ".failed"));
  // One that was killed before it had a folder is no new one.
  fs::remove_all(run);
  write(run + ".killed", "2\n");
  EXPECT_EQ(run_while_trainings_are_killed(folder), 1);
  EXPECT_TRUE(fs::exists(run + ".failed"));
}

// One system's rate is such that it does not go on learning, and stops early by validation.
TEST(ScaleRun, KilledTenTimesAtRandomGivesTheSameTable) {
  const std::string folder =
      prepared("sweep-killed", "patience = 1\n" + std::string(tiny) +
                                   "[[systems]]\nname = \"wild\"\nwidths = [8]\nblocks = [1]\nrates = "
                                   "[0.3]\nset = [\"train.average=false\"]\n");
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(weyl_program("scale run sweep.toml --out a --jobs 2 --quiet", folder).code, 0);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Stream stream(5, "kill");
  for (int kills = 0; kills < 10; ++kills) {
    const pid_t child =
        start_weyl({"scale", "run", "sweep.toml", "--out", "b", "--jobs", "2", "--quiet"}, folder);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds * (0.05 + 0.2 * stream.uniform())));
    kill(child, kills % 3 == 2 ? SIGTERM : SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (kills % 3 == 2 && WIFEXITED(status)) {
      EXPECT_TRUE(WEXITSTATUS(status) == 5 || WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
    }
    // The table is whole at any instant.
    for (const auto& row : rows_of(folder + "/b/runs.csv")) {
      EXPECT_FALSE(row.at("loss").empty());
    }
  }
  const Outcome end = weyl_program("scale run sweep.toml --out b --jobs 2 --quiet", folder);
  ASSERT_EQ(end.code, 0) << end.err;
  const Rows rows = rows_of(folder + "/b/runs.csv");
  EXPECT_EQ(without_seconds(rows), without_seconds(rows_of(folder + "/a/runs.csv")));
  int64_t early = 0;
  for (const auto& row : rows) {
    const bool stopped = row.at("note").starts_with("stopped early");
    early += stopped ? 1 : 0;
    EXPECT_EQ(stopped, std::stod(row.at("flops")) < std::stod(row.at("budget"))) << row.at("note");
    EXPECT_TRUE(stopped || row.at("system") != "wild" || row.at("budget") != "2e+08") << row.at("note");
  }
  EXPECT_GE(early, 1);
  // The kills of the sweep, which end its trainings too, are no trainings' fault.
  for (const auto& entry : fs::directory_iterator(folder + "/b/runs")) {
    EXPECT_TRUE(entry.path().extension() != ".lock" && entry.path().extension() != ".killed" &&
                entry.path().extension() != ".failed")
        << entry.path();
  }
}

}  // namespace sweep_kills_test
}  // namespace weyl
