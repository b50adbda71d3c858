#pragma once

#include <string>
#include <vector>

namespace weyl {

/// Draws what a run's files hold: learning_curve (metrics.csv) and parity (plots/parity.csv, written at the
/// end of training) as .png and .svg into `out`. Returns the files. DataError when the run has no metrics.csv
/// with rows.
std::vector<std::string> draw_run(const std::string& run, const std::string& out);

}  // namespace weyl
