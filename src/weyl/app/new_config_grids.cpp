// Images, digits, volumes and shapes, as `weyl config new` sees them.
#include <algorithm>
#include <filesystem>

#include "weyl/app/new_config_data.h"
#include "weyl/app/shell_word.h"
#include "weyl/core/check.h"
#include "weyl/data/formats/decathlon.h"
#include "weyl/data/formats/image.h"
#include "weyl/data/open.h"
#include "weyl/data/sets/cloud_reader.h"
#include "weyl/data/sets/decathlon.h"
#include "weyl/data/sets/image_folder.h"
#include "weyl/data/sets/modelnet.h"
#include "weyl/data/sets/modelnet_files.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr int64_t largest_side = 96;  // pixels that images are taken with as they are
constexpr int64_t usual_side = 64;    // that others are resized to
constexpr int64_t largest_volume = 64, usual_crop = 45;

bool has_entry(const std::string& folder, const std::function<bool(const std::string& name)>& such) {
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    if (such(entry.path().filename().string())) {
      return true;
    }
  }
  return false;
}

bool is_cifar_folder(const std::string& path) {
  return has_entry(path, [](const std::string& name) {
    return name.starts_with("data_batch_") || name == "test_batch.bin" || name == "cifar-10-batches-bin";
  });
}

bool is_digits_folder(const std::string& path) {
  return has_entry(path, [](const std::string& name) {
    return name.ends_with(".amat") || name.starts_with("train-images") || name.starts_with("t10k-images") ||
           name.ends_with("train.npz");
  });
}

bool is_ph2_folder(const std::string& path) {
  return fs::is_directory(fs::path(path) / "PH2 Dataset images") ||
         has_entry(path, [&](const std::string& name) {
           return fs::is_directory(fs::path(path) / name / (name + "_Dermoscopic_Image"));
         });
}

bool is_masks_folder(const std::string& path) {
  return has_masks(path) || has_masks((fs::path(path) / "train").string());
}

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

/// The classes of a label: how many, and their names where the files have some.
struct Classes {
  int64_t count = 0;
  std::vector<std::string> names;
};

Classes classes_of(const Splits& splits, const std::string& label) {
  const Schema& schema = splits.train->schema();
  Classes classes;
  if (const Quantity* found = find_quantity(schema.labels, label)) {
    classes.count = found->categories;
  }
  if (const auto names = schema.category_names.find(label); names != schema.category_names.end()) {
    classes.names = names->second;
  }
  return classes;
}

/// A task of classes, with their names where they are known.
void write_classes(ConfigDraft& draft, const std::string& task, const Classes& classes) {
  draft.table("task." + task);
  if (task == "segmentation") {
    draft.set("cross_entropy", 1.0);
    draft.set("dice", 1.0);
  }
  if (std::ssize(classes.names) == classes.count && classes.count > 0) {
    draft.set("names", classes.names);
  }
  if (task == "classification" && classes.names.empty()) {
    draft.remark(
        text("The files do not name the ", classes.count, " classes; names = [...] does, for reports."));
  }
}

/// Systems on points see an image as patches.
void write_image_input(ConfigDraft& draft, const std::string& system) {
  if (system != "steerable") {
    draft.set("carrier", "points");
    draft.set("patch", 2);
    draft.set("patch_feature", "mean", "pixels of a patch side by side would not turn with the image");
  }
}

