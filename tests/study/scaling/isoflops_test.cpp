// Budgets and their best sizes: inside, or at the edge of what was tried, which is a bound; loss over compute alone.
#include "weyl/study/scaling/isoflops.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/study/scaling/paper_runs.h"
#include "weyl/study/scaling/compute_law.h"

namespace weyl {
namespace isoflops_test {

ScalingRun run_of(double parameters, double loss, double flops = 1e12) {
  return {"x", parameters, flops / (6 * parameters), loss, flops, {}, {}, 0};
}

TEST(Isoflops, AParabolaHasItsVertex) {
  std::vector<ScalingRun> runs;
  for (const double log_N : {3.0, 4.0, 5.5, 7.0}) {
    runs.push_back(run_of(std::exp(log_N), std::exp(-4 + 0.3 * (log_N - 5) * (log_N - 5))));
  }
  const auto isoflops = isoflops_of(runs, std::nullopt);
  ASSERT_EQ(isoflops.size(), 1u);
  EXPECT_EQ(isoflops[0].kind, MinimumKind::inside);
  EXPECT_NEAR(isoflops[0].minimum->parameters, std::exp(5), 1e-6);
  EXPECT_NEAR(isoflops[0].minimum->loss, std::exp(-4), 1e-9);
  EXPECT_NEAR(isoflops[0].minimum->tokens, 1e12 / (6 * std::exp(5)), 1e-3);
  const auto& c = *isoflops[0].parabola;
  EXPECT_NEAR(c[0], -4 + 0.3 * 25, 1e-8);
  EXPECT_NEAR(c[1], -3, 1e-8);
  EXPECT_NEAR(c[2], 0.3, 1e-9);
}

TEST(Isoflops, AMinimumAtTheEdgeIsABound) {
  const auto kind = [](const std::vector<double>& losses) {
    std::vector<ScalingRun> runs;
    for (size_t i = 0; i < losses.size(); ++i) {
      runs.push_back(run_of(std::pow(10, static_cast<double>(i)), losses[i]));
    }
    const Isoflop isoflop = isoflops_of(runs, std::nullopt).at(0);
    return std::pair(isoflop.kind, isoflop.minimum ? isoflop.minimum->parameters : 0);
  };
  EXPECT_EQ(kind({1, 2, 3}), std::pair(MinimumKind::smallest, 1.0));
  EXPECT_EQ(kind({3, 2, 1}), std::pair(MinimumKind::largest, 100.0));
  EXPECT_EQ(kind({1, 3, 2}).first, MinimumKind::smallest);
  EXPECT_EQ(kind({3, 3.1, 3, 3.1, 9}).first, MinimumKind::smallest);  // a dent in a slope
  EXPECT_EQ(kind({3, 1, 1.5, 2, 4}).first, MinimumKind::inside);
  EXPECT_EQ(kind({2, 1.9, 3, 3, 2}), std::pair(MinimumKind::not_clear, 0.0));  // a hill
  EXPECT_STREQ(name_of(MinimumKind::not_clear), "not_clear");
  EXPECT_EQ(kind({2, 1}), std::pair(MinimumKind::few_sizes, 0.0));
}

TEST(Isoflops, RunsAreGroupedByBudgetElseByFlops) {
  std::vector<ScalingRun> runs;
  for (const double flops : {1e10, 1.1e10, 1.2e10, 1e11, 1.05e11}) {
    runs.push_back(run_of(100, 1, flops));
  }
  EXPECT_EQ(budget_groups(runs, std::nullopt).size(), 2u);
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i].budget = i < 2 ? 60 : 120;  // seconds, say
  }
  const auto groups = budget_groups(runs, std::nullopt);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].budget, 60);
  EXPECT_NEAR(groups[0].flops, std::sqrt(1.1e20), 1e3);
  for (ScalingRun& run : runs) {
    run.budget.reset();
    run.flops.reset();
  }
  EXPECT_TRUE(budget_groups(runs, std::nullopt).empty());
  EXPECT_EQ(budget_groups(runs, 6.0).size(), 2u);
}

// Flops 10 % apart over two decades: no budgets.
std::vector<ScalingRun> scattered() {
  std::vector<ScalingRun> runs;
  for (int i = 0; i < 50; ++i) {
    const double flops = 1e10 * std::pow(1.1, i);
    runs.push_back(run_of(100 * std::pow(1.7, i % 5), std::pow(flops, -0.2) * (1 + 0.3 * (i % 3)), flops));
  }
  return runs;
}

TEST(Isoflops, AChainOfLikeFlopsIsNoBudget) {
  std::vector<ScalingRun> runs = scattered();
  const auto groups = budget_groups(runs, std::nullopt);
  EXPECT_GT(groups.size(), 8u);
  EXPECT_FALSE(grid_of(runs, groups).holds());
  EXPECT_TRUE(isoflops_of(runs, std::nullopt).empty());
  for (ScalingRun& run : runs) {
    run.budget = *run.flops < 1e11 ? 1 : 2;  // they say it
  }
  EXPECT_TRUE(grid_of(runs, budget_groups(runs, std::nullopt)).holds());
  const auto grid = paper_runs(baseline, 0, 0);
  EXPECT_EQ(grid_of(grid, budget_groups(grid, std::nullopt)).inside, 63);
}

