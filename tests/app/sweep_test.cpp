// `weyl scale plan` and `weyl scale run` on sweeps of seconds.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "tests/app/sweep.h"
#include "weyl/core/json.h"

namespace weyl {
namespace sweep_test {

TEST(ScalePlan, SaysTokensStepsFlopsAndSeconds) {
  const std::string folder = prepared("sweep-plan");
  const Outcome plan = weyl_program("scale plan sweep.toml --json --jobs 2 --steps 2 --quiet", folder);
  ASSERT_EQ(plan.code, 0) << plan.err;
  const Json json = Json::parse(plan.out, "plan");
  const auto& runs = json.find("runs")->items();
  ASSERT_EQ(runs.size(), 5u);  // two models of two seeds, and one at the largest budget
  for (const Json& run : runs) {
    const double flops = run.find("flops")->number_or(0), budget = run.find("budget")->number_or(0);
    EXPECT_GE(flops, budget);
    EXPECT_LT(flops, budget * 1.2);
    EXPECT_GT(run.find("tokens")->number_or(0), 0);
    EXPECT_GT(run.find("seconds")->number_or(0), 0);
    EXPECT_EQ(run.find("rates")->items().size(), budget < 1e8 ? 2u : 1u);
  }
  EXPECT_GT(json.find("seconds")->number_or(0), 0);
  const Outcome untimed = weyl_program("scale plan sweep.toml --steps 0", folder);
  EXPECT_EQ(untimed.code, 0) << untimed.err;
  EXPECT_NE(untimed.out.find("5 rows, 9 trainings"), std::string::npos) << untimed.out;
}

TEST(ScaleRun, TrainsWithRanks) {
  std::string sweep = tiny;
  for (const auto& [from, to] :
       {std::pair("budgets = [4e7, 2e8]", "budgets = [4e7]"), std::pair("seeds = [2, 1]", "seeds = [1]"),
        std::pair("rates = [1e-3, 3e-3]\nrates_until = 1e8\n", "rates = [1e-3]\n"),
        std::pair("widths = [8, 16]\nblocks = [1, 1]\nlargest = [\"w8b1\"]\n",
                  "widths = [8]\nblocks = [1]\n")}) {
    ASSERT_NE(sweep.find(from), std::string::npos) << from;
    sweep.replace(sweep.find(from), std::string(from).size(), to);
  }
  const std::string folder = prepared("sweep-ranks", sweep);
  const std::string call = "scale run sweep.toml --threads 1 --dtype float64 --quiet --out ";
  const Outcome two = weyl_program(call + "two --ranks 2", folder), one = weyl_program(call + "one", folder);
  ASSERT_EQ(two.code, 0) << two.err;
  ASSERT_EQ(one.code, 0) << one.err;
  const Rows of_two = rows_of(folder + "/two/runs.csv"), of_one = rows_of(folder + "/one/runs.csv");
  ASSERT_EQ(of_two.size(), 1u);
  ASSERT_EQ(of_one.size(), 1u);
  EXPECT_NEAR(std::stod(of_two[0].at("loss")), std::stod(of_one[0].at("loss")), 1e-9);
  for (const auto& entry : fs::recursive_directory_iterator(folder + "/two/runs")) {
    if (entry.path().filename() == "environment.json") {
      EXPECT_EQ(Json::parse(contents(entry.path()), "run").find("ranks")->number_or(0), 2);
    }
  }
  // What is done stays, as with another number of threads.
  const std::string table = contents(folder + "/two/runs.csv");
  const Outcome other = weyl_program(call + "two --ranks 3", folder);
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(contents(folder + "/two/runs.csv"), table);
}

// Steps of a budget in seconds are not known before they are timed.
TEST(ScalePlan, PrintsNoNumberThatIsNone) {
  std::string sweep = tiny;
  sweep.replace(sweep.find("validations = 3"), 15, "unit = \"seconds\"");
  const std::string folder = prepared("sweep-plan-seconds", sweep);
  const Outcome plan = weyl_program("scale plan sweep.toml --steps 0", folder);
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_EQ(plan.out.find("nan"), std::string::npos) << plan.out;
}

TEST(ScalePlan, AnEpochOfPartsHasTheirTokens) {
  const std::string folder = scratch("sweep-parts");
  ASSERT_EQ(weyl_program("data make phantoms --out data/phantoms count=4 --quiet", folder).code, 0);
  ASSERT_EQ(weyl_program("config new --data data/phantoms --out phantoms.toml --quiet", folder).code, 0);
  write(
      folder + "/sweep.toml",
      "base = \"phantoms.toml\"\nset = [\"train.best=cross_entropy\", \"train.crop=[8]\"]\nbudgets = [3e9]\n"
      "[[systems]]\nname = \"a\"\npoints = [{ name = \"one\" }]\n");
  const Outcome run = weyl_program("scale run sweep.toml --out a --quiet", folder);
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("epochs: must be \"repeat\", or the data have more"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("times the 1024 of"), std::string::npos) << run.err;  // 2 samples of 8^3
}

TEST(ScalePlan, LeavesNoFolderWhenItIsStopped) {
  const std::string folder = prepared("sweep-plan-stopped");
  fs::create_directories(folder + "/tmp");
  const pid_t child =
      start_weyl({"scale", "plan", "sweep.toml", "--steps", "1", "--quiet"}, folder, folder + "/tmp");
  const auto has_folder = [&] { return fs::directory_iterator(folder + "/tmp") != fs::directory_iterator(); };
  for (int look = 0; look < 20'000 && !has_folder(); ++look) {  // minutes
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(has_folder());
  kill(child, SIGTERM);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5) << status;
  EXPECT_FALSE(has_folder());
}

TEST(ScalePlan, SaysWhatKeepsTrainingsFromStarting) {
  std::string sweep = tiny;
  sweep.replace(sweep.find("train.batch=16"), 14, "train.precision=bf16");
  const std::string folder = prepared("sweep-plan-fails", sweep);
  const Outcome plan = weyl_program("scale plan sweep.toml --steps 1 --quiet", folder);
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_NE(plan.out.find(
                "plain w8b1: a training of one step fails: train.precision: bf16 must run on a CUDA device"),
            std::string::npos)
      << plan.out;
}

TEST(ScalePlan, OfTheStudiesNeedsNoData) {
  const std::string folder = scratch("sweep-studies");
  fs::create_directory_symlink(WEYL_SOURCE_DIR "/configs",
                               folder + "/configs");  // studies name recipes from the root
  for (const auto& [study, rows] : std::map<std::string, size_t>{
           {"rigid.paper", 7 * 16}, {"rigid", 84}, {"rigid-data", 36}, {"planets", 115}}) {
    const Outcome plan =
        weyl_program("scale plan configs/scaling/" + study + ".toml --steps 0 --json --quiet", folder);
    ASSERT_EQ(plan.code, 0) << plan.err;
    EXPECT_EQ(Json::parse(plan.out, "plan").find("runs")->items().size(), rows) << study;
  }
  fs::remove(folder + "/configs");
  const Outcome elsewhere = weyl_program(
      "scale plan " WEYL_SOURCE_DIR "/configs/scaling/rigid.paper.toml --steps 0 --json --quiet", folder);
  EXPECT_EQ(elsewhere.code, 2);
}

TEST(ScaleRun, ShardsAreDisjointAndCompleteAndAnotherSweepIsRefused) {
  const std::string folder = prepared("sweep-shards");
  const Outcome first = weyl_program("scale run sweep.toml --out a --shard 1/2 --jobs 2 --quiet", folder);
  ASSERT_EQ(first.code, 0) << first.err;
  std::set<std::string> of_first;
  for (const auto& entry : fs::directory_iterator(folder + "/a/runs")) {
    if (entry.is_directory()) {
      of_first.insert(entry.path().filename());
    }
  }
  EXPECT_EQ(of_first.size(), 5u);  // of nine
  const auto written = fs::last_write_time(folder + "/a/runs/" + *of_first.begin() + "/result.json");
  const Outcome second = weyl_program("scale run sweep.toml --out a --shard 2/2 --quiet --json", folder);
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(Json::parse(second.out, "run").find("done")->number_or(0), 4);
  EXPECT_EQ(fs::last_write_time(folder + "/a/runs/" + *of_first.begin() + "/result.json"), written);
  const Rows rows = rows_of(folder + "/a/runs.csv");
  ASSERT_EQ(rows.size(), 5u);
  for (const auto& row : rows) {
    EXPECT_GT(std::stod(row.at("loss")), 0);
    EXPECT_GE(std::stod(row.at("flops")), std::stod(row.at("budget")));
  }
  EXPECT_EQ(rows[4].at("size"), "w8b1");
  // The same table at once by one process, and nothing to do for it where it is.
  const Outcome whole = weyl_program("scale run sweep.toml --out b --jobs 2 --quiet", folder);
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(without_seconds(rows_of(folder + "/b/runs.csv")), without_seconds(rows));
  const std::string table = contents(folder + "/a/runs.csv");
  EXPECT_EQ(weyl_program("scale run sweep.toml --out a --quiet", folder).code, 0);
  EXPECT_EQ(contents(folder + "/a/runs.csv"), table);

  // What is done was done by this sweep, whatever the number of threads; another one leaves the folder as it is.
  EXPECT_EQ(weyl_program("scale run sweep.toml --out a --threads 2 --quiet", folder).code, 0);
  std::string other = tiny;
  other.replace(other.find("train.batch=16"), 14, "train.batch=17");
  write(folder + "/other.toml", other);
  const auto refused = [&](const std::string& words) {
    const Outcome outcome = weyl_program("scale run other.toml --out a --quiet", folder);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    EXPECT_EQ(contents(folder + "/a/sweep.toml"), tiny);
    EXPECT_EQ(contents(folder + "/a/runs.csv"), table);
  };
  refused("have changed since, train.batch=17, it was train.batch=16");
  write(folder + "/other.toml", tiny);
  const std::string recipe = folder + "/a/runs/" + *of_first.begin() + ".recipe";
  std::string kept = contents(recipe);
  kept.replace(kept.find("clip = 1.0"), 10, "clip = 2.0");
  write(recipe, kept);
  refused("train.optimiser.clip = 1.0, it was 2.0");
  fs::remove(recipe);
  refused("is not there");
  fs::remove_all(folder + "/a/runs/" + *of_first.begin());
  EXPECT_EQ(weyl_program("scale run sweep.toml --out a --quiet", folder).code, 0);
  EXPECT_EQ(without_seconds(rows_of(folder + "/a/runs.csv")), without_seconds(rows));
}

TEST(ScaleRun, ATableOfOthersIsNotReplaced) {
  const std::string folder = prepared("sweep-foreign");
  fs::create_directories(folder + "/a/runs/mine");
  write(folder + "/a/runs.csv", "my,own,table\n");
  const Outcome run = weyl_program("scale run sweep.toml --out a --quiet", folder);
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("a/runs.csv is none of a sweep's"), std::string::npos) << run.err;
  EXPECT_EQ(contents(folder + "/a/runs.csv"), "my,own,table\n");
  fs::create_directories(folder + "/b");
  write(folder + "/b/sweep.toml", "# mine\n");
  EXPECT_EQ(weyl_program("scale run sweep.toml --out b --quiet", folder).code, 2);
  EXPECT_EQ(contents(folder + "/b/sweep.toml"), "# mine\n");
}

// A start writes sweep.toml and a table without rows before its first run: a kill between must not make the folder unusable.
TEST(ScaleRun, AFolderThatAStartWasKilledInIsTheSweeps) {
  const std::string folder = prepared("sweep-killed-start");
  fs::create_directories(folder + "/a");
  write(folder + "/a/sweep.toml", tiny);
  write(folder + "/a/runs.csv",
        "system,size,parameters,tokens,unique_tokens,flops,flops_real,budget,loss,seconds,seed,rate,note\n");
  const Outcome run = weyl_program("scale run sweep.toml --out a --shard 1/9 --quiet", folder);
  EXPECT_EQ(run.code, 0) << run.err;
  fs::create_directories(folder + "/b");
  write(folder + "/b/sweep.toml", tiny);
  write(folder + "/b/runs.csv",
        "system,size,parameters,tokens,unique_tokens,flops,flops_real,budget,loss,seconds,seed,rate,note\n"
        "plain,w8b1,1,1,1,1,1,1,1,1,0,,by hand\n");
  EXPECT_EQ(weyl_program("scale run sweep.toml --out b --quiet", folder).code, 2);
}

// Of 96 shards that were started eight at a time in a new folder three ended with exit code 2.
TEST(ScaleRun, ShardsStartTogetherInANewFolder) {
  const std::string folder = prepared("sweep-together");
  std::vector<pid_t> shards;
  for (int i = 91; i <= 98; ++i) {  // of 99, the first nine of which have a training
    shards.push_back(start_weyl(
        {"scale", "run", "sweep.toml", "--out", "a", "--shard", std::to_string(i) + "/99", "--quiet"},
        folder));
  }
  for (const pid_t shard : shards) {
    int status = 0;
    waitpid(shard, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_TRUE(rows_of(folder + "/a/runs.csv").empty());
  EXPECT_EQ(contents(folder + "/a/sweep.toml"), tiny);
}

// A file size limit stands for a full disk. The run had failed, and the row had the loss of the other rate.
TEST(ScaleRun, AFullDiskIsNoFaultOfARun) {
  std::string sweep = tiny;
  for (const auto& [what, by] :
       std::map<std::string, std::string>{{"budgets = [4e7, 2e8]", "budgets = [4e7]"},
                                          {"seeds = [2, 1]\n", ""},
                                          {"rates_until = 1e8\n", ""},
                                          {"widths = [8, 16]", "widths = [8]"},
                                          {"blocks = [1, 1]", "blocks = [1]"},
                                          {"largest = [\"w8b1\"]\n", ""}}) {
    sweep.replace(sweep.find(what), what.size(), by);
  }
  const std::string folder = prepared("sweep-full", sweep);
  const std::string run = folder + "/a/runs/plain-w8b1-4e+07-seed0-rate0.003";
  ASSERT_EQ(weyl_program("scale run sweep.toml --out a --shard 1/2 --quiet", folder).code, 0);
  const Outcome full =
      shell("ulimit -f 8; '" WEYL_BINARY_DIR "/bin/weyl' scale run sweep.toml --out a --quiet", folder);
  EXPECT_EQ(full.code, 3) << full.err;
  EXPECT_NE(full.err.find("File too large; the same command goes on from the last checkpoints\n"),
            std::string::npos)
      << full.err;
  EXPECT_EQ(std::count(full.err.begin(), full.err.end(), '\n'), 1) << full.err;
  EXPECT_TRUE(rows_of(folder + "/a/runs.csv").empty());
  EXPECT_FALSE(fs::exists(run + ".failed"));
  EXPECT_FALSE(fs::exists(run + ".lock"));
  const Outcome again = weyl_program("scale run sweep.toml --out a --quiet", folder);
  EXPECT_EQ(again.code, 0) << again.err;
  const Rows rows = rows_of(folder + "/a/runs.csv");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("note").find("failed"), std::string::npos) << rows[0].at("note");
  // What is done loses what a kill has left beside it.
  write(run + ".stderr", "of an earlier version\n");
  write(folder + "/a/runs/one.recipe.17-0.tmp", "half");
  EXPECT_EQ(weyl_program("scale run sweep.toml --out a --quiet", folder).code, 0);
  EXPECT_FALSE(fs::exists(run + ".stderr") || fs::exists(folder + "/a/runs/one.recipe.17-0.tmp"));
  // And a table that was edited is left alone.
  const std::string edited = contents(folder + "/a/runs.csv") + "# seen\n";
  write(folder + "/a/runs.csv", edited);
  const Outcome refused = weyl_program("scale run sweep.toml --out a --quiet", folder);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("a/runs.csv: must be as this sweep has written it"), std::string::npos)
      << refused.err;
  EXPECT_EQ(contents(folder + "/a/runs.csv"), edited);
}

TEST(ScaleRun, AFailedRunSaysWhyAndIsTriedAgainWhenAsked) {
  std::string sweep = tiny;
  sweep.replace(sweep.find("budgets = [4e7, 2e8]"), 20, "budgets = [4e7]");
  sweep.replace(sweep.find("seeds = [2, 1]"), 14, "seeds = [1]");
  sweep.replace(
      sweep.find("largest = [\"w8b1\"]"), 18,
      "points = [{ name = \"bad\", set = [\"train.precision=bf16\", \"model.transformer.width=8\"] }]");
  const std::string folder = prepared("sweep-failed", sweep);
  const Outcome first = weyl_program("scale run sweep.toml --out a --jobs 2 --quiet --json", folder);
  ASSERT_EQ(first.code, 1) << first.err;
  EXPECT_EQ(Json::parse(first.out, "run").find("failed")->number_or(0), 2);
  const Rows rows = rows_of(folder + "/a/runs.csv");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2].at("size"), "bad");
  EXPECT_EQ(rows[2].at("loss"), "");
  EXPECT_NE(rows[2].at("note").find("bf16 must run on a CUDA device"), std::string::npos)
      << rows[2].at("note");
  const std::string reason = folder + "/a/runs/plain-bad-4e+07-seed0-rate0.001.failed";
  ASSERT_TRUE(fs::exists(reason));
  const auto written = fs::last_write_time(reason);
  EXPECT_EQ(weyl_program("scale run sweep.toml --out a --quiet", folder).code, 1);
  EXPECT_EQ(fs::last_write_time(reason), written);  // not tried
  EXPECT_EQ(weyl_program("scale run sweep.toml --out a --quiet --retry", folder).code, 1);
  EXPECT_NE(fs::last_write_time(reason), written);
  EXPECT_EQ(without_seconds(rows_of(folder + "/a/runs.csv")), without_seconds(rows));
}

