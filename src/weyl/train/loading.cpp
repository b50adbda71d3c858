#include "weyl/train/loading.h"

namespace weyl {

LoaderOptions loader_options(const TrainOptions& options, const Model& model) {
  LoaderOptions o;
  o.batch = options.batch;
  o.batch_tokens = options.batch_tokens;
  o.rotate = options.augment == Augmentation::rotations;
  o.reflect = options.augment == Augmentation::rotoreflections;
  o.move = options.augment == Augmentation::motions;
  o.crop = options.crop;
  o.crop_foreground = options.crop_foreground;
  o.dtype = model.dtype();
  o.device = model.device();
  return o;
}

EvaluateOptions evaluate_options(const TrainOptions& options, const std::string& where) {
  EvaluateOptions o;
  o.batch = options.batch;
  o.batch_tokens = options.batch_tokens;
  o.where = where;
  return o;
}

}  // namespace weyl
