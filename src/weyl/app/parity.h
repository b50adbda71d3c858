#pragma once

#include <memory>
#include <string>

#include "weyl/saved/predictor.h"

namespace weyl {

/// Pairs of label and prediction of the test split, at most 4000 evenly taken ones of each label that the task predicts
/// as it stands, for parity plots: `folder`/parity_<label>.csv, two columns named with their units. Elements of Lie
/// groups come as their parts, each with a unit of its own: parity_<label>_translation (in the data's unit of length), _rotation (rad; of the rotation vectors that are one rotation the nearer to the label), _scale and
/// _shear (logarithms). Nothing is written for sets whose labels are all classes.
void write_parity(const Predictor& predictor, std::shared_ptr<const Dataset> test, const std::string& folder);

}  // namespace weyl