TEST(ScaleRun, ALockOfAnotherHostIsLeftAndAStaleOneTaken) {
  std::string sweep = tiny;
  sweep.replace(sweep.find("budgets = [4e7, 2e8]"), 20, "budgets = [4e7]");
  sweep.replace(sweep.find("seeds = [2, 1]"), 14, "seeds = [1]");
  const std::string rates = "rates = [1e-3, 3e-3]\nrates_until = 1e8";
  sweep.replace(sweep.find(rates), rates.size(), "rates = [1e-3]");
  sweep.erase(sweep.find("largest"));
  const std::string folder = prepared("sweep-locks", sweep);
  fs::create_directories(folder + "/a/runs");
  const std::string stale = folder + "/a/runs/plain-w8b1-4e+07-seed0-rate0.001.lock";
  const std::string foreign = folder + "/a/runs/plain-w16b1-4e+07-seed0-rate0.001.lock";
  std::string host(256, '\0');
  gethostname(host.data(), host.size() - 1);
  write(stale, std::string(host.c_str()) + " 999999999 1\n");
  write(foreign, "another-host 1 1\n");
  const Outcome run = weyl_program("scale run sweep.toml --out a --json", folder);
  ASSERT_EQ(run.code, 5) << run.err;  // not all is done
  const Json json = Json::parse(run.out, "run");
  EXPECT_EQ(json.find("done")->number_or(0), 1);
  EXPECT_EQ(json.find("elsewhere")->number_or(0), 1);
  EXPECT_NE(run.err.find("is trained by another-host, process 1"), std::string::npos) << run.err;
  EXPECT_EQ(rows_of(folder + "/a/runs.csv").size(), 1u);
  // One that was killed after its training had ended leaves a lock of what needs no work.
  write(stale, std::string(host.c_str()) + " 999999999 1\n");
  EXPECT_EQ(weyl_program("scale run sweep.toml --out a --quiet", folder).code, 5);
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(foreign));
}

