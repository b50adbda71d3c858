#pragma once

#include <memory>
#include <string>

#include "weyl/core/output_files.h"
#include "weyl/saved/predictor.h"

namespace weyl {

/// Writes predictions of classes into a folder, sample by sample:
///
/// * A `mask` of the cells of a grid becomes a file in the format and the size of the sample's own file
///   (data/images/prediction.h), and is named after it. The mask of images with two classes has the values 0 and 255.
///   With `probabilities` there is also STEM_probabilities.
/// * A `mask` of the points of a cloud becomes a PLY of all points of the sample's file, each with the class of the node nearest to
///   it and its colour, with `probabilities` these, too (data/clouds/ply.h). It is named after the sample, in the folder that the sample's
///   file has below the deepest one that holds them all; predictions.csv has the rows sample, source, output.
/// * Classes of whole samples become rows of predictions.csv: sample, source, class, its name where the model knows it,
///   the probabilities and, for several models, their standard deviations.
///
/// `overwrite` says which existing files may be replaced, and is asked before the first sample; files of the samples
/// never are. Returns the number of samples done: fewer than all when stopped, and then there is no predictions.csv.
///
/// ConfigError: the model predicts no classes of samples, of points or of the cells of a grid; a file may not be replaced.
/// DataError: a sample has no file of its own; the folder cannot be written.
int64_t predict_into_folder(const Predictor& predictor, const std::shared_ptr<const Dataset>& data,
                            const std::string& where, const std::string& folder, bool probabilities,
                            Overwrite overwrite = {}, const PredictorCalls& calls = {});

}  // namespace weyl