TEST(ComputeLaw, OfScatteredRunsIsTheirLowerEdge) {
  const auto law = compute_law_of(scattered(), std::nullopt, {.delta = 0.1}, {200, 0, "x", 2});
  ASSERT_TRUE(law);
  EXPECT_TRUE(law->envelope);
  EXPECT_EQ(law->frontier.size(), 17u);
  EXPECT_NEAR(law->gamma.value, 0.2, 1e-4);
}

TEST(Isoflops, RunsOfOneSizeCountTogether) {
  const Isoflop isoflop =
      isoflops_of(std::vector<ScalingRun>{run_of(1, 4), run_of(1, 9), run_of(10, 1), run_of(100, 5)}, {})
          .at(0);
  ASSERT_EQ(isoflop.points.size(), 3u);
  EXPECT_EQ(isoflop.points[0].runs, 2);
  EXPECT_NEAR(isoflop.points[0].loss, 6, 1e-12);
}

TEST(Isoflops, RepeatedDataAreNotAveragedWithFresh) {
  std::vector<ScalingRun> runs{run_of(1, 4), run_of(1, 9), run_of(10, 1), run_of(100, 5)};
  runs[1].unique_tokens = runs[1].tokens / 2;
  runs[2].unique_tokens = runs[2].tokens / 2;  // alone at its size
  const Isoflop isoflop = isoflops_of(runs, {}).at(0);
  ASSERT_EQ(isoflop.points.size(), 3u);
  EXPECT_EQ(isoflop.points[0].runs, 1);
  EXPECT_NEAR(isoflop.points[0].loss, 4, 1e-12);
  EXPECT_EQ(isoflop.repeated_aside, 1);
}

TEST(Isoflops, MinimaGrowAsTheLawSays) {
  const auto isoflops = isoflops_of(paper_runs(equivariant, 0, 0), std::nullopt);
  const auto law = law_of_minima(isoflops);
  ASSERT_TRUE(law);
  EXPECT_EQ(law->minima, 7);
  EXPECT_NEAR(law->a, 0.67837, 0.005);
  EXPECT_NEAR(law->a + law->b, 1, 1e-12);
  EXPECT_FALSE(law_of_minima({isoflops.data(), 2}));
}

TEST(ComputeLaw, GoesThroughTheLowestLosses) {
  const auto runs = paper_runs(baseline, 0, 0);
  const auto law = compute_law_of(runs, std::nullopt, {.delta = 1e-3}, {200, 0, "x", 2});
  ASSERT_TRUE(law);
  ASSERT_EQ(law->frontier.size(), 7u);
  EXPECT_NEAR(law->gamma.value, 0.26748, 0.002);
  EXPECT_NEAR(law->F.value * std::pow(1e18, -law->gamma.value) / 1.57e-5, 1, 0.01);
  EXPECT_EQ(law->E.value, 0);
  EXPECT_LE(law->gamma.low, law->gamma.value + 1e-9);
  EXPECT_FALSE(compute_law_of({runs.data(), 18}, std::nullopt, {}, {0, 0, "x", 1}));
}

// One run at each budget: the interval is of the scatter about the law; of four budgets there is none.
TEST(ComputeLaw, IntervalsHaveAWidthOrAReason) {
  std::vector<ScalingRun> runs;
  for (int i = 0; i < 8; ++i) {
    const double flops = 1e10 * std::pow(4, i);
    runs.push_back(run_of(100 + i, std::pow(flops, -0.2) * (i % 3 == 0 ? 1.05 : 0.98), flops));
    runs.back().budget = flops;
  }
  const auto law = compute_law_of(runs, std::nullopt, {.delta = 0.1}, {400, 0, "x", 2});
  ASSERT_TRUE(law);
  EXPECT_EQ(law->no_interval, "");
  EXPECT_LT(law->gamma.low, 0.2 - 1e-3);
  EXPECT_GT(law->gamma.high, 0.2 + 1e-3);
  EXPECT_LT(law->F.low, 0.99 * law->F.high);
  const std::vector<ScalingRun> few(runs.begin(), runs.begin() + 4);
  const auto narrow = compute_law_of(few, std::nullopt, {.delta = 0.1}, {400, 0, "x", 2});
  ASSERT_TRUE(narrow);
  EXPECT_TRUE(std::isnan(narrow->gamma.low));
  EXPECT_EQ(narrow->no_interval, "needs 5 budgets to resample, has 4");
  const auto none = compute_law_of(few, std::nullopt, {.delta = 0.1}, {0, 0, "x", 2});
  EXPECT_EQ(none->no_interval, "");
}

}  // namespace isoflops_test
}  // namespace weyl
