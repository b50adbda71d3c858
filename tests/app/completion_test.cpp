// Scripts for shells: bash's is run, all three name every verb and flag.
#include <gtest/gtest.h>

#include "tests/app/program.h"
#include "weyl/app/cli/command_line.h"

namespace weyl {
namespace completion_test {

/// What bash offers after these words of a command line, the last one unfinished.
std::string offered(const std::string& folder, const std::string& words) {
  std::ofstream(folder + "/ask.bash")
      << "source weyl.bash; COMP_WORDS=(" + words +
             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _weyl; echo \"${COMPREPLY[@]}\"\n";
  return shell("bash ask.bash", folder).out;
}

TEST(Completion, BashCompletesVerbsFlagsAndWords) {
  const std::string folder = scratch("completion");
  ASSERT_EQ(shell("'" WEYL_BINARY_DIR "/bin/weyl' completion bash > weyl.bash", folder).code, 0);
  EXPECT_EQ(offered(folder, "weyl ev"), "eval\n");
  EXPECT_EQ(offered(folder, "weyl data ''"), "make inspect convert split\n");
  EXPECT_EQ(offered(folder, "weyl eval --spl"), "--split\n");
  EXPECT_EQ(offered(folder, "weyl eval run --split ''"), "train valid test\n");
  EXPECT_EQ(offered(folder, "weyl data make nbo"), "nbody\n");
  EXPECT_EQ(offered(folder, "weyl completion f"), "fish\n");
  EXPECT_EQ(offered(folder, "weyl train --out spl"), "\n");  // a folder: bash's own names of files follow
  EXPECT_EQ(offered(folder, "weyl plot --spl"), "\n");       // a flag of another verb
}

TEST(Completion, EveryShellGetsEveryVerbAndItsFlags) {
  const std::string folder = scratch("completion");
  for (const char* shell_name : {"bash", "zsh", "fish"}) {
    const Outcome outcome = weyl_program(std::string("completion ") + shell_name, folder);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const std::string& verb : verb_names()) {
      EXPECT_NE(outcome.out.find("/" + verb), std::string::npos) << shell_name << " " << verb;
    }
    for (const char* word : {"batch-tokens", "train valid test", "float32 float64", "pose_sequences"}) {
      EXPECT_NE(outcome.out.find(word), std::string::npos) << shell_name << " " << word;
    }
  }
}

// The scripts of shells that are not installed cannot be tried.
TEST(Completion, ShellsReadTheirScripts) {
  const std::string folder = scratch("completion");
  for (const std::string name : {"bash", "zsh", "fish"}) {
    if (shell("command -v " + name, folder).code == 0) {
      const Outcome outcome =
          shell("'" WEYL_BINARY_DIR "/bin/weyl' completion " + name + " > script && " + name + " -n script",
                folder);
      EXPECT_EQ(outcome.code, 0) << name << ": " << outcome.err;
      EXPECT_EQ(outcome.err, "") << name;
    }
  }
}

TEST(Completion, RefusesOtherShells) {
  const Outcome outcome = weyl_program("completion tcsh", scratch("completion"));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("tcsh"), std::string::npos) << outcome.err;
}

}  // namespace completion_test
}  // namespace weyl
