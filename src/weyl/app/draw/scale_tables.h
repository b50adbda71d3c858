#pragma once

#include <string>
#include <vector>

#include "weyl/app/draw/table.h"
#include "weyl/study/scaling/study.h"

namespace weyl {

/// Numbers of a scaling study as tables show them; "-" for what is not known.
std::string number(double value, const char* format = "%.5g");

/// An absolute log error as per cent: "1.6 %".
std::string percent(double log_error);

/// "2.48e+05 (2.1e+05, 2.9e+05)": an interval where there is one. `format` is that of the value.
std::string with_interval(const Estimate& estimate, const char* format = "%.3g");

/// What the minimum of an isoflop is worth: "a bound: the best size is this or smaller".
const char* sentence_of(MinimumKind kind);

/// Fits for people: whether the runs determine the laws, coefficients with intervals, budgets, isoflops, ratios, and what is left out and why.
std::string text_of(const ScalingStudy& study);

/// The same rows as tables, and the test on the largest budget. No table where there is nothing to tell.
std::vector<Table> study_tables(const ScalingStudy& study);

/// What each system came to at each budget, whether a law was fitted or not: the size of the lowest mean loss, and what
/// its runs differ by. Nothing of runs that say no budget.
std::vector<Table> loss_tables(const std::vector<ScalingRun>& runs);

/// A data scaling (scale_figures.h): amounts of data, and of each system the mean of its runs, the least and the most of
/// them. Nothing where there is none.
std::vector<Table> data_scaling_tables(const std::vector<ScalingRun>& runs);

/// Which laws the runs determine, in one line, for all that shows them: "law not determined: a; law determined: b, c"; their
/// number where the names are too long for a picture.
/// `unfitted` are systems without a law.
std::string verdict_of(const ScalingStudy& study, const std::vector<std::string>& unfitted);
/// The same as a table, which says why.
std::vector<Table> verdict_tables(const ScalingStudy& study, const std::vector<std::string>& unfitted);

}  // namespace weyl
