#include "weyl/data/images/image_folder.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <algorithm>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/base/class_names.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/images/image.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

bool has_masks(const std::string& folder) {
  return fs::is_directory(fs::path(folder) / "images") && fs::is_directory(fs::path(folder) / "masks");
}

/// The entries of a folder by name, hidden ones left out.
std::vector<fs::path> image_entries(const fs::path& folder, bool folders) {
  std::vector<fs::path> result;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const bool hidden = entry.path().filename().string().starts_with(".");
    if (!hidden &&
        (folders ? entry.is_directory() : entry.is_regular_file() && is_image_file(entry.path().string()))) {
      result.push_back(entry.path());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// The mask beside an image: the same name with any ending.
std::string mask_of(const fs::path& image, const fs::path& masks) {
  for (const char* ending : {".png", ".bmp", ".PNG", ".BMP", ".jpg", ".jpeg"}) {
    if (const fs::path path = masks / (image.stem().string() + ending); fs::exists(path)) {
      return path.string();
    }
  }
  throw DataError(text(image.string(), ": has no mask ", (masks / image.stem()).string(), ".png or .bmp"));
}

std::vector<ImageFile> masked_files(const fs::path& folder) {
  std::vector<ImageFile> files;
  for (const auto& image : image_entries(folder / "images", false)) {
    files.push_back({.image = image.string(), .mask = mask_of(image, folder / "masks")});
  }
  return files;
}

std::vector<std::string> image_class_names(const fs::path& folder, const ImagesDataOptions& o) {
  std::vector<std::string> names;
  for (const auto& entry : image_entries(folder, true)) {
    names.push_back(entry.filename().string());
  }
  return classes_of(std::move(names), o.known_classes);
}

std::vector<ImageFile> classed_files(const fs::path& folder, const std::vector<std::string>& names,
                                     const std::vector<std::string>& known) {
  std::vector<ImageFile> files;
  for (const auto& entry : image_entries(folder, true)) {
    const auto found = std::ranges::find(names, entry.filename().string());
    if (names == known) {
      require_known({entry.filename().string()}, known, folder.string());
    }
    require<DataError>(found != names.end(), entry.string(), ": is no class of the training images");
    for (const auto& image : image_entries(entry, false)) {
      files.push_back({.image = image.string(), .label = found - names.begin()});
    }
  }
  return files;
}

/// The files of a folder and how many classes they have.
struct Found {
  std::vector<ImageFile> files;
  int64_t classes = 0;
};

Found image_files_of(const fs::path& folder, const ImagesDataOptions& o,
                     const std::vector<std::string>& names) {
  const bool masks = has_masks(folder);
  require<DataError>(
      masks == (o.target == ImageTarget::mask), folder.string(), ": data.images.target is ",
      names_of(o.target)[static_cast<size_t>(o.target)],
      masks ? ", but there are the folders images and masks" : ", but there are no folders images and masks");
  Found found;
  found.files = masks ? masked_files(folder) : classed_files(folder, names, o.known_classes);
  found.classes = masks ? std::max<int64_t>(o.classes, 2) : std::ssize(names);
  require<DataError>(!found.files.empty(), folder.string(),
                     masks ? ": holds no .png, .jpg or .bmp image"
                           : ": holds no folders of .png, .jpg or .bmp images, one for each class");
  const bool fits = o.classes == 0 || o.classes == found.classes;
  if (!fits && !masks) {
    require_known(names, o.known_classes, folder.string());
  }
  require<DataError>(fits, folder.string(), ": data.images.classes must be ", found.classes,
                     ", the folders of classes, got ", o.classes);
  return found;
}

}  // namespace

ImageSamples load_images(const std::vector<ImageFile>& files, int64_t channels, int64_t mask_classes,
                         ImageSize size, const std::string& where, const MaskThreshold& threshold) {
  require<DataError>(!files.empty(), where, ": holds no image");
  std::vector<Tensor> values, masks;
  std::vector<int64_t> classes;
  bool bytes = true, all_grey = true;
  for (const ImageFile& file : files) {
    bool grey = false;
    const Tensor image = load_image(file.image, channels, size, &grey);
    all_grey = all_grey && grey;
    require<DataError>(values.empty() || image.sizes() == values[0].sizes(), file.image, ": must have ",
                       values.empty() ? 0 : values[0].size(0), " channels of ",
                       values.empty() ? 0 : values[0].size(1), " x ", values.empty() ? 0 : values[0].size(2),
                       " pixels as the first image, got ", image.size(0), " of ", image.size(1), " x ",
                       image.size(2), " (height and width resize)");
    if (!file.mask.empty()) {
      const Array there = read_image(file.image), on = read_image(file.mask);
      require<DataError>(there.shape[0] == on.shape[0] && there.shape[1] == on.shape[1], file.mask,
                         ": must have ", there.shape[0], " x ", there.shape[1], " pixels as its image, got ",
                         on.shape[0], " x ", on.shape[1]);
      masks.push_back(load_mask(file.mask, mask_classes, size, threshold));
    }
    if (file.label >= 0) {
      classes.push_back(file.label);
    }
    bytes = bytes && image.scalar_type() == at::kByte;
    values.push_back(image);
  }
  if (!bytes) {
    for (Tensor& x : values) {
      x = x.scalar_type() == at::kByte ? x.to(at::kFloat).div_(255) : x;
    }
  }
  ImageSamples samples{at::stack(values), {}, {}, {}, all_grey};
  for (const ImageFile& file : files) {
    samples.files.push_back(file.image);
  }
  if (!classes.empty()) {
    samples.classes = at::tensor(classes, at::kLong);
  }
  if (!masks.empty()) {
    samples.masks = at::stack(masks);
  }
  return samples;
}

bool is_masks_folder(const std::string& folder) {
  return has_masks(folder) || has_masks((fs::path(folder) / "train").string()) ||
         has_masks((fs::path(folder) / "test").string());
}

ImageKind images_kind(const ImagesDataOptions& o) {
  require<ConfigError>(o.channels == 1 || o.channels == 3,
                       "data.images.channels: must be 1 (grey) or 3 (rgb), got ", o.channels);
  image_size(o.height, o.width, "data.images");
  require<ConfigError>(
      !o.mask_threshold || (o.target == ImageTarget::mask && (o.classes == 0 || o.classes == 2)),
      "data.images.mask_threshold: is for masks of two classes");
  ImageKind kind{.mean = {0.5}, .deviation = {0.25}};
  if (o.channels == 3) {
    kind = {.mean = {0.485, 0.456, 0.406}, .deviation = {0.229, 0.224, 0.225}};
  }
  (o.target == ImageTarget::mask ? kind.mask_classes : kind.classes) = o.classes;
  return kind;
}

Schema declared_schema(const ImagesDataOptions& options) {
  require<ConfigError>(options.classes > 0, "data.images.classes: must be given, the number of classes");
  return image_schema(images_kind(options), options.input, options.height * options.width);
}

Splits open_set(const ImagesDataOptions& options) {
  const fs::path folder = options.path;
  require<DataError>(fs::is_directory(folder), options.path, ": there is no such folder");
  require<ConfigError>(options.train_fraction + options.valid_fraction <= 1 + 1e-12,
                       "data.images: train_fraction and valid_fraction must sum to at most 1, got ",
                       options.train_fraction + options.valid_fraction);
  ImagesDataOptions o = options;
  const auto as_set = [&](const std::vector<ImageFile>& files, const fs::path& where,
                          const std::vector<std::string>& names) -> std::shared_ptr<const Dataset> {
    if (files.empty()) {
      return nullptr;
    }
    const ImageSize size{o.height, o.width};
    ImageKind kind = images_kind(o);
    if (kind.classes > 0) {  // else the folders are images and masks
      kind.class_names = names;
    }
    return std::make_shared<ImageSet>(load_images(files, o.channels, kind.mask_classes, size, where.string(),
                                                  {o.mask_threshold, "data.images.mask_threshold"}),
                                      kind, o.input, where.string());
  };
  if (const bool split = fs::is_directory(folder / "train") || fs::is_directory(folder / "test"); split) {
    const fs::path first = folder / (fs::is_directory(folder / "train") ? "train" : "test");
    const std::vector<std::string> names = image_class_names(first, o);
    Splits splits;
    for (const auto& [name, set] :
         {std::pair{"train", &splits.train}, {"valid", &splits.valid}, {"test", &splits.test}}) {
      if (fs::is_directory(folder / name)) {
        const Found found = image_files_of(folder / name, options, names);
        o.classes = found.classes;
        *set = as_set(found.files, folder / name, names);
      }
    }
    return splits;
  }
  const std::vector<std::string> names = image_class_names(folder, o);
  const Found found = image_files_of(folder, options, names);
  o.classes = found.classes;
  const SplitIndices parts = random_split(
      std::ssize(found.files), {.train = o.train_fraction, .valid = o.valid_fraction, .seed = o.seed});
  const auto part = [&](const std::vector<int64_t>& which) {
    std::vector<ImageFile> files;
    for (const int64_t i : which) {
      files.push_back(found.files[i]);
    }
    return as_set(files, folder, names);
  };
  return {part(parts.train), part(parts.valid), part(parts.test)};
}

std::shared_ptr<const Dataset> open_one_image(const std::string& path, ImageKind kind, ImageSize size,
                                              const ImageInput& input) {
  bool grey = false;
  const Tensor image = load_image(path, kind.channels(), size, &grey);
  ImageSamples samples{image.unsqueeze(0), {}, {}, {path}, grey};
  if (kind.channels() == 0) {  // as the file is
    kind.mean.assign(samples.values.size(1), 0);
    kind.deviation.assign(samples.values.size(1), 1);
  }
  return std::make_shared<ImageSet>(std::move(samples), std::move(kind), input, path);
}

}  // namespace weyl
