#include "weyl/tasks/property.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/to_device.h"
#include "weyl/tasks/conformers.h"
#include "weyl/tasks/error_law.h"
#include "weyl/tasks/label_statistics.h"
#include "weyl/tasks/test_time_rotations.h"

namespace weyl {
namespace {

constexpr int64_t kPropertyChunk = 1024;  // samples at a time when a whole set is read

const Quantity& target_in(const std::vector<Quantity>& quantities, const std::string& name) {
  const Quantity* found = find_quantity(quantities, name);
  require<ConfigError>(found != nullptr, "task property: there is no '", name, "'");
  return *found;
}

/// The labels (B, K) float64 of a batch.
Tensor targets_of(const Batch& batch, const std::vector<std::string>& names) {
  std::vector<Tensor> columns;
  for (const auto& name : names) {
    const auto found = batch.labels.find(name);
    require(found != batch.labels.end(), "property: the batch has no label '", name, "'");
    columns.push_back(found->second);
  }
  return at::cat(columns, 1);
}

class TargetErrors : public Meter {
 public:
  TargetErrors(std::vector<std::string> names, std::vector<std::string> units, Tensor scales)
      : names_(std::move(names)), units_(std::move(units)), scales_(std::move(scales)) {
    sums_ = at::zeros({3, static_cast<int64_t>(names_.size())}, at::kDouble);
  }

  void add(const Batch& batch, const Named& predictions) override {
    const Tensor truth = targets_of(batch, names_).to(at::kCPU);
    std::vector<Tensor> columns;
    for (const auto& name : names_) {
      const auto found = predictions.find(name);
      require(found != predictions.end(), "property: there is no prediction '", name, "'");
      columns.push_back(found->second.detach().to(at::kCPU, at::kDouble));
    }
    const Tensor missing = at::isnan(truth);
    const Tensor error = (at::cat(columns, 1) - truth).masked_fill(missing, 0);
    sums_ +=
        at::stack({missing.logical_not().to(at::kDouble).sum(0), error.abs().sum(0), error.square().sum(0)});
    samples_ += truth.size(0);
  }

  void merge(const Meter& other) override {
    const auto& more = same_kind<TargetErrors>(other, "property");
    require(more.names_ == names_ && more.units_ == units_ && at::equal(more.scales_, scales_),
            "property: a meter must be merged with one of the same targets, units and scales");
    sums_ = sums_ + more.sums_;
    samples_ += more.samples_;
  }

  Metrics values() const override {
    if (samples_ == 0) {
      return {};
    }
    const auto* count = sums_.const_data_ptr<double>();
    const size_t k = names_.size();
    Metrics result;
    double standardised = 0;
    for (size_t i = 0; i < k; ++i) {
      const std::string suffix = k == 1 ? "" : "_" + names_[i];
      const double mae = count[k + i] / count[i];  // NaN without a label
      result["mae" + suffix] = {mae, units_[i]};
      result["rmse" + suffix] = {std::sqrt(count[2 * k + i] / count[i]), units_[i]};
      standardised += mae / scales_.const_data_ptr<double>()[i] / static_cast<double>(k);
    }
    if (k > 1) {
      result["standardised_mae"] = {standardised, ""};
    }
    return result;
  }

  std::vector<MetricName> names(const Schema&) const override {
    std::vector<MetricName> all;
    for (const std::string& name : names_) {
      const std::string suffix = names_.size() == 1 ? "" : "_" + name;
      all.push_back({"mae" + suffix});
      all.push_back({"rmse" + suffix});
    }
    if (names_.size() > 1) {
      all.push_back({"standardised_mae"});
    }
    return all;
  }

