#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/data/images/image_set.h"
#include "weyl/data/images/image_tensor.h"
#include "weyl/data/options.h"

namespace weyl {

/// An image and what is known of it.
struct ImageFile {
  std::string image, mask;  // paths; no mask: ""
  int64_t label = -1;       // a class, or none
};

/// Loads files into memory, all of one size: that of `size`, else that of the first. DataError: a broken
/// file, images of different sizes (with size 0), an image and a mask of different sizes (before they are
/// resized).
ImageSamples load_images(const std::vector<ImageFile>& files, int64_t channels, int64_t mask_classes,
                         ImageSize size, const std::string& where, const MaskThreshold& threshold = {});

/// Whether a folder holds images/ and masks/.
bool has_masks(const std::string& folder);

/// The kind of the set `images`: rgb is normalised by ImageNet's constants, grey by 0.5 and 0.25.
ImageKind images_kind(const ImagesDataOptions& options);

/// ConfigError without a number of classes: nothing but the files could say it.
Schema images_schema(const ImagesDataOptions& options);

/// Images in folders (PNG, JPEG, BMP), sorted by name:
///
///   a folder for each class   label `class`, numbered by the sorted names of the folders (class_names.h)
///   images/ and masks/        label `mask`: the mask of images/a.jpg is masks/a.png (or .bmp), see load_mask
///
/// A folder with subfolders train, valid, test of one of these layouts has these splits (the classes are
/// those of train); else they are drawn by the seed. DataError: no such folder or neither layout, no image,
/// another number of classes than the options say, an image without a mask, a broken file.
Splits open_images(const ImagesDataOptions& options);

/// One image file, without labels, as the options say: channels and size.
std::shared_ptr<const Dataset> open_one_image(const std::string& path, ImageKind kind, ImageSize size,
                                              const ImageInput& input);

}  // namespace weyl
