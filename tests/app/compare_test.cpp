// `weyl compare`: what runs on the same data come to, side by side, and what is not compared.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "tests/app/nbody.h"
#include "tests/app/program.h"
#include "weyl/core/json.h"

namespace weyl {
namespace compare_test {

namespace fs = std::filesystem;

class Compare : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = scratch("compare");
    std::ofstream(folder() + "/c.toml") << nbody_config(4);
    for (const char* make : {"data make nbody --out data train=20 valid=8 test=8",
                             "data make nbody --out other train=20 valid=8 test=8 seed=5",
                             "train c.toml --out platonic --threads 1",
                             "train c.toml --out transformer --threads 1 model.system=transformer",
                             "train c.toml --out elsewhere --threads 1 data.nbody.path=other"}) {
      const Outcome outcome = weyl(make);
      ASSERT_EQ(outcome.code, 0) << make << ": " << outcome.err;
    }
  }
  static std::string& folder() {
    static std::string path;
    return path;
  }
  static Outcome weyl(const std::string& arguments) { return weyl_program(arguments, folder()); }
};

TEST_F(Compare, SetsRunsBesideOneAnother) {
  const Outcome outcome = weyl("compare platonic transformer --out pictures --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out, "stdout");
  EXPECT_EQ(json.find("same_test_data")->dump(), "true");
  EXPECT_EQ(json.find("split")->string_or(""), "test");
  const auto& runs = json.find("runs")->items();
  ASSERT_EQ(runs.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const std::string name = i == 0 ? "platonic" : "transformer";
    EXPECT_EQ(runs[i].find("name")->string_or(""), name);
    EXPECT_EQ(runs[i].find("system")->string_or(""), name);
    // The numbers are those of the run itself.
    const Json info = Json::parse(weyl("info " + name + " --json").out, "info");
    EXPECT_EQ(runs[i].find("parameters")->number_or(0), info.find("parameters")->number_or(1));
    EXPECT_EQ(runs[i].find("parameters_real")->number_or(0), info.find("parameters_real")->number_or(1));
    const Json eval = Json::parse(weyl("eval " + name + " --threads 1 --json").out, "eval");
    EXPECT_DOUBLE_EQ(runs[i].find("metrics")->find("mse")->find("value")->number_or(0),
                     eval.find("metrics")->find("mse")->find("value")->number_or(1));
    EXPECT_GT(runs[i].find("seconds")->number_or(0), 0);
    // 4 steps of 4 graphs of 5 bodies.
    EXPECT_NEAR(runs[i].find("flops")->number_or(0),
                info.find("flops_per_token")->find("train")->number_or(0) * 4 * 4 * 5, 1);
    // As the run itself counted them, and as scaling laws do.
    const Json result = Json::parse(contents(folder() + "/" + name + "/result.json"), "result.json");
    EXPECT_EQ(result.find("tokens")->number_or(0), 4 * 4 * 5);
    EXPECT_EQ(runs[i].find("flops")->number_or(0), result.find("flops")->number_or(1));
    EXPECT_EQ(runs[i].find("nominal_flops")->number_or(0), result.find("nominal_flops")->number_or(1));
    EXPECT_NEAR(runs[i].find("nominal_flops")->number_or(0),
                info.find("flops_per_token")->find("nominal")->number_or(0) * 4 * 4 * 5, 1);
  }
  const std::string svg = contents(folder() + "/pictures/learning_curves.svg");
  for (const char* words :
       {"Validation mse", ">steps<", ">seconds<", ">FLOPs<", ">platonic<", ">transformer<"}) {
    EXPECT_NE(svg.find(words), std::string::npos) << words;
  }
}

// What a model is told about the same samples does not make them others.
TEST_F(Compare, OtherFeaturesAreTheSameTestData) {
  const Outcome trained = weyl("train c.toml --out types --threads 1 data.nbody.charge_types=true");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(weyl("compare platonic types").code, 0);
}

TEST_F(Compare, PrintsATable) {
  const Outcome outcome = weyl("compare platonic transformer");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words :
       {"parameters (real)", "FLOPs", "FLOPs (nominal)", "test mse / length^2", "platonic", "transformer"}) {
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words << " in\n" << outcome.out;
  }
}

