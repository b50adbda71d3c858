#include "weyl/core/find_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tests/app/program.h"
#include "weyl/core/check.h"

namespace weyl {
namespace find_program_test {

namespace fs = std::filesystem;

/// PATH as given while it lives; and the current folder.
class Stand {
 public:
  Stand(const std::string& folder, const std::optional<std::string>& path) : before_(fs::current_path()) {
    if (const char* now = std::getenv("PATH")) {
      path_ = now;
    }
    fs::current_path(folder);
    path ? setenv("PATH", path->c_str(), 1) : unsetenv("PATH");
  }
  ~Stand() {
    fs::current_path(before_);
    path_ ? setenv("PATH", path_->c_str(), 1) : unsetenv("PATH");
  }
  Stand(const Stand&) = delete;
  Stand& operator=(const Stand&) = delete;

 private:
  fs::path before_;
  std::optional<std::string> path_;
};

void make_program(const std::string& path, fs::perms permissions = fs::perms::owner_all) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << "#!/bin/sh\n";
  fs::permissions(path, permissions);
}

TEST(FindProgram, TakesTheFirstFolderOfPathThatHasIt) {
  const std::string folder = scratch("find-program");
  make_program(folder + "/a/other");
  make_program(folder + "/b/drawer");
  make_program(folder + "/c/drawer");
  const Stand stand(folder, folder + "/missing:" + folder + "/a:" + folder + "/b:" + folder + "/c");
  EXPECT_EQ(find_program("drawer"), folder + "/b/drawer");
  EXPECT_EQ(find_program("nothing"), "");
}

TEST(FindProgram, NeverLooksInTheCurrentFolder) {
  const std::string folder = scratch("find-program-here");
  make_program(folder + "/drawer");
  make_program(folder + "/below/drawer");
  const std::string parent = "../" + fs::path(folder).filename().string();
  for (const std::string& path :
       std::vector<std::string>{"", ":", ".", "./", "below", parent, ":/missing",
                                "/missing:", "/missing::/missing", "/missing:.:below"}) {
    const Stand stand(folder, path);
    EXPECT_EQ(find_program("drawer"), "") << path;
  }
  // The control: by its absolute name the same folder is one.
  const Stand stand(folder, ":.:" + folder);
  EXPECT_EQ(find_program("drawer"), folder + "/drawer");
}

TEST(FindProgram, PassesOverWhatCannotBeRun) {
  const std::string folder = scratch("find-program-run");
  make_program(folder + "/plain/drawer", fs::perms::owner_read);
  fs::create_directories(folder + "/folder/drawer");
  make_program(folder + "/last/drawer");
  const Stand stand(folder, folder + "/plain:" + folder + "/folder:" + folder + "/last");
  EXPECT_EQ(find_program("drawer"), folder + "/last/drawer");
}

TEST(FindProgram, WithoutPathLooksInTheSystemsFolders) {
  const Stand stand(scratch("find-program-unset"), std::nullopt);
  EXPECT_TRUE(find_program("sh").ends_with("/bin/sh"));
}

TEST(FindProgram, RefusesAFolder) {
  EXPECT_THROW(find_program("./drawer"), ShapeError);
  EXPECT_THROW(find_program(""), ShapeError);
}

}  // namespace find_program_test
}  // namespace weyl
