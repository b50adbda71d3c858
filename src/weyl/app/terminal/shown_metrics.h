#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// The metrics that a line of the terminal or a picture has room for, at most `most`: the headlines first, where they are
/// among `names`, then those that are no part of another (as dice_1 is of dice), those of the first headline's kind (another
/// mae beside an mae) before the rest. The others are in metrics.csv.
std::vector<std::string> shown_metrics(const std::vector<std::string>& names,
                                       const std::vector<std::string>& headlines, size_t most = 3);

/// Whether a metric is a share or a cosine, of which more is better: accuracies, Dice, IoU and what is named by them. It is
/// drawn on a linear axis, on which 0.98 and 0.99 lie as far apart as 0.01 and 0.02.
bool is_share(std::string_view metric);

}  // namespace weyl
