#pragma once

#include "weyl/carriers/batch.h"

namespace weyl {

/// What most of each grid's border is in each channel, the lower median of the cells there, of x (B, C, cells...):
/// (B, C, 1, ...). Turns of the grid keep it to the bit. The least value would not do: of volumes that are normalised over
/// their object the background stays 0, and the object's darker half lies below.
Tensor background_of(const Tensor& x);

}  // namespace weyl
