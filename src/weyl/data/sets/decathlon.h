#pragma once

#include <memory>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/data/options.h"

namespace weyl {

/// Volumes of several modalities with masks, from a folder with dataset.json (formats/decathlon.h) and NIfTI
/// files: feature `modalities` of C channels, label `mask` (B, 1, X, Y, Z) of K classes, float32, axes in
/// canonical order (data/images/volume_tensor.h), spacing in mm. The labelled cases are split at random by the seed.
/// A volume of more than `limit` MiB is a DataError, told from its header.
/// Volumes are read when they are asked for and kept as long as the cache holds them, so that a set may be
/// larger than memory; one sample's file is its source (data/images/prediction.h). Channels and classes are called as
/// dataset.json has them.
///
/// A batch of volumes of different sizes or spacings is a DataError that names two of them: train in batches
/// of 1, or on crops of one size.
Schema decathlon_schema(const DecathlonDataOptions& options);

/// Looks at all headers. DataError: no such folder or file, another number of channels or classes than the
/// options say, image and mask of different sizes or (with check_geometry) more than a tenth of a voxel
/// apart, fewer cases than asked for.
Splits open_decathlon(const DecathlonDataOptions& options);

/// Volumes without masks: one file, or the .nii and .nii.gz files of a folder in the order of their names.
/// `modalities` 0: as many as the first file has. Their channels have names where a dataset.json beside them or in the
/// folder above lists them.
std::shared_ptr<const Dataset> open_volume_files(const std::string& path,
                                                 const DecathlonDataOptions& options);

/// Whether a folder has a dataset.json, and whether it has volumes without one.
bool is_decathlon_folder(const std::string& path);
bool is_volume_folder(const std::string& path);

}  // namespace weyl
