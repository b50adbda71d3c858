#pragma once

#include "weyl/saved/predictor.h"

namespace weyl {

/// Writes pictures of up to `count` samples of a segmentation, evenly taken, as FOLDER/overlay_<i>.safetensors with
/// `image` (H, W, 3), `truth` and `prediction` (H, W), u8, and in the metadata the names of the classes, one a line,
/// and a title with the sample's number and its mean Dice. A volume shows the slice along the last axis with the most
/// foreground, first axis to the right and second upwards. Nothing for other tasks.
void write_overlays(const Predictor& predictor, const Dataset& test, const std::string& folder,
                    int64_t count = 4);

}  // namespace weyl
