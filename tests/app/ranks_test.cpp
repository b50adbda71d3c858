// A training of several processes as a user starts it: --ranks, a loop with torchrun's variables, a config that is wrong.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/app/program.h"

namespace weyl {
namespace ranks_program_test {

std::string place() {
  static const std::string folder = [] {
    const std::string made = scratch("ranks");
    EXPECT_EQ(weyl_program("data make nbody --out data train=60 valid=10 test=10 --quiet", made).code, 0);
    return made;
  }();
  return folder;
}

std::string training(const std::string& more) {
  return "train '" WEYL_SOURCE_DIR
         "/configs/nbody/platonic.toml' data.nbody.path=data train.steps=6 train.epochs=false "
         "train.batch=10 --threads 1 --no-pictures --quiet " +
         more;
}

std::string weights(const std::string& run) {
  return contents(place() + "/" + run + "/last/model.safetensors");
}

/// So many ranks that a loop of the shell starts, with the variables of torchrun; each call at a port of its own.
Outcome in_a_loop(int ranks, const std::string& arguments) {
  static int calls = 0;
  const std::string port = std::to_string(20000 + (getpid() + calls++) % 12000),
                    count = std::to_string(ranks);
  return shell("for r in $(seq 0 " + std::to_string(ranks - 1) + "); do RANK=$r WORLD_SIZE=" + count +
                   " LOCAL_RANK=$r LOCAL_WORLD_SIZE=" + count + " MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port +
                   " '" WEYL_BINARY_DIR "/bin/weyl' " + arguments + " & done; wait",
               place());
}

TEST(RanksProgram, SameBitsByRanksAndByAnEnvironment) {
  ASSERT_EQ(weyl_program(training("--ranks 3 --out three"), place()).code, 0);
  ASSERT_EQ(weyl_program(training("--ranks 3 --out again"), place()).code, 0);
  ASSERT_FALSE(weights("three").empty());
  EXPECT_EQ(weights("three"), weights("again"));
  const Outcome loop = in_a_loop(3, training("--out loop"));
  EXPECT_EQ(weights("three"), weights("loop")) << loop.err;
  // One rank is none, and gives the bits of a program that knows of none.
  ASSERT_EQ(weyl_program(training("--ranks 1 --out one"), place()).code, 0);
  ASSERT_EQ(weyl_program(training("--out alone"), place()).code, 0);
  EXPECT_EQ(weights("one"), weights("alone"));
  EXPECT_NE(weights("three"), weights("alone"));  // another order of sums
}

// Fixed functions of the distance are no running statistics; only the first rank prints.
TEST(RanksProgram, ModelsWithFixedBasesTrainAndOneRankPrints) {
  const std::string et =
      "train '" WEYL_SOURCE_DIR
      "/configs/nbody/geomformer.toml' data.nbody.path=data model.geomformer.preset=et "
      "train.steps=2 train.epochs=false train.batch=10 --threads 1 --no-pictures --quiet --json ";
  const Outcome loop = in_a_loop(2, et + "--out et");
  EXPECT_FALSE(weights("et").empty()) << loop.err;
  EXPECT_NE(loop.out.find("\"steps\""), std::string::npos) << loop.out;
  EXPECT_EQ(loop.out.find("\"steps\""), loop.out.rfind("\"steps\"")) << loop.out;
}

TEST(RanksProgram, AnotherNumberOfThemGoesOnAndIsSaid) {
  ASSERT_EQ(weyl_program(training("--ranks 3 --out grown"), place()).code, 0);
  const Outcome on =
      weyl_program("train --resume grown train.steps=8 --ranks 2 --threads 1 --no-pictures", place());
  EXPECT_EQ(on.code, 0) << on.err;
  EXPECT_NE(on.err.find("ranks 3 -> 2"), std::string::npos) << on.err;
}

TEST(RanksProgram, OneLineForWhatIsWrong) {
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  Outcome wrong = weyl_program(training("--ranks 3 --out wrong train.stepss=3"), place());
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(lines(wrong.err), 1) << wrong.err;
  wrong = weyl_program(training("--ranks 3 --out wrong data.nbody.path=nowhere"), place());
  EXPECT_EQ(wrong.code, 3);
  EXPECT_EQ(lines(wrong.err), 1) << wrong.err;
  wrong = weyl_program(training("--ranks 3 --out three"), place());  // it is there
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(lines(wrong.err), 1) << wrong.err;
  EXPECT_FALSE(std::filesystem::exists(place() + "/wrong"));
  wrong = shell("PMI_RANK=0 PMI_SIZE=2 '" WEYL_BINARY_DIR "/bin/weyl' " + training("--out wrong"), place());
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("MASTER_ADDR"), std::string::npos) << wrong.err;
}

}  // namespace ranks_program_test
}  // namespace weyl
