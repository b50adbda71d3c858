#include "weyl/core/output_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"

namespace weyl {
namespace new_files_test {

namespace fs = std::filesystem;

class NewFilesTest : public testing::Test {
 protected:
  NewFilesTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const char* name : {"made/first", "made/deep/second", "third"}) {
      files_.add(at(name));
    }
  }
  ~NewFilesTest() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  void write(size_t i) const { write_file_atomically(files_.path(i), "ours", Existing::keep); }
  /// What another process does meanwhile.
  static void put(const std::string& path) { std::ofstream(path) << "theirs"; }

  fs::path folder_ = fs::temp_directory_path() / ("weyl-new-files-" + std::to_string(::getpid()));
  NewFiles files_;
};

TEST_F(NewFilesTest, AreKeptWhenAllAreWritten) {
  files_.write_each([&](size_t i) { write(i); });
  for (const char* name : {"made/first", "made/deep/second", "third"}) {
    EXPECT_EQ(contents_of(at(name)), "ours");
    EXPECT_THROW(NewFiles().add(at(name)), ConfigError);
  }
}

TEST_F(NewFilesTest, OneThatAppearsMeanwhileIsNeitherReplacedNorRemoved) {
  EXPECT_THROW(files_.write_each([&](size_t i) {
    if (i == 0) {
      put(at("made/deep/second"));
    }
    write(i);
  }),
               ConfigError);
  EXPECT_EQ(contents_of(at("made/deep/second")), "theirs");
  EXPECT_FALSE(fs::exists(at("made/first")));  // it was written
  EXPECT_FALSE(fs::exists(at("third")));
}

TEST_F(NewFilesTest, WhatOthersPutInTheirPlacesStaysWhenNothingIsWritten) {
  EXPECT_FALSE(files_.keep_if([&](const NewFiles::Written&) {
    put(at("third"));
    put(at("made/else"));
    return false;
  }));
  EXPECT_EQ(contents_of(at("third")), "theirs");
  EXPECT_EQ(contents_of(at("made/else")), "theirs");
  EXPECT_FALSE(fs::exists(at("made/deep")));
}

TEST_F(NewFilesTest, SeveralThreadsSayWhatTheyHaveWritten) {
  EXPECT_THROW(files_.keep_if([&](const NewFiles::Written& written) -> bool {
    {
      std::vector<std::jthread> threads;
      for (const size_t i : {0, 1}) {
        threads.emplace_back([&, i] {
          write(i);
          written(i);
        });
      }
    }
    put(at("third"));
    throw DataError("full");
  }),
               DataError);
  EXPECT_FALSE(fs::exists(at("made")));
  EXPECT_EQ(contents_of(at("third")), "theirs");
}

}  // namespace new_files_test
}  // namespace weyl
