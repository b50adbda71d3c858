#include "weyl/data/volumes/options.h"

#include "weyl/config/unused_options.h"

namespace weyl {
namespace {

constexpr const char* without_fractions = "beside train, valid and test, which count";

}  // namespace

void fields(Fields& f, DecathlonDataOptions& o) {
  f("path", o.path,
    "folder with dataset.json: made by `weyl data make phantoms`, or of the Medical Segmentation Decathlon");
  f("modalities", o.modalities, "channels of an image, which the files must have", {1, 1000});
  f("classes", o.classes, "classes of a mask with the background, which the files must have", {1, 256});
  f("normalise", o.normalise, "each modality of a volume to mean 0 and standard deviation 1");
  f("normalise_over", o.normalise_over,
    "the voxels that mean and deviation are taken over: those that are not 0, while the others stay 0 (all, "
    "where those that are not 0 lie within a twentieth of their median), or all (CT, where 0 is water)");
  f("fractions", o.fractions, "of the labelled cases: training, validation, test", {0, 1});
  f("train", o.train, "training cases; 0: the fraction", {0, 1e9});
  f("valid", o.valid, "validation cases; 0: the fraction", {0, 1e9});
  f("test", o.test, "test cases; 0: the fraction", {0, 1e9});
  f("seed", o.seed, "of the split", {0, 9.2e18});
  f("cache", o.cache, "MiB of volumes that are kept in memory", {0, 1e9});
  f("limit", o.limit, "MiB that one volume may have, as float32", {1, 1e9});
  f("check_geometry", o.check_geometry, "image and mask must be at one place in space");
}

void require_effects(const DecathlonDataOptions& o) {
  const Conditional options[] = {
      {"normalise_over", o.normalise, "with normalise = false"},
      {"fractions", o.train == 0 || o.valid == 0 || o.test == 0, without_fractions}};
  refuse_unused("data.decathlon", o, DecathlonDataOptions{}, options);
}

}  // namespace weyl
