#pragma once

#include "weyl/core/tensor_file.h"
#include "weyl/models/gatr/options.h"

namespace weyl::gatr {

/// A state dict of the authors' GATr or AxialGATr under our names, which are theirs, but for the number of the last
/// layer of feed-forward parts (theirs counts dropout) and without the frequencies of rotary encodings, which follow
/// from `rotary`. DataError: weights with multi-query attention for a model without, or the other way round.
NamedTensors translated_names(const NamedTensors& state_dict, const Options& options);

}  // namespace weyl::gatr
