// `weyl scale fit`: runs from elsewhere and given coefficients to tables and JSON, and what it refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/app/program.h"
#include "tests/study/scaling/paper_runs.h"
#include "weyl/core/json.h"

namespace weyl {
namespace scale_fit_test {

class ScaleFit : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = scratch("scale-fit");
    std::ofstream csv(folder() + "/runs.csv");
    csv.precision(17);
    csv << "note,system,parameters,tokens,loss,flops\n";
    for (const PublishedLaw& published : {baseline, equivariant}) {
      const std::vector<ScalingRun> runs = paper_runs(published, 0.02, 4);
      for (size_t i = 0; i < runs.size(); ++i) {
        const ScalingRun& run = runs[i];
        if (i % 9 % 2 == 1 || i / 9 % 2 == 1) {
          continue;  // five sizes of nine at four budgets of seven
        }
        csv << "," << run.system << "," << run.parameters << "," << run.tokens << "," << run.loss << ","
            << *run.flops << "\n";
      }
    }
    csv << "failed,equivariant,10,20,,\n,baseline,10,-20,1,\n";
  }
  static std::string& folder() {
    static std::string path;
    return path;
  }
  static Outcome weyl(const std::string& arguments) {
    return weyl_program("scale fit " + arguments, folder());
  }
};

TEST_F(ScaleFit, TellsLawsIntervalsAndRatios) {
  const Outcome outcome =
      weyl("runs.csv --bootstraps 200 --budgets 1e17,1e18 --hold-out --json --out fit.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("runs.csv:42: loss is missing"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("runs.csv:43: tokens must be positive and finite, got '-20'"),
            std::string::npos);
  EXPECT_EQ(contents(folder() + "/fit.json"), outcome.out);
  const Json json = Json::parse(outcome.out, "stdout");
  const auto& systems = json.find("systems")->items();
  ASSERT_EQ(systems.size(), 2u);
  EXPECT_EQ(json.find("refused")->items().size(), 2u);
  EXPECT_EQ(json.find("bootstraps")->number_or(0), 200);
  for (const Json& system : systems) {
    EXPECT_EQ(system.find("runs")->number_or(0), 20);
    for (const char* key : {"A", "B", "alpha", "beta", "E", "a", "b", "gamma", "F", "G"}) {
      const Json* estimate = system.find(key);
      ASSERT_NE(estimate, nullptr) << key;
      const double value = estimate->find("value")->number_or(NAN),
                   low = estimate->find("low")->number_or(NAN), high = estimate->find("high")->number_or(NAN);
      EXPECT_TRUE(low <= value && value <= high) << key << " " << low << " " << value << " " << high;
    }
    EXPECT_EQ(system.find("budgets")->items().size(), 2u);
    EXPECT_EQ(system.find("curve")->items().size(), 25u);
    EXPECT_EQ(system.find("isoflops")->items().size(), 4u);
    EXPECT_LT(system.find("hold_out")->find("mean_error")->number_or(1), 0.05);
    EXPECT_EQ(system.find("repetition")->dump(), "null");
    EXPECT_EQ(system.find("xi_from")->string_or(""), "runs");
  }
  EXPECT_EQ(json.find("ratios")->items().at(0).find("system")->string_or(""), "equivariant");

  const Outcome kept = weyl("runs.csv --bootstraps 0 --out fit.json");
  EXPECT_EQ(kept.code, 2) << kept.err;  // it is there
}

TEST_F(ScaleFit, DerivesAllFromGivenCoefficients) {
  const std::string file = WEYL_SOURCE_DIR "/configs/scaling/paper-coefficients.csv";
  const Outcome outcome = weyl("--coefficients " + file + " --budgets 1e16,1e19");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words :
       {"8.2203", "0.29425", "0.70575", "0.26748", "1.027", "8.9326e-07", "0.67837", "0.32163", "0.23607",
        "0.13984", "2.48e+05", "6.73e+09", "5.39e-05", "4.25e+05", "2.31", "1.86"}) {
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words << "\n" << outcome.out;
  }
  std::ofstream(folder() + "/laws.csv") << "system,A,alpha,B,beta\nx,1,0.5,1,0.5\n";
  EXPECT_NE(weyl("--coefficients laws.csv --budgets 1e16").out.find("xi is not known"), std::string::npos);
  EXPECT_NE(weyl("--coefficients laws.csv --budgets 1e16 --xi x=6").out.find("1e+16"), std::string::npos);
  EXPECT_EQ(weyl("--coefficients laws.csv --budgets 1e16 --xi y=6").code, 2);
  EXPECT_EQ(weyl("--coefficients " + file + " --budgets 1e16 --xi baseline=6").code, 2);
}