// Systems may see other features and other amounts of training data, and learn in other ways; what is measured is one.
TEST(Sweep, LossesMustBeOfOneMetricAndTheSameSamples) {
  const std::string folder = prepared("sweep-comparable");
  const auto ends = [&](const std::string& lines, const std::string& set) {
    write(folder + "/two.toml",
          lines + tiny + "[[systems]]\nname = \"other\"\nwidths = [8]\nblocks = [1]\nset = [" + set + "]\n");
    const Outcome plan = weyl_program("scale plan two.toml --steps 0 --quiet", folder);
    if (plan.code == 2) {
      EXPECT_EQ(plan.err, weyl_program("scale run two.toml --out b --quiet", folder).err);
      EXPECT_FALSE(fs::exists(folder + "/b"));
      EXPECT_EQ(std::count(plan.err.begin(), plan.err.end(), '\n'), 1) << plan.err;
    }
    return plan.code == 0 ? std::string("fine") : plan.err;
  };
  const auto refused = [&](const std::string& set, const std::string& words) {
    const std::string line = ends("", set);
    EXPECT_NE(line.find(words), std::string::npos) << set << ": " << line;
  };
  refused("\"train.best=rmse\"",
          "other w8b1: train.best: must be that of plain w8b1, mse, as it is each run's loss");
  EXPECT_EQ(ends("loss = \"mse\"\n", "\"train.best=rmse\""), "fine");
  refused("\"data.nbody.valid=10\"", "other w8b1: must have the validation and test samples of plain w8b1");
  refused("\"data.nbody.test=10\"", "got 10 test samples, not 20");
  refused("\"data.nbody.target_frame=45\"", "got other labels of valid samples");
  EXPECT_EQ(
      ends("", "\"data.nbody.train=50\", \"data.nbody.speed=false\", \"task.trajectory.baseline=none\""),
      "fine");
}

