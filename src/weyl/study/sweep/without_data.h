#pragma once

#include "weyl/study/sweep/measure.h"

namespace weyl {

/// cost_of a model whose data are not there: random tokens in their place, samples that would take minutes cut, and the
/// time and memory taken to grow with the FLOPs and the tokens; validation and test as forward passes of as many samples
/// as the data's options say. `epoch_tokens` is by those options too.
ModelCost cost_without_data(const Recipe& recipe, const MeasureOptions& measure, const Systems& systems);

}  // namespace weyl
