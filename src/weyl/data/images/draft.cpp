// Images and digits, as `weyl config new` sees them.
#include <algorithm>
#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/data/base/draft.h"
#include "weyl/data/images/files.h"
#include "weyl/data/images/image.h"
#include "weyl/data/images/image_folder.h"
#include "weyl/data/images/options.h"
#include "weyl/data/images/ph2.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr int64_t largest_side = 96;  // pixels that images are taken with as they are
constexpr int64_t usual_side = 64;    // that others are resized to

/// Height, width and channels of the first picture that is found in a folder or below it; empty: there is none.
std::vector<int64_t> first_picture(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code unreadable;
  for (const auto& entry : fs::recursive_directory_iterator(folder, unreadable)) {
    if (entry.is_regular_file(unreadable) && is_image_file(entry.path().string())) {
      paths.push_back(entry.path().string());
    }
  }
  return paths.empty() ? std::vector<int64_t>() : read_image(*std::ranges::min_element(paths)).shape;
}

/// Systems on points see an image as patches.
void write_image_input(ConfigDraft& draft, const std::string& system) {
  if (!reads_grids(system)) {
    draft.set("carrier", "points");
    draft.set("patch", 2);
    draft.set("patch_feature", "mean", "pixels of a patch side by side would not turn with the image");
  }
}

template <class Options>
FoundData drafted_images(const Options& options, const std::string& label,
                         const std::function<void(ConfigDraft&, const Classes&)>& write_keys) {
  const std::string set = Options::name_in_config, path = options.path;
  const Splits splits = open_set(options);
  FoundData found;
  found.family = FoundData::Family::images;
  found.patches = true;
  count_samples(found, splits, path);
  found.cells = splits.train->lattice(0).cells;
  if (found.cells.empty()) {
    const int64_t first = 0;
    found.cells = std::get<Grid>(splits.train->batch({&first, 1}).input).values.sizes().slice(2).vec();
  }
  found.most_cells = found.cells;
  found.what = text(found.samples, " training images of ", found.cells[0], " x ", found.cells[1], " pixels");
  const Classes classes = classes_of(splits, label);
  const bool masks = label == "mask";
  if (!masks && !std::is_same_v<Options, RotatedMnistDataOptions>) {
    found.upright = upright_pictures;
  }
  found.tasks = {{masks ? "segmentation" : "classification", masks ? "masks" : "classes"}};
  found.write_data = [=](ConfigDraft& draft, const std::string&, const std::string& system) {
    write_set(draft, set, path);
    write_keys(draft, classes);
    write_image_input(draft, system);
  };
  found.write_task = [=](ConfigDraft& draft, const std::string& task, const std::string&) {
    write_classes(draft, task, classes);
  };
  return found;
}

void write_size(ConfigDraft& draft, bool resized) {
  if (resized) {
    draft.set("height", usual_side, "pixels that images are resized to: sizes that every quarter turn keeps");
    draft.set("width", usual_side);
  }
}

FoundData look_at_ph2(const std::string& path) {
  return drafted_images(Ph2DataOptions{.path = path, .height = usual_side, .width = usual_side}, "mask",
                        [](ConfigDraft& draft, const Classes&) {
                          write_size(draft, true);
                          draft.set("fractions", std::vector<double>{0.5, 0.25, 0.25});
                        });
}

/// Pictures in folders, as they are where they are small and of one size, else resized.
FoundData look_at_pictures(const std::string& path, const std::vector<int64_t>& first) {
  ImagesDataOptions options{.path = path};
  options.target = is_masks_folder(path) ? ImageTarget::mask : ImageTarget::classes;
  options.channels = first[2] <= 2 ? 1 : 3;
  const std::string label = options.target == ImageTarget::mask ? "mask" : "class";
  bool split = false;  // in folders
  for (const char* name : {"train", "valid", "test"}) {
    split = split || fs::is_directory(fs::path(path) / name);
  }
  const auto as = [&](bool resized) {
    ImagesDataOptions sized = options;
    sized.height = sized.width = resized ? usual_side : 0;
    return drafted_images(sized, label, [=](ConfigDraft& draft, const Classes& classes) {
      if (label == "mask") {
        draft.set("target", "mask", "the folders images and masks");
      }
      draft.set("classes", classes.count, "those that the files show");
      if (sized.channels != 3) {
        draft.set("channels", sized.channels, "as the first image has");
      }
      write_size(draft, resized);
      if (!split) {
        draft.set("train_fraction", 0.8);
        draft.set("valid_fraction", 0.1);
      }
    });
  };
  if (std::max(first[0], first[1]) > largest_side) {
    return as(true);
  }
  try {
    return as(false);
  } catch (const DataError&) {  // of several sizes, or broken, which the other says
    return as(true);
  }
}

}  // namespace

FoundData CifarBatches::draft(const std::string& path) {
  return fs::is_directory(path)
             ? drafted_images(Cifar10DataOptions{.path = path}, "class", [](ConfigDraft&, const Classes&) {})
             : FoundData();
}

FoundData DigitFiles::draft(const std::string& path) {
  return fs::is_directory(path) ? drafted_images(RotatedMnistDataOptions{.path = path}, "class",
                                                 [](ConfigDraft&, const Classes&) {})
                                : FoundData();
}

FoundData PictureFiles::draft(const std::string& path) {
  if (!fs::is_directory(path)) {
    return {};
  }
  return is_ph2_folder(path) ? look_at_ph2(path) : look_at_pictures(path, first_picture(path));
}

}  // namespace weyl