FoundData images_of(const std::string& set, const std::string& path, const DataOptions& options,
                    const std::string& label, std::function<void(ConfigDraft&, const Classes&)> write_keys) {
  const Splits splits = open_splits(options);
  FoundData found;
  found.family = FoundData::Family::images;
  found.patches = true;
  count_samples(found, splits, path);
  found.cells = splits.train->lattice(0).cells;
  if (found.cells.empty()) {
    const int64_t first = 0;
    found.cells = std::get<Grid>(splits.train->batch({&first, 1}).input).values.sizes().slice(2).vec();
  }
  found.what = text(found.samples, " training images of ", found.cells[0], " x ", found.cells[1], " pixels");
  const Classes classes = classes_of(splits, label);
  const bool masks = label == "mask";
  found.tasks = {{masks ? "segmentation" : "classification", masks ? "masks" : "classes"}};
  found.write_data = [=](ConfigDraft& draft, const std::string&, const std::string& system) {
    draft.table("data");
    draft.set("set", set);
    draft.table("data." + set);
    draft.set("path", path);
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
  return images_of("ph2", path, {Ph2DataOptions{.path = path, .height = usual_side, .width = usual_side}},
                   "mask", [](ConfigDraft& draft, const Classes&) {
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
    return images_of("images", path, {sized}, label, [=](ConfigDraft& draft, const Classes& classes) {
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

FoundData look_at_volumes(const std::string& path) {
  const DecathlonIndex index = read_decathlon(path);
  const auto modalities = std::ssize(index.modalities), classes = std::ssize(index.labels);
  DecathlonDataOptions options{.path = path, .modalities = modalities, .classes = classes};
  const auto labelled = std::ssize(index.training);
  if (labelled < 10) {  // fractions of so few leave a split without any
    options.valid = options.test = 1;
    options.train = std::max<int64_t>(1, labelled - 2);
  }
  const Splits splits = open_splits({options});
  FoundData found;
  found.family = FoundData::Family::volumes;
  count_samples(found, splits, path);
  found.cells = splits.train->lattice(0).cells;
  found.what = text(found.samples, " training volumes of ", found.cells[0], " x ", found.cells[1], " x ",
                    found.cells[2], " voxels");
  found.tasks = {{"segmentation", "masks"}};
  found.write_data = [=](ConfigDraft& draft, const std::string&, const std::string&) {
    draft.table("data");
    draft.set("set", "decathlon", "a folder with dataset.json");
    draft.table("data.decathlon");
    draft.set("path", path);
    draft.set("modalities", modalities, "as dataset.json has them");
    draft.set("classes", classes, "as dataset.json has them, with the background");
    draft.set("normalise_over", "nonzero", "voxels that mean and deviation are taken over; \"all\" for CT");
    if (labelled < 10) {
      draft.set("train", options.train, text("of the ", labelled, " labelled cases; few for a model"));
      draft.set("valid", options.valid);
      draft.set("test", options.test);
    } else {
      draft.set("fractions", options.fractions);
    }
  };
  found.write_task = [=, cells = found.cells](ConfigDraft& draft, const std::string& task,
                                              const std::string&) {
    write_classes(draft, task, {classes, index.labels});
    if (needs_crop(cells)) {
      draft.set("window", TomlText::raw(text("{ size = ", TomlText(crop_of(cells)).text, " }")),
                "voxels that are predicted at a time, as many as train.crop");
    }
  };
  return found;
}

/// The set of a folder in ModelNet's layout; of several that of the variant, which must be said.
FoundData look_at_shapes(const std::string& path, const std::string& variant) {
  const ModelnetFiles files(path);
  if (variant.empty() && files.variants().size() > 1) {
    const std::string& one = files.variants().front();
    const auto training = files.of("train", one), test = files.of("test", one);
    throw ConfigError(text(path, ": holds several sets of HDF5 files, ", TomlText(files.variants()).text,
                           "; a file of one says which: `weyl config new --data ",
                           shell_word(training.empty() ? test.front() : training.front()), "`"));
  }
  ModelnetDataOptions options{.path = path, .carrier = ShapeCarrier::points, .points = 0, .classes = 0};
  options.variant = variant;
  const Splits all = open_splits({options});
  FoundData found;
  found.family = FoundData::Family::shapes;
  count_samples(found, all, path);
  const Classes classes = classes_of(all, "class");
  const auto found_points = static_cast<int64_t>(found.mean_tokens);  // of files of clouds, not of meshes
  const int64_t points = files.empty() ? 128 : std::min<int64_t>(128, found_points);
  found.what = text(found.samples, " training shapes of ", classes.count, " classes");
  found.tasks = {{"classification", "classes"}};
  found.write_data = [=](ConfigDraft& draft, const std::string&, const std::string& system) {
    draft.table("data");
    draft.set("set", "modelnet", "HDF5 clouds or OFF meshes, with their classes");
    draft.table("data.modelnet");
    draft.set("path", path);
    if (!variant.empty()) {
      draft.set("variant", variant, text("of ", TomlText(files.variants()).text));
    }
    draft.set("classes", classes.count, "those that the files show");
    if (system == "steerable") {
      if (!files.empty() && found_points < ModelnetDataOptions().points) {
        draft.set("points", found_points, "all that a sample has");
      }
      draft.set("voxels", 32);
      draft.set("fill", "density",
                "shells of occupied cells do not turn smoothly, Gaussians around the points do");
      draft.set("sigma", 1.5);
      draft.set("extent", 1.15, "so that they fade out before the border");
    } else {
      draft.set("carrier", "points");
      draft.set("points", points, "of a sample: more see finer detail and take longer, by the square");
    }
  };
  found.write_task = [=](ConfigDraft& draft, const std::string& task, const std::string&) {
    write_classes(draft, task, classes);
  };
  return found;
}

}  // namespace

FoundData look_at_shape_file(const std::string& path) {
  if (!is_hdf5(path) || holds_clouds(path)) {
    return {};
  }
  const std::string above = fs::path(path).parent_path().string(), folder = above.empty() ? "." : above;
  const auto variant = ModelnetFiles(folder).variant_of(path);
  return variant ? look_at_shapes(folder, *variant) : FoundData();
}

std::vector<int64_t> crop_of(const std::vector<int64_t>& cells) {
  std::vector<int64_t> crop;
  for (const int64_t n : cells) {
    crop.push_back(std::min(n, usual_crop));
  }
  return crop;
}

bool needs_crop(const std::vector<int64_t>& cells) {
  return cells.size() == 3 && *std::ranges::max_element(cells) > largest_volume;
}

FoundData look_at_grids(const std::string& path) {
  if (is_decathlon_folder(path)) {
    return look_at_volumes(path);
  }
  if (is_modelnet_folder(path)) {
    return look_at_shapes(path, "");
  }
  if (is_cifar_folder(path)) {
    return images_of("cifar10", path, {Cifar10DataOptions{.path = path}}, "class",
                     [](ConfigDraft&, const Classes&) {});
  }
  if (is_digits_folder(path)) {
    return images_of("rotated_mnist", path, {RotatedMnistDataOptions{.path = path}}, "class",
                     [](ConfigDraft&, const Classes&) {});
  }
  if (is_ph2_folder(path)) {
    return look_at_ph2(path);
  }
  if (const auto first = first_picture(path); !first.empty()) {
    return look_at_pictures(path, first);
  }
  return {};
}

}  // namespace weyl
