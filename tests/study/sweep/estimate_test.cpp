// What a plan makes of the costs of models: hours of rows, budgets and the whole. Costs are made up.
#include <gtest/gtest.h>

#include "weyl/core/check.h"
#include "weyl/study/sweep/estimate.h"

namespace weyl {
namespace estimate_test {

/// Two models at two budgets; at the smaller one each has two rates.
SweepRuns two_models() {
  SweepRuns runs;
  runs.options.budgets = {1000, 4000};
  runs.options.epochs = SweepEpochs::repeat;
  runs.options.validations = 2;
  runs.models.resize(2);
  for (const double budget : runs.options.budgets) {
    for (size_t model = 0; model < 2; ++model) {
      SweepRow row{model, budget, 0, {{"a", 1e-3}}};
      if (budget == 1000) {
        row.trials.push_back({"b", 3e-3});
      }
      runs.rows.push_back(row);
    }
  }
  return runs;
}

std::vector<ModelCost> costs_of_two() {
  ModelCost quick;
  quick.facts = {10, 5, 150};  // parameters, nominal FLOPs a token, tokens of an epoch
  quick.real_flops_a_token = 7;
  quick.tokens_a_step = 20;  // 100 FLOPs: ten steps, and forty
  quick.step_seconds = 1;
  quick.valid_seconds = 3;
  quick.test_seconds = 4;
  quick.fixed_seconds = 5;
  ModelCost slow = quick;
  slow.facts.flops_a_token = 6;  // 120 FLOPs a step: nine steps, the last of which overshoots, and 34
  slow.step_seconds = 10;
  return {quick, slow};
}

TEST(SweepEstimate, AddsStepsValidationsTestsAndStarts) {
  const SweepPlan plan = plan_of(two_models(), costs_of_two(), 1);
  ASSERT_EQ(plan.rows.size(), 4u);
  EXPECT_EQ(plan.rows[0].steps, 10);
  EXPECT_EQ(plan.rows[0].tokens, 200);
  EXPECT_EQ(plan.rows[0].flops, 1000);
  EXPECT_EQ(plan.rows[0].flops_real, 1400);
  EXPECT_TRUE(plan.rows[0].repeats);  // 200 of 150
  EXPECT_EQ(plan.rows[1].steps, 9);
  EXPECT_EQ(plan.rows[1].flops, 1080);
  EXPECT_EQ(plan.rows[0].seconds, 2 * (10 * 1 + 2 * 3 + 4 + 5));
  EXPECT_EQ(plan.rows[1].seconds, 2 * (9 * 10 + 2 * 3 + 4 + 5));
  EXPECT_EQ(plan.rows[2].seconds, 40 * 1 + 2 * 3 + 4 + 5);
  EXPECT_EQ(plan.rows[3].seconds, 34 * 10 + 2 * 3 + 4 + 5);
  EXPECT_EQ(plan.budget_seconds, (std::vector<double>{50 + 210, 55 + 355}));
  EXPECT_EQ(plan.total_seconds, 50 + 210 + 55 + 355);
}

// In their order, 25 25 105 105 55 355, each to who is free first: 25 + 105 + 55 = 185, and 25 + 105 + 355 = 485.
TEST(SweepEstimate, JobsSideBySideEndWithTheLast) {
  EXPECT_EQ(plan_of(two_models(), costs_of_two(), 2).total_seconds, 485);
  EXPECT_EQ(plan_of(two_models(), costs_of_two(), 100).total_seconds, 355);
}

TEST(SweepEstimate, ARunValidatesNoOftenerThanItSteps) {
  SweepRuns runs = two_models();
  runs.options.validations = 25;
  EXPECT_EQ(plan_of(runs, costs_of_two(), 1).rows[0].seconds, 2 * (10 + 10 * 3 + 4 + 5));
  runs.options.validations.reset();  // as the config says: after each epoch of 150 tokens, and at the end
  runs.models[0].recipe.train.evaluate_every = 0.5;
  EXPECT_EQ(plan_of(runs, costs_of_two(), 1).rows[0].seconds, 2 * (10 + 3 * 3 + 4 + 5));
}

// Without data an epoch is what the options say it is; where they do not, validations are none that could be counted.
TEST(SweepEstimate, WithoutDataValidationsAreByTheOptions) {
  SweepRuns runs = two_models();
  std::vector<ModelCost> costs = costs_of_two();
  for (ModelCost& cost : costs) {
    cost.facts.tokens = 0;
  }
  SweepPlan plan = plan_of(runs, costs, 1);  // their number is given
  EXPECT_EQ(plan.rows[0].seconds, 2 * (10 + 2 * 3 + 4 + 5));
  EXPECT_FALSE(plan.rows[0].unvalidated);
  runs.options.validations.reset();
  plan = plan_of(runs, costs, 1);
  EXPECT_EQ(plan.rows[0].seconds, 2 * (10 + 4 + 5));
  EXPECT_TRUE(plan.rows[0].unvalidated);
  EXPECT_FALSE(plan.rows[0].repeats);
  costs[0].epoch_tokens = 150;  // 200 tokens: after the first epoch, and at the end
  plan = plan_of(runs, costs, 1);
  EXPECT_EQ(plan.rows[0].seconds, 2 * (10 + 2 * 3 + 4 + 5));
  EXPECT_FALSE(plan.rows[0].unvalidated);
  EXPECT_TRUE(plan.rows[1].unvalidated);
  costs[1].valid_seconds = 0;  // nothing is left out
  EXPECT_FALSE(plan_of(runs, costs, 1).rows[1].unvalidated);
}

TEST(SweepEstimate, BudgetsInSecondsAreTheTraining) {
  SweepRuns runs = two_models();
  runs.options.unit = BudgetUnit::seconds;
  const SweepPlan plan = plan_of(runs, costs_of_two(), 1);
  EXPECT_EQ(plan.rows[0].seconds, 2 * (1000 + 4 + 5));
  EXPECT_EQ(plan.rows[1].steps, 100);
}

TEST(SweepEstimate, WithoutTimesThereAreNoHours) {
  std::vector<ModelCost> costs = costs_of_two();
  costs[1].step_seconds = 0;
  const SweepPlan plan = plan_of(two_models(), costs, 1);
  EXPECT_TRUE(plan.rows[0].seconds);
  EXPECT_FALSE(plan.rows[1].seconds);
  EXPECT_FALSE(plan.total_seconds);
}

TEST(SweepEstimate, UniqueSamplesMustSuffice) {
  SweepRuns runs = two_models();
  const std::vector<ModelCost> costs = costs_of_two();
  const std::vector<ModelFacts> facts{costs[0].facts, costs[1].facts};
  require_unique(runs, facts);
  runs.options.epochs = SweepEpochs::unique;
  EXPECT_THROW(require_unique(runs, facts), ConfigError);  // 800 tokens of 150
  require_unique(runs, {{10, 5, 800}, {10, 6, 800}});
}

}  // namespace estimate_test
}  // namespace weyl
