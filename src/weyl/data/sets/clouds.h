#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/options.h"

namespace weyl {

/// Point clouds with their classes, from files of any of the formats of sets/cloud_reader.h in any of the layouts of
/// sets/cloud_layout.h, as points in float64: of each cloud at most `points`, drawn without repeats by (seed, name of the
/// file, number in it) and left in their order; with `fit` moved and scaled into the ball of radius 1, before they are drawn.
/// Features of nodes as the options say, by their keys: scalars, vectors, normals (Role::normal). Label `class` (B, 1), where
/// there are classes. Clouds may have different numbers of points. Then nodes are chosen, and get further vectors, as
/// shapes/cloud_input.h says.
///
/// ConfigError without a number of classes: nothing but the files could say it.
Schema clouds_schema(const CloudsDataOptions& options);

/// Splits that the layout does not give are drawn by the seed. DataError: see cloud_layout and read_clouds; classes of some
/// clouds alone, others than the options say, MemoryError: more than there is. With `faults` a file that is broken is left
/// out, and a line there says why.
Splits open_clouds(const CloudsDataOptions& options, std::vector<std::string>* faults = nullptr);

/// All clouds of one file, or of a folder without folders of classes, with the labels that the files say, if any.
std::shared_ptr<const Dataset> open_cloud_files(const std::string& path, const CloudsDataOptions& options);

}  // namespace weyl
