#pragma once

#include <string>

#include "weyl/carriers/points.h"
#include "weyl/core/atomic_file.h"

namespace weyl {

/// Writes what a model says of the cells of one sample as a file in the format and with the geometry of the
/// sample's own file (Dataset::source): classes (spatial...) of whole numbers, of pictures 0 .. 255, or numbers
/// (K, spatial...) such as the probabilities of K classes. `stem` is the path without its ending; returns the
/// path that was written.
///
///   .nii, .nii.gz   the same version, affine bits and axes as the source, which the tensor has in canonical
///                   order (data/volumes/volume_tensor.h): u8 (u16 beyond 255) of sizes (X, Y, Z), or float32 of (X, Y, Z, K)
///   .mha, .nrrd    the same as .nii.gz, on the grid of the source
///   .png, .jpg, .jpeg, .bmp   classes alone, as a grey .png in the source's height and width, each pixel the
///                   nearest of the tensor's (H, W): 0 and 255 where `classes` is 2, else their numbers
///
/// DataError: the source cannot be read or is of no format that is written; ShapeError: the sizes are not
/// those of the source.
std::string write_prediction(const std::string& source, const std::string& stem, const Tensor& values,
                             int64_t classes = 0, Existing existing = Existing::replace);

/// The path that write_prediction writes for that stem. DataError: a source of no format that is written.
std::string prediction_path(const std::string& source, const std::string& stem);

}  // namespace weyl
