// What `scale fit` writes is read as it was, and what it did not write is refused or taken as not known.
#include "weyl/study/scaling/study_json.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/study/scaling/paper_runs.h"
#include "weyl/core/check.h"

namespace weyl {
namespace study_read_test {

TEST(StudyRead, GivesBackWhatWasWritten) {
  RunTable table;
  table.file = "runs.csv";
  for (const PublishedLaw& published : {baseline, equivariant}) {
    for (const ScalingRun& run : paper_runs(published, 0.02, 4)) {
      table.runs.push_back(run);
    }
  }
  for (int i = 0; i < 3; ++i) {  // few sizes: no law
    table.runs.push_back({"few", 10, 20, 1, 1200, {}, {}, 0});
  }
  table.refused.push_back({7, "loss is missing"});
  ScalingOptions options;
  options.bootstraps = 100;
  options.grid_checks = 1;
  options.hold_out = true;
  options.form = FitForm{};
  options.budgets = {1e16, 2.5e17};
  ScalingStudy study = fit_study(table, options);
  study.asked.xi["few"] = 6.5;
  study.asked.epochs = 4;
  const std::string written = to_json(study).dump();
  const ScalingRequest asked = parse_study(written, "fit.json").asked;
  EXPECT_EQ(asked.budgets, options.budgets);
  EXPECT_EQ(asked.epochs, 4);
  EXPECT_EQ(asked.xi.at("few"), 6.5);
  EXPECT_TRUE(asked.hold_out);
  EXPECT_EQ(to_json(parse_study(written, "fit.json")).dump(), written);
}

TEST(StudyRead, GivesBackGivenLaws) {
  const std::string written =
      to_json(derived_study("laws.csv", {{"a", baseline.law, 6.0}, {"b", equivariant.law, {}}}, {1e16}))
          .dump();
  EXPECT_EQ(to_json(parse_study(written, "fit.json")).dump(), written);
}

TEST(StudyRead, RefusesWhatIsNoStudy) {
  for (const char* words :
       {"", "{", "[]", "{}", R"({"systems": 3})", R"({"systems": []})", R"({"systems": [{"runs": 3}]})",
        R"({"systems": [7]})", R"({"systems": [{"system": "a", "isoflops": [{"kind": "odd"}]}]})"}) {
    EXPECT_THROW(parse_study(words, "fit.json"), DataError) << words;
  }
  EXPECT_THROW(read_study("no/such/fit.json"), DataError);
  // What has another type is not known.
  const ScalingStudy study = parse_study(
      R"({"systems": [{"system": "a", "A": 3, "alpha": {"value": "x"}, "runs": -1, "curve": {"a": 1},
          "isoflops": [{"kind": "inside", "points": [[]], "parabola": [1, null, "x"]}]}], "ratios": 1})",
      "fit.json");
  ASSERT_EQ(study.systems.size(), 1u);
  EXPECT_TRUE(std::isnan(study.systems[0].A.value));
  EXPECT_TRUE(std::isnan(study.systems[0].alpha.value));
  EXPECT_EQ(study.systems[0].runs, 0);
  EXPECT_TRUE(study.systems[0].curve.empty());
}

}  // namespace study_read_test
}  // namespace weyl
