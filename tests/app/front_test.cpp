// The built program: what it answers without LibTorch, and its exit codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "tests/app/program.h"
#include "weyl/app/cli/command_line.h"
#include "weyl/core/json.h"

namespace weyl {
namespace front_test {

int64_t lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

/// What a command prints. Of what the loader says, into err, the lines that name a library which it has taken.
Outcome with_libraries(const std::string& arguments, const std::string& folder) {
  Outcome outcome = shell("LD_DEBUG=files '" WEYL_BINARY_DIR "/bin/weyl' " + arguments, folder);
  std::istringstream said(std::exchange(outcome.err, ""));
  for (std::string line; std::getline(said, line);) {
    outcome.err += line.find("generating link map") != std::string::npos ? line + "\n" : "";
  }
  return outcome;
}

// LibTorch alone takes 0.2 s to load. A page of help takes milliseconds as long as it opens few libraries.
TEST(Front, AnswersEveryHelpWithoutLibTorch) {
  const std::string folder = scratch("help");
  std::vector<std::string> pages{"--help",
                                 "data make --help",
                                 "data make nbody --help",
                                 "data split --help",
                                 "data convert --help",
                                 "data inspect --help",
                                 "config check --help"};
  for (const std::string& verb : verb_names()) {
    pages.push_back(verb + " --help");
  }
  for (const std::string& page : pages) {
    const Outcome outcome = with_libraries(page, folder);
    EXPECT_EQ(outcome.code, 0) << page;
    EXPECT_NE(outcome.out.find("Usage: weyl"), std::string::npos) << page;
    EXPECT_NE(outcome.err.find("libweyl_base.so"), std::string::npos) << page << "\n" << outcome.err;
    EXPECT_LT(lines(outcome.err), 30) << page << "\n" << outcome.err;  // 10, and 5 more of a maker
    for (const char* heavy :
         {"libtorch", "libc10", "libweyl.so", "libhdf5", "libRDKit", "libxtb", "libBullet"}) {
      EXPECT_EQ(outcome.err.find(heavy), std::string::npos) << page << "\n" << outcome.err;
    }
  }
  // The control: what needs LibTorch is seen to load it.
  EXPECT_NE(with_libraries("doctor", folder).err.find("libtorch"), std::string::npos);
}

TEST(Front, FailsUsageWithOneLineAndTwo) {
  const std::string folder = scratch("usage");
  for (const char* wrong : {"trian", "train --devise cpu", "scale run", "eval", "info a.toml b.toml c",
                            "config explain train.bach", "config check none.toml", "train none.toml",
                            "audit none.toml", "info none.toml", "bench none.toml",
                            "data make galaxies --out x", "data make nbody --out x trian=3"}) {
    const Outcome outcome = weyl_program(wrong, folder);
    EXPECT_EQ(outcome.code, 2) << wrong << ": " << outcome.err;
    EXPECT_EQ(lines(outcome.err), 1) << wrong << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "") << wrong;
  }
}

TEST(Front, FailsFilesThatAreNotThereOrBrokenWithThree) {
  const std::string folder = scratch("files");
  std::ofstream(folder + "/broken.safetensors") << "not a header at all";
  for (const char* wrong :
       {"info none.safetensors", "info broken.safetensors", "eval none", "audit broken.safetensors",
        "predict broken.safetensors x.safetensors --out o.safetensors", "plot none", "train --resume none",
        "data inspect none.safetensors", "data inspect broken.safetensors"}) {
    const Outcome outcome = weyl_program(wrong, folder);
    EXPECT_EQ(outcome.code, 3) << wrong << ": " << outcome.err;
    EXPECT_EQ(lines(outcome.err), 1) << wrong << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "") << wrong;
  }
}

TEST(Front, AnswersConfigWithoutTheEngine) {
  const std::string folder = scratch("config");
  std::ofstream(folder + "/c.toml") << "[train]\nepochs = 3\n";
  const Outcome check = weyl_program("config check c.toml train.epochs=5", folder);
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_NE(check.out.find("epochs = 5"), std::string::npos);
  const Outcome idle =
      weyl_program("config check c.toml model.system=platonic model.platonic.linear_norm=mean", folder);
  const std::string why =
      "model.platonic.linear_norm = \"mean\" has no effect with attention = \"softmax\"\n";
  EXPECT_EQ(idle.code, 0);
  EXPECT_NE(idle.out.find("linear_norm = \"mean\""), std::string::npos) << idle.out;
  EXPECT_EQ(idle.err, "warning: " + why);
  const Outcome strict = weyl_program(
      "config check c.toml model.system=platonic model.platonic.linear_norm=mean --strict", folder);
  EXPECT_EQ(strict.code, 2);
  EXPECT_EQ(strict.out, "");
  EXPECT_EQ(strict.err, "weyl: " + why);
  const Outcome unknown = weyl_program("config check c.toml train.rate=1e-4", folder);
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("unknown key; did you mean 'train.optimiser.rate'?"), std::string::npos)
      << unknown.err;
  const Outcome schema = weyl_program("config schema", folder);
  EXPECT_NE(Json::parse(schema.out, "schema").find("properties"), nullptr);
  const Outcome json = weyl_program("config explain train.batch --json", folder);
  EXPECT_EQ(Json::parse(json.out, "explain").find("key")->string_or(""), "train.batch");
}

}  // namespace front_test
}  // namespace weyl
