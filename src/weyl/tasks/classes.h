#pragma once

#include "weyl/tasks/task.h"

namespace weyl {

/// What tasks with classes 0 .. K-1 share. `task` begins their messages.

constexpr const char* kClassLogits = "logits";                // the model's output
constexpr const char* kClassProbabilities = "probabilities";  // the prediction made of it
constexpr int64_t kMostNamedClasses = 20;                     // more are not told one by one, named or not
constexpr double kLeastProbability = 1e-30;                   // in its logarithm

/// K as a label of the schema says: ConfigError without that label, or when it says fewer than two.
int64_t classes_of(const Schema& data, const std::string& label, const char* task);
/// K of a model: the channels of its output `logits`.
int64_t classes_of(const Interface& model, const char* task);

/// The names given, or "0", "1", ...; ConfigError when there are not K of them, or two are the same.
std::vector<std::string> class_names(const std::vector<std::string>& given, int64_t classes,
                                     const char* task);

/// The weights given as a tensor (K) like `logits`, undefined for none; ConfigError unless there are K.
Tensor class_weights(const std::vector<double>& given, const Tensor& logits, const char* task);

/// ConfigError unless the weights are none, or one a class and one of them above 0.
void check_class_weights(const std::vector<double>& given, int64_t classes, const char* task);

/// The sum of the weights of a batch's samples, to divide by: infinite where all are 0, so that their mean is
/// 0.
Tensor weight_of(const Tensor& weights);

/// The output `logits` of a model, in float32 at least. ShapeError.
Tensor logits_of(const Named& outputs, const char* task);

/// ShapeError unless all values of a label are `least` .. K-1.
void require_classes(const Tensor& values, const std::string& label, int64_t classes, const char* task,
                     int64_t least = 0);

/// The label (B, 1, ...) without its channel, on the device of `like`: ShapeError when it is absent, not
/// (B, spatial of like), or has a value outside `least` .. K-1. Values of a `prepared` batch (Task::prepare) are not looked at
/// again on a device other than the CPU, for which the host would wait.
Tensor target_of(const Batch& batch, const std::string& label, const Tensor& like, const char* task,
                 bool prepared = false, int64_t least = 0);

/// How often each class was taken for each, (K, K) int64 on the CPU, rows the truth; both int64, one shape.
Tensor count_confusion(const Tensor& truth, const Tensor& prediction, int64_t classes);

}  // namespace weyl
