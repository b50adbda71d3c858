#include "weyl/tasks/classification.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <numeric>

#include "weyl/carriers/placed_samples.h"
#include "weyl/core/check.h"
#include "weyl/ops/constants.h"
#include "weyl/tasks/classes.h"
#include "weyl/tasks/test_time_rotations.h"

namespace weyl {
namespace {

constexpr const char* kClassification = ClassificationOptions::name_in_config;
constexpr const char* kClassLabel = "class";
constexpr int64_t kClassificationChunk = 256;  // samples at a time when a whole set is read,
constexpr int64_t kCells = 1 << 20;            // and tokens, but for one sample that has more
constexpr int64_t kMostNumbered = 5;           // more classes than this are not told one by one without names

/// (B, R, K) float64: the probabilities of each of R placements alone, beside their mean.
constexpr const char* kOfPlacements = "probabilities of placements";
constexpr const char* kOfOnePlacement = "accuracy_one_rotation";

Quantity sample_probabilities(int64_t classes) {
  return {.name = kClassProbabilities, .level = Level::graph, .channels = classes};
}

template <class F>
void for_each_alike_chunk(const Dataset& data, F f) {
  const at::NoGradGuard no_grad;
  for (int64_t begin = 0, end = 0; begin < data.size(); begin = end) {
    std::vector<int64_t> indices;
    for (int64_t tokens = 0; end < data.size() && end - begin < kClassificationChunk; ++end) {
      tokens += data.tokens(end);
      if (end > begin && (tokens > kCells || !data.lattice(begin).alike(data.lattice(end)))) {
        break;
      }
      indices.push_back(end);
    }
    f(data.batch(indices));
  }
}

/// The classes (B) int64, or, of samples that were mixed, the shares of classes (B, K) in the dtype of the logits.
Tensor training_target(const Batch& batch, const Tensor& logits, bool prepared) {
  const auto found = batch.labels.find(kClassLabel);
  if (found == batch.labels.end() || !found->second.is_floating_point()) {
    return target_of(batch, kClassLabel, logits, kClassification, prepared);
  }
  require(found->second.sizes() == logits.sizes(), kClassification, ": shares of classes must be ",
          logits.sizes(), ", got ", found->second.sizes());
  return found->second.to(logits.device(), logits.scalar_type());
}

Tensor binary_loss(const Tensor& logits, const Tensor& target, double smoothing) {
  Tensor shares = target;
  if (target.dim() == 1) {
    shares = at::zeros_like(logits).scatter_(1, target.unsqueeze(1), 1);
  }
  shares = shares * (1 - smoothing) + smoothing / static_cast<double>(logits.size(1));
  return at::binary_cross_entropy_with_logits(logits, shares);
}

class Accuracy : public Meter {
 public:
  Accuracy(std::vector<std::string> names, bool named, bool placed = false)
      : names_(std::move(names)),
        placed_(placed),
        one_by_one_(classes() <= (named ? kMostNamedClasses : kMostNumbered)),
        counts_(at::zeros({classes(), classes()}, at::kLong)) {}

  void add(const Batch& batch, const Named& predictions) override {
    const auto found = predictions.find(kClassProbabilities);
    require(found != predictions.end(), "classification: there is no prediction 'probabilities'");
    const Tensor p = found->second.detach().to(at::kCPU, at::kDouble);
    require(p.dim() == 2 && p.size(1) == classes(), "classification: probabilities must be (B, ", classes(),
            "), got ", p.sizes());
    const Tensor truth = target_of(batch, kClassLabel, p, kClassification);
    counts_ += count_confusion(truth, at::argmax(p, 1), classes());
    if (const auto each = predictions.find(kOfPlacements); each != predictions.end()) {
      right_alone_ +=
          at::argmax(each->second, 2).eq(truth.unsqueeze(1)).to(at::kDouble).mean(1).sum().item<double>();
    }
    surprise_ -= p.gather(1, truth.unsqueeze(1)).clamp_min(kLeastProbability).log().sum().item<double>();
  }

  void merge(const Meter& other) override {
    const auto& more = same_kind<Accuracy>(other, kClassification);
    require(more.names_ == names_, "classification: a meter must be merged with one of the same classes");
    counts_ = counts_ + more.counts_;
    surprise_ += more.surprise_;
    right_alone_ += more.right_alone_;
  }

  void tell(Message& message) override { message(counts_, surprise_, right_alone_); }

