#pragma once

#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/core/json.h"

namespace weyl {

/// Fingerprint of a run's data, which tells them from other data. For each split it holds
///
///   samples, tokens     their numbers
///   contents            a hash of the number of tokens of every sample, and of the inputs and labels of the samples
///                       that are looked at, as the model gets them, before augmentation
///   places_and_labels   a hash of the positions (elements, values) and labels alone of the same samples, which is
///                       equal for runs with other features (`weyl compare`)
///
/// In a split of up to a million tokens (2^20) every sample is looked at. In a larger one evenly spread samples are,
/// with about as many tokens together, the first and the last sample among them.
///
/// The fingerprint does not depend on where the files are, nor on their format. It misses a change of a sample that was
/// not looked at, if the sample keeps its number of tokens.
Json fingerprint(const Splits& data);

/// What differs between two fingerprints, as one line; empty: nothing.
std::string changes_of_data(const Json& now, const Json& then);

}  // namespace weyl
