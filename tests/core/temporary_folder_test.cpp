#include "weyl/core/temporary_folder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/data/folder.h"
#include "weyl/core/check.h"

namespace weyl {
namespace temporary_folder_test {

TEST(TemporaryFolder, IsRemovedWithWhatIsInIt) {
  std::string path;
  {
    const TemporaryFolder folder("test");
    path = folder.path();
    std::filesystem::create_directory(folder / "inner");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// The reason was asked for before the folder was: "Success".
TEST(TemporaryFolder, NamesTheSystemsReason) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("TMPDIR", "/proc", 1);  // where nobody can make a folder, root neither
  errno = 0;
  const std::string message = message_of<DataError>([] { const TemporaryFolder folder("test"); });
  if (before != nullptr) {
    ::setenv("TMPDIR", kept.c_str(), 1);
  } else {
    ::unsetenv("TMPDIR");
  }
  EXPECT_EQ(message,
            "/proc: must be writable for a test, but no folder can be made there: No such file or directory");
}

}  // namespace temporary_folder_test
}  // namespace weyl
