#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/data/images/image_input.h"

namespace weyl {

struct Schema;
struct Splits;

/// Handwritten or printed digits, grey: a folder with the .amat files of rotated MNIST (`weyl data make
/// glyphs` makes such), .npz splits, or MNIST's IDX files (images/rotated_mnist.h).
struct RotatedMnistDataOptions {
  static constexpr const char* name_in_config = "rotated_mnist";
  std::string path = "data/rotated_mnist";
  int64_t train = 0, valid = 0, test = 0;  // the first so many images of a split; 0: all
  ImageInput input;
};
void fields(Fields& f, RotatedMnistDataOptions& o);
void require_effects(const RotatedMnistDataOptions& options);
/// Digits, grey, label `class` of 10. Normalised by MNIST's mean 0.1307 and deviation 0.3081.
Schema declared_schema(const RotatedMnistDataOptions& options);
/// Opens a folder that has the files of one of these layouts, tried in this order; a split may be absent:
///
///   mnist_all_rotation_normalized_float_train_valid.amat and ..._test.amat
///   *train.npz, *valid.npz, *test.npz: pixels (n, 784), (n, 28, 28) or (n, 1, 28, 28), uint8 or float in
///     [0, 1], and labels (n), whatever their names
///   train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-..., t10k-labels-..., also with .gz
///
/// Where there is no validation file, the last sixth of the training images is the validation split (2,000 of 12,000).
/// DataError: no such folder, no split at all, a broken file, fewer images than the options ask for.
Splits open_set(const RotatedMnistDataOptions& options);

/// CIFAR-10's binary version: data_batch_1.bin .. data_batch_5.bin and test_batch.bin (images/cifar10.h).
struct Cifar10DataOptions {
  static constexpr const char* name_in_config = "cifar10";
  std::string path = "data/cifar10";
  int64_t train = 0, valid = 0, test = 0;  // the first so many images of a split; 0: all
  int64_t seed = 0;                        // draws the tenth that is for validation
  ImageInput input;
};
void fields(Fields& f, Cifar10DataOptions& o);
void require_effects(const Cifar10DataOptions& options);
/// Photographs of 32 x 32, rgb, label `class` of 10. Normalised by the means and deviations of CIFAR-10's training
/// images.
Schema declared_schema(const Cifar10DataOptions& options);
/// Opens a folder with test_batch.bin and whichever of data_batch_1.bin .. data_batch_5.bin it has, or the folder above
/// such a `cifar-10-batches-bin`. A tenth of the training images, drawn by the seed, is the validation split.
/// DataError: no such folder, none of the files, a broken one, fewer images than the options ask for.
Splits open_set(const Cifar10DataOptions& options);

/// What the labels of images in folders are: a class for each image, or for each pixel.
enum class ImageTarget { classes, mask };
constexpr auto names_of(ImageTarget) {
  return std::array<std::string_view, 2>{"class", "mask"};
}

/// Images in folders, one for each class, or images and masks (images/image_folder.h).
struct ImagesDataOptions {
  static constexpr const char* name_in_config = "images";
  std::string path = "data/images";
  ImageTarget target = ImageTarget::classes;
  int64_t classes = 0;                   // 0: as many as the files show
  int64_t channels = 3;                  // 1: grey
  int64_t height = 0, width = 0;         // 0: unchanged; then all must have one size
  std::optional<double> mask_threshold;  // for masks of greys (image_tensor.h)
  double train_fraction = 0.8, valid_fraction = 0.1;
  int64_t seed = 0;
  ImageInput input;
  std::vector<std::string> known_classes;  // a model's, by number (know_classes); no key of a config
};
void fields(Fields& f, ImagesDataOptions& o);
void require_effects(const ImagesDataOptions& options);
/// ConfigError without a number of classes: only the files could say it.
Schema declared_schema(const ImagesDataOptions& options);
/// Opens images in folders (PNG, JPEG, BMP), sorted by name:
///
///   a folder for each class   label `class`, numbered by the sorted names of the folders (class_names.h)
///   images/ and masks/        label `mask`: the mask of images/a.jpg is masks/a.png (or .bmp), see load_mask
///
/// The splits are the subfolders train, valid and test, each in one of these layouts, where the folder has them; the
/// classes are then those of train. Otherwise the splits are drawn by the seed. DataError: no such folder, neither
/// layout, no image, another number of classes than the options say, an image without a mask, a broken file.
Splits open_set(const ImagesDataOptions& options);

/// PH2, dermoscopy with the masks of lesions (images/ph2.h).
struct Ph2DataOptions {
  static constexpr const char* name_in_config = "ph2";
  std::string path = "data/ph2";
  int64_t height = 578, width = 770;       // 0: unchanged; then all must have one size
  std::optional<double> mask_threshold;    // for masks of greys (image_tensor.h)
  int64_t train = 0, valid = 0, test = 0;  // all 0: by the fractions
  std::vector<double> fractions{0.5, 0.25, 0.25};
  int64_t seed = 0;
  ImageInput input;
};
void fields(Fields& f, Ph2DataOptions& o);
void require_effects(const Ph2DataOptions& options);
Schema declared_schema(const Ph2DataOptions& options);
/// Opens PH2's folder (or the one above it): `PH2 Dataset images/IMDxxx/IMDxxx_Dermoscopic_Image/IMDxxx.bmp` and
/// `IMDxxx/IMDxxx_lesion/IMDxxx_lesion.bmp`, also .png. Images are resized (bilinear), and masks with them (load_mask).
/// The splits are drawn by the seed, with as many images as the options say, else by the fractions; the default is half
/// of the images for training and a quarter each for validation and testing (100, 50, 50 of 200). ConfigError:
/// fractions beyond 1, a height without a width. DataError: no such folder, an image without its mask or with one of
/// another size, a broken file, fewer images than asked for.
Splits open_set(const Ph2DataOptions& options);

}  // namespace weyl