// The same solids as points and, in other systems, as volumes.
TEST(Sweep, SystemsMaySeeOtherCarriers) {
  const std::string folder = scratch("sweep-carriers"), configs = WEYL_SOURCE_DIR "/configs/solids/";
  ASSERT_EQ(weyl_program("data make solids --out data/solids train=40 test=10 --quiet", folder).code, 0);
  const auto plan = [&](const std::string& config, const std::string& set) {
    write(folder + "/sweep.toml",
          "budgets = [1e9]\nepochs = \"repeat\"\nset = [\"train.best=cross_entropy\", "
          "\"data.modelnet.path=data/solids\"]\n"
          "[[systems]]\nname = \"one\"\nconfig = \"" +
              configs +
              "platonic.toml\"\npoints = [{ name = \"a\" }]\n"
              "[[systems]]\nname = \"other\"\nconfig = \"" +
              configs + config + "\"\npoints = [{ name = \"a\" }]\nset = [" + set + "]\n");
    const Outcome outcome = weyl_program("scale plan sweep.toml --steps 0", folder);
    return outcome.code == 0 ? "fine" + outcome.err : outcome.err;
  };
  const auto has = [](const std::string& line, const std::string& words) {
    EXPECT_NE(line.find(words), std::string::npos) << line;
  };
  EXPECT_EQ(plan("steerable-conv.toml", ""), "fine");
  EXPECT_EQ(plan("platonic.toml", "\"data.modelnet.points=64\""), "fine");
  has(plan("steerable-conv.toml", "\"data.modelnet.test=5\""), "got 5 test samples, not 10");
  // Other validation samples are drawn, of which there are as many.
  has(plan("steerable-conv.toml", "\"data.modelnet.seed=1\""), "got other labels of valid samples");
  const std::string turned = plan("platonic.toml", "\"data.modelnet.rotate=so3\"");
  has(turned, "fine");
  has(turned, "other a: its test samples have the labels of those of one a, but other places or values");
}

