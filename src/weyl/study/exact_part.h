#pragma once

#include <string>

#include "weyl/models/model.h"

namespace weyl {

/// What of the samples an audit can hold a model to, where exactness depends on the sample (Model::symmetry_for); `note`
/// then says what was left out and why. Of points those that nothing stands in the way of; DataError where none is left.
/// Of grids, where nothing is exact for as many cells as they have, the largest square or cube in their middle for which
/// something is. Else the samples as they are.
Batch exact_part(const Model& model, const Batch& samples, const Schema& schema, std::string& note);

}  // namespace weyl
