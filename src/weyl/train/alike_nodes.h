#pragma once

#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/carriers/quantity.h"
#include "weyl/models/options.h"

namespace weyl {

/// A line for the user where a model will meet graphs in which it sees no geometry though it does in others: softmax
/// attention of a Platonic Transformer takes weighted means of values, which are all the same where nodes are alike, unless
/// something else tells where they are. Of graphs whose nodes are not all in one place, of samples from all over the set.
/// Empty: none, or another model.
std::string note_on_alike_nodes(const ModelOptions& model, const Interface& interface, const Dataset& train);

}  // namespace weyl
