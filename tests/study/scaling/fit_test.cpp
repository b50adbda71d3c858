// Fits of runs whose law is known: the grid finds it, leave-one-out chooses E, the bootstrap does not hang on threads.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/study/scaling/paper_runs.h"
#include "weyl/core/check.h"
#include "weyl/study/scaling/repetition.h"
#include "weyl/study/scaling/study.h"

namespace weyl {
namespace fit_test {

constexpr FitForm paper_form{.delta = 1e-3};

void expect_near(const ScalingLaw& found, const ScalingLaw& law, double tolerance) {
  EXPECT_NEAR(found.A / law.A, 1, tolerance);
  EXPECT_NEAR(found.alpha / law.alpha, 1, tolerance);
  EXPECT_NEAR(found.B / law.B, 1, tolerance);
  EXPECT_NEAR(found.beta / law.beta, 1, tolerance);
}

TEST(ScalingFit, FindsALawWithoutNoise) {
  for (const PublishedLaw& published : {baseline, equivariant}) {
    const PointFit fit = fit_law(log_runs(paper_runs(published, 0, 0)), paper_form, 1);
    expect_near(fit.fitted.law, published.law, 1e-3);
    EXPECT_LT(fit.worst_residual, 1e-4);
    EXPECT_LE(fit.minima.size(), 3u);
  }
}

// The central values of the published laws, from losses with 2 % noise.
TEST(ScalingFit, FindsThePublishedLawsInNoise) {
  for (const PublishedLaw& published : {baseline, equivariant}) {
    ScalingOptions options{.bootstraps = 100, .grid_checks = 5, .threads = 2};
    if (published.xi == baseline.xi) {
      options.form = paper_form;  // of one, leave-one-out may choose
    }
    const SystemFit fit = fit_system(published.system, paper_runs(published, 0.02, 7), options);
    const Frontier truth = frontier_of(published.law, published.xi);
    EXPECT_FALSE(fit.fit->form.free_E);
    EXPECT_EQ(fit.fit->tried.size(), options.form ? 0u : 8u);
    EXPECT_NEAR(fit.a.value / truth.a, 1, 0.05);
    EXPECT_NEAR(fit.b.value / truth.b, 1, 0.05);
    EXPECT_NEAR(fit.gamma.value / truth.gamma, 1, 0.05);
    EXPECT_LT(fit.a.low, fit.a.value);
    EXPECT_GT(fit.a.high, fit.a.value);
    EXPECT_NEAR(*fit.xi / published.xi, 1, 1e-9);
    EXPECT_LT(fit.grid_check->worst, 0.05);
    ASSERT_TRUE(fit.isoflop_law);
    EXPECT_NEAR(fit.isoflop_law->a / truth.a, 1, 0.25);
  }
}

TEST(ScalingFit, LeaveOneOutSeesAFloor) {
  std::vector<ScalingRun> runs = paper_runs(baseline, 0.002, 3);
  for (ScalingRun& run : runs) {
    run.loss += 2e-5;  // a half of what the smallest budgets come to
  }
  const PointFit fit = fit_law(log_runs(runs), std::nullopt, 2);
  EXPECT_TRUE(fit.form.free_E);
  EXPECT_NEAR(fit.fitted.law.E / 2e-5, 1, 0.1);
}

TEST(ScalingFit, BootstrapDoesNotDependOnThreads) {
  const LogRuns runs = log_runs(paper_runs(equivariant, 0.02, 5));
  const PointFit fit = fit_law(runs, paper_form, 2);
  const auto one = resampled_laws(runs, fit, {40, 9, "x", 1}),
             three = resampled_laws(runs, fit, {40, 9, "x", 3});
  const auto other = resampled_laws(runs, fit, {40, 10, "x", 2});
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].law.A, three[i].law.A);
    EXPECT_EQ(one[i].law.beta, three[i].law.beta);
    EXPECT_NE(one[i].law.beta, other[i].law.beta);
  }
}

