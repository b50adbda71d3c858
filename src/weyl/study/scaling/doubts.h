#pragma once

#include <string>

#include "weyl/study/scaling/system_fit.h"

namespace weyl {

/// Why the runs do not determine the law that was fitted to them, in one line; "" where nothing speaks against it. Looked at
/// are whether log N and log D rise together (a correlation over 0.99: their terms cannot be told apart), whether fits of
/// resamples from the whole grid come to exponents that differ by more than a tenth, and whether more than one in a
/// hundred resamples has no finite coefficients or no best size.
std::string doubt_of(const SystemFit& fit, const LogRuns& runs);

/// Says in `left_out` which of these intervals are missing though there are resamples.
struct NamedEstimate {
  const char* name;
  const Estimate& estimate;
};
void explain_missing_intervals(SystemFit& fit, const std::vector<NamedEstimate>& estimates);

}  // namespace weyl