  Metrics values() const override {
    const auto* c = counts_.const_data_ptr<int64_t>();
    const int64_t k = classes(), all = std::accumulate(c, c + k * k, int64_t{0});
    if (all == 0) {
      return {};
    }
    Metrics metrics;
    int64_t right = 0, occur = 0;
    double recalls = 0;
    for (int64_t i = 0; i < k; ++i) {
      const int64_t hits = c[i * k + i], of_class = std::accumulate(c + i * k, c + (i + 1) * k, int64_t{0});
      right += hits;
      if (of_class > 0) {
        const double recall = static_cast<double>(hits) / static_cast<double>(of_class);
        recalls += recall;
        ++occur;
        if (one_by_one_) {
          metrics["accuracy_" + names_[i]] = {recall, ""};
        }
      }
    }
    metrics["accuracy"] = {static_cast<double>(right) / static_cast<double>(all), ""};
    metrics["balanced_accuracy"] = {recalls / static_cast<double>(occur), ""};
    metrics["cross_entropy"] = {surprise_ / static_cast<double>(all), ""};
    if (placed_) {
      metrics[kOfOnePlacement] = {right_alone_ / static_cast<double>(all), ""};
    }
    return metrics;
  }

  std::vector<MetricName> names(const Schema&) const override {
    std::vector<MetricName> all{{"accuracy", false}, {"balanced_accuracy", false}, {"cross_entropy"}};
    for (size_t i = 0; one_by_one_ && i < names_.size(); ++i) {
      all.push_back({"accuracy_" + names_[i], false});
    }
    if (placed_) {
      all.push_back({kOfOnePlacement, false});
    }
    return all;
  }

  std::optional<Confusion> confusion() const override {
    const auto* c = counts_.const_data_ptr<int64_t>();
    return Confusion{names_, {c, c + counts_.numel()}};
  }

 private:
  int64_t classes() const { return static_cast<int64_t>(names_.size()); }