TEST(ScalingFit, BasicIntervals) {
  std::vector<double> resampled;
  for (int i = 0; i <= 1000; ++i) {
    resampled.push_back(1 + 0.001 * i);  // 1 .. 2
  }
  const Estimate plain = basic_interval(1.5, resampled, Spread::plain);
  EXPECT_NEAR(plain.low, 3 - 1.975, 1e-9);
  EXPECT_NEAR(plain.high, 3 - 1.025, 1e-9);
  const Estimate logarithmic = basic_interval(1.5, resampled, Spread::logarithmic);
  EXPECT_NEAR(logarithmic.low, 2.25 / 1.975, 1e-9);
  EXPECT_NEAR(logarithmic.high, 2.25 / 1.025, 1e-9);
  resampled.insert(resampled.end(), 20, std::nan(""));
  EXPECT_TRUE(std::isnan(basic_interval(1.5, resampled, Spread::plain).low));
  EXPECT_TRUE(std::isnan(basic_interval(1.5, {}, Spread::plain).low));
}

TEST(ScalingFit, FewOrAlikeRunsAreRefused) {
  const auto reason = [](std::vector<ScalingRun> runs) -> std::string {
    try {
      fit_system("x", runs, {.bootstraps = 0, .form = paper_form});
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  };
  std::vector<ScalingRun> runs = paper_runs(baseline, 0.02, 1);
  EXPECT_EQ(reason({runs.begin(), runs.begin() + 4}),
            "must have 5 runs or more that differ in size or tokens, one beyond the coefficients, has 4");
  EXPECT_EQ(reason({runs.begin(), runs.begin() + 5}), "");
  std::vector<ScalingRun> thrice = {runs[0], runs[10], runs[20], runs[1]};
  for (size_t i = 0; i < 8; ++i) {
    thrice.push_back(thrice[i]);
    thrice.back().loss *= 1.01;
  }
  EXPECT_EQ(reason(thrice),
            "must have 5 runs or more that differ in size or tokens, one beyond the coefficients, has 4 in "
            "12 runs");
  std::vector<ScalingRun> same = runs;
  for (ScalingRun& run : same) {
    run.parameters = 1000;
  }
  EXPECT_EQ(reason(same), "must have runs of two sizes or more, has one: 1000 parameters");
  same = runs;
  for (ScalingRun& run : same) {
    run.tokens = 1e6;
  }
  EXPECT_EQ(reason(same), "must have runs of two numbers of tokens or more, has one: 1e+06");
}

// Five points, three runs of each: a free E would be one coefficient a point, and intervals have a width.
TEST(ScalingFit, RunsOfOnePointCountAsOne) {
  const std::vector<ScalingRun> runs = paper_runs(baseline, 0.02, 1);
  std::vector<ScalingRun> alike;
  for (const size_t i : {0, 4, 20, 31, 50}) {
    for (const double off : {0.99, 1.0, 1.015}) {
      alike.push_back(runs[i]);
      alike.back().loss *= off;
    }
  }
  const LogRuns logs = log_runs(alike);
  EXPECT_EQ(logs.different_points(), 5u);
  const PointFit fit = fit_law(logs, std::nullopt, 2);
  EXPECT_EQ(fit.tried.size(), 4u);  // E = 0 alone
  const FitForm free{.free_E = true};
  EXPECT_THROW(fit_system("x", alike, {.bootstraps = 100, .threads = 2, .form = free}), DataError);
}

// D = 20 N: whose exponent is which cannot be told. Where losses do not fall with size at all, intervals are missing.
TEST(ScalingFit, ALawThatTheRunsDoNotDetermineIsDoubted) {
  std::vector<ScalingRun> runs = paper_runs(baseline, 0.02, 1);
  ScalingOptions options{.bootstraps = 100, .grid_checks = 10, .threads = 2, .form = FitForm{.delta = 0.1}};
  EXPECT_TRUE(fit_system("x", runs, options).notes.empty());
  std::vector<ScalingRun> line, flat;
  for (size_t i = 0; i < 24; ++i) {
    line.push_back(runs[i]);
    line.back().parameters = std::round(1e4 * std::pow(1.4, static_cast<double>(i)));
    line.back().tokens = 20 * line.back().parameters;
    line.back().flops = 6 * line.back().parameters * line.back().tokens;
    line.back().loss = 3 * std::pow(line.back().parameters, -0.3) * (i % 2 == 0 ? 1.02 : 0.98);
    flat.push_back(runs[i]);
    flat.back().loss = std::pow(runs[i].tokens, -0.3) * (i % 5 == 0 ? 1.03 : 0.98);
  }
  const SystemFit doubted = fit_system("x", line, options);
  ASSERT_EQ(doubted.notes.size(), 1u);
  EXPECT_EQ(doubted.notes[0].find("the runs do not determine the law: N and D rise together"), 0u)
      << doubted.notes[0];
  const SystemFit one_sided = fit_system("x", flat, options);
  EXPECT_TRUE(std::isnan(one_sided.gamma.value) || std::isnan(one_sided.gamma.low));
  ASSERT_EQ(one_sided.notes.size(), 1u);
  EXPECT_NE(one_sided.notes[0].find("resamples have no finite law"), std::string::npos) << one_sided.notes[0];
}

TEST(ScalingFit, WithoutFlopsWhatNeedsXiIsLeftOut) {
  std::vector<ScalingRun> runs = paper_runs(baseline, 0.02, 1);
  for (ScalingRun& run : runs) {
    run.flops.reset();
  }
  ScalingOptions options{
      .budgets = {1e17}, .bootstraps = 100, .grid_checks = 0, .threads = 2, .form = paper_form};
  const SystemFit without = fit_system("x", runs, options);
  EXPECT_FALSE(std::isnan(without.gamma.value));
  EXPECT_FALSE(std::isnan(without.G.value));
  EXPECT_TRUE(std::isnan(without.F.value));
  EXPECT_TRUE(std::isnan(without.a.value));  // budgets are not known either
  EXPECT_TRUE(at_budgets(without, {1e17}).empty());
  EXPECT_EQ(without.left_out.size(), 3u);
  options.xi["x"] = 6;
  const SystemFit with = fit_system("x", runs, options);
  EXPECT_EQ(with.xi_from, "given");
  EXPECT_FALSE(std::isnan(with.a.value));
  const auto at = at_budgets(with, {1e17, 1e25});
  EXPECT_NEAR(at[0].L.value / frontier_of(baseline.law, 6.0).loss(1e17), 1, 0.05);
  EXPECT_FALSE(at[0].outside);
  EXPECT_TRUE(at[1].outside);
  runs[0].flops = 1e16;
  EXPECT_THROW(fit_system("x", runs, options), ConfigError);  // the runs say xi themselves
}

TEST(ScalingFit, HoldOutForetellsTheLargestBudget) {
  const SystemFit fit = fit_system("x", paper_runs(baseline, 0.02, 2),
                                   {.bootstraps = 0, .threads = 2, .hold_out = true, .form = paper_form});
  ASSERT_TRUE(fit.hold_out);
  EXPECT_NEAR(fit.hold_out->budget / 1e19, 1, 0.01);
  EXPECT_EQ(fit.hold_out->runs, 9);
  EXPECT_EQ(fit.hold_out->fitted_runs, 54);
  EXPECT_LT(fit.hold_out->mean_error, 0.04);
  EXPECT_NEAR(fit.hold_out->predicted / fit.hold_out->observed, 1, 0.1);
  EXPECT_TRUE(std::isnan(fit.alpha.low));  // no bootstraps, no intervals
}

// Losses of the repetition form itself.
TEST(ScalingFit, FindsWhatRepeatedDataAreWorth) {
  std::vector<ScalingRun> runs = paper_runs(baseline, 0, 1);
  for (size_t i = 0; i < runs.size(); ++i) {
    const double epochs = std::pow(2.0, static_cast<double>(i % 7));
    runs[i].unique_tokens = runs[i].tokens / epochs;
    const double effective = *runs[i].unique_tokens * (1 + 8 * (1 - std::exp(-(epochs - 1) / 8)));
    runs[i].loss = baseline.law.loss(runs[i].parameters, effective);
  }
  ScalingOptions options{.bootstraps = 0, .threads = 2, .form = paper_form};
  const SystemFit fit = fit_system("x", runs, options);
  ASSERT_TRUE(fit.repetition);
  EXPECT_NEAR(fit.repetition->R.value / 8, 1, 0.02);
  EXPECT_NEAR(fit.repetition->beta.value / 0.379, 1, 0.01);
  EXPECT_EQ(fit.repetition->most_epochs, 64);
  ASSERT_EQ(fit.notes.size(), 1u);
  EXPECT_EQ(fit.notes[0],
            "54 of 63 runs saw their data more than once (up to 64 passes), and the law takes repeated "
            "tokens as new; --epochs leaves them out");
  options.most_epochs = 2;
  *runs[1].unique_tokens *= 0.9995;  // the rounding of a last batch
  const SystemFit few = fit_system("x", runs, options);
  EXPECT_EQ(few.runs, 18);
  EXPECT_EQ(few.repetition->runs, 63);
  runs[3].unique_tokens.reset();
  const SystemFit silent = fit_system("x", runs, options);
  EXPECT_FALSE(silent.repetition);
  EXPECT_EQ(silent.notes.back(), "1 of 19 runs do not say their unique_tokens and pass --epochs");
  EXPECT_THROW(fit_study({"runs.csv", paper_runs(baseline, 0, 1), {}}, options), ConfigError);
}

TEST(ScalingFit, RatiosOfEqualLossAndEqualCompute) {
  RunTable table{"runs.csv", {}, {}};
  for (const PublishedLaw& published : {baseline, equivariant}) {
    for (const ScalingRun& run : paper_runs(published, 0.02, 11)) {
      table.runs.push_back(run);
    }
  }
  table.runs.push_back({"lonely", 1, 2, 3, {}, {}, {}, 200});
  const ScalingStudy study = fit_study(
      table, {.budgets = {1e18}, .bootstraps = 200, .grid_checks = 0, .threads = 2, .form = paper_form});
  ASSERT_EQ(study.systems.size(), 2u);
  ASSERT_EQ(study.refused_systems.size(), 1u);
  EXPECT_EQ(study.refused_systems[0].quantity, "lonely");
  ASSERT_EQ(study.ratios.size(), 1u);
  const SystemRatio& ratio = study.ratios[0];
  EXPECT_EQ(ratio.system, "equivariant");
  EXPECT_NEAR(ratio.budgets[0].loss.value, 2.0, 0.1);
  EXPECT_LT(ratio.budgets[0].loss.low, 2.0);
  EXPECT_GT(ratio.budgets[0].loss.high, 1.95);
  // L = F C^-gamma: the other needs ratio^(1 / gamma) times the compute.
  EXPECT_NEAR(ratio.budgets[0].compute.value,
              std::pow(ratio.budgets[0].loss.value, 1 / study.systems[0].gamma.value), 1e-6);
  EXPECT_EQ(ratio.curve.size(), 25u);
  EXPECT_THROW(fit_study(table, {.xi = {{"nobody", 6}}, .bootstraps = 0, .form = paper_form}), ConfigError);
  table.runs.erase(table.runs.begin(), table.runs.end() - 1);
  EXPECT_THROW(fit_study(table, {.bootstraps = 0, .form = paper_form}), DataError);
}

}  // namespace fit_test
}  // namespace weyl
