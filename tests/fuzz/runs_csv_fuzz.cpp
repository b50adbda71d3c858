#include <cmath>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/study/scaling/isoflops.h"
#include "weyl/study/scaling/repetition.h"
#include "weyl/study/scaling/tables.h"

/// Bytes are refused, or every run is whole: a name, numbers that are positive and finite, a line of the file; and what
/// is made of runs before a fit does not fall over.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const weyl::RunTable table = weyl::parse_runs(text, "input");
    const auto sound = [](double x) { return std::isfinite(x) && x > 0; };
    for (const weyl::ScalingRun& run : table.runs) {
      if (run.system.empty() || !sound(run.parameters) || !sound(run.tokens) || !sound(run.loss) ||
          !sound(run.flops.value_or(1)) || !sound(run.budget.value_or(1)) ||
          !sound(run.unique_tokens.value_or(1)) || run.line < 2 || run.line > static_cast<int64_t>(size)) {
        std::abort();
      }
    }
    weyl::isoflops_of(table.runs, 6.0);
    weyl::log_runs(table.runs);
  } catch (const weyl::DataError&) {
  }
  try {
    for (const weyl::GivenLaw& given : weyl::parse_coefficients(text, "input")) {
      if (!given.law.has_optimum()) {
        std::abort();
      }
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
