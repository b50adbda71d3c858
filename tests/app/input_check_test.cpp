// Bare point clouds and the built program: a model that cannot see them is refused before anything is written, the
// default sees them, what was chosen is in the run's config, and an audit calls a constant output constant.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/app/program.h"
#include "weyl/core/json.h"

namespace weyl {
namespace input_check_test {

const char* const config = R"(
[data]
set = "modelnet"
[data.modelnet]
path = "data"
carrier = "points"
points = 32
[task]
name = "classification"
[model]
system = "platonic"
[model.platonic]
width = 48
heads = 12
blocks = 1
[model.geomformer]
width = 12
heads = 3
blocks = 1
kernels = 6
[train]
steps = 1
batch = 10
)";

class BareClouds : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = scratch("bare-clouds");
    std::ofstream(folder() + "/c.toml") << config;
    ASSERT_EQ(weyl("data make solids --out data train=30 test=10 points=64").code, 0);
  }
  static std::string& folder() {
    static std::string path;
    return path;
  }
  static Outcome weyl(const std::string& arguments) { return weyl_program(arguments, folder()); }

  static void expect_refused(const std::string& overrides, const std::string& option) {
    const Outcome refused = weyl("train c.toml --out blind --threads 1 " + overrides);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_NE(refused.err.find(option), std::string::npos) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(folder() + "/blind"));
  }
};

TEST_F(BareClouds, BlindModelsAreRefusedByTheNameOfTheOption) {
  expect_refused("model.platonic.position_vector=false",
                 "weyl: model.platonic.position_vector: must be true");
  expect_refused("model.system=geomformer model.geomformer.input=zero",
                 "weyl: model.geomformer.input: must be ");
}

TEST_F(BareClouds, TheDefaultSeesThemAndTheRunSaysHow) {
  const Outcome trained = weyl("train c.toml --out run --threads 1");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(trained.err.find("no effect"), std::string::npos) << trained.err;
  EXPECT_NE(contents(folder() + "/run/config.toml").find("position_vector = true\n"), std::string::npos);
  const auto parameters = [&](const std::string& of) {
    const Outcome info = weyl("info " + of + " --json");
    EXPECT_EQ(info.code, 0) << info.err;
    return Json::parse(info.out, "info").find("parameters")->number_or(-1);
  };
  EXPECT_EQ(parameters("c.toml"), parameters("run"));
  EXPECT_EQ(parameters("run/config.toml"), parameters("run"));
  EXPECT_LT(parameters("c.toml model.platonic.position_vector=false"), parameters("run"));
  const Outcome options = weyl("info c.toml --json");
  EXPECT_NE(options.out.find("\"position_vector\": true"), std::string::npos) << options.out;
  const Outcome again = weyl("train run/config.toml --out again --threads 1");
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST_F(BareClouds, AnAuditCallsAConstantOutputConstant) {
  const std::string audit = "audit c.toml model.platonic.position_vector=false --samples 4";
  const Outcome told = weyl(audit);
  EXPECT_EQ(told.code, 1) << told.err;
  EXPECT_NE(told.out.find(" constant "), std::string::npos) << told.out;
  EXPECT_EQ(told.out.find("inf"), std::string::npos) << told.out;
  const Json json = Json::parse(weyl(audit + " --json").out, "audit");
  ASSERT_GT(json.find("claims")->items().size(), 0u);
  for (const Json& claim : json.find("claims")->items()) {
    EXPECT_EQ(claim.find("constant")->dump(), "true") << claim.dump();
    EXPECT_EQ(claim.find("passed")->dump(), "false") << claim.dump();
    EXPECT_EQ(claim.find("error")->number_or(-1), 1) << claim.dump();
  }
}

}  // namespace input_check_test
}  // namespace weyl
