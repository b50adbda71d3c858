// Whether 95 % intervals hold the truth as often as they say: losses are made from the published laws with 2 % noise, again
// and again, and fitted. A share of what scripts/scaling_coverage does, with E and delta given, which is quick; the
// environment says how much:
//   WEYL_COVERAGE_REPETITIONS (60), WEYL_COVERAGE_BOOTSTRAPS (300), WEYL_COVERAGE_CHOICE (0; 1: E and delta by leave-one-out,
//   as `weyl scale fit` has them)
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "tests/study/scaling/paper_runs.h"
#include "weyl/study/scaling/study.h"
#include "weyl/study/scaling/system_fit.h"

namespace weyl {
namespace coverage_test {

int64_t from_environment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

constexpr double budget = 1e18;

/// How often each quantity was held, by name.
class Held {
 public:
  void add(const std::string& name, const Estimate& estimate, double truth) {
    held_[name] += estimate.low <= truth && truth <= estimate.high ? 1 : 0;
  }

  /// Prints the shares; all of many repetitions, and the mean of few, must be near 95 %.
  void check(int64_t repetitions) const {
    double mean = 0;
    for (const auto& [name, count] : held_) {
      const double share = static_cast<double>(count) / static_cast<double>(repetitions);
      std::printf("%-36s %5.1f %% of %lld\n", name.c_str(), 100 * share, static_cast<long long>(repetitions));
      mean += share / static_cast<double>(held_.size());
      if (repetitions >= 200) {
        EXPECT_GE(share, 0.88) << name;
        EXPECT_LE(share, 0.99) << name;
      }
    }
    EXPECT_GE(mean, 0.88);
    EXPECT_LE(mean, 0.99);
  }

 private:
  std::map<std::string, int64_t> held_;
};

void add(Held& held, const SystemFit& fit, const PublishedLaw& published) {
  const ScalingLaw& law = published.law;
  const Frontier truth = frontier_of(law, published.xi);
  const AtBudget at = at_budgets(fit, {budget}).at(0);
  const std::string name = fit.system + " ";
  held.add(name + "A", fit.A, law.A);
  held.add(name + "alpha", fit.alpha, law.alpha);
  held.add(name + "B", fit.B, law.B);
  held.add(name + "beta", fit.beta, law.beta);
  held.add(name + "a", fit.a, truth.a);
  held.add(name + "b", fit.b, truth.b);
  held.add(name + "gamma", fit.gamma, truth.gamma);
  held.add(name + "G", fit.G, truth.G);
  held.add(name + "F", fit.F, truth.F);
  held.add(name + "N*(1e18)", at.N, truth.parameters(budget));
  held.add(name + "D*(1e18)", at.D, truth.tokens(budget));
  held.add(name + "L*(1e18)", at.L, truth.loss(budget));
}

TEST(Coverage, IntervalsHoldTheTruthAsOftenAsTheySay) {
  const int64_t repetitions = from_environment("WEYL_COVERAGE_REPETITIONS", 60);
  ScalingOptions options{.bootstraps = from_environment("WEYL_COVERAGE_BOOTSTRAPS", 300), .grid_checks = 0};
  if (from_environment("WEYL_COVERAGE_CHOICE", 0) == 0) {
    options.form = FitForm{.delta = 0.1};  // what leave-one-out comes to in nine tables of ten
  }
  const Frontier better = frontier_of(equivariant.law, equivariant.xi),
                 worse = frontier_of(baseline.law, baseline.xi);
  ASSERT_LT(better.loss(budget), worse.loss(budget));
  Held held;
  int64_t free = 0, other_delta = 0;
  for (int64_t i = 0; i < repetitions; ++i) {
    options.seed = static_cast<uint64_t>(i);
    std::vector<SystemFit> fits;
    for (const PublishedLaw& published : {baseline, equivariant}) {
      fits.push_back(fit_system(published.system, paper_runs(published, 0.02, 1000 + options.seed), options));
      ASSERT_TRUE(fits.back().sizes_bracketed);
      add(held, fits.back(), published);
      free += fits.back().fit->form.free_E ? 1 : 0;
      other_delta += fits.back().fit->form.delta != 0.1 ? 1 : 0;
    }
    const std::vector<SystemRatio> ratios = ratios_of(fits, {budget}, {});
    ASSERT_EQ(ratios.size(), 1u);
    ASSERT_EQ(ratios[0].system, "equivariant");
    held.add("ratio of compute at equal loss", ratios[0].budgets.at(0).compute,
             worse.flops_for(better.loss(budget)) / budget);
    held.add("ratio of losses at equal compute", ratios[0].budgets.at(0).loss,
             worse.loss(budget) / better.loss(budget));
  }
  std::printf("E was free in %lld, delta another than 0.1 in %lld of %lld fits\n",
              static_cast<long long>(free), static_cast<long long>(other_delta),
              2 * static_cast<long long>(repetitions));
  held.check(repetitions);
}

// The way of the verb, whole, but for the resamples: E and delta by leave-one-out.
TEST(Coverage, CentralExponentsAreWithinFivePerCent) {
  double worst = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    for (const PublishedLaw& published : {baseline, equivariant}) {
      const SystemFit fit =
          fit_system(published.system, paper_runs(published, 0.02, seed), {.bootstraps = 0});
      const Frontier truth = frontier_of(published.law, published.xi);
      for (const auto& [name, value, right] : {std::tuple("a", fit.a.value, truth.a),
                                               {"b", fit.b.value, truth.b},
                                               {"gamma", fit.gamma.value, truth.gamma}}) {
        worst = std::max(worst, std::abs(value / right - 1));
        EXPECT_NEAR(value / right, 1, 0.05) << published.system << " " << name << ", seed " << seed;
      }
    }
  }
  std::printf("worst of 30: %.2f %%\n", 100 * worst);
}

}  // namespace coverage_test
}  // namespace weyl
