#pragma once

#include "weyl/carriers/dataset.h"
#include "weyl/core/json.h"

namespace weyl {

/// What the splits of a data set hold as far as losses are numbers of it, for require_comparable (study/sweep/comparable.h):
/// of each split there is the number of "samples" and a hash of "labels", the same for a sample as points and as a
/// grid; of validation and test also "tokens" and "places_and_labels" (train/fingerprint.h). Labels are those of all
/// samples, of large splits of a thousand evenly spread ones.
Json evaluated_samples(const Splits& data);

}  // namespace weyl
