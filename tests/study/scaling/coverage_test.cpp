// Whether 95 % intervals hold the truth as often as they say: losses are made from the published laws with 2 % noise, again
// and again, and fitted. A share of what scripts/scaling_coverage does; the environment says how much:
//   WEYL_COVERAGE_REPETITIONS (60), WEYL_COVERAGE_BOOTSTRAPS (300), WEYL_COVERAGE_CHOICE (0; 1: E and delta by leave-one-out)
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tests/study/scaling/paper_runs.h"
#include "weyl/study/scaling/system_fit.h"

namespace weyl {
namespace {

int64_t from_environment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

constexpr std::array<const char*, 7> names{"alpha", "beta", "a", "b", "gamma", "F", "L*(1e18)"};

std::array<bool, 7> covered(const SystemFit& fit, const PublishedLaw& published) {
  const Frontier truth = frontier_of(published.law, published.xi);
  const auto holds = [](const Estimate& estimate, double value) {
    return estimate.low <= value && value <= estimate.high;
  };
  return {holds(fit.alpha, published.law.alpha),
          holds(fit.beta, published.law.beta),
          holds(fit.a, truth.a),
          holds(fit.b, truth.b),
          holds(fit.gamma, truth.gamma),
          holds(fit.F, truth.F),
          holds(at_budgets(fit, {1e18}).at(0).L, truth.loss(1e18))};
}

TEST(Coverage, IntervalsHoldTheTruthAsOftenAsTheySay) {
  const int64_t repetitions = from_environment("WEYL_COVERAGE_REPETITIONS", 60);
  const bool whole = repetitions >= 200;
  ScalingOptions options{.bootstraps = from_environment("WEYL_COVERAGE_BOOTSTRAPS", 300), .grid_checks = 0};
  if (from_environment("WEYL_COVERAGE_CHOICE", 0) == 0) {
    options.form = FitForm{.delta = 0.1};  // what leave-one-out comes to with such noise
  }
  int64_t all_held = 0;
  for (const PublishedLaw& published : {baseline, equivariant}) {
    std::array<int64_t, 7> held{};
    for (int64_t i = 0; i < repetitions; ++i) {
      options.seed = static_cast<uint64_t>(i);
      SystemFit fit = fit_system(published.system, paper_runs(published, 0.02, 1000 + options.seed), options);
      ASSERT_TRUE(fit.sizes_bracketed);
      const auto one = covered(fit, published);
      for (size_t q = 0; q < names.size(); ++q) {
        held[q] += one[q] ? 1 : 0;
      }
    }
    for (size_t q = 0; q < names.size(); ++q) {
      const double share = static_cast<double>(held[q]) / static_cast<double>(repetitions);
      std::printf("%-12s %-9s %5.1f %% of %lld\n", published.system, names[q], 100 * share,
                  static_cast<long long>(repetitions));
      all_held += held[q];
      if (whole) {
        EXPECT_GE(share, 0.88) << published.system << " " << names[q];
        EXPECT_LE(share, 0.99) << published.system << " " << names[q];
      }
    }
  }
  // Of a few repetitions no quantity alone says much; all together do.
  const double share =
      static_cast<double>(all_held) / (2.0 * names.size() * static_cast<double>(repetitions));
  EXPECT_GE(share, 0.88);
  EXPECT_LE(share, 0.99);
}

}  // namespace
}  // namespace weyl
