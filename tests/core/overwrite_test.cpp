#include "weyl/core/output_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "weyl/core/check.h"

namespace weyl {
namespace overwrite_test {

namespace fs = std::filesystem;

class OverwriteTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("weyl-overwrite-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "data/deep");
    for (const char* name : {"model", "other", "data/deep/sample"}) {
      std::ofstream(folder_ / name) << name;
    }
    fs::create_hard_link(at("model"), at("hard"));
    fs::create_symlink("model", at("soft"));
    fs::create_symlink("nowhere", at("dangling"));
    fs::create_directory_symlink("..", at("data/loop"));
    fs::create_directory_symlink("data", at("linked"));
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

TEST_F(OverwriteTest, ReplacesNothingUnlessForced) {
  const Overwrite never;
  EXPECT_EQ(never.at(at("new")), Existing::keep);
  for (const char* name : {"model", "other", "hard", "soft", "dangling", "data"}) {
    EXPECT_THROW(never.at(at(name)), ConfigError) << name;
  }
}

TEST_F(OverwriteTest, ForcedReplacesAllButInputsByWhateverName) {
  Overwrite forced(true, {at("model"), at("linked"), at("absent")});
  EXPECT_EQ(forced.at(at("new")), Existing::replace);
  for (const char* name :
       {"model", "hard", "soft", "data/deep/sample", "linked/deep/sample", "data/../model"}) {
    EXPECT_THROW(forced.at(at(name)), ConfigError) << name;
  }
  const Overwrite model_alone(true, {at("model")});
  EXPECT_EQ(model_alone.at(at("other")), Existing::replace);
  EXPECT_EQ(model_alone.at(at("data/deep/sample")), Existing::replace);
}

TEST_F(OverwriteTest, WhatAppearsMeanwhileIsKept) {
  AtomicFile file(at("new"), Existing::keep);
  file.write("ours");
  std::ofstream(at("new")) << "theirs";
  EXPECT_THROW(file.commit(), ConfigError);
  std::string found;
  std::ifstream(at("new")) >> found;
  EXPECT_EQ(found, "theirs");
}

TEST_F(OverwriteTest, OfTwoWritersOneWins) {
  {
    AtomicFile first(at("new"), Existing::keep), second(at("new"), Existing::keep);
    first.write("first");
    second.write("second");
    second.commit();
    EXPECT_THROW(first.commit(), ConfigError);
  }
  std::string found;
  std::ifstream(at("new")) >> found;
  EXPECT_EQ(found, "second");
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_FALSE(entry.path().string().ends_with(".tmp")) << entry.path();
  }
}

TEST_F(OverwriteTest, ALinkIsFollowedReplacedOrKept) {
  EXPECT_THROW(write_file_atomically(at("soft"), "new", Existing::keep), ConfigError);
  EXPECT_THROW(write_file_atomically(at("dangling"), "new", Existing::keep), ConfigError);
  write_file_atomically(at("soft"), "one", Existing::replace);
  EXPECT_TRUE(fs::is_symlink(at("soft")));
  EXPECT_EQ(fs::file_size(at("model")), 3u);
  write_file_atomically(at("soft"), "longer", Existing::replace_link);
  EXPECT_FALSE(fs::is_symlink(at("soft")));
  EXPECT_EQ(fs::file_size(at("soft")), 6u);
  EXPECT_EQ(fs::file_size(at("model")), 3u);
  write_file_atomically(at("dangling"), "x", Existing::replace_link);
  EXPECT_FALSE(fs::exists(at("nowhere")));
  EXPECT_THROW(write_file_atomically(at("data"), "x", Existing::replace_link), DataError);
}

}  // namespace overwrite_test
}  // namespace weyl
