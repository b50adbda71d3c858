#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weyl/data/formats/atoms_frame.h"
#include "weyl/data/options.h"

namespace weyl {

/// The channel of its feature that the state of a frame has, 0 .. channels - 1: of its value, less the least. DataError
/// naming `where`: the frame has none, or no whole number, or one that is not of the state's or, of a model, that none
/// of its training data had. `option` is the option that says the state, for messages.
int64_t channel_of(const FrameState& state, const AtomsFrame& frame, std::string_view where,
                   std::string_view option);

}  // namespace weyl
