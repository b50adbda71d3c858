#pragma once

#include <string>

#include "weyl/study/scaling/study.h"

namespace weyl {

/// Fits for people: coefficients with intervals, budgets, isoflops, ratios, and what is left out and why.
std::string text_of(const ScalingStudy& study);

}  // namespace weyl
