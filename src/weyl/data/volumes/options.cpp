#include "weyl/data/volumes/options.h"

#include "weyl/config/unused_options.h"

namespace weyl {
namespace {

constexpr const char* without_fractions = "beside train, valid and test, which count";

}  // namespace

void fields(Fields& f, DecathlonDataOptions& o) {
  f("path", o.path,
    "folder of volumes: made by `weyl data make phantoms`, of the Medical Segmentation Decathlon or nnU-Net v2 "
    "(dataset.json), of BraTS (a folder a case), or images/ beside labels/ or masks/");
  f("modalities", o.modalities, "channels of an image, which the files must have", {1, 1000});
  f("classes", o.classes, "classes of a mask with the background, which the files must have", {1, 256});
  f("labels", o.labels,
    "numbers of the classes in masks, ascending, which predictions have too; []: those of dataset.json, else 0, "
    "1, 2 ...",
    {0, 65535});
  f("spacing", o.spacing,
    "mm between voxels to the right, to the front and upwards that all volumes are brought to; predicted masks "
    "are brought back; []: each volume keeps its own",
    {0.001, 1000});
  f("interpolation", o.interpolation, "of images that get another spacing; masks: linear in each class");
  f("trim", o.trim,
    "cuts each volume to the box of what is not 0 in it or in its mask; predicted masks are 0 outside");
  f("normalise", o.normalise, "each modality of a volume to mean 0 and standard deviation 1");
  f("normalise_over", o.normalise_over,
    "the voxels that mean and deviation are taken over: those that are not 0, while the others stay 0 (all, "
    "where those that are not 0 lie within a twentieth of their median); all; those of the training cases' "
    "foreground, after all volumes are cut off at its percentiles 0.5 and 99.5; or by modality: foreground of "
    "channels called CT, none of those called noNorm, which stay as they are, else nonzero");
  f("window", o.window, "lowest and highest value that is kept before volumes are normalised; []: all are");
  f("intensities", o.intensities,
    "for each channel [lowest, highest, mean, deviation] of the training cases' foreground, [] where it is "
    "normalised in another way; []: counted when training begins, and kept with the model");
  f("fractions", o.fractions, "of the labelled cases: training, validation, test", {0, 1});
  f("train", o.train, "training cases; 0: the fraction", {0, 1e9});
  f("valid", o.valid, "validation cases; 0: the fraction", {0, 1e9});
  f("test", o.test, "test cases; 0: the fraction", {0, 1e9});
  f("held_out", o.held_out,
    "names of cases that are the validation split, in place of those that are drawn for it");
  f("seed", o.seed, "of the split", {0, 9.2e18});
  f("cache", o.cache, "MiB of volumes that are kept in memory", {0, 1e9});
  f("prepared", o.prepared,
    "folder in which volumes are kept as they are prepared, so that they are prepared once; \"\": none");
  f("limit", o.limit, "MiB that one volume may have, as float32", {1, 1e9});
  f("check_geometry", o.check_geometry, "image and mask must be at one place in space");
}

void require_effects(const DecathlonDataOptions& o) {
  const Conditional options[] = {
      {"interpolation", !o.spacing.empty(), "without spacing"},
      {"normalise_over", o.normalise, "with normalise = false"},
      {"intensities", o.normalise, "with normalise = false"},
      {"fractions", o.train == 0 || o.valid == 0 || o.test == 0, without_fractions}};
  refuse_unused("data.decathlon", o, DecathlonDataOptions{}, options);
}

}  // namespace weyl
