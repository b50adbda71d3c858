// The built program makes molecules: stopped, killed, refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/app/program.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/core/json.h"
#include "weyl/makers/molecules/smiles.h"
#include "weyl/makers/molecules/xtb.h"

namespace weyl {
namespace molecules_test {

TEST(MoleculesProgram, GoesOnAfterASignalAndAfterAKill) {
  const std::string folder = scratch("molecules");
  const std::string make =
      "data make molecules molecule=water frames=200 train=10 valid=10 --threads 1 --json";
  if (xtb_version().empty()) {
    const Outcome outcome = weyl_program(make + " --out none", folder);
    EXPECT_EQ(outcome.code, exit_usage);
    EXPECT_NE(outcome.err.find("apt-get install libxtb6"), std::string::npos) << outcome.err;
    GTEST_SKIP() << "no xtb library";
  }
  const Outcome whole = weyl_program(make + " --out whole", folder);
  ASSERT_EQ(whole.code, exit_done) << whole.err;
  const Json said = Json::parse(whole.out, "stdout");
  EXPECT_EQ(said.find("train")->number_or(0), 10);
  EXPECT_EQ(said.find("valid")->number_or(0), 10);
  EXPECT_EQ(said.find("test")->number_or(0), 180);
  EXPECT_GT(said.find("seconds")->number_or(0), 0);

  // The signal comes once the folder of what is not finished is there, when signals are heard.
  const auto stopped_by = [&](const std::string& signal) {
    const std::string line =
        "cd '" + folder +
        "'; rm -f pid; { for i in $(seq 10000); do [ -s pid ] && [ -d again.partial ] && "
        "break; sleep 0.02; done; sleep 0.3; kill -" +
        signal + " $(cat pid); } & sh -c 'echo $$ > pid; exec \"" WEYL_BINARY_DIR "/bin/weyl\" " + make +
        " --out again > .out 2> .err'; code=$?; wait; exit $code";
    const int status = std::system(line.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(stopped_by("INT"), exit_interrupted);
  EXPECT_EQ(contents(folder + "/.out"), "");
  EXPECT_NE(contents(folder + "/.err").find("the same command goes on from here"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder + "/again"));
  EXPECT_EQ(stopped_by("KILL"), 128 + SIGKILL);
  const Outcome resumed = weyl_program(make + " --out again", folder);
  ASSERT_EQ(resumed.code, exit_done) << resumed.err;
  EXPECT_FALSE(std::filesystem::exists(folder + "/again.partial"));
  for (const char* file : {"/train.extxyz", "/valid.extxyz", "/test.extxyz", "/molecules.toml"}) {
    EXPECT_EQ(contents(folder + "/again" + file), contents(folder + "/whole" + file)) << file;
    EXPECT_NE(contents(folder + "/again" + file), "") << file;
  }

  const std::string acid =
      "data make molecules smiles=C#N frames=1 train=0 valid=0 walkers=1 equilibration=0";
  const Outcome smiles = weyl_program(acid + " --out acid", folder);
  if (rdkit_version().empty()) {
    EXPECT_EQ(smiles.code, exit_usage);
    EXPECT_NE(smiles.err.find("scripts/setup --with rdkit"), std::string::npos) << smiles.err;
  } else {
    EXPECT_EQ(smiles.code, exit_done) << smiles.err;
    EXPECT_EQ(contents(folder + "/acid/all.extxyz").substr(0, 2), "3\n");
  }

  const Outcome twice = weyl_program(make + " --out again", folder);
  EXPECT_EQ(twice.code, exit_usage);
  EXPECT_EQ(std::count(twice.err.begin(), twice.err.end(), '\n'), 1) << twice.err;
  const Outcome wrong = weyl_program("data make molecules --out x molecule=etanol", folder);
  EXPECT_EQ(wrong.code, exit_usage);
  EXPECT_NE(wrong.err.find("did you mean 'ethanol'?"), std::string::npos) << wrong.err;
  EXPECT_FALSE(std::filesystem::exists(folder + "/x"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/x.partial"));
}

}  // namespace molecules_test
}  // namespace weyl
