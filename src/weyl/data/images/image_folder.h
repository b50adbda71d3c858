#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/data/images/image_set.h"
#include "weyl/data/images/image_tensor.h"
#include "weyl/data/images/options.h"

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

/// Whether a folder, or its folder train or test, holds images/ and masks/.
bool is_masks_folder(const std::string& folder);

/// The kind of the set `images`: rgb is normalised by ImageNet's constants, grey by 0.5 and 0.25.
ImageKind images_kind(const ImagesDataOptions& options);

/// One image file, without labels, as the options say: channels and size.
std::shared_ptr<const Dataset> open_one_image(const std::string& path, ImageKind kind, ImageSize size,
                                              const ImageInput& input);

}  // namespace weyl
