#include "weyl/study/scaling/doubts.h"

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

constexpr double high_correlation = 0.99;
constexpr double large_difference = 0.1;  // of exponents, relative

double mean_of(const std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) {
    mean += value / static_cast<double>(values.size());
  }
  return mean;
}

// Pearson's, of log N and log D.
double correlation(const LogRuns& runs) {
  const double n = mean_of(runs.parameters), d = mean_of(runs.tokens);
  double nn = 0, dd = 0, nd = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    nn += (runs.parameters[i] - n) * (runs.parameters[i] - n);
    dd += (runs.tokens[i] - d) * (runs.tokens[i] - d);
    nd += (runs.parameters[i] - n) * (runs.tokens[i] - d);
  }
  return nd / std::sqrt(nn * dd);
}

bool finite(const ScalingLaw& law) {
  return law.has_optimum() && law.A > 0 && law.B > 0 && std::isfinite(law.A) && std::isfinite(law.B) &&
         std::isfinite(law.alpha) && std::isfinite(law.beta) && std::isfinite(law.E);
}

int64_t not_finite(const SystemFit& fit) {
  return std::ranges::count_if(fit.resampled, [](const ScalingLaw& law) { return !finite(law); });
}

}  // namespace

std::string doubt_of(const SystemFit& fit, const LogRuns& runs) {
  std::vector<std::string> reasons;
  if (const double r = correlation(runs); r > high_correlation) {
    reasons.push_back(text("N and D rise together (their logarithms correlate by ", short_number(r),
                           "; runs that differ in tokens at one size would tell)"));
  }
  if (fit.grid_check && !(fit.grid_check->worst <= large_difference)) {
    reasons.push_back(text("fits of a resample from other starts come to exponents that differ by ",
                           short_number(std::round(100 * fit.grid_check->worst)), " %"));
  }
  if (const int64_t lost = not_finite(fit); 100 * lost > std::ssize(fit.resampled)) {
    reasons.push_back(
        text(lost, " of ", fit.resampled.size(), " resamples have no finite law with a best size"));
  }
  std::string line;
  for (const std::string& reason : reasons) {
    line += (line.empty() ? "the runs do not determine the law: " : "; ") + reason;
  }
  return line;
}

void explain_missing_intervals(SystemFit& fit, const std::vector<NamedEstimate>& estimates) {
  std::string names;
  for (const NamedEstimate& each : estimates) {
    if (std::isfinite(each.estimate.value) && std::isnan(each.estimate.low)) {
      names += (names.empty() ? "" : ", ") + std::string(each.name);
    }
  }
  if (!fit.resampled.empty() && !names.empty()) {
    fit.left_out.push_back(
        {"intervals of " + names,
         text("more than one in a hundred of ", fit.resampled.size(), " resamples has no finite value (",
              not_finite(fit), " have no law with a best size): the runs do not determine the law")});
  }
}

}  // namespace weyl
