#pragma once

#include <string>
#include <vector>

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

/// Fits for people: coefficients with intervals, budgets, isoflops, ratios, and what is left out and why.
std::string text_of(const ScalingStudy& study);

/// The same rows as tables in HTML, and the test on the largest budget. No table where there is nothing to tell.
std::string html_of(const ScalingStudy& study);

/// What each system came to at each budget, whether a law was fitted or not: the size of the lowest mean loss, and what
/// its runs differ by. Nothing of runs that say no budget.
std::string html_losses(const std::vector<ScalingRun>& runs);

/// A data scaling (scale_figures.h): amounts of data, and of each system the mean of its runs, the least and the most of
/// them. Nothing where there is none.
std::string html_data_scaling(const std::vector<ScalingRun>& runs);

}  // namespace weyl
