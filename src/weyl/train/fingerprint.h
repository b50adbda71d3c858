#pragma once

#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/core/json.h"

namespace weyl {

/// What tells the data of a run from others, of each split: the number of samples, the number of tokens of each,
/// the contents (inputs and labels, as the model gets them, before augmentation) of all samples up to a million
/// tokens; of larger splits those of evenly spread ones, the first and the last among them, that have about as many
/// together, and of the same samples positions (elements, values) and labels alone, which runs of other features share
/// (`weyl compare`). It does not depend on where the files are, nor on their format. What it cannot see is a change of a
/// sample of a large split that was not looked at, if it keeps its number of tokens.
Json fingerprint(const Splits& data);

/// What differs, as one line; empty: nothing.
std::string changes_of_data(const Json& now, const Json& then);

}  // namespace weyl
