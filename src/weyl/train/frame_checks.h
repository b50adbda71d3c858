#pragma once

#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/train/checkpoint.h"

namespace weyl {

/// Of a model that is run in the principal axes of each sample (model.frames; models/framed_model.h), before it is trained:
/// how many samples of the training split have no axes of their own, a line, empty where all have some or there are no
/// frames. DataError, the sample named: the task differentiates outputs by positions, and a sample of any split has no axes
/// there. Of large splits samples evenly spread are looked at.
std::string check_axes(const SavedModel& saved, const Splits& data);

}  // namespace weyl
