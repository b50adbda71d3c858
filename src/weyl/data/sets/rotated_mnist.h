#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "weyl/data/images/image_set.h"
#include "weyl/data/options.h"

namespace weyl {

ImageKind rotated_mnist_kind();

/// Digits, grey, label `class` of 10. Normalised by MNIST's mean 0.1307 and deviation 0.3081.
Schema rotated_mnist_schema(const RotatedMnistDataOptions& options);

/// A folder with the files of one of these layouts, looked for in this order; a split may be absent:
///
///   mnist_all_rotation_normalized_float_train_valid.amat and ..._test.amat
///   *train.npz, *valid.npz, *test.npz: pixels (n, 784), (n, 28, 28) or (n, 1, 28, 28), uint8 or float in
///     [0, 1], and labels (n), whatever their names
///   train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-..., t10k-labels-..., also with .gz
///
/// Where there is no file of validation it is the last sixth of the training images (2,000 of 12,000).
/// DataError: no such folder, no split at all, a broken file, fewer images than the options ask for.
Splits open_rotated_mnist(const RotatedMnistDataOptions& options);

/// Whether a path ends as such files do: .amat, .npz, -ubyte or -ubyte.gz (IDX).
bool is_digits_file(std::string_view path);

/// One .amat, .npz or IDX file of images, all of it; images of an IDX file have no labels.
std::shared_ptr<const Dataset> open_digits_file(const std::string& path, const ImageInput& input);

}  // namespace weyl
