#include "weyl/tasks/classes.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/bincount.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "weyl/core/check.h"
#include "weyl/ops/constants.h"

namespace weyl {

int64_t classes_of(const Schema& data, const std::string& label, const char* task) {
  const Quantity* found = find_quantity(data.labels, label);
  require<ConfigError>(found != nullptr, "task ", task, ": needs the label '", label,
                       "', which the data set lacks");
  require<ConfigError>(found->categories >= 2, "task ", task, ": the label '", label,
                       "' must say how many classes there are, at least 2, got ", found->categories);
  return found->categories;
}

int64_t classes_of(const Interface& model, const char* task) {
  const Quantity* found = find_quantity(model.outputs, kClassLogits);
  require<ConfigError>(found != nullptr, "task ", task, ": the model must have an output 'logits'");
  return found->channels;
}

std::vector<std::string> class_names(const std::vector<std::string>& given, int64_t classes,
                                     const char* task) {
  std::vector<std::string> names = given;
  if (names.empty()) {
    for (int64_t k = 0; k < classes; ++k) {
      names.push_back(std::to_string(k));
    }
  }
  require<ConfigError>(static_cast<int64_t>(names.size()) == classes, "task.", task, ".names: must be ",
                       classes, ", one a class, got ", names.size());
  require<ConfigError>(std::set<std::string>(names.begin(), names.end()).size() == names.size(), "task.",
                       task, ".names: must be different from each other");
  return names;
}

void check_class_weights(const std::vector<double>& given, int64_t classes, const char* task) {
  require<ConfigError>(given.empty() || static_cast<int64_t>(given.size()) == classes, "task.", task,
                       ".class_weights: must be ", classes, ", one a class, got ", given.size());
  require<ConfigError>(given.empty() || std::ranges::any_of(given, [](double w) { return w > 0; }), "task.",
                       task, ".class_weights: one at least must be above 0");
}

Tensor weight_of(const Tensor& weights) {
  const Tensor sum = weights.sum();
  return sum.masked_fill(sum <= 0, INFINITY);
}

Tensor class_weights(const std::vector<double>& given, const Tensor& logits, const char* task) {
  if (given.empty()) {
    return {};
  }
  check_class_weights(given, logits.size(1), task);
  return constant(given, logits.scalar_type(), logits.device());
}

Tensor logits_of(const Named& outputs, const char* task) {
  const auto found = outputs.find(kClassLogits);
  require(found != outputs.end(), task, ": the model has no output 'logits'");
  const bool half = found->second.scalar_type() == at::kHalf || found->second.scalar_type() == at::kBFloat16;
  return half ? found->second.to(at::kFloat) : found->second;
}

void require_classes(const Tensor& values, const std::string& label, int64_t classes, const char* task,
                     int64_t least) {
  if (values.numel() > 0) {
    const auto low = values.min().item<int64_t>(), high = values.max().item<int64_t>();
    require(low >= least && high < classes, task, ": label '", label, "' must be ", least, " .. ",
            classes - 1, ", got ", low < least ? low : high);
  }
}

Tensor target_of(const Batch& batch, const std::string& label, const Tensor& like, const char* task,
                 bool prepared, int64_t least) {
  const auto found = batch.labels.find(label);
  require(found != batch.labels.end(), task, ": the batch has no label '", label, "'");
  auto shape = like.sizes().vec();
  const int64_t classes = shape[1];
  shape[1] = 1;
  require(found->second.sizes() == at::IntArrayRef(shape) && found->second.scalar_type() == at::kLong, task,
          ": label '", label, "' must be int64 ", at::IntArrayRef(shape),
          " to fit what the model gives, got ", found->second.scalar_type(), " ", found->second.sizes());
  if (found->second.is_cpu() || !prepared) {
    require_classes(found->second, label, classes, task, least);
  }
  return found->second.select(1, 0).to(like.device());
}

Tensor count_confusion(const Tensor& truth, const Tensor& prediction, int64_t classes) {
  const Tensor pairs = (truth * classes + prediction).reshape({-1});
  return at::bincount(pairs, {}, classes * classes).cpu().view({classes, classes});
}

}  // namespace weyl
