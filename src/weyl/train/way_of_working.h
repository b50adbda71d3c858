#pragma once

#include <string>
#include <string_view>

#include "weyl/models/options.h"

namespace weyl {

/// model.platonic.linear says how results are worked out, not what they are: either form is the same function of the same
/// weights, to rounding, and nothing else of a checkpoint (states of the optimiser, averages) knows of it. So it may change
/// between a model and a run that starts from it, and when a run is resumed.
bool is_way_of_working(std::string_view key);

/// Makes the way of `into` that of `from`, two models of one system. A line that says what has changed; empty: nothing.
/// ConfigError: another one that is "auto", which the interface of a new model decides.
std::string take_way_of_working(const ModelOptions& from, ModelOptions& into);

}  // namespace weyl
