#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "weyl/data/images/image_set.h"
#include "weyl/data/images/options.h"

namespace weyl {

ImageKind rotated_mnist_kind();

/// Whether a path ends as such files do: .amat, .npz, -ubyte or -ubyte.gz (IDX).
bool is_digits_file(std::string_view path);

/// Whether an .npz has an array that could be images of digits, by its shape: (n, 784), (n, 28, 28), (n, 1, 28, 28). False, too:
/// it cannot be read.
bool holds_digits(const std::string& path);

/// One .amat, .npz or IDX file of images, all of it; images of an IDX file have no labels.
std::shared_ptr<const Dataset> open_digits_file(const std::string& path, const ImageInput& input);

}  // namespace weyl