 private:
  std::vector<std::string> names_, units_;
  Tensor scales_, sums_;
  int64_t samples_ = 0;
};

}  // namespace

Property::Property(PropertyOptions options) : options_(std::move(options)) {
  const auto& names = options_.targets;
  require<ConfigError>(!names.empty(), "task.property.targets: must name one label of the data at least");
  require<ConfigError>(std::set<std::string>(names.begin(), names.end()).size() == names.size(),
                       "task.property.targets: must be different from each other");
}

std::vector<Quantity> Property::labels() const {
  std::vector<Quantity> result;
  for (const auto& name : options_.targets) {
    result.push_back({.name = name, .level = Level::graph});
  }
  return result;
}

Interface Property::interface(const Schema& data) const {
  Interface result = data.interface;
  matrices_of(options_.test_time_rotations, data.carrier(), data.interface.dimension);
  result.outputs = labels();
  bool grows = false;
  for (auto& output : result.outputs) {
    if (const Quantity* known = find_quantity(data.labels, output.name)) {
      grows = grows || known->extensive;
      output.extensive = is_sum(*known);
      output.unit = known->unit;
    }
  }
  require<ConfigError>(
      grows || !options_.pooled,
      "task.property.pooled: must be false, because no target grows with the number of nodes");
  if (options_.reference == Reference::elements) {
    const bool sums = std::ranges::any_of(result.outputs, [&](const Quantity& q) { return is_sum(q); });
    require<ConfigError>(
        data.interface.types > 0 || !sums,
        "task.property.reference: must be \"mean\" or \"none\", because nothing says of which element "
        "a node is: the data have no types");
  }
  return result;
}

std::vector<Quantity> Property::predictions(const Interface& model) const {
  std::vector<Quantity> result;
  for (const auto& name : options_.targets) {
    result.push_back(target_in(model.outputs, name));
  }
  return result;
}

void Property::fit(const Dataset& train) {
  require<DataError>(train.size() > 0, "task property: the training set is empty");
  const int64_t types = train.schema().interface.types, k = count();
  const bool referenced = options_.reference != Reference::none;
  std::vector<ReferenceFit> fits;
  for (int64_t i = 0; i < k; ++i) {
    fits.emplace_back(referenced ? options_.reference : Reference::mean, types);
  }
  Tensor sums = at::zeros({2, k}, at::kDouble);
  seen_ = at::zeros({std::max<int64_t>(types, 1)}, at::kDouble);
  for_each_chunk(train, kPropertyChunk, [&](const Batch& batch) {
    const Tensor composition = composition_of(batch.input, types), t = targets_of(batch, options_.targets);
    seen_ += composition.sum(0);
    for (int64_t i = 0; i < k; ++i) {
      fits[static_cast<size_t>(i)].add(composition, t.select(1, i));
    }
    const Tensor missing = at::isnan(t);
    sums += at::stack({missing.logical_not().to(at::kDouble).sum(0), t.masked_fill(missing, 0).sum(0)});
  });
  means_ = at::zeros({k}, at::kDouble);
  std::vector<Tensor> references;
  for (int64_t i = 0; i < k; ++i) {
    const Tensor e = fits[static_cast<size_t>(i)].solution();
    const bool sum = is_sum(target_in(train.schema().labels, options_.targets[i]));
    references.push_back(referenced && sum ? e : at::zeros({e.size(0)}, at::kDouble));
    if (referenced && !sum) {
      means_[i].copy_(sums[1][i] / sums[0][i].clamp_min(1));
    }
  }
  references_ = at::stack(references);
  scales_ = at::ones({k}, at::kDouble);
  // A second pass: the squares of large numbers would drown their differences.
  Tensor rests = at::zeros({2, k}, at::kDouble);
  for_each_chunk(train, kPropertyChunk, [&](const Batch& batch) {
    const Tensor rest =
        targets_of(batch, options_.targets) - references_of(batch.input, train.schema().interface);
    const Tensor x = rest.masked_fill(at::isnan(rest), 0);
    rests += at::stack({x.sum(0), x.square().sum(0)});
  });
  for (int64_t i = 0; i < k; ++i) {
    const double n = std::max(sums[0][i].item<double>(), 1.0), sum = rests[0][i].item<double>();
    const double variance = (rests[1][i].item<double>() - sum * sum / n) / n;
    require<DataError>(std::isfinite(variance) && variance > 1e-24, "task property: '", options_.targets[i],
                       "' on the training set must differ from what its reference tells, got the variance ",
                       variance);
    if (options_.normalise) {
      scales_[i].fill_(std::sqrt(variance));
    }
  }
}

bool Property::adopt(const Schema& data, const OutputLaw& law) {
  if (count() > 1 && !law.plain()) {
    return false;
  }
  scales_ = at::full({count()}, law.scale, at::kDouble);
  references_ = at::zeros({count(), std::max<int64_t>(data.interface.types, 1)}, at::kDouble);
  means_ = at::full({count()}, law.shift, at::kDouble);
  seen_ = trained_counts(law.trained, references_.size(1));
  return true;
}

bool Property::keep(const Task& before, const Interface& from, const Interface& to) {
  const auto* other = dynamic_cast<const Property*>(&before);
  if (other == nullptr || !other->scales_.defined()) {
    return false;
  }
  const int64_t types = references_.size(1);
  const Tensor theirs = for_types(other->references_, types);
  std::vector<Tensor> references;
  Tensor scales = at::ones({count()}, at::kDouble), means = at::zeros({count()}, at::kDouble);
  for (int64_t i = 0; i < count(); ++i) {
    const auto& names = other->options_.targets;
    const auto found = std::find(names.begin(), names.end(), options_.targets[i]);
    if (found == names.end()) {
      return false;
    }
    const int64_t k = found - names.begin();
    const double factor = unit_factor_of(options_.targets[i], from, to);
    references.push_back(theirs[k] * factor);
    scales[i].copy_(other->scales_[k] * factor);
    means[i].copy_(other->means_[k] * factor);
  }
  references_ = at::stack(references);
  scales_ = scales;
  means_ = means;
  return true;
}

void Property::refer(const Dataset& train, const Named& outputs) {
  if (options_.reference == Reference::none) {
    return;
  }
  const Schema& schema = train.schema();
  std::vector<ReferenceFit> fits;
  for (int64_t i = 0; i < count(); ++i) {
    fits.emplace_back(options_.reference, schema.interface.types);
  }
  Tensor sums = at::zeros({2, count()}, at::kDouble);
  std::vector<Tensor> columns;
  for (const auto& name : options_.targets) {
    columns.push_back(outputs.at(name));
  }
  const Tensor y = at::cat(columns, 1);
  int64_t begin = 0;
  for_each_chunk(train, kPropertyChunk, [&](const Batch& batch) {
    const Tensor composition = composition_of(batch.input, schema.interface.types);
    const Tensor said =
        y.narrow(0, begin, composition.size(0)) * scales_ + references_of(batch.input, schema.interface);
    const Tensor rest = targets_of(batch, options_.targets) - said, missing = at::isnan(rest);
    for (int64_t i = 0; i < count(); ++i) {
      fits[static_cast<size_t>(i)].add(composition, rest.select(1, i));
    }
    sums += at::stack({missing.logical_not().to(at::kDouble).sum(0), rest.masked_fill(missing, 0).sum(0)});
    begin += composition.size(0);
  });
  for (int64_t i = 0; i < count(); ++i) {
    if (is_sum(target_in(schema.labels, options_.targets[i]))) {
      references_[i].add_(fits[static_cast<size_t>(i)].solution());
    } else {
      means_[i].add_(sums[1][i] / sums[0][i].clamp_min(1));
    }
  }
}

NamedTensors Property::state() const {
  if (!scales_.defined()) {
    return {};
  }
  return {{"scales", scales_}, {"references", references_}, {"means", means_}, {"seen", seen_}};
}

void Property::load(const NamedTensors& state) {
  const Tensor scales = saved_numbers(state, "property", "scales", {count()}),
               references = saved_numbers(state, "property", "references", {count(), -1}),
               means = saved_numbers(state, "property", "means", {count()}),
               // Files that were written before there was one have none.
      seen = state.contains("seen") ? saved_numbers(state, "property", "seen", {references.size(1)})
                                    : at::ones({references.size(1)}, at::kDouble);
  require<DataError>((scales > 0).all().item<bool>(), "task property: 'scales' must be positive");
  scales_ = scales;
  references_ = references;
  means_ = means;
  seen_ = seen;
}

Tensor Property::references_of(const Input& input, const Interface& interface, bool prepared) const {
  const Tensor composition = composition_of(input, interface.types);
  if (!references_.defined()) {  // not fitted: a config's audit
    return at::zeros({composition.size(0), count()}, composition.options());
  }
  const at::Device device = composition.device();
  if (device.is_cpu() || !prepared) {
    require_seen("property", composition, seen_, interface.elements);
  }
  return at::matmul(composition, to_device(references_, device).t()) + to_device(means_, device);
}

Tensor Property::outputs_of(Model& model, const Input& input) const {
  const Named outputs = model(input);
  std::vector<Tensor> columns;
  for (const auto& name : options_.targets) {
    const auto found = outputs.find(name);
    require(found != outputs.end(), "property: the model has no output '", name, "'");
    columns.push_back(found->second);
  }
  return at::cat(columns, 1);
}

Named Property::named(const Tensor& values) const {
  Named result;
  for (int64_t i = 0; i < count(); ++i) {
    result[options_.targets[i]] = values.slice(1, i, i + 1);
  }
  return result;
}

void Property::prepare(Batch& batch, const Interface& model) const {
  if (references_.defined()) {
    require_seen("property", composition_of(batch.input, model.types), seen_, model.elements);
  }
}

std::vector<Tensor> Property::loss_weights(const Batch& batch, const Interface&) const {
  return {at::isnan(targets_of(batch, options_.targets)).logical_not().sum().to(at::kDouble)};
}

Step Property::step(Model& model, const Batch& batch, const LossShares& shares) const {
  const Tensor y = outputs_of(model, batch.input);
  const Tensor r = references_of(batch.input, model.interface, model.training());
  const Tensor scales = scales_.defined() ? to_device(scales_, y.device()) : at::ones({count()}, r.options());
  const Tensor target = (targets_of(batch, options_.targets) - r) / scales;
  const Tensor error = (y - target.to(y.scalar_type())).to(model.dtype());
  const Tensor loss =
      (y.sum() * 0).to(error.scalar_type()) +
      shared(mean_error(options_.loss, options_.huber_delta, error, at::isnan(target).logical_not()), shares,
             0);
  return {loss, named(y.detach().to(at::kDouble) * scales + r)};
}

Named Property::predict(Model& model, const Batch& batch) const {
  const at::NoGradGuard no_grad;
  const Quantity all{.name = "targets", .level = Level::graph, .channels = count()};
  const Tensor y = mean_over_conformers(batch, [&](const Input& conformer) {
    return mean_over_rotations(options_.test_time_rotations, conformer, model.interface, all,
                               [&](const Input& input) { return outputs_of(model, input).to(at::kDouble); });
  });
  const Tensor r = references_of(batch.input, model.interface);
  return named(scales_.defined() ? y * scales_.to(y.device()) + r : y + r);
}

std::unique_ptr<Meter> Property::meter(const Interface& model) const {
  std::vector<std::string> units;
  for (const auto& name : options_.targets) {
    units.push_back(target_in(model.outputs, name).unit);
  }
  return std::make_unique<TargetErrors>(options_.targets, units,
                                        scales_.defined() ? scales_ : at::ones({count()}, at::kDouble));
}

std::string Property::headline() const {
  return count() == 1 ? "mae" : "standardised_mae";
}

std::vector<std::pair<std::string, Metrics>> Property::baselines(const Dataset& data) const {
  if (!references_.defined()) {
    return {};
  }
  std::vector<std::string> units;
  for (const auto& name : options_.targets) {
    units.push_back(target_in(data.schema().labels, name).unit);
  }
  TargetErrors meter(options_.targets, units, scales_);
  for_each_chunk(data, kPropertyChunk, [&](const Batch& batch) {
    meter.add(batch, named(references_of(batch.input, data.schema().interface)));
  });
  return {{"references", meter.values()}};
}

}  // namespace weyl
