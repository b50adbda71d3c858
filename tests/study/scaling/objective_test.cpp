// The objective: its gradient against differences, its Huber loss by hand, the repetition form.
#include "weyl/study/scaling/objective.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/study/scaling/paper_runs.h"
#include "weyl/study/scaling/repetition.h"

namespace weyl {
namespace objective_test {

LogRuns repeated_runs() {
  LogRuns runs = log_runs(paper_runs(baseline, 0.05, 1));
  for (size_t i = 0; i < runs.size(); ++i) {
    runs.epochs.push_back(i % 3 == 0 ? 0.0 : static_cast<double>(i) / 4);
    runs.weight[i] = static_cast<double>(i % 4);
  }
  return runs;
}

TEST(Objective, GradientIsThatOfDifferences) {
  const LogRuns runs = repeated_runs();
  for (const bool free_E : {false, true}) {
    for (const bool repetition : {false, true}) {
      for (const bool one_term : {false, true}) {
        if (one_term && repetition) {
          continue;
        }
        for (const double delta : {1e-2, 0.3, 10.0}) {
          const FitForm form{free_E, repetition, delta, one_term};
          const Objective objective(runs, form);
          Coefficients x = objective.at_law({{2.0, 0.8, 0.3, 0.4, 2e-6}, 3.0});
          const size_t n = form.coefficients();
          std::vector<double> gradient(n), scratch(n);
          objective.value({x.data(), n}, gradient);
          for (size_t k = 0; k < n; ++k) {
            const double step = 1e-6, middle = x[k];
            x[k] = middle + step;
            const double above = objective.value({x.data(), n}, scratch);
            x[k] = middle - step;
            const double below = objective.value({x.data(), n}, scratch);
            x[k] = middle;
            EXPECT_NEAR(gradient[k], (above - below) / (2 * step), 2e-7 * (1 + std::abs(gradient[k])))
                << "coefficient " << k << " of " << n << ", delta " << delta;
          }
        }
      }
    }
  }
}

TEST(Objective, IsTheMeanHuberLossOfLogLosses) {
  LogRuns runs;
  runs.parameters = {0, std::log(10)};
  runs.tokens = {0, 0};
  runs.loss = {std::log(2.0), std::log(1.1) + 0.5};  // right, and off by half
  runs.weight = {1, 3};
  const Objective objective(runs, {.delta = 0.1});
  const Coefficients x = objective.at_law({{1, 1, 1, 1, 0}, 0});
  std::vector<double> gradient(4);
  EXPECT_NEAR(objective.value({x.data(), 4}, gradient), 3 * (0.5 - 0.05) / 4, 1e-12);
  const ScalingLaw law = objective.law_at(x).law;
  EXPECT_NEAR(law.A, 1, 1e-12);
  EXPECT_NEAR(law.B, 1, 1e-12);
}

// D' = U (1 + R (1 - exp(-r / R))): what a pass is worth falls off.
TEST(Objective, RepeatedTokensCountForLess) {
  LogRuns runs;
  runs.parameters = {0, 0, 0};
  runs.tokens = {std::log(100), std::log(100), std::log(100)};
  runs.epochs = {0, 3, 1e9};
  runs.loss = {0, 0, 0};
  runs.weight = {1, 1, 1};
  const Objective objective(runs, {.repetition = true, .delta = 1});
  const Coefficients x = objective.at_law({{1e-300, 1, 1, 1, 0}, 5});
  EXPECT_NEAR(objective.predicted(x, 0), -std::log(100), 1e-9);
  EXPECT_NEAR(objective.predicted(x, 1), -std::log(100 * (1 + 5 * (1 - std::exp(-0.6)))), 1e-9);
  EXPECT_NEAR(objective.predicted(x, 2), -std::log(600), 1e-9);
}

// A start may lie anywhere: terms of e^700 and more.
TEST(Objective, StaysFiniteFarAway) {
  const LogRuns runs = log_runs(paper_runs(equivariant, 0, 1));
  const Objective objective(runs, {.free_E = true, .delta = 1e-3});
  std::vector<double> gradient(5);
  for (const double height : {-2000.0, 2000.0}) {
    const Coefficients x{height, 30, -height, -30, height};
    EXPECT_TRUE(std::isfinite(objective.value({x.data(), 5}, gradient)));
    for (const double g : gradient) {
      EXPECT_TRUE(std::isfinite(g));
    }
  }
}

}  // namespace objective_test
}  // namespace weyl
