// Images as file formats (files/formats.h): single pictures, and files that hold many.
#include <algorithm>
#include <filesystem>
#include <functional>

#include "weyl/data/files/formats.h"
#include "weyl/data/files/open_request.h"
#include "weyl/data/formats/image.h"
#include "weyl/data/images/image_set.h"
#include "weyl/data/sets/cifar10.h"
#include "weyl/data/sets/image_folder.h"
#include "weyl/data/sets/ph2.h"
#include "weyl/data/sets/rotated_mnist.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// How the options' set, of whatever kind, wants its images.
ImageInput input_of(const DataOptions& options) {
  return std::visit(
      [](const auto& o) -> ImageInput {
        if constexpr (requires { ImageInput(o.input); }) {
          return o.input;
        }
        return {};
      },
      options.set);
}

/// The images of a folder that holds nothing else that could say what they are: no folders.
std::vector<ImageFile> plain_pictures(const std::string& path) {
  std::vector<ImageFile> files;
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.is_directory()) {
        return {};
      }
      if (is_image_file(entry.path().string())) {
        files.push_back({.image = entry.path().string()});
      }
    }
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.image < b.image; });
  return files;
}

std::shared_ptr<const Dataset> open_picture(const std::string& path, const DataOptions& options) {
  ImageKind kind;
  ImageSize size;
  if (const auto* images = std::get_if<ImagesDataOptions>(&options.set)) {
    kind = images_kind(*images);
    size = image_size(images->height, images->width, "data.images");
  } else if (const auto* ph2 = std::get_if<Ph2DataOptions>(&options.set)) {
    kind = ph2_kind();
    size = image_size(ph2->height, ph2->width, "data.ph2");
  } else if (std::holds_alternative<Cifar10DataOptions>(options.set)) {
    kind = cifar10_kind();
  } else if (std::holds_alternative<RotatedMnistDataOptions>(options.set)) {
    kind = rotated_mnist_kind();
  }
  const std::vector<ImageFile> files = plain_pictures(path);
  if (files.empty()) {
    return open_one_image(path, kind, size, input_of(options));
  }
  ImageSamples samples = load_images(files, kind.channels(), 0, size, path);
  if (kind.channels() == 0) {
    kind.mean.assign(samples.values.size(1), 0);
    kind.deviation.assign(samples.values.size(1), 1);
  }
  return std::make_shared<ImageSet>(std::move(samples), std::move(kind), input_of(options), path);
}

/// A folder of folders of images, which are classes; also below train, valid and test.
bool has_pictures_below(const fs::path& folder) {
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    if (!entry.is_directory(unreadable)) {
      continue;
    }
    const std::string name = entry.path().filename().string();
    if ((name == "train" || name == "valid" || name == "test") && has_pictures_below(entry.path())) {
      return true;
    }
    for (const auto& file : fs::directory_iterator(entry.path(), unreadable)) {
      if (file.is_regular_file(unreadable) && is_image_file(file.path().string())) {
        return true;
      }
    }
  }
  return false;
}

/// Opens a file that is taken, and looks whether it gives what the model is told.
std::shared_ptr<const Dataset> checked(const OpenRequest& request, std::shared_ptr<const Dataset> images) {
  require_features(request, images->schema());
  return images;
}

/// Whether a folder has an entry of such a name.
bool any_entry(const std::string& folder, const std::function<bool(const fs::directory_entry&)>& such) {
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    if (such(entry)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool CifarBatches::takes(const std::string& path, const DataOptions& options) {
  return path.ends_with(".bin") &&
         (std::holds_alternative<Cifar10DataOptions>(options.set) || path.ends_with("_batch.bin") ||
          path.find("data_batch_") != std::string::npos);
}

std::shared_ptr<const Dataset> CifarBatches::open(const OpenRequest& request) {
  return checked(request, open_cifar10_file(request.path, input_of(request.options)));
}

NamedSets CifarBatches::sets(const std::string& folder) {
  const bool batches = any_entry(folder, [](const auto& entry) {
    const std::string name = entry.path().filename().string();
    return name.starts_with("data_batch_") || name == "test_batch.bin" ||
           (name == "cifar-10-batches-bin" && entry.is_directory());
  });
  return batches ? named_sets(open_cifar10({.path = folder})) : NamedSets();
}

bool DigitFiles::takes(const std::string& path, const DataOptions& options) {
  return is_digits_file(path) &&
         (!path.ends_with(".npz") || std::holds_alternative<RotatedMnistDataOptions>(options.set));
}

std::shared_ptr<const Dataset> DigitFiles::open(const OpenRequest& request) {
  return checked(request, open_digits_file(request.path, input_of(request.options)));
}

NamedSets DigitFiles::sets(const std::string& folder) {
  const bool digits = any_entry(folder, [](const auto& entry) {
    const std::string name = entry.path().filename().string();
    return name.ends_with(".amat") || name.starts_with("train-images") || name.starts_with("t10k-images");
  });
  return digits ? named_sets(open_rotated_mnist({.path = folder})) : NamedSets();
}

bool PictureFiles::takes(const std::string& path, const DataOptions&) {
  return is_image_file(path) || !plain_pictures(path).empty();
}

std::shared_ptr<const Dataset> PictureFiles::open(const OpenRequest& request) {
  return checked(request, open_picture(request.path, request.options));
}

NamedSets PictureFiles::sets(const std::string& folder) {
  const bool ph2 =
      fs::is_directory(fs::path(folder) / "PH2 Dataset images") || any_entry(folder, [](const auto& entry) {
        const std::string name = entry.path().filename().string();
        return fs::is_directory(entry.path() / (name + "_Dermoscopic_Image"));
      });
  if (ph2) {
    return named_sets(open_ph2({.path = folder}));
  }
  const bool masks = has_masks(folder) || any_entry(folder, [](const auto& entry) {
                       const std::string name = entry.path().filename().string();
                       return (name == "train" || name == "test") && has_masks(entry.path());
                     });
  if (masks) {
    return named_sets(open_images({.path = folder, .target = ImageTarget::mask}));
  }
  return has_pictures_below(folder) ? named_sets(open_images({.path = folder})) : NamedSets();
}

}  // namespace weyl
