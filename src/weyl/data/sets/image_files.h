#pragma once

#include <memory>
#include <optional>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/data/options.h"

namespace weyl {

/// One file of images as a data set of its own (.amat, IDX, and .npz where the options are of
/// `rotated_mnist`), as the options of its set say (defaults when they name another). Null where the name is
/// of no such file. DataError for a broken one.
std::shared_ptr<const Dataset> open_image_file(const std::string& path, const DataOptions& options);

/// The set of images whose layout a folder has, with its defaults; nothing when it has none.
std::optional<DataOptions> image_folder(const std::string& path);

}  // namespace weyl
