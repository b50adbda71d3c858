// The table of cases, and which of them are the worst, the median and the best.
#include "weyl/app/verbs/cases.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/toy_grid.h"
#include "weyl/tasks/segmentation.h"

namespace weyl {
namespace cases_test {

std::vector<Case> cases(const std::vector<double>& dice) {
  std::vector<Case> made;
  for (size_t i = 0; i < dice.size(); ++i) {
    made.push_back({"case " + std::to_string(i), "", {{"dice", {dice[i], ""}}}});
  }
  return made;
}

std::vector<int64_t> samples(const std::vector<Ranked>& ranks) {
  std::vector<int64_t> which;
  for (const Ranked& rank : ranks) {
    which.push_back(rank.sample);
  }
  return which;
}

TEST(Cases, AreATableOfAllTheirMetrics) {
  std::vector<Case> two = cases({0.5, 0});
  two[0].metrics["hd95_lesion"] = {1.5, "mm"};
  two[0].metrics["hd95_infinite_lesion"] = {0, ""};
  two[1].metrics["hd95_infinite_lesion"] = {1, ""};  // one of both masks alone is empty
  two[0].metrics["volume_error"] = {0.25, "ml"};
  EXPECT_EQ(cases_csv(two),
            "case,dice,hd95_infinite_lesion,hd95_lesion / mm,volume_error / ml\n"
            "case 0,0.5,0,1.5,0.25\n"
            "case 1,0,1,inf,\n");
  two[1].metrics["hd95"] = {3, "mm"};  // of the other classes
  two[1].metrics["hd95_infinite"] = {1, ""};
  EXPECT_NE(cases_csv(two).find("\ncase 1,0,inf,1,1,inf,\n"), std::string::npos) << cases_csv(two);
  two[0].run = two[1].run = "fold-1";
  two[0].name = "=SUM(A1)";  // no spreadsheet runs it
  EXPECT_TRUE(cases_csv(two).starts_with("case,run,dice,")) << cases_csv(two);
  EXPECT_NE(cases_csv(two).find("\n'=SUM(A1),fold-1,0.5,"), std::string::npos) << cases_csv(two);
}

/// Of a case whose mask the model has missed, as the task's own meter measures it.
TEST(Cases, HaveAnInfiniteDistanceWhereOneOfBothMasksIsEmpty) {
  const Segmentation task(SegmentationOptions{});
  const Schema schema = toy_schema(2, 3, "mask", 2);
  const auto meter = task.meter(task.interface(schema));
  const Tensor truth = at::zeros({1, 1, 2, 3}, at::kLong), said = at::zeros_like(truth);
  truth[0][0][1][1] = 1;
  const Tensor probabilities = at::one_hot(said.select(1, 0), 2).movedim(-1, 1).to(at::kDouble);
  meter->add({Grid{at::zeros({1, 3, 2, 3}, at::kDouble), {1, 1, 1}}, {{"mask", truth}}},
             {{"mask", said}, {"probabilities", probabilities}});
  const std::string csv = cases_csv({{"missed", "", meter->values()}});
  EXPECT_NE(csv.find("hd95_1"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",inf"), std::string::npos) << csv;
}

TEST(Cases, AreRankedByTheHeadline) {
  const auto five = cases({0.7, 0.1, 0.9, 0.5, 0.3});
  EXPECT_EQ(samples(ranked(five, "dice", false)), (std::vector<int64_t>{1, 3, 2}));
  EXPECT_EQ(samples(ranked(five, "dice", true)), (std::vector<int64_t>{2, 3, 1}));
  EXPECT_EQ(samples(ranked(cases({0.7, 0.1}), "dice", false)), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(samples(ranked(cases({0.7}), "dice", false)), (std::vector<int64_t>{0}));
  EXPECT_TRUE(ranked(cases({}), "dice", false).empty());
  EXPECT_TRUE(ranked(five, "accuracy", false).empty());
  auto partly = five;
  partly[1].metrics.clear();
  EXPECT_EQ(samples(ranked(partly, "dice", false)), (std::vector<int64_t>{4, 3, 2}));
}

}  // namespace cases_test
}  // namespace weyl
