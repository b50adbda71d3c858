#pragma once

#include <memory>
#include <string>

#include "weyl/data/images/image_set.h"
#include "weyl/data/images/options.h"

namespace weyl {

ImageKind cifar10_kind();

/// One batch, all of it.
std::shared_ptr<const Dataset> open_cifar10_file(const std::string& path, const ImageInput& input);

}  // namespace weyl