TEST(Sweep, OfEveryMetricLowerIsBetter) {
  const std::string folder = scratch("sweep-accuracy");
  ASSERT_EQ(weyl_program("data make solids --out data/solids train=40 test=10 --quiet", folder).code, 0);
  ASSERT_EQ(
      weyl_program("config new --data data/solids --system platonic --out solids.toml --quiet", folder).code,
      0);
  const auto plan = [&](const std::string& lines, const std::string& set) {
    write(folder + "/sweep.toml", "base = \"solids.toml\"\nbudgets = [1e9]\nepochs = \"repeat\"\n" + lines +
                                      "[[systems]]\nname = \"a\"\nset = [" + set +
                                      "]\npoints = [{ name = \"one\" }]\n");
    const Outcome outcome = weyl_program("scale plan sweep.toml --steps 0 --quiet", folder);
    return outcome.code == 0 ? std::string("fine") : outcome.err;
  };
  const auto has = [](const std::string& line, const std::string& words) {
    EXPECT_NE(line.find(words), std::string::npos) << line;
  };
  has(plan("", ""), "lower is better, as the table's loss is, got accuracy");
  has(plan("", "\"train.best=accuracy\""), "lower is better, as the table's loss is, got accuracy");
  has(plan("loss = \"accuracy\"\n", "\"train.best=cross_entropy\""),
      "loss: must be a metric of which lower is better, got 'accuracy'");
  EXPECT_EQ(plan("loss = \"cross_entropy\"\n", "\"train.best=cross_entropy\""), "fine");
}

