#include "weyl/data/sets/image_files.h"

#include <algorithm>
#include <filesystem>

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

}  // namespace

std::shared_ptr<const Dataset> open_image_file(const std::string& path, const DataOptions& options) {
  if (is_image_file(path) || !plain_pictures(path).empty()) {
    return open_picture(path, options);
  }
  const bool cifar10 = std::holds_alternative<Cifar10DataOptions>(options.set);
  if (path.ends_with(".bin") &&
      (cifar10 || path.ends_with("_batch.bin") || path.find("data_batch_") != std::string::npos)) {
    return open_cifar10_file(path, input_of(options));
  }
  const bool digits = std::holds_alternative<RotatedMnistDataOptions>(options.set);
  return path.ends_with(".npz") && !digits ? nullptr : open_digits_file(path, input_of(options));
}

std::optional<DataOptions> image_folder(const std::string& path) {
  const fs::path folder = path;
  if (fs::is_directory(folder / "PH2 Dataset images")) {
    return DataOptions{Ph2DataOptions{.path = path}};
  }
  if (fs::is_directory(folder / "cifar-10-batches-bin")) {
    return DataOptions{Cifar10DataOptions{.path = path}};
  }
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".amat") || name.starts_with("train-images") || name.starts_with("t10k-images")) {
      return DataOptions{RotatedMnistDataOptions{.path = path}};
    }
    if (name.starts_with("data_batch_") || name == "test_batch.bin") {
      return DataOptions{Cifar10DataOptions{.path = path}};
    }
    if (entry.is_directory(unreadable)) {
      if (fs::is_directory(entry.path() / (name + "_Dermoscopic_Image"))) {
        return DataOptions{Ph2DataOptions{.path = path}};
      }
      if (has_masks(folder) || ((name == "train" || name == "test") && has_masks(entry.path()))) {
        return DataOptions{ImagesDataOptions{.path = path, .target = ImageTarget::mask}};
      }
    }
  }
  if (has_pictures_below(folder)) {
    return DataOptions{ImagesDataOptions{.path = path}};
  }
  return std::nullopt;
}

}  // namespace weyl
