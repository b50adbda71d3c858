#pragma once

#include <memory>
#include <string>

#include "weyl/data/images/image_set.h"
#include "weyl/data/options.h"

namespace weyl {

ImageKind cifar10_kind();

/// Photographs of 32 x 32, rgb, label `class` of 10. Normalised by the means and deviations of its training
/// images.
Schema cifar10_schema(const Cifar10DataOptions& options);

/// A folder with data_batch_1.bin .. data_batch_5.bin, those that are there, and test_batch.bin (or such a
/// folder's `cifar-10-batches-bin`): a tenth of the training images, drawn by the seed, are for validation.
/// DataError: no such folder, none of the files, a broken one, fewer images than the options ask for.
Splits open_cifar10(const Cifar10DataOptions& options);

/// One batch, all of it.
std::shared_ptr<const Dataset> open_cifar10_file(const std::string& path, const ImageInput& input);

}  // namespace weyl
