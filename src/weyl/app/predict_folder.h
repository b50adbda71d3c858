#pragma once

#include "weyl/app/command_line.h"

namespace weyl {

/// `weyl predict` of grids into a folder, sample by sample: what the task says of cells as a file for each,
/// in the format and the size of the sample's own file (data/images/prediction.h), named after it: `mask` as the
/// classes (of images with two 0 and 255), with --probabilities also STEM_probabilities; of whole samples a
/// row of predictions.csv: sample, source, class, and the probabilities. Files that are there are never
/// replaced. ConfigError: another carrier, a task without classes; DataError: samples without a file of their
/// own.
int predict_folder(const PredictCommand& command);

}  // namespace weyl
