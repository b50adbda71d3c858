#include "weyl/train/loop/overflow.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isnan.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "weyl/core/check.h"
#include "weyl/data/base/sample_checks.h"
#include "weyl/train/loop/accumulate.h"

namespace weyl {
namespace {

constexpr size_t kTried = 1024, kNamed = 3;
constexpr double kApart = 1e6;  // of the median: what is larger is of another kind
constexpr double kLargestRoot =
    1e18;  // beyond, a square and what it is weighed by may be more than float32 holds

/// The largest number of some tensors without NaN, which is a missing label, and what it is of.
struct Largest {
  double value = 0;
  std::string name;
};

Largest largest_label(const Named& values, std::span<const Quantity> labels) {
  Largest found;
  for (const Quantity& q : labels) {
    const auto at = values.find(q.name);
    if (at == values.end() || !at->second.is_floating_point() || at->second.numel() == 0) {
      continue;
    }
    const Tensor size = at->second.detach().to(at::kCPU, at::kDouble).abs();
    const double value = size.masked_fill(at::isnan(size), 0).max().item<double>();
    if (value > found.value || found.name.empty()) {
      found = {value, q.name};
    }
  }
  return found;
}

/// NaN where one is.
Largest largest_prediction(const Named& values) {
  Largest found;
  for (const auto& [name, tensor] : values) {
    if (tensor.is_floating_point() && tensor.numel() > 0) {
      const double value = tensor.detach().to(at::kCPU, at::kDouble).abs().max().item<double>();
      if (!(value <= found.value) || found.name.empty()) {
        found = {value, name};
      }
      if (std::isnan(value)) {
        break;
      }
    }
  }
  return found;
}

struct Tried {
  int64_t sample = 0;
  double loss = 0, norm = 0;
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
  Tried tried{.sample = sample, .label = largest_label(step.data->batch({&sample, 1}).labels, task.labels())};
  StepTimes times;
  clear_gradients(model);
  Named predictions;
  {
    const at::NoGradGuard no_grad;
    predictions = task.predict(model, batch);
  }
  tried.prediction = largest_prediction(predictions);
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
  std::vector<Tried> faulty, sound;
  std::vector<double> losses, sizes;
  for (const int64_t sample : step.samples.first(std::min(step.samples.size(), kTried))) {
    Tried tried = try_alone(model, task, step, sample, options);
    sizes.push_back(tried.label.value);
    (tried.finite() ? sound : faulty).push_back(std::move(tried));
  }
  size_t sound_others = 0, all = sound.size() + faulty.size();
  if (!faulty.empty()) {
    for (const int64_t sample : step.others) {
      const Tried tried = try_alone(model, task, step, sample, options);
      sizes.push_back(tried.label.value);
      sound_others += tried.finite() ? 1 : 0;
      ++all;
    }
  }
  model.train(true);
  if (faulty.empty()) {
    for (const Tried& tried : sound) {
      losses.push_back(tried.loss);
    }
    const double usual = upper_median(losses);
    std::erase_if(sound, [&](const Tried& t) { return !(t.loss > kApart * usual); });
    return sound.empty() || losses.size() < 2 ? Overflow{kDiverged, false}
                                              : Overflow{blamed_samples(sound, *step.data), true};
  }
  // A label that is of another size than the others is a fault of its own, however many samples fail.
  const double usual = upper_median(sizes);
  std::vector<Tried> odd;
  std::ranges::copy_if(faulty, std::back_inserter(odd), [&](const Tried& t) {
    return !std::isfinite(t.label.value) || t.label.value > kLargestRoot ||
           (usual > 0 && t.label.value > kApart * usual);
  });
  const size_t failed = all - sound.size() - sound_others;
  if (failed == all || (2 * failed > all && all >= 8)) {
    if (!odd.empty() && odd.size() < faulty.size()) {
      return {blamed_samples(odd, *step.data), true};
    }
    if (const std::string beyond = labels_beyond(*step.data, task.labels()); !beyond.empty()) {
      return {beyond, true};
    }
    return {kDiverged, false};
  }
  return {blamed_samples(odd.empty() ? faulty : odd, *step.data), true};
}

std::string labels_beyond(const Dataset& data, std::span<const Quantity> labels) {
  const auto largest = [&](const std::vector<int64_t>& samples) {
    return largest_label(data.batch(samples).labels, labels);
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
