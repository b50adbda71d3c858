#include "weyl/train/run_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "weyl/core/check.h"

namespace weyl {
namespace {

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

}  // namespace
}  // namespace weyl
