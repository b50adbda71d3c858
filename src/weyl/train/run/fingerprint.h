#pragma once

#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/core/json.h"

namespace weyl {

/// Fingerprint of a run's data, which tells them from other data. For each split it holds
///
///   samples, tokens     their numbers
///   names               where samples have names (case_name): a hash of them in their order
///   contents            a hash of the number of tokens of every sample, and of the inputs and labels of the samples
///                       that are looked at, as the model gets them, before augmentation
///   places_and_labels   a hash of the positions (elements, values) and labels alone of the same samples, which is
///                       equal for runs with other features (`weyl compare`)
///   looked_at           of the training split: how many samples are looked at
///   sample_hashes       of these: hashes of the inputs of each, by which it is known again in other data; the least 1024,
///                       which are a fair choice
///
/// In a split of up to a million tokens (2^20) every sample is looked at. In a larger one evenly spread samples are,
/// with about as many tokens together, the first and the last sample among them.
///
/// The fingerprint does not depend on where the files are, nor on their format. It misses a change of a sample that was
/// not looked at, if the sample keeps its name and its number of tokens.
Json fingerprint(const Splits& data);

/// The fingerprint of one split as words that differ where it does: "60 samples of 300 tokens, contents 8f0c...". Null: "no samples".
std::string words_of_split(const Json* split);

/// How many samples of a set are of a run's training split.
struct TrainingSamples {
  int64_t count = 0;
  bool exact = true;  // false: estimated from those that were looked at and whose hashes are kept
};

/// The samples of a set whose inputs, bit for bit, are those of a sample of the training split that the fingerprint `then`
/// is of; none where it has no hashes of samples. Of a split of more than 1024 samples, few of them among many others may
/// be missed.
TrainingSamples training_samples_in(const Dataset& data, const Json& then);

/// What differs between two fingerprints, as one line; empty: nothing.
std::string changes_of_data(const Json& now, const Json& then);

}  // namespace weyl
