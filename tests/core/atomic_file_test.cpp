#include "weyl/core/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "weyl/core/check.h"

namespace weyl {
namespace atomic_file_test {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("weyl-atomic-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  size_t entries() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string refusal(const std::string& path, std::string_view contents) {
    try {
      write_file_atomically(path, contents);
    } catch (const DataError& error) {
      return error.what();
    }
    return "accepted";
  }

  fs::path folder_;
};

TEST_F(AtomicFileTest, ReplacesAFileWhole) {
  write_file_atomically(path("a"), "one");
  write_file_atomically(path("a"), "");
  EXPECT_EQ(read(path("a")), "");
  write_file_atomically(path("a"), "two");
  EXPECT_EQ(read(path("a")), "two");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, WithoutCommitNothingChanges) {
  write_file_atomically(path("a"), "one");
  {
    AtomicFile file(path("a"));
    file.write("half");
    EXPECT_EQ(entries(), 2);
  }
  EXPECT_EQ(read(path("a")), "one");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, TwoWritersOfOnePathDoNotMix) {
  AtomicFile first(path("a")), second(path("a"));
  first.write("first");
  second.write("second");
  first.commit();
  EXPECT_EQ(read(path("a")), "first");
  second.commit();
  EXPECT_EQ(read(path("a")), "second");
  EXPECT_EQ(entries(), 1);
}

// A file size limit stands for a full disk: the write fails half way with the system's own error.
TEST_F(AtomicFileTest, AWriteThatFailsHalfWayLeavesTheTarget) {
  write_file_atomically(path("a"), "one");
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{10'000, limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto message = refusal(path("a"), std::string(100'000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(message, path("a") + ": cannot write: File too large");
  EXPECT_EQ(read(path("a")), "one");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, AFullDiskIsOneLine) {
  if (!fs::exists("/dev/full")) {
    GTEST_SKIP() << "no /dev/full";
  }
  EXPECT_NE(refusal("/dev/full", "x").find("/dev/full: must be a regular file"), std::string::npos);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));  // devices are not replaced
}

TEST_F(AtomicFileTest, NamesThePathAndTheReason) {
  EXPECT_EQ(refusal(path("absent/a"), "x"), path("absent/a") + ": cannot write: No such file or directory");
  EXPECT_NE(refusal(folder_.string(), "x").find("got a directory"), std::string::npos);
  write_file_atomically(path("a"), "x");
  EXPECT_EQ(refusal(path("a/b"), "x"), path("a/b") + ": cannot write: Not a directory");
  EXPECT_NE(refusal("/proc/weyl", "x").find("/proc/weyl: cannot write: "),
            std::string::npos);  // no one may write there
  if (::geteuid() != 0) {        // root may write anywhere
    fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(refusal(path("b"), "x"), path("b") + ": cannot write: Permission denied");
    fs::permissions(folder_, fs::perms::owner_all);
  }
}

TEST_F(AtomicFileTest, ASymbolicLinkStays) {
  write_file_atomically(path("a"), "one");
  fs::create_symlink("a", path("link"));
  write_file_atomically(path("link"), "two");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read(path("a")), "two");
  fs::create_symlink("nowhere", path("loose"));
  EXPECT_NE(refusal(path("loose"), "x").find("cannot follow the link"), std::string::npos);
}

}  // namespace atomic_file_test
}  // namespace weyl