// Runs that differ by their seed alone are one row, and the same table stands in each file.
TEST_F(Compare, SeedsAreOneRowWithMeanAndSpread) {
  const std::string nasty = "<img src=x onerror=alert(1)>|&$_x^{2}%#";
  double losses[3] = {};
  for (int seed = 1; seed <= 2; ++seed) {
    const std::string name = "platonic-" + std::to_string(seed);
    const Outcome trained =
        weyl("train c.toml --threads 1 --out " + name + " train.seed=" + std::to_string(seed));
    ASSERT_EQ(trained.code, 0) << trained.err;
    losses[seed] = Json::parse(contents(folder() + "/" + name + "/result.json"), "result.json")
                       .find("test")
                       ->find("metrics")
                       ->find("mse")
                       ->find("value")
                       ->number_or(0);
  }
  fs::copy(folder() + "/transformer", folder() + "/" + nasty, fs::copy_options::recursive);
  const Outcome outcome =
      weyl("compare platonic-1 '" + nasty + "' platonic-2 transformer --out seeds --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out, "stdout");
  EXPECT_EQ(json.find("runs")->items().size(), 4u);
  const auto& rows = json.find("rows")->items();
  ASSERT_EQ(rows.size(), 3u);  // one training twice is no spread
  EXPECT_EQ(rows[0].find("name")->string_or(""), "platonic-*");
  EXPECT_EQ(rows[0].find("seeds")->items().at(1).number_or(0), 2);
  EXPECT_EQ(rows[0].find("runs")->items().at(1).string_or(""), "platonic-2");
  const Json& mse = *rows[0].find("metrics")->find("mse");
  const double mean = (losses[1] + losses[2]) / 2, spread = std::abs(losses[1] - losses[2]) / std::sqrt(2);
  EXPECT_NE(losses[1], losses[2]);
  EXPECT_DOUBLE_EQ(mse.find("mean")->number_or(0), mean);
  EXPECT_NEAR(mse.find("spread")->number_or(0), spread, 1e-12 * mean);
  EXPECT_EQ(mse.find("least")->number_or(0), std::min(losses[1], losses[2]));
  EXPECT_EQ(mse.find("runs")->number_or(0), 2);
  EXPECT_EQ(mse.find("unit")->string_or(""), "length^2");
  EXPECT_EQ(rows[1].find("metrics")->find("mse")->find("spread")->dump(), "null");
  EXPECT_EQ(json.find("files")->items().size(), 6u);

  const std::string page = contents(folder() + "/seeds/compare.html"), at = folder() + "/seeds/compare";
  EXPECT_EQ(page.find("<img src=x"), std::string::npos);
  EXPECT_NE(page.find("&lt;img src=x onerror=alert(1)&gt;"), std::string::npos);
  EXPECT_NE(page.find("data:image/svg+xml;base64,"), std::string::npos);
  EXPECT_EQ(page.find("http"), page.find("http-equiv"));  // the page loads nothing
  const auto number = [](double value, const char* format) {
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return std::string(text);
  };
  const std::string cell = number(mean, "%.5g") + " ± " + number(spread, "%.2g");
  EXPECT_NE(page.find(cell), std::string::npos) << cell;
  EXPECT_NE(contents(at + ".md").find("| platonic-\\* | 2 | platonic |"), std::string::npos)
      << contents(at + ".md");
  EXPECT_NE(contents(at + ".md").find(cell), std::string::npos);
  EXPECT_NE(contents(at + ".csv").find("test mse / length^2,\"test mse / length^2, spread\""),
            std::string::npos)
      << contents(at + ".csv");
  EXPECT_NE(contents(at + ".tex").find(number(mean, "%.5g") + " $\\pm$ "), std::string::npos);
  EXPECT_NE(contents(at + ".tex").find("\\textless{}img"), std::string::npos);
  EXPECT_NE(weyl("compare platonic-1 platonic-2").out.find(cell), std::string::npos);
}

TEST_F(Compare, DoesNotCompareRunsOnOtherTestData) {
  const Outcome outcome = weyl("compare platonic elsewhere --json");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(Json::parse(outcome.out, "stdout").find("same_test_data")->dump(), "false");
  EXPECT_NE(outcome.err.find("not the same"), std::string::npos) << outcome.err;
  const Outcome table = weyl("compare platonic elsewhere --out none");
  EXPECT_EQ(table.code, 1);
  EXPECT_EQ(table.out.find("mse"), std::string::npos) << table.out;
  EXPECT_FALSE(fs::exists(folder() + "/none"));
}

TEST_F(Compare, RunsWithoutATestResultAreComparedByTheirValidation) {
  fs::copy(folder() + "/platonic", folder() + "/unfinished", fs::copy_options::recursive);
  fs::remove(folder() + "/unfinished/result.json");
  const Outcome outcome = weyl("compare transformer unfinished --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out, "stdout");
  EXPECT_EQ(json.find("split")->string_or(""), "valid");
  EXPECT_NE(json.find("runs")->items().at(0).find("metrics")->find("mse"), nullptr);
  EXPECT_NE(outcome.err.find("unfinished: has no result"), std::string::npos) << outcome.err;
}

// One axis has one unit: a metric that one run tells in another is not drawn.
TEST_F(Compare, CurvesOfOtherUnitsShareNoAxis) {
  fs::copy(folder() + "/transformer", folder() + "/centimetres", fs::copy_options::recursive);
  const std::string file = folder() + "/centimetres/result.json";
  std::string result = contents(file);
  const std::string unit = "length^2";
  ASSERT_NE(result.find(unit), std::string::npos) << result;
  for (size_t at = 0; (at = result.find(unit, at)) != std::string::npos;) {
    result.replace(at, unit.size(), "cm^2");
  }
  std::ofstream(file) << result;
  const Outcome outcome = weyl("compare platonic centimetres --out units");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("test mse / cm^2"), std::string::npos) << outcome.out;
  const std::string svg = contents(folder() + "/units/learning_curves.svg");
  EXPECT_EQ(svg.find("Validation mse"), std::string::npos);
  EXPECT_NE(svg.find("Validation rmse"), std::string::npos);
}

TEST_F(Compare, RefusesInOneLine) {
  EXPECT_EQ(weyl("compare platonic").code, 2);
  EXPECT_EQ(weyl("compare platonic none").code, 3);
  EXPECT_EQ(weyl("compare platonic data").code, 3);
  fs::copy(folder() + "/platonic", folder() + "/broken", fs::copy_options::recursive);
  std::ofstream(folder() + "/broken/result.json") << "{\"steps\": ";
  const Outcome broken = weyl("compare platonic broken");
  EXPECT_EQ(broken.code, 3);
  EXPECT_NE(broken.err.find("result.json"), std::string::npos) << broken.err;
}

}  // namespace compare_test
}  // namespace weyl