  std::vector<std::string> names_;
  bool placed_, one_by_one_;
  Tensor counts_;
  double surprise_ = 0, right_alone_ = 0;
};

}  // namespace

std::vector<Quantity> Classification::labels() const {
  return {{.name = kClassLabel, .level = Level::graph, .kind = Kind::category}};
}

Interface Classification::interface(const Schema& data) const {
  const int64_t classes = classes_of(data, kClassLabel, kClassification);
  class_names(options_.names, classes, kClassification);
  check_class_weights(options_.class_weights, classes, kClassification);
  if (placements(data.interface).empty()) {
    matrices_of(options_.test_time_rotations, data.carrier(), data.interface.dimension);
  }
  Interface result = data.interface;
  result.outputs = {{.name = kClassLogits, .level = Level::graph, .channels = classes}};
  return result;
}

std::vector<Quantity> Classification::predictions(const Interface& model) const {
  std::vector<Quantity> all = model.outputs;
  const int64_t classes = classes_of(model, kClassification);
  all.push_back(sample_probabilities(classes));
  all.push_back(labels()[0]);
  all.back().categories = classes;
  return all;
}

std::vector<Placement> Classification::placements(const Interface& model) const {
  return placements_of(options_.test_time_rotations, carrier_of(model), model.dimension);
}

Named Classification::averaged(const std::vector<Named>& of_placements) const {
  std::vector<Tensor> each;
  for (const Named& one : of_placements) {
    each.push_back(one.at(kClassProbabilities));
  }
  Named result = of_placements.at(0);
  result[kOfPlacements] = at::stack(each, 1).to(at::kCPU);
  result[kClassProbabilities] = result[kOfPlacements].mean(1);
  result[kClassLabel] = at::argmax(result[kClassProbabilities], 1, true);
  return result;
}

void Classification::fit(const Dataset& train) {
  require<ConfigError>(
      placements(train.schema().interface).empty() || train.size() == 0 || makes_anew(train),
      "task.classification.test_time_rotations: a grid turns exactly by 1, 2, 4 or 24 rotations, by others "
      "only where the data set makes it anew of a shape, got ",
      options_.test_time_rotations.count);
  const int64_t classes = classes_of(train.schema(), kClassLabel, kClassification);
  Tensor counts = at::zeros({classes}, at::kLong);
  for_each_alike_chunk(train, [&](const Batch& batch) {
    const Tensor like = at::zeros({batch.count(), classes}, at::kDouble);
    counts += at::bincount(target_of(batch, kClassLabel, like, kClassification), {}, classes);
  });
  require<DataError>(counts.sum().item<int64_t>() > 0, "task classification: the training set is empty");
  frequencies_ = counts.to(at::kDouble) / counts.sum().to(at::kDouble);
}

NamedTensors Classification::state() const {
  return frequencies_.defined() ? NamedTensors{{"frequencies", frequencies_}} : NamedTensors{};
}

void Classification::load(const NamedTensors& state) {
  const auto found = state.find("frequencies");
  if (found != state.end()) {
    require<DataError>(found->second.dim() == 1 && found->second.is_floating_point(),
                       "task classification: 'frequencies' must be one number a class");
    frequencies_ = found->second.to(at::kCPU, at::kDouble);
  }
}

void Classification::prepare(Batch& batch, const Interface& model) const {
  const auto found = batch.labels.find(kClassLabel);
  if (found != batch.labels.end() && !found->second.is_floating_point()) {
    require_classes(found->second, kClassLabel, classes_of(model, kClassification), kClassification);
  }
}

std::vector<Tensor> Classification::loss_weights(const Batch& batch, const Interface& model) const {
  const auto found = batch.labels.find(kClassLabel);
  require(found != batch.labels.end(), kClassification, ": the batch has no label '", kClassLabel, "'");
  const Tensor& labels = found->second;
  if (options_.loss == ClassLoss::binary || options_.class_weights.empty()) {
    return {loss_weight(labels.size(0))};
  }
  check_class_weights(options_.class_weights, classes_of(model, kClassification), kClassification);
  const Tensor weights = constant(options_.class_weights, at::kDouble, labels.device());
  return {labels.is_floating_point() ? at::matmul(labels.to(at::kDouble), weights).sum()
                                     : weights.index_select(0, labels.reshape({-1})).sum()};
}

Step Classification::step(Model& model, const Batch& batch, const LossShares& shares) const {
  const Tensor logits = logits_of(model(batch.input), kClassification);
  const Tensor target = training_target(batch, logits, /*prepared=*/model.training());
  if (options_.loss == ClassLoss::binary) {
    return {shared(binary_loss(logits, target, options_.label_smoothing), shares, 0),
            model.training() ? Named{} : predict(model, batch)};
  }
  const Tensor weights = class_weights(options_.class_weights, logits, kClassification);
  Tensor loss = at::cross_entropy_loss(logits, target, weights,
                                       weights.defined() ? at::Reduction::Sum : at::Reduction::Mean, -100,
                                       options_.label_smoothing);
  if (weights.defined()) {
    loss =
        loss / weight_of(target.dim() == 2 ? at::matmul(target, weights) : weights.index_select(0, target));
  }
  return {shared(loss, shares, 0), model.training() ? Named{} : predict(model, batch)};
}

Named Classification::predict(Model& model, const Batch& batch) const {
  const at::NoGradGuard no_grad;
  Named first;
  const Quantity q = sample_probabilities(classes_of(model.interface, kClassification));
  const bool placed = !placements(model.interface).empty();  // `evaluate` averages then
  const Tensor p = mean_over_rotations(placed ? TestTimeRotations{} : options_.test_time_rotations,
                                       batch.input, model.interface, q, [&](const Input& input) {
                                         Named outputs = model(input);
                                         const Tensor softmax = at::softmax(
                                             logits_of(outputs, kClassification).to(at::kDouble), 1);
                                         if (first.empty()) {
                                           first = std::move(outputs);
                                         }
                                         return softmax;
                                       });
  first[kClassProbabilities] = p;
  first[kClassLabel] = likeliest(p);
  return first;
}

std::unique_ptr<Meter> Classification::meter(const Interface& model) const {
  return std::make_unique<Accuracy>(
      class_names(options_.names, classes_of(model, kClassification), kClassification),
      !options_.names.empty(), !placements(model).empty());
}

std::vector<std::pair<std::string, Metrics>> Classification::baselines(const Dataset& data) const {
  if (!frequencies_.defined()) {
    return {};
  }
  Accuracy meter(class_names(options_.names, frequencies_.size(0), kClassification), !options_.names.empty());
  for_each_alike_chunk(data, [&](const Batch& batch) {
    meter.add(batch, {{kClassProbabilities, frequencies_.expand({batch.count(), frequencies_.size(0)})}});
  });
  return {{"most frequent class", meter.values()}};
}

}  // namespace weyl