TEST(Sweep, BrokenFilesAreOneLine) {
  const std::string folder = prepared("sweep-broken");
  const auto with = [](const std::string& what, const std::string& by) {
    std::string sweep = tiny;
    sweep.replace(sweep.find(what), what.size(), by);
    return sweep;
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {with("budgets", "budget"), "unknown key; did you mean 'budgets'?"},
      {with("widths", "width"), "unknown key; did you mean 'widths'?"},
      {with("[4e7, 2e8]", "[2e8, 4e7]"), "budgets: must rise"},
      {with("[4e7, 2e8]", "[]"), "budgets: must be given"},
      {with("[4e7, 2e8]", "4e7"), "budgets: must be a list"},
      {with("seeds = [2, 1]", "seeds = [2, 1, 1]"), "seeds: must be one number, or one for each"},
      {with("blocks = [1, 1]", "blocks = [1]"), "blocks: must be as many as widths"},
      {with("largest = [\"w8b1\"]", "largest = [\"w9b1\"]"), "largest: must be names of its models"},
      {with("\"plain\"", "\"../plain\""), "name: must be letters"},
      {with("\"plain\"", "\"\""), "name: must be letters"},
      {with("\"train.batch=16\"", "\"train.batch\""), "overrides are written key=value"},
      {with("\"train.batch=16\"", "\"train.batches=16\""), "unknown key"},
      {with("\"train.batch=16\"", "\"train.steps=16\""), "is the sweep's own"},
      {with("\"repeat\"", "\"twice\""), "must be \"unique\" or \"repeat\""},
      {with("rates = [1e-3, 3e-3]", "rates = [1e-3]"), "rates_until: has no effect without two rates"},
      {with("epochs = \"repeat\"", "epochs = \"repeat\"\nunit = \"seconds\""), "validations: has no effect"},
      {with("epochs = \"repeat\"\nvalidations = 3", "unit = \"seconds\""), "epochs: must be \"repeat\""},
      {with("widths = [8, 16]\nblocks = [1, 1]\nlargest = [\"w8b1\"]\n", ""), "must have models"},
      {with("transformer.toml", "no-such.toml"), "no-such.toml"},
      {with("[1e-3, 3e-3]", "[1e-3, 1e-3]"), "plain-w8b1-4e+07-seed0-rate0.001"},
      {with("largest = [\"w8b1\"]\n",
            "points = [{ name = \"again\", set = [\"model.transformer.width=8\", "
            "\"model.transformer.blocks=1\"] }]\n"),
       "plain again: must be another model than w8b1"},
      {tiny + std::string("[[systems]]\nname = \"a\"\npoints = [{ name = \"b-c\" }]\n") +
           "[[systems]]\nname = \"a-b\"\npoints = [{ name = \"c\" }]\n",
       "must have runs of its own"},
      {with("rates = ", "loss = \"mae\"\nrates = "), "loss: must be one of the metrics mse, rmse, got 'mae'"},
      {"budgets = [1e9]\n", "systems: must be given"},
      {"[[systems]\n", "not valid TOML"}};
  for (const auto& [sweep, message] : cases) {
    write(folder + "/broken.toml", sweep);
    const Outcome outcome = weyl_program("scale plan broken.toml --steps 0", folder);
    EXPECT_EQ(outcome.code, 2) << sweep;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  write(folder + "/unique.toml", with("\"repeat\"", "\"unique\""));
  const Outcome unique = weyl_program("scale run unique.toml --out a", folder);
  EXPECT_EQ(unique.code, 2);
  EXPECT_NE(unique.err.find("epochs: must be \"repeat\", or the data have more"), std::string::npos)
      << unique.err;
  fs::remove_all(folder + "/data");
  EXPECT_EQ(weyl_program("scale run sweep.toml --out a", folder).code, 3);
  for (const char* shard : {"3/2", "0/2", "1", "a/b", "1/0"}) {
    EXPECT_EQ(weyl_program(std::string("scale run sweep.toml --out a --shard ") + shard, folder).code, 2);
  }
}

}  // namespace sweep_test
}  // namespace weyl
