#pragma once

#include <span>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/base/parts.h"

namespace weyl {

/// The most tokens, all splits together, that are looked at before a training begins: about as many as take a second.
constexpr int64_t most_tokens_compared = int64_t{1} << 24;

/// Warnings about the data of a training: there is no validation split; a split has one sample or none; and what
/// SampleChecks find in all splits, for the `labels` that are learned. Where the splits have more than `most_tokens`
/// tokens, only the first samples of each split are looked at, the same share of each, and a line says how many. Passes
/// over the data once, with at most 256 samples in memory (of grids one).
std::vector<std::string> data_warnings(const Splits& data, std::span<const Quantity> labels,
                                       int64_t most_tokens = most_tokens_compared);

/// The same for the parts of a file that were just written to `folder` (convert.h): identical samples, and parts of one
/// sample or none.
std::vector<std::string> warnings_about_parts(const std::string& folder, const SplitIndices& parts);

}  // namespace weyl
