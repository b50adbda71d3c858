#pragma once

#include <string>
#include <vector>

namespace weyl {

/// The metrics that a line of the terminal or a picture has room for, at most `most`: the headlines first, where they are
/// among `names`, then those that are no part of another (as dice_1 is of dice), those of the first headline's kind (another
/// mae beside an mae) before the rest. The others are in metrics.csv.
std::vector<std::string> shown_metrics(const std::vector<std::string>& names,
                                       const std::vector<std::string>& headlines, size_t most = 3);

}  // namespace weyl
