#pragma once

#include <memory>
#include <string>

#include "weyl/core/overwrite.h"
#include "weyl/saved/predictor.h"

namespace weyl {

/// Predictions of classes into a folder, sample by sample: a `mask` of the cells as a file in the format and the size
/// of the sample's own file (data/images/prediction.h), named after it (of images with two classes 0 and 255), with
/// `probabilities` also STEM_probabilities; classes of whole samples as rows of predictions.csv: sample, source,
/// class, its name where the model knows it, and the probabilities. `overwrite` says which files that are there may be replaced, the samples' own never; it is
/// asked before the first sample. Returns the number of samples done: fewer
/// when stopped, and then there is no predictions.csv. ConfigError: a model whose predictions are no classes, of
/// samples of any kind or of the cells of a grid, a file that is not to be replaced; DataError: samples without a file of their own, a folder that cannot be written.
int64_t predict_into_folder(const Predictor& predictor, std::shared_ptr<const Dataset> data,
                            const std::string& where, const std::string& folder, bool probabilities,
                            Overwrite overwrite = {}, const PredictorCalls& calls = {});

}  // namespace weyl