TEST_F(ScaleFit, ALossThatTheOtherNeverComesToIsNull) {
  std::ofstream(folder() + "/floors.csv")
      << "system,A,alpha,B,beta,E,xi\nlow,1,0.5,1,0.5,0.0,6\nhigh,1,0.5,1,0.5,0.1,6\n";
  const Outcome outcome = weyl("--coefficients floors.csv --budgets 10,1e16 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out, "stdout");
  const Json& ratio = json.find("ratios")->items().at(0);
  EXPECT_GT(ratio.find("budgets")->items().at(0).find("compute")->find("value")->number_or(0), 1);
  EXPECT_EQ(ratio.find("budgets")->items().at(1).find("compute")->dump(), "null");
  ASSERT_EQ(ratio.find("left_out")->items().size(), 1u);
  EXPECT_EQ(ratio.find("left_out")->items().at(0).find("reason")->string_or(""),
            "at FLOPs 1e+16: high comes to the loss of low at no budget within a million times that");
  const Outcome people = weyl("--coefficients floors.csv --budgets 1e16");
  EXPECT_NE(people.out.find("left out: compute for equal loss: at FLOPs 1e+16"), std::string::npos)
      << people.out;
  EXPECT_EQ(people.out.find("inf"), std::string::npos) << people.out;
}

// Sizes of which one alone is worse want A and alpha without bound: "A inf" is no fit.
TEST_F(ScaleFit, AnInfiniteCoefficientIsNoFit) {
  std::ofstream csv(folder() + "/cliff.csv");
  csv << "system,parameters,tokens,loss,flops\n";
  for (int n = 0; n < 4; ++n) {
    for (int d = 0; d < 5; ++d) {
      const double N = 1e15 * std::pow(2, n), D = 1e11 * std::pow(2, d);
      csv << "x," << N << "," << D << "," << 80 / std::sqrt(D) + (n == 0 ? 1 : 0) << "," << 6 * N * D << "\n";
    }
  }
  csv.close();
  const Outcome outcome = weyl("cliff.csv --bootstraps 100 --hold-out --out cliff.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("inf"), std::string::npos) << outcome.out;
  EXPECT_TRUE(outcome.out.starts_with("law not determined: x\n")) << outcome.out;
  EXPECT_NE(outcome.err.find("no finite coefficients"), std::string::npos) << outcome.err;
  const Json json = Json::parse(contents(folder() + "/cliff.json"), "cliff.json");
  EXPECT_EQ(json.find("determined")->items().at(0).find("determined")->dump(), "false");
  EXPECT_EQ(json.find("systems")->items().at(0).find("A")->dump(), "null");
  const Outcome plotted = weyl_program("scale plot cliff.json --out cliff", folder());
  EXPECT_TRUE(plotted.code == 0 || plotted.code == 3) << plotted.err;
}

TEST_F(ScaleFit, ALossThatRisesHasOneSign) {
  std::ofstream csv(folder() + "/rising.csv");
  csv << "system,parameters,tokens,loss,flops,budget\n";
  for (int i = 0; i < 8; ++i) {
    const double N = 100 * std::pow(2, i), D = 1000 * std::pow(3, i % 4 + i / 2);
    csv << "x," << N << "," << D << "," << std::pow(6 * N * D, 0.1) << "," << 6 * N * D << "," << i + 1
        << "\n";
  }
  csv.close();
  const Outcome outcome = weyl("rising.csv --bootstraps 0");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" C^0.1"), std::string::npos) << outcome.out;
}

TEST_F(ScaleFit, RefusesWithOneLine) {
  std::ofstream(folder() + "/few.csv")
      << "system,parameters,tokens,loss\na,1,2,3\na,2,3,2\na,3,4,1\na,4,5,0.5\n";
  std::ofstream(folder() + "/bad.csv") << "system,parameters,tokens,loss\na,1,2,x\n";
  const auto refused = [&](const std::string& arguments, int code, const std::string& words) {
    const Outcome outcome = weyl(arguments);
    EXPECT_EQ(outcome.code, code) << arguments << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << arguments << ": " << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  };
  refused("", 2, "give either RUNS.csv or --coefficients FILE");
  refused("runs.csv --coefficients laws.csv", 2, "give either");
  refused("none.csv", 3, "none.csv: cannot be opened");
  refused("few.csv -q", 3,
          "few.csv: no system can be fitted: a must have 5 runs or more that differ in size or tokens, one "
          "beyond "
          "the coefficients, has 4");
  refused("bad.csv -q", 3, "bad.csv: must have runs, has none: line 2: loss must be a number, got 'x'");
  refused("runs.csv --bootstraps 7", 2, "--bootstraps: must be 0 or at least 100, got 7");
  refused("runs.csv --budgets 1e16,", 2, "--budgets: must be a positive number, got ''");
  refused("runs.csv --budgets -1", 2, "--budgets: must be a positive number, got '-1'");
  refused("runs.csv --xi baseline", 2, "--xi: is written SYSTEM=VALUE, got 'baseline'");
  refused("runs.csv --xi x=0", 2, "--xi x: must be a positive number, got '0'");
  refused("runs.csv --xi x=1 --xi x=2", 2, "--xi: 'x' is given twice");
  refused("runs.csv --xi x=1 -q", 2, "--xi 'x': must be a system of the runs: baseline, equivariant");
  refused("runs.csv --xi baseline=6 -q", 2, "its runs have flops");
  refused("bad.csv -q --xi x=1", 3, "bad.csv: must have runs, has none");
  refused("runs.csv --epochs 4 -q", 2, "--epochs: needs a column unique_tokens, runs.csv says none");
  refused("runs.csv --epochs 0.5", 2, "--epochs: must be at least 1, got 0.5");
  refused("--coefficients laws.csv", 2, "--coefficients needs --budgets");
  refused("--coefficients laws.csv --budgets 1 --hold-out", 2, "has no runs to fit");
  refused("runs.csv --out runs.csv --force", 2, "runs.csv");
}

}  // namespace scale_fit_test
}  // namespace weyl
