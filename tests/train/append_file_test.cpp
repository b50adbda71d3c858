#include "weyl/train/run/append_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/data/folder.h"
#include "weyl/core/check.h"

namespace weyl {
namespace append_file_test {

TEST(AppendFile, AFileThatGetsNoRecordIsNotLeft) {
  const Folder folder;
  {
    const AppendFile file(folder / "none");
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
  {
    AppendFile file(folder / "one");
    AppendFile moved(std::move(file));
    moved.append("x");
  }
  EXPECT_EQ(read_if_there(folder / "one"), "x");
  EXPECT_EQ(message_of<DataError>([&] { AppendFile file(folder / "short", 3); }),
            folder / "short: must have at least 3 bytes, got 0 bytes");
  EXPECT_FALSE(std::filesystem::exists(folder / "short"));
  std::ofstream(folder / "before").flush();
  {
    const AppendFile file(folder / "before");
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "before"));  // it is another's
}

// It was taken for absent, so that what the file had was cut off.
TEST(AppendFile, AFileThatCannotBeLookedAtIsNotAbsent) {
  const Folder folder;
  const std::string path = folder / std::string(300, 'a');
  EXPECT_EQ(message_of<DataError>([&] { read_if_there(path); }),
            path + ": cannot be opened: File name too long");
  EXPECT_EQ(read_if_there(folder / "none"), "");
}

TEST(AppendFile, ALinkIsNotFollowed) {
  const Folder folder;
  std::ofstream(folder / "precious") << "precious";
  for (const char* target : {"precious", "nowhere"}) {
    const std::string link = folder / ("to_" + std::string(target));
    std::filesystem::create_symlink(target, link);
    EXPECT_EQ(message_of<DataError>([&] { AppendFile file(link, 0); }),
              link + ": cannot be opened for writing: Too many levels of symbolic links");
    EXPECT_TRUE(std::filesystem::is_symlink(link));
  }
  EXPECT_EQ(read_if_there(folder / "precious"), "precious");
  EXPECT_FALSE(std::filesystem::exists(folder / "nowhere"));
}

// Opening a pipe that nobody reads, or writes to, waited for ever.
TEST(AppendFile, APipeIsRefusedWithoutWaiting) {
  const Folder folder;
  const std::string pipe = folder / "metrics.csv";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(message_of<DataError>([&] { AppendFile file(pipe); }),
            pipe + ": cannot be opened for writing: No such device or address");
  EXPECT_EQ(message_of<DataError>([&] { read_if_there(pipe); }),
            pipe + ": must be a regular file, got a pipe, socket or device");
  EXPECT_EQ(message_of<DataError>([&] { AppendFile file("/dev/null"); }),
            "/dev/null: must be a regular file, got a pipe, socket or device");
}

}  // namespace append_file_test
}  // namespace weyl
