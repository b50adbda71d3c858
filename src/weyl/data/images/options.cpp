#include "weyl/data/images/options.h"

#include "weyl/config/unused_options.h"

namespace weyl {
namespace {

constexpr const char* without_fractions = "beside train, valid and test, which count";

template <class Options>
void image_counts(Fields& f, Options& o) {
  f("train", o.train, "images used of the training split, which must have them; 0: all", {0, 1e9});
  f("valid", o.valid, "images used of the validation split, which must have them; 0: all", {0, 1e9});
  f("test", o.test, "images used of the test split, which must have them; 0: all", {0, 1e9});
}

template <class Options>
void image_size(Fields& f, Options& o) {
  f("height", o.height, "rows that images are resized to; 0 and 0: as they are, all of one size", {0, 32768});
  f("width", o.width, "columns that images are resized to", {0, 32768});
}

template <class Options>
void mask_threshold(Fields& f, Options& o) {
  f("mask_threshold", o.mask_threshold,
    "of masks of two classes that hold greys: what is above it, as a part of white, is the second class; "
    "unless given, masks of more than two values are refused",
    {0, 0.999});
}

/// Augmentation that changes nothing, and changes of colours where there are none. `key` names its table.
void refuse_augmentation(const std::string& key, const ImageAugmentation& o, int64_t channels) {
  require<ConfigError>(o.pad > 0 || o.resized_crop || o.flip || o.colours() || o.mixes(), key,
                       ": must have one at least of pad, resized_crop, flip, three, jitter, hue, mixup and "
                       "cutmix on, got none");
  const std::pair<const char*, bool> of_colours[] = {
      {"three", o.three}, {"jitter", o.jitter > 0}, {"hue", o.hue > 0}};
  for (const auto& [name, on] : of_colours) {
    require<ConfigError>(!on || channels == 3, key, ".", name,
                         ": must be off for images without colours, got ", channels,
                         channels == 1 ? " channel" : " channels");
  }
}

/// What has no patches has none of their options. `side`: of images of one known size, in pixels; else 0.
template <class Options>
void refuse_image_input(const Options& o, int64_t channels, bool masks, int64_t side = 0,
                        std::vector<Conditional> options = {}) {
  const bool points = o.input.carrier == ImageCarrier::points;
  for (const char* key : {"patch", "patch_feature", "threshold", "frame"}) {
    options.push_back({key, points, "with carrier = \"grid\""});
  }
  const std::string table = std::string("data.") + Options::name_in_config;
  refuse_unused(table, o, Options{}, options);
  require<ConfigError>(side == 0 || !points || side % o.input.patch == 0, table, ".patch: must divide the ",
                       side, " pixels of a side, got ", o.input.patch);
  if (o.input.augment) {
    require<ConfigError>(!masks, table,
                         ".augment: must be false for images with masks, which it does not change");
    require<ConfigError>(
        !o.input.threshold, table,
        ".augment: must be false beside threshold, which counts the patches of images as they are");
    refuse_augmentation(table + ".augment", *o.input.augment, channels);
    require<ConfigError>(side == 0 || o.input.augment->pad <= side, table,
                         ".augment.pad: must be at most the ", side, " pixels of a side, got ",
                         o.input.augment->pad);
  }
}

}  // namespace

void fields(Fields& f, RotatedMnistDataOptions& o) {
  f("path", o.path,
    "folder with the .amat files of rotated MNIST or of `weyl data make glyphs`, .npz splits, or IDX files");
  image_counts(f, o);
  fields(f, o.input);
}

void require_effects(const RotatedMnistDataOptions& o) {
  refuse_image_input(o, 1, /*masks=*/false, 28);
}

void fields(Fields& f, Cifar10DataOptions& o) {
  f("path", o.path, "folder with data_batch_1.bin .. data_batch_5.bin and test_batch.bin");
  image_counts(f, o);
  f("seed", o.seed, "of the tenth of the training images that is for validation", {0, 9.2e18});
  fields(f, o.input);
}

void require_effects(const Cifar10DataOptions& o) {
  refuse_image_input(o, 3, /*masks=*/false, 32);
}

void fields(Fields& f, ImagesDataOptions& o) {
  f("path", o.path,
    "folder with a folder of images for each class, or with images/ and masks/; or both in train, valid, "
    "test");
  f("target", o.target, "what is known: a class of each image, or a mask with a class of each pixel");
  f("classes", o.classes, "number of classes; 0: as many as there are, which only the files can say",
    {0, 255});
  f("channels", o.channels, "3 (rgb) or 1 (grey)", {1, 3});
  image_size(f, o);
  mask_threshold(f, o);
  f("train_fraction", o.train_fraction, "of the images, where there are no folders train, valid and test",
    {0, 1});
  f("valid_fraction", o.valid_fraction, "of the images; the rest is for testing", {0, 1});
  f("seed", o.seed, "of the random splits", {0, 9.2e18});
  fields(f, o.input);
}

void require_effects(const ImagesDataOptions& o) {
  refuse_image_input(o, o.channels, o.target == ImageTarget::mask, 0,
                     {{"mask_threshold", o.target == ImageTarget::mask, "with target = \"class\""}});
}

void fields(Fields& f, Ph2DataOptions& o) {
  f("path", o.path, "folder `PH2 Dataset images`, or the one above; made by `weyl data make lesions`, too");
  image_size(f, o);
  mask_threshold(f, o);
  f("train", o.train, "training images; with valid and test 0: the fraction", {0, 1e9});
  f("valid", o.valid, "validation images; with train and test 0: the fraction", {0, 1e9});
  f("test", o.test, "test images; with train and valid 0: the fraction", {0, 1e9});
  f("fractions", o.fractions, "of the images: training, validation, test", {0, 1});
  f("seed", o.seed, "of the random splits", {0, 9.2e18});
  fields(f, o.input);
}

void require_effects(const Ph2DataOptions& o) {
  refuse_image_input(o, 3, /*masks=*/true, 0,
                     {{"fractions", o.train == 0 && o.valid == 0 && o.test == 0, without_fractions}});
}

}  // namespace weyl
