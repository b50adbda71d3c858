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
  // Of crops there go many into a batch, of the whole grids they are cut from perhaps one.
  o.batch = options.crop.empty() ? options.batch : 1;
  o.batch_tokens = options.crop.empty() ? options.batch_tokens : std::nullopt;
  o.where = where;
  return o;
}

}  // namespace weyl
