#pragma once

#include <string>

#include "weyl/study/scaling/estimate.h"
#include "weyl/study/scaling/isoflops.h"

namespace weyl {

/// Numbers of a scaling study as tables show them; "-" for what is not known.
std::string number(double value, const char* format = "%.5g");

/// An absolute log error as per cent: "1.6 %".
std::string percent(double log_error);

/// "2.48e+05 (2.1e+05, 2.9e+05)": an interval where there is one.
std::string with_interval(const Estimate& estimate);

/// What the minimum of an isoflop is worth: "a bound: the best size is this or smaller".
const char* sentence_of(MinimumKind kind);

}  // namespace weyl
