#include "weyl/train/loop/overflow.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isnan.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "weyl/core/check.h"
#include "weyl/data/base/sample_checks.h"
#include "weyl/train/loop/accumulate.h"

namespace weyl {
namespace {

constexpr size_t kTried = 1024, kNamed = 3;
constexpr double kApart = 1e6;  // of the median: what is larger is of another kind
constexpr double kWild = 30;    // of the largest label: what is predicted beyond is no prediction
constexpr double kLargestRoot =
    1e18;  // beyond, a square and what it is weighed by may be more than float32 holds

/// The largest number of each of some tensors.
using Sizes = std::map<std::string, double>;

/// Of labels, whose NaN are missing ones.
Sizes sizes_of_labels(const Named& values, std::span<const Quantity> labels) {
  Sizes sizes;
  for (const Quantity& q : labels) {
    const auto at = values.find(q.name);
    if (at != values.end() && at->second.is_floating_point() && at->second.numel() > 0) {
      const Tensor size = at->second.detach().to(at::kCPU, at::kDouble).abs();
      sizes[q.name] = size.masked_fill(at::isnan(size), 0).max().item<double>();
    }
  }
  return sizes;
}

/// NaN where one is.
Sizes sizes_of_predictions(const Named& values) {
  Sizes sizes;
  for (const auto& [name, tensor] : values) {
    if (tensor.is_floating_point() && tensor.numel() > 0) {
      sizes[name] = tensor.detach().to(at::kCPU, at::kDouble).abs().max().item<double>();
    }
  }
  return sizes;
}

struct Largest {
  double value = 0;
  std::string name;
};

/// The largest of all and what it is of; a NaN, if there is one.
Largest largest_of(const Sizes& sizes) {
  Largest found;
  for (const auto& [name, value] : sizes) {
    if (found.name.empty() || (!std::isnan(found.value) && !(value <= found.value))) {
      found = {value, name};
    }
  }
  return found;
}

struct Tried {
  int64_t sample = 0;
  double loss = 0, norm = 0;
  Sizes labels, predictions;
  Largest label, prediction;
  bool finite() const { return std::isfinite(loss) && std::isfinite(norm); }
};

void clear_gradients(const Model& model) {
  for (const Parameter& p : model.parameters()) {
    Tensor tensor = p.tensor;
    tensor.mutable_grad() = Tensor();
  }
}

Tried try_alone(Model& model, const Task& task, const FailedStep& step, int64_t sample,
                const TrainOptions& options) {
  const Batch batch = step.alone(sample);
  // Labels as the data have them: a rotation changes their numbers.
  Tried tried{.sample = sample,
              .labels = sizes_of_labels(step.data->batch({&sample, 1}).labels, task.labels())};
  tried.label = largest_of(tried.labels);
  StepTimes times;
  clear_gradients(model);
  Named predictions;
  {
    const at::NoGradGuard no_grad;
    predictions = task.predict(model, batch);
  }
  tried.predictions = sizes_of_predictions(predictions);
  tried.prediction = largest_of(tried.predictions);
  tried.loss = accumulate_gradients(model, task, {&batch, 1}, options, times).item<double>();
  for (const Parameter& p : model.parameters()) {
    if (p.trainable && p.tensor.grad().defined() && p.tensor.numel() > 0) {
      tried.norm += p.tensor.grad().detach().square().sum().item<double>();
    }
  }
  clear_gradients(model);
  return tried;
}

double upper_median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Takes those out whose loss is of another kind than the usual one.
std::vector<Tried> taken_apart(std::vector<Tried>& sound) {
  std::vector<double> losses;
  std::ranges::transform(sound, std::back_inserter(losses), &Tried::loss);
  const double limit = kApart * upper_median(losses);
  std::vector<Tried> apart;
  std::ranges::copy_if(sound, std::back_inserter(apart), [&](const Tried& t) { return t.loss > limit; });
  std::erase_if(sound, [&](const Tried& t) { return t.loss > limit; });
  return apart;
}

/// Those of the faulty samples whose labels are of another size than the others': a fault of their own, whatever the
/// weights are and however many samples fail.
std::vector<Tried> odd_ones(const std::vector<Tried>& faulty, const std::vector<Tried>& sound,
                            const std::vector<Tried>& others) {
  std::vector<double> sizes;
  for (const auto* tried : {&faulty, &sound, &others}) {
    std::ranges::transform(*tried, std::back_inserter(sizes), [](const Tried& t) { return t.label.value; });
  }
  const double usual = upper_median(sizes);
  std::vector<Tried> odd;
  std::ranges::copy_if(faulty, std::back_inserter(odd), [&](const Tried& t) {
    return !std::isfinite(t.label.value) || t.label.value > kLargestRoot ||
           (usual > 0 && t.label.value > kApart * usual);
  });
  return odd;
}

/// Whether the usual sound sample, too, is predicted far beyond everything that any of them is labelled with: then it is
/// the weights that fail, and one sample has only come first.
bool predicts_wildly(const std::vector<Tried>& sound) {
  std::map<std::string, std::vector<double>> predictions;
  std::map<std::string, double> labels;
  for (const Tried& t : sound) {
    for (const auto& [name, size] : t.labels) {
      labels[name] = std::max(labels[name], size);
    }
    for (const auto& [name, size] : t.predictions) {
      if (std::isfinite(size)) {  // NaN is the stress of what has no volume
        predictions[name].push_back(size);
      }
    }
  }
  return std::ranges::any_of(labels, [&](const auto& label) {
    const auto found = predictions.find(label.first);
    return found != predictions.end() && label.second > 0 &&
           !(upper_median(found->second) <= kWild * label.second);
  });
}

std::string blamed_samples(const std::vector<Tried>& faulty, const Dataset& data) {
  std::string line =
      faulty.size() == 1 ? "one sample is at fault: " : text(faulty.size(), " samples are at fault: ");
  for (size_t i = 0; i < std::min(faulty.size(), kNamed); ++i) {
    const Tried& t = faulty[i];
    line += text(i > 0 ? "; " : "", sample_name(data, t.sample), " alone gives a loss of ", t.loss);
    if (std::isfinite(t.loss)) {
      line += " and a gradient that overflows";
    }
    if (!t.label.name.empty()) {
      line += text(", with ", t.label.name, " of up to ", t.label.value);
    }
    if (!t.prediction.name.empty()) {
      line += text(t.label.name.empty() ? ", with " : " and ", "a prediction of ", t.prediction.name,
                   " of up to ", t.prediction.value);
    }
  }
  return line + (faulty.size() > kNamed ? text(" and ", faulty.size() - kNamed, " more") : "");
}

constexpr const char* kDiverged =
    "the weights have diverged: a smaller train.optimiser.rate, a warm-up or train.optimiser.clip may help";

}  // namespace

Overflow explain_overflow(Model& model, const Task& task, const FailedStep& step,
                          const TrainOptions& options) {
  for (const Parameter& p : model.parameters()) {
    if (step.statistics != nullptr && !p.trainable && step.statistics->contains(p.name)) {
      const at::NoGradGuard no_grad;
      p.tensor.detach().copy_(step.statistics->at(p.name));
    }
  }
  model.train(false);
  std::vector<Tried> faulty, sound, others;
  for (const int64_t sample : step.samples.first(std::min(step.samples.size(), kTried))) {
    Tried tried = try_alone(model, task, step, sample, options);
    (tried.finite() ? sound : faulty).push_back(std::move(tried));
  }
  const size_t of_step = faulty.size() + sound.size();
  const bool all_finite = faulty.empty();
  if (all_finite && of_step > 1) {
    faulty = taken_apart(sound);
  }
  if (!faulty.empty()) {
    for (const int64_t sample : step.others) {
      others.push_back(try_alone(model, task, step, sample, options));
    }
  }
  model.train(true);
  if (faulty.empty()) {
    return {kDiverged, false};
  }
  const std::vector<Tried> odd = odd_ones(faulty, sound, others);
  std::ranges::copy_if(others, std::back_inserter(sound), &Tried::finite);
  const size_t all = of_step + others.size(), failed = all - sound.size();
  if (!all_finite && (failed == all || (2 * failed > all && all >= 8))) {
    if (!odd.empty() && odd.size() < faulty.size()) {
      return {blamed_samples(odd, *step.data), true};
    }
    if (const std::string beyond = labels_beyond(*step.data, task.labels()); !beyond.empty()) {
      return {beyond, true};
    }
    return {kDiverged, false};
  }
  if (odd.empty() && (step.learned || predicts_wildly(sound))) {
    return {kDiverged, false};
  }
  return {blamed_samples(odd.empty() ? faulty : odd, *step.data), true};
}

std::string labels_beyond(const Dataset& data, std::span<const Quantity> labels) {
  const auto largest = [&](const std::vector<int64_t>& samples) {
    return largest_of(sizes_of_labels(data.batch(samples).labels, labels));
  };
  int64_t count = 0;
  std::string first;
  // Grids may be large, and of different sizes.
  const int64_t chunk = data.schema().carrier() == Carrier::grid ? 1 : 256;
  for (int64_t begin = 0; begin < data.size(); begin += chunk) {
    std::vector<int64_t> samples(static_cast<size_t>(std::min(chunk, data.size() - begin)));
    std::iota(samples.begin(), samples.end(), begin);
    if (!(largest(samples).value > kLargestRoot)) {
      continue;
    }
    for (const int64_t sample : samples) {
      const Largest found = largest({sample});
      if (found.value > kLargestRoot && count++ == 0) {
        first = text(sample_name(data, sample), " has ", found.name, " of up to ", found.value);
      }
    }
  }
  return count == 0
             ? ""
             : text("labels are too large to be learned, which spoils what all samples are measured by: ",
                    first, count > 1 ? text(" and ", count - 1, " more") : "");
}

}  // namespace weyl
