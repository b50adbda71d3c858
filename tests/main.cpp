// The `main` of every test executable. `--file log_test.cpp` runs the tests of that source file alone: an executable
// holds those of a whole folder, and CTest runs them file by file.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <string_view>

namespace {

/// The names of all tests of the source file `file`, as a filter of GoogleTest; empty: there are none.
std::string tests_of(std::string_view file) {
  std::string names;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      const std::string_view path = test.file() != nullptr ? test.file() : "";
      if (path.substr(path.find_last_of('/') + 1) == file) {
        names += std::string(names.empty() ? "" : ":") + suite.name() + "." + test.name();
      }
    }
  }
  return names;
}

}  // namespace

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  if (count == 1) {
    return RUN_ALL_TESTS();
  }
  if (count != 3 || std::string_view(arguments[1]) != "--file") {
    std::cerr << arguments[0] << ": takes --file NAME_test.cpp and options of GoogleTest (--help)\n";
    return 2;
  }
  const std::string names = tests_of(arguments[2]);
  if (names.empty()) {
    std::cerr << arguments[0] << ": no test is in a file of the name " << arguments[2] << '\n';
    return 2;
  }
  GTEST_FLAG_SET(filter, names);
  return RUN_ALL_TESTS();
}
