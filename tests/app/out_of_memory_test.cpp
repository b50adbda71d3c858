// Less and less memory (ulimit -v): the program works, or ends with exit code 4, one line of ours and nothing half-written.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/app/nbody.h"
#include "tests/app/program.h"

namespace weyl {
namespace out_of_memory_test {

namespace fs = std::filesystem;

constexpr int kibibytes[] = {200000, 430000, 460000, 480000, 520000, 540000,
                             560000, 580000, 600000, 625000, 700000, 900000};

class OutOfMemory : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = scratch("out-of-memory");
    std::ofstream(folder() + "/c.toml") << nbody_config(2);
    ASSERT_EQ(weyl_program("data make nbody --out data train=20 valid=8 test=8", folder()).code, 0);
    ASSERT_EQ(weyl_program("train c.toml --out run --threads 1", folder()).code, 0);
  }
  static std::string& folder() {
    static std::string path;
    return path;
  }
  /// Both ends must come: with too little memory and with enough.
  static void expect_ends(const std::string& arguments) {
    int done = 0, refused = 0;
    for (const int limit : kibibytes) {
      const std::string place = folder() + "/work";
      fs::remove_all(place);
      fs::create_directories(place);
      const std::string shell = "ulimit -c 0; ulimit -v " + std::to_string(limit) + "; cd '" + place +
                                "'; '" + WEYL_BINARY_DIR + "/bin/weyl' " + arguments + " >out.txt 2>err.txt";
      const int status = std::system(shell.c_str());
      ASSERT_TRUE(WIFEXITED(status)) << shell;
      const int code = WEXITSTATUS(status);
      const std::string said = contents(place + "/err.txt");
      ASSERT_TRUE(code == 0 || code == 4) << shell << "\nexit code " << code << ": " << said;
      ++(code == 0 ? done : refused);
      if (code == 4) {
        const size_t line = said.find("weyl: ");
        ASSERT_NE(line, std::string::npos) << shell << ": " << said;
        EXPECT_EQ(said.find('\n', line), said.size() - 1) << shell << ": " << said;
      }
      for (const auto& entry : fs::recursive_directory_iterator(place)) {
        EXPECT_NE(entry.path().extension(), ".tmp") << shell;
      }
    }
    EXPECT_GT(done, 0);
    EXPECT_GT(refused, 0);
  }
};

TEST_F(OutOfMemory, Inspect) {
  expect_ends("data inspect ../data/test.safetensors");
}
TEST_F(OutOfMemory, Predict) {
  expect_ends("predict ../run ../data/test.safetensors --out out.safetensors --threads 2");
}
TEST_F(OutOfMemory, Train) {
  expect_ends("train ../c.toml --out run data.nbody.path=../data --threads 2 --quiet");
}

// OpenMP has a blank line and one of its own for it, before the program could say anything. The superuser has no such limit.
TEST_F(OutOfMemory, AThreadThatCannotBeStartedIsOneLine) {
  const std::string place = folder() + "/threads";
  fs::create_directories(place);
  const std::string as = geteuid() != 0 ? ""
                                        : "setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps "
                                          "+dac_override --ambient-caps +dac_override ";
  if (std::system((as + "true").c_str()) != 0) {
    GTEST_SKIP() << "nobody but the superuser can be had here";
  }
  const std::string shell = "cd '" + place + "'; " + as + "bash -c 'ulimit -u 1; exec \"" + WEYL_BINARY_DIR +
                            "/bin/weyl\" audit ../run --samples 4 --threads 3 --quiet' >out.txt 2>err.txt";
  const int status = std::system(shell.c_str());
  ASSERT_TRUE(WIFEXITED(status)) << shell;
  const std::string said = contents(place + "/err.txt");
  EXPECT_EQ(WEXITSTATUS(status), 4) << said;
  EXPECT_TRUE(said.starts_with("weyl: ")) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

}  // namespace out_of_memory_test
}  // namespace weyl
