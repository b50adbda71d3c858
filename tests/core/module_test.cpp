#include "weyl/core/module.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

namespace weyl {
namespace module_test {

/// LD_LIBRARY_PATH as given while it lives.
class LibraryPath {
 public:
  explicit LibraryPath(const std::string& path) {
    if (const char* now = std::getenv("LD_LIBRARY_PATH")) {
      before_ = now;
    }
    setenv("LD_LIBRARY_PATH", path.c_str(), 1);
  }
  ~LibraryPath() { before_ ? setenv("LD_LIBRARY_PATH", before_->c_str(), 1) : unsetenv("LD_LIBRARY_PATH"); }
  LibraryPath(const LibraryPath&) = delete;
  LibraryPath& operator=(const LibraryPath&) = delete;

 private:
  std::optional<std::string> before_;
};

TEST(OpenedModule, StandsBesideTheLibraryAndHasItsFunctions) {
  OpenedModule hdf5("libweyl_hdf5.so");
  EXPECT_EQ(hdf5.fault(), "");
  void (*begin)() = nullptr;
  hdf5.find(begin, "weyl_hdf5_begin");
  EXPECT_NE(begin, nullptr);
  EXPECT_EQ(hdf5.fault(), "");
  hdf5.find(begin, "weyl_hdf5_end");
  EXPECT_EQ(begin, nullptr);
  EXPECT_EQ(hdf5.fault(), "the module has no weyl_hdf5_end");
}

TEST(OpenedModule, SaysWhyItCannotBeUsed) {
  EXPECT_EQ(OpenedModule("", "which this build is without").fault(), "which this build is without");
  OpenedModule missing("libweyl_nothing.so");
  const std::string path = (library_folder() / "libweyl_nothing.so").string();
  EXPECT_EQ(missing.fault(), "which cannot be opened: " + path +
                                 ": cannot open shared object file: No such file or directory");
  void (*function)() = nullptr;
  missing.find(function, "weyl_hdf5_begin");  // the first fault stays
  EXPECT_EQ(function, nullptr);
  EXPECT_NE(missing.fault().find("libweyl_nothing.so"), std::string::npos);
}

// The loader would look there for what the module is linked to. What every build has is opened all the same, as what the
// program is linked to was.
TEST(OpenedModule, ThatIsOptionalIsNotOpenedWhileTheCurrentFolderIsALibraryPath) {
  for (const char* path : {":/nowhere", "/nowhere:", ".", "below;/nowhere"}) {
    const LibraryPath set(path);
    EXPECT_EQ(OpenedModule("libweyl_hdf5.so").fault(), "");
    EXPECT_EQ(
        OpenedModule("libweyl_hdf5.so", "absent").fault(),
        "which cannot be opened: LD_LIBRARY_PATH: its entries must be absolute folders, empty ones are the "
        "current folder, is '" +
            std::string(path) + "'");
  }
  const LibraryPath set("/nowhere:/elsewhere");
  EXPECT_EQ(OpenedModule("libweyl_hdf5.so").fault(), "");
}

}  // namespace module_test
}  // namespace weyl
