// Images as file formats (formats.h): single pictures, and files that hold many.
#include <algorithm>
#include <filesystem>
#include <functional>

#include "weyl/data/base/open_request.h"
#include "weyl/data/images/cifar10.h"
#include "weyl/data/images/files.h"
#include "weyl/data/images/image.h"
#include "weyl/data/images/image_folder.h"
#include "weyl/data/images/image_set.h"
#include "weyl/data/images/ph2.h"
#include "weyl/data/images/rotated_mnist.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// How the set that is asked for, where it is one of images, wants them.
ImageInput input_of(AskedSet asked) {
  if (const auto* images = asked.get_if<ImagesDataOptions>()) {
    return images->input;
  }
  if (const auto* ph2 = asked.get_if<Ph2DataOptions>()) {
    return ph2->input;
  }
  if (const auto* cifar10 = asked.get_if<Cifar10DataOptions>()) {
    return cifar10->input;
  }
  const auto* digits = asked.get_if<RotatedMnistDataOptions>();
  return digits != nullptr ? digits->input : ImageInput{};
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

std::shared_ptr<const Dataset> open_picture(const std::string& path, AskedSet asked) {
  ImageKind kind;
  ImageSize size;
  if (const auto* images = asked.get_if<ImagesDataOptions>()) {
    kind = images_kind(*images);
    size = image_size(images->height, images->width, "data.images");
  } else if (const auto* ph2 = asked.get_if<Ph2DataOptions>()) {
    kind = ph2_kind();
    size = image_size(ph2->height, ph2->width, "data.ph2");
  } else if (asked.is<Cifar10DataOptions>()) {
    kind = cifar10_kind();
  } else if (asked.is<RotatedMnistDataOptions>()) {
    kind = rotated_mnist_kind();
  }
  const std::vector<ImageFile> files = plain_pictures(path);
  if (files.empty()) {
    return open_one_image(path, kind, size, input_of(asked));
  }
  ImageSamples samples = load_images(files, kind.channels(), 0, size, path);
  if (kind.channels() == 0) {
    kind.mean.assign(samples.values.size(1), 0);
    kind.deviation.assign(samples.values.size(1), 1);
  }
  return std::make_shared<ImageSet>(std::move(samples), std::move(kind), input_of(asked), path);
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

}  // namespace

bool CifarBatches::takes(const std::string& path, AskedSet asked) {
  return path.ends_with(".bin") && (asked.is<Cifar10DataOptions>() || path.ends_with("_batch.bin") ||
                                    path.find("data_batch_") != std::string::npos);
}

std::shared_ptr<const Dataset> CifarBatches::open(const OpenRequest& request) {
  return checked(request, open_cifar10_file(request.path, input_of(request.asked)));
}

bool CifarBatches::lays_out(const std::string& folder) {
  return has_entry(folder, [](const std::string& name) {
    return name.starts_with("data_batch_") || name == "test_batch.bin" || name == "cifar-10-batches-bin";
  });
}

NamedSets CifarBatches::sets(const std::string& folder) {
  return named_sets(open_set(Cifar10DataOptions{.path = folder}));
}

bool DigitFiles::takes(const std::string& path, AskedSet asked) {
  return is_digits_file(path) && (!path.ends_with(".npz") || asked.is<RotatedMnistDataOptions>());
}

std::shared_ptr<const Dataset> DigitFiles::open(const OpenRequest& request) {
  return checked(request, open_digits_file(request.path, input_of(request.asked)));
}

bool DigitFiles::lays_out(const std::string& folder) {
  return has_entry(folder, [&](const std::string& name) {
    return name.ends_with(".amat") || name.starts_with("train-images") || name.starts_with("t10k-images") ||
           (name.ends_with("train.npz") && holds_digits((fs::path(folder) / name).string()));
  });
}

NamedSets DigitFiles::sets(const std::string& folder) {
  return named_sets(open_set(RotatedMnistDataOptions{.path = folder}));
}

bool PictureFiles::takes(const std::string& path, AskedSet) {
  return is_image_file(path) || !plain_pictures(path).empty();
}

std::shared_ptr<const Dataset> PictureFiles::open(const OpenRequest& request) {
  return checked(request, open_picture(request.path, request.asked));
}

bool PictureFiles::lays_out(const std::string& folder) {
  return is_ph2_folder(folder) || is_masks_folder(folder) || has_pictures_below(folder);
}

NamedSets PictureFiles::sets(const std::string& folder) {
  if (is_ph2_folder(folder)) {
    return named_sets(open_set(Ph2DataOptions{.path = folder}));
  }
  return named_sets(open_set(ImagesDataOptions{
      .path = folder, .target = is_masks_folder(folder) ? ImageTarget::mask : ImageTarget::classes}));
}

}  // namespace weyl
