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

/// How many samples of a set are those of the training split that a run's fingerprint `then` is of, as far as it tells: all
/// of them where the set is that split; and where it is `whole`, the run's own files from which the splits were drawn, as
/// many as the split has. 0: none is known to be.
int64_t training_samples_in(const Dataset& data, const Json& then, bool whole);

/// What differs between two fingerprints, as one line; empty: nothing.
std::string changes_of_data(const Json& now, const Json& then);

}  // namespace weyl
