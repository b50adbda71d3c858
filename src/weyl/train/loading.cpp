#include "weyl/train/loading.h"

#include <limits>

namespace weyl {
namespace {

/// Where tokens bound a batch, samples do not.
int64_t samples_at_once(const TrainOptions& options) {
  return options.batch_tokens ? std::numeric_limits<int64_t>::max() : options.batch;
}

}  // namespace

LoaderOptions loader_options(const TrainOptions& options, const Model& model) {
  LoaderOptions o;
  o.batch = samples_at_once(options);
  o.batch_tokens = options.batch_tokens;
  o.rotate = options.augment == Augmentation::rotations;
  o.reflect = options.augment == Augmentation::rotoreflections;
  o.move = options.augment == Augmentation::motions;
  o.crop = options.crop;
  o.crop_foreground = options.crop_foreground;
  o.augment = true;
  o.centre = exact_under_translations(model);
  o.dtype = model.dtype();
  o.device = model.device();
  return o;
}

BatchOptions evaluate_options(const TrainOptions& options, const std::string& where) {
  BatchOptions o;
  // Many crops go into a batch; of the whole grids that they are cut from perhaps one does.
  o.batch = options.crop.empty() ? samples_at_once(options) : 1;
  o.batch_tokens = options.crop.empty() ? options.batch_tokens : std::nullopt;
  o.where = where;
  return o;
}

}  // namespace weyl
