#pragma once

#include <memory>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/data/options.h"

namespace weyl {

/// Shapes with their classes, as ModelNet gives them out: HDF5 (train*.h5, test*.h5; formats/point_clouds.h)
/// or OFF (CLASS/train/*.off, CLASS/test/*.off, classes in the order of the folders' names, which name them). Of
/// several sets of HDF5 files in a folder, as ScanObjectNN's are given out, `variant` names the one that is read
/// (modelnet_files.h). Label `class` (B, 1). Meshes are moved and scaled into the ball of radius 1 (data/shapes/surface.h) and `points` points are
/// drawn on each; of clouds the first `points` are taken, and with `fit` put into the ball. Then, as the
/// options say, the sample is turned, and becomes
///
///   grid     feature `occupancy`: 1 in the cells that hold a point (or, of meshes with fill surface, that
///            the surface touches), 0 elsewhere; or `density`, of Gaussians around the points
///            (data/shapes/voxels.h). The cells fill the cube [-extent, extent]^3, spacing 2 extent / voxels
///   points   positions of nodes, with the vectors that the options ask for (shapes/cloud_input.h), else without features
///
/// float32. Turning and drawing are pure functions of (seed, split, sample); what training changes is one of (seed, epoch,
/// sample) of the training (Dataset::augmented).
Schema modelnet_schema(const ModelnetDataOptions& options);

/// A folder. Without files valid*.h5 the validation split is drawn from the training samples by the seed.
/// DataError: no such folder, neither layout, several variants of which none is named, a broken file, fewer points or samples than asked for, another
/// number of classes than the options say, labels outside of them.
Splits open_modelnet(const ModelnetDataOptions& options);

/// Whether a folder holds one of the two layouts.
bool is_modelnet_folder(const std::string& path);

/// One .h5 file, or one .off file without a label; all its samples, turned as the test split. With
/// `classes` 0 the classes are those that the file shows.
std::shared_ptr<const Dataset> open_modelnet_file(const std::string& path,
                                                  const ModelnetDataOptions& options);

}  // namespace weyl
