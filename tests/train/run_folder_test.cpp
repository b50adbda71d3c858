#include "weyl/train/run/run_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/traps.h"
#include "weyl/core/check.h"

namespace weyl {
namespace run_folder_test {

namespace fs = std::filesystem;

class RunFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weyl-runs-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    before_ = fs::current_path();
    fs::current_path(root_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(root_);
  }
  fs::path root_, before_;
};

TEST_F(RunFolderTest, TakesTheFirstFreeNumber) {
  EXPECT_EQ(RunFolder::create("", "nbody").path(), "runs/nbody-001");
  EXPECT_EQ(RunFolder::create("", "nbody").path(), "runs/nbody-002");
  EXPECT_EQ(RunFolder::create("", "other").path(), "runs/other-001");
}

TEST_F(RunFolderTest, IsNeverOverwritten) {
  {
    const auto run = RunFolder::create("deep/er/run", "x");
    EXPECT_TRUE(fs::is_directory("deep/er/run"));
  }
  {
    const auto again = RunFolder::create("deep/er/run", "x");
  }  // still empty
  std::ofstream("deep/er/run/config.toml") << "";
  EXPECT_THROW(RunFolder::create("deep/er/run", "x"), ConfigError);
  std::ofstream("file") << "";
  EXPECT_THROW(RunFolder::create("file", "x"), ConfigError);
  EXPECT_THROW(RunFolder::create("file/run", "x"), DataError);
  EXPECT_THROW(RunFolder::create("/proc/run", "x"), DataError);  // no folder can be made there
}

// The reason was asked for before the folder was: "File exists", of the folder above.
TEST_F(RunFolderTest, NamesTheSystemsReasonForAFolderThatCannotBeMade) {
  std::ofstream("file") << "";
  try {
    RunFolder::create("file/a/run", "x");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "file/a: folder cannot be made: Not a directory");
  }
}

TEST_F(RunFolderTest, IsLockedWhileOneUsesIt) {
  {
    const auto run = RunFolder::create("run", "x");
    std::ofstream(run.file("config.toml")) << "";
    EXPECT_THROW(RunFolder::open("run"), DataError);
  }
  EXPECT_EQ(RunFolder::open("run").path(), "run");
  EXPECT_TRUE(is_run_folder("run"));
}

TEST_F(RunFolderTest, OpensRunFoldersOnly) {
  fs::create_directory("empty");
  EXPECT_FALSE(is_run_folder("empty"));
  EXPECT_THROW(RunFolder::open("empty"), DataError);
  EXPECT_THROW(RunFolder::open("none"), DataError);
}

// A lock file can be deleted, or be a link to one of another run: the lock is on the folder itself.
TEST_F(RunFolderTest, IsLockedByNothingThatCanBeDeleted) {
  const auto run = RunFolder::create("run", "x");
  std::ofstream(run.file("config.toml")) << "";
  EXPECT_FALSE(fs::exists("run/.lock"));
  fs::create_symlink("/dev/null", "run/.lock");
  EXPECT_THROW(RunFolder::open("run"), DataError);
  fs::create_directory_symlink("run", "link");
  EXPECT_THROW(RunFolder::open("link"), DataError);
  fs::rename("run", "moved");
  EXPECT_THROW(RunFolder::open("moved"), DataError);
}

TEST_F(RunFolderTest, IsNotOpenedWithATrapWhereATrainingWrites) {
  fs::create_directories("run/best");
  std::ofstream("run/config.toml") << "";
  const auto refuses = [&](const std::string& name, const auto& traps) {
    for (const Trap trap : traps) {
      lay(trap, "run/" + name, "elsewhere");
      try {
        RunFolder::open("run");
        ADD_FAILURE() << name << ": " << name_of(trap);
      } catch (const DataError& error) {
        EXPECT_EQ(error.what(),
                  "run/" + name + ": must not be " + name_of(trap) + ", since a run writes into it");
      }
      expect_untouched("elsewhere");
    }
    fs::remove_all("run/" + name);
  };
  for (const char* name : {"environment.json", "README.md", "log.txt", "metrics.csv", "timing.csv",
                           "result.json", "events.out.tfevents.0.weyl", "best/model.safetensors"}) {
    refuses(name, traps_for_files);
  }
  refuses("plots", std::array{Trap::link, Trap::dangling_link, Trap::folder_link, Trap::pipe, Trap::socket});
  refuses("best", traps_for_folders);
  fs::create_symlink(root_ / "file", "run/notes.txt");  // the user's own
  fs::create_symlink("run", "link");
  EXPECT_EQ(RunFolder::open("link").path(), "link");
}

TEST_F(RunFolderTest, IsMadeInWhatAKilledTrainingLeft) {
  fs::create_directory("half");
  std::ofstream("half/.lock") << "";  // of older versions
  std::ofstream("half/config.toml.17-0.tmp") << "[tr";
  EXPECT_EQ(RunFolder::create("half", "x").path(), "half");
  EXPECT_FALSE(fs::exists("half/config.toml.17-0.tmp"));
  std::ofstream("half/notes.txt") << "";
  EXPECT_THROW(RunFolder::create("half", "x"), ConfigError);
}

TEST_F(RunFolderTest, ClearsItsOwnLitterAndNothingElse) {
  const auto run = RunFolder::create("run", "x");
  const std::string dead = ".4194305-0.tmp",
                    alive = ".1-0.tmp";  // above the largest process number; always there
  const std::vector<std::string> ours{"config.toml" + dead, "README.md" + alive,
                                      "best/model.safetensors" + dead, "plots/rate.svg" + dead,
                                      "last.new/model.safetensors"};
  const std::vector<std::string> foreign{"notes.tmp",
                                         "a.17.tmp",
                                         "mine/config.toml" + dead,
                                         "best/model.safetensors",
                                         "plots/rate.svg" + alive,
                                         "last/state.safetensors" + dead};
  for (const auto* names : {&ours, &foreign}) {
    for (const std::string& name : *names) {
      fs::create_directories(fs::path(run.file(name)).parent_path());
      std::ofstream(run.file(name)) << "x";
    }
  }
  fs::create_directory(run.file("folder" + dead));
  fs::create_symlink("../target", run.file("link" + dead));
  run.clear_litter();
  for (const std::string& name : ours) {
    EXPECT_FALSE(fs::exists(run.file(name))) << name;
  }
  EXPECT_FALSE(fs::exists(run.file("last.new")));
  for (const std::string& name : foreign) {
    EXPECT_TRUE(fs::exists(run.file(name))) << name;
  }
  EXPECT_TRUE(fs::is_directory(run.file("folder" + dead)));
  EXPECT_TRUE(fs::is_symlink(run.file("link" + dead)));
}

}  // namespace run_folder_test
}  // namespace weyl
