#include "weyl/train/loop/loading.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "weyl/core/check.h"

namespace weyl {
namespace {

/// Where tokens bound a batch, samples do not.
int64_t samples_at_once(const TrainOptions& options) {
  return options.batch_tokens ? std::numeric_limits<int64_t>::max() : options.batch;
}

}  // namespace

LoaderOptions loader_options(const TrainOptions& options, const Model& model, const Task* task) {
  LoaderOptions o;
  o.batch = samples_at_once(options);
  o.batch_tokens = options.batch_tokens;
  o.rotate = options.augment == Augmentation::rotations;
  o.reflect = options.augment == Augmentation::rotoreflections;
  o.move = options.augment == Augmentation::motions;
  o.crop = options.crop;
  o.crop_foreground = options.crop_foreground;
  o.grids = options.grids;
  o.threads = options.loaders;
  o.augment = true;
  o.centre = centre_of(model);
  o.dtype = model.dtype();
  o.device = model.device();
  if (task != nullptr && !o.device.is_cpu()) {
    o.prepare = [task, interface = model.interface](Batch& batch) { task->prepare(batch, interface); };
  }
  return o;
}

std::vector<int64_t> work_of(std::span<const int64_t> samples, const Dataset& data, const Model* model) {
  if (model == nullptr) {
    return std::vector<int64_t>(samples.size(), 1);
  }
  const bool all_pairs = !model->reach();
  std::vector<int64_t> work;
  std::unordered_map<int64_t, int64_t>
      of_size;  // the model goes through its layers for each size, and sizes recur
  for (const int64_t sample : samples) {
    const int64_t tokens = data.tokens(sample);
    const auto [cost, is_new] = of_size.try_emplace(tokens, tokens);
    if (is_new && all_pairs && tokens > 0) {
      const auto nodes = static_cast<double>(tokens);
      cost->second = std::max<int64_t>(tokens, std::llround(nodes * model->work_of_token(nodes).forward));
    }
    work.push_back(cost->second);
  }
  return work;
}

std::string note_on_augmentation(const TrainOptions& options, const Model& model) {
  const Augmentation augment = options.augment;
  if (augment != Augmentation::rotations && augment != Augmentation::rotoreflections) {
    return "";
  }
  const Symmetry symmetry = model.symmetry();
  const auto exact = [&](Claim::Of of) {
    return std::ranges::any_of(symmetry.exact, [of](const Claim& claim) { return claim.of == of; });
  };
  const bool all = exact(Claim::Of::rotoreflections) ||
                   (augment == Augmentation::rotations && exact(Claim::Of::rotations));
  const std::string said(names_of(augment)[static_cast<size_t>(augment)]);
  return all ? text("train.augment = \"", said, "\" has no effect: the model is exact under them by itself")
             : "";
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
