#include "weyl/core/own_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/traps.h"
#include "weyl/core/check.h"
#include "weyl/core/temporary_folder.h"

namespace weyl {
namespace own_folder_test {

namespace fs = std::filesystem;

std::string fault_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

class OwnFolder : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder_ / name; }
  TemporaryFolder folder_{"test"};
};

TEST_F(OwnFolder, HasPlainFilesAndFoldersAlone) {
  const std::string path = at("name"), elsewhere = at("elsewhere");
  for (const Plain kind : {Plain::file, Plain::folder}) {
    EXPECT_EQ(fault_of([&] { require_plain(path, kind, "a run"); }), "");
    for (const Trap trap : kind == Plain::file ? traps_for_files : traps_for_folders) {
      lay(trap, path, elsewhere);
      EXPECT_EQ(fault_of([&] { require_plain(path, kind, "a run"); }),
                path + ": must not be " + name_of(trap) + ", since a run writes into it");
    }
    fs::remove_all(path);
  }
  fs::create_directory(path);
  require_plain(path, Plain::folder, "a run");
  require_plain(path, Plain::either, "a run");
  require_plain_files_in(path, "a run");
  std::ofstream(path + "/file") << "";
  require_plain(path + "/file", Plain::either, "a run");
  require_plain_files_in(path, "a run");
  for (const Trap trap : traps_for_files) {
    lay(trap, path + "/other", elsewhere);
    EXPECT_EQ(fault_of([&] { require_plain_files_in(path, "a run"); }),
              path + "/other: must not be " + name_of(trap) + ", since a run writes into it");
  }
}

TEST_F(OwnFolder, OpensPlainFilesAloneAndWaitsForNothing) {
  const std::string path = at("name"), elsewhere = at("elsewhere");
  for (const int flags : {O_WRONLY | O_CREAT | O_TRUNC, O_WRONLY | O_CREAT | O_APPEND, O_RDWR | O_CREAT}) {
    for (const Trap trap : traps_for_files) {
      lay(trap, path, elsewhere);
      EXPECT_NE(fault_of([&] { open_plain(path, flags); }), "") << name_of(trap);
      expect_untouched(elsewhere);
    }
    fs::remove_all(path);
    const int file = open_plain(path, flags);
    EXPECT_EQ(::write(file, "words", 5), 5);
    ::close(file);
    EXPECT_EQ(fs::file_size(path), 5u);
    fs::remove(path);
  }
}

TEST_F(OwnFolder, IsMadeWithThoseAboveIt) {
  EXPECT_TRUE(make_new_folder(at("a/b/c")));
  EXPECT_FALSE(make_new_folder(at("a/b/c")));
  make_folder(at("a/b/c"));
  make_folder(at("a/b/d/"));
  EXPECT_TRUE(fs::is_directory(at("a/b/d")));
  fs::create_directory_symlink(at("a"), at("link"));
  make_folder(at("link"));
  make_folder(at("link/e"));
  EXPECT_TRUE(fs::is_directory(at("a/e")));
  std::ofstream(at("file")) << "";
  EXPECT_FALSE(make_new_folder(at("file")));
  EXPECT_EQ(fault_of([&] { make_folder(at("file")); }),
            at("file") + ": must be a folder, but something else has its name");
  EXPECT_EQ(fault_of([&] { make_folder(at("file/a")); }),
            at("file/a") + ": folder cannot be made: Not a directory");
  make_folder("");  // the current one
}

TEST_F(OwnFolder, RemovesUnfinishedFilesAlone) {
  for (const char* name : {"a.17-0.tmp", "a.tmp", "a"}) {
    std::ofstream(at(name)) << "half";
    remove_if_unfinished(at(name));
  }
  EXPECT_FALSE(fs::exists(at("a.17-0.tmp")));
  EXPECT_TRUE(fs::exists(at("a.tmp")) && fs::exists(at("a")));
  lay(Trap::link, at("a.17-0.tmp"), at("elsewhere"));
  remove_if_unfinished(at("a.17-0.tmp"));
  EXPECT_TRUE(fs::is_symlink(at("a.17-0.tmp")));
}

}  // namespace own_folder_test
}  // namespace weyl
