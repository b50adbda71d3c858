#include "weyl/core/input_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/data/folder.h"

namespace weyl {
namespace read_file_test {

constexpr size_t most = 1 << 20;

TEST(ReadFile, GivesWhatIsThereUpToItsLimit) {
  const Folder folder;
  const std::string path = folder / "a.txt", text = std::string(100'000, 'x') + std::string(1, '\0') + "end";
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(read_file(path, text.size()).text, text);
  EXPECT_EQ(read_file(path, text.size()).fault, "");
  EXPECT_EQ(read_file(path, text.size() - 1).fault, "must have at most 100003 bytes");
  std::filesystem::create_symlink(path, folder / "link");
  EXPECT_EQ(read_file(folder / "link", most).text, text);
  std::ofstream(folder / "empty").flush();
  EXPECT_EQ(read_file(folder / "empty", most).fault, "");
  EXPECT_EQ(read_file(folder / "absent", most).fault, "cannot be opened: No such file or directory");
}

// `weyl config check`, `train`, `info` and `audit` of a pipe waited for ever.
TEST(ReadFile, RefusesWhatIsNoFileWithoutWaiting) {
  const Folder folder;
  const std::string pipe = folder / "pipe", socket = folder / "s";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int bound = ::socket(AF_UNIX, SOCK_STREAM, 0);
  std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(bound, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const std::string& path : {pipe, std::string("/dev/null"), std::string("/dev/zero")}) {
    EXPECT_EQ(read_file(path, most).fault, "must be a regular file, got a pipe, socket or device") << path;
  }
  EXPECT_EQ(read_file(socket, most).fault, "cannot be opened: No such device or address");
  EXPECT_EQ(read_file(folder.path(), most).fault, "cannot be read: Is a directory");
  ::close(bound);
}

}  // namespace read_file_test
}  // namespace weyl
