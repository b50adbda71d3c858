#pragma once

#include <span>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/parts.h"

namespace weyl {

/// Samples that a training looks at before it begins have at most so many tokens together, of which there are a second's
/// worth.
constexpr int64_t tokens_of_doubts = int64_t{1} << 24;

/// Doubts about the data of a training: no validation split, splits of one sample or none, and what SampleChecks find
/// of all splits, by the `labels` that are learned. Of larger sets the first samples of each split are looked at, the
/// same share of all, and a line says how many. One pass over the data, 256 samples in memory.
std::vector<std::string> doubts_about(const Splits& data, std::span<const Quantity> labels,
                                      int64_t most_tokens = tokens_of_doubts);

/// The same of the parts of a file that were just written to `folder` (split.h): identical samples, and parts of one
/// sample or none.
std::vector<std::string> doubts_about_parts(const std::string& folder, const SplitIndices& parts);

}  // namespace weyl
