#include "weyl/tasks/property.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"
#include "weyl/core/to_device.h"
#include "weyl/ops/segment.h"
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

const Tensor& named_tensor(const Named& values, const std::string& name, const char* what) {
  const auto found = values.find(name);
  require(found != values.end(), "property: there is no ", what, " '", name, "'");
  return found->second;
}

bool of_nodes(const Quantity& target) {
  return target.level == Level::node;
}

/// A target's rows (R, 1, ...) as (R, n), n numbers each.
Tensor flat(const Tensor& rows) {
  return rows.reshape({rows.size(0), rows.size(0) == 0 ? 1 : -1});
}
/// Which of the rows (R, n) are known: true (R) where no number is NaN.
Tensor known_rows(const Tensor& rows) {
  return at::isnan(rows).any(1).logical_not();
}

/// What references are of, (R): the number of a scalar, the mean of a tensor's diagonal; nothing of a vector is the same for all
/// its rotations.
Tensor isotropic_part(const Quantity& target, const Tensor& x) {
  switch (target.kind) {
    case Kind::vector:
      return at::zeros({x.size(0)}, x.options());
    case Kind::symmetric_tensor:
      return x.select(1, 0).diagonal(0, -2, -1).mean(-1);
    default:
      return x.select(1, 0);
  }
}
/// Rows (R, 1, ...) that have this part alone.
Tensor from_isotropic_part(const Quantity& target, const Tensor& part, int64_t dimension) {
  switch (target.kind) {
    case Kind::vector:
      return at::zeros({part.size(0), 1, dimension}, part.options());
    case Kind::symmetric_tensor:
      return part.view({-1, 1, 1, 1}) * at::eye(dimension, part.options());
    default:
      return part.unsqueeze(1);
  }
}

/// The compositions of a target's rows: of graphs (B, T), or of nodes, each of its type alone, (N, T); without types one column.
Tensor composition_of_rows(const Quantity& target, const Input& input, int64_t types) {
  if (!of_nodes(target)) {
    return composition_of(input, types);
  }
  if (const auto* poses = std::get_if<Poses>(&input)) {
    return at::ones({poses->nodes(), 1}, poses->elements.options().dtype(at::kDouble));
  }
  const auto& points = std::get<Points>(input);
  return types > 0 ? at::one_hot(points.types, types).to(at::kDouble)
                   : at::ones({points.nodes(), 1}, points.positions.options().dtype(at::kDouble));
}

class TargetErrors : public Meter {
 public:
  /// `shares` (K): what an error of each target adds to the mean over them.
  TargetErrors(std::vector<std::string> names, std::vector<std::string> units, Tensor shares)
      : names_(std::move(names)), units_(std::move(units)), shares_(std::move(shares)) {
    sums_ = at::zeros({3, static_cast<int64_t>(names_.size())}, at::kDouble);
  }

  void add(const Batch& batch, const Named& predictions) override {
    std::vector<Tensor> columns;
    for (const auto& name : names_) {
      const Tensor truth = flat(named_tensor(batch.labels, name, "label").to(at::kCPU));
      const Tensor said =
          flat(named_tensor(predictions, name, "prediction").detach().to(at::kCPU, at::kDouble));
      const Tensor missing = known_rows(truth).logical_not().unsqueeze(1).expand_as(truth);
      const Tensor error = (said - truth).masked_fill(missing, 0);
      columns.push_back(
          at::stack({missing.logical_not().sum().to(at::kDouble), error.abs().sum(), error.square().sum()}));
    }
    sums_ += at::stack(columns, 1);
    samples_ += rows_of(batch.input, Level::graph);
  }

  void merge(const Meter& other) override {
    const auto& more = same_kind<TargetErrors>(other, "property");
    require(more.names_ == names_ && more.units_ == units_ && at::equal(more.shares_, shares_),
            "property: a meter must be merged with one of the same targets, units and shares");
    sums_ = sums_ + more.sums_;
    samples_ += more.samples_;
  }

  void tell(Message& message) override { message(sums_, samples_); }

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
      if (const double share = shares_.const_data_ptr<double>()[i]; share > 0) {
        standardised += share * mae;
      }
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
  Tensor shares_, sums_;
  int64_t samples_ = 0;
};

}  // namespace

Property::Property(PropertyOptions options) : options_(std::move(options)) {
  const auto& names = options_.targets;
  require<ConfigError>(!names.empty(), "task.property.targets: must name one label of the data at least");
  require<ConfigError>(std::set<std::string>(names.begin(), names.end()).size() == names.size(),
                       "task.property.targets: must be different from each other");
  std::set<std::string> held;
  for (const HeldSum& sum : options_.held) {
    require<ConfigError>(held.insert(sum.target).second, "task.property.held: '", sum.target,
                         "' must be held to one total, got two");
  }
  const auto& weights = options_.weights;
  require<ConfigError>(weights.empty() || weights.size() == names.size(),
                       "task.property.weights: must be one for each of the ", names.size(), " targets, got ",
                       weights.size());
  require<ConfigError>(weights.empty() || std::ranges::any_of(weights, [](double w) { return w > 0; }),
                       "task.property.weights: one must be above 0");
}

std::vector<Quantity> Property::labels() const {
  std::vector<Quantity> result;
  for (const auto& name : options_.targets) {
    result.push_back({.name = name, .level = Level::graph});
  }
  return result;
}

std::string Property::wants(const Quantity&) const {
  return "one number, vector or symmetric tensor of each graph or node";
}

bool Property::takes(const Quantity&, const Quantity& label) const {
  return label.channels == 1 && label.role == Role::free &&
         (label.level == Level::graph || label.level == Level::node) &&
         (label.kind == Kind::scalar || label.kind == Kind::vector || label.kind == Kind::symmetric_tensor);
}

Interface Property::interface(const Schema& data) const {
  Interface result = data.interface;
  matrices_of(options_.test_time_rotations, data.carrier(), data.interface.dimension);
  result.outputs = labels();
  bool grows = false, numbers = true;
  for (auto& output : result.outputs) {
    if (const Quantity* known = find_quantity(data.labels, output.name)) {
      output.level = known->level;
      output.kind = known->kind;
      grows = grows || (known->extensive && !of_nodes(output));
      output.extensive = is_sum(*known);
      output.unit = known->unit;
      numbers = numbers && known->kind == Kind::scalar && !of_nodes(output);
      require<ConfigError>(!of_nodes(output) || data.carrier() != Carrier::grid, "task.property.targets: '",
                           output.name, "' is of nodes, which must be points or poses, the data are ",
                           name_of(data.carrier()));
      require<ConfigError>(known->kind == Kind::scalar || data.carrier() != Carrier::poses,
                           "task.property.targets: '", output.name,
                           "' must be a number, of poses no other kind is learned, got a ",
                           kind_names[static_cast<int>(known->kind)]);
    }
  }
  require<ConfigError>(
      grows || !options_.pooled,
      "task.property.pooled: must be false, because no target grows with the number of nodes");
  require<ConfigError>(
      numbers || options_.test_time_rotations.count == 1,
      "task.property.test_time_rotations: are of numbers of graphs alone, and a target is none");
  require<ConfigError>(
      numbers || find_quantity(data.labels, conformers_label) == nullptr,
      "task.property.targets: must be numbers of graphs, of which alone predictions are averaged over "
      "the conformers of these data");
  if (options_.reference == Reference::elements) {
    const bool sums = std::ranges::any_of(result.outputs, [&](const Quantity& q) {
      return (is_sum(q) || of_nodes(q)) && q.kind != Kind::vector;
    });
    require<ConfigError>(
        data.interface.types > 0 || !sums,
        "task.property.reference: must be \"mean\" or \"none\", because nothing says of which element "
        "a node is: the data have no types");
  }
  for (const HeldSum& held : options_.held) {
    const Quantity* target = find_quantity(result.outputs, held.target);
    require<ConfigError>(target != nullptr && of_nodes(*target) && target->kind == Kind::scalar,
                         "task.property.held: target '", held.target,
                         "' must be one of the targets, numbers of nodes");
    const Quantity* total = find_quantity(data.interface.features, held.to);
    require<ConfigError>(
        held.to.empty() || (total != nullptr && total->level == Level::graph && total->kind == Kind::scalar &&
                            total->channels == 1),
        "task.property.held: to = '", held.to,
        "' must be a feature of the data (data.molecules.features), one number of a graph, or empty for zero");
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
  const Schema& schema = train.schema();
  const int64_t types = schema.interface.types, k = count();
  const bool referenced = options_.reference != Reference::none;
  std::vector<ReferenceFit> fits;
  std::vector<Quantity> targets;
  for (const std::string& name : options_.targets) {
    fits.emplace_back(referenced ? options_.reference : Reference::mean, types);
    targets.push_back(target_in(schema.labels, name));
  }
  Tensor sums = at::zeros({2, k}, at::kDouble);  // known rows, and their isotropic parts
  seen_ = at::zeros({std::max<int64_t>(types, 1)}, at::kDouble);
  for_each_chunk(train, kPropertyChunk, [&](const Batch& batch) {
    seen_ += composition_of(batch.input, types).sum(0);
    for (int64_t i = 0; i < k; ++i) {
      const Quantity& target = targets[static_cast<size_t>(i)];
      const Tensor part = isotropic_part(target, named_tensor(batch.labels, target.name, "label"));
      fits[static_cast<size_t>(i)].add(composition_of_rows(target, batch.input, types), part);
      const Tensor missing = at::isnan(part);
      sums.select(1, i).add_(
          at::stack({missing.logical_not().to(at::kDouble).sum(), part.masked_fill(missing, 0).sum()}));
    }
  });
  means_ = at::zeros({k}, at::kDouble);
  std::vector<Tensor> references;
  for (int64_t i = 0; i < k; ++i) {
    const Tensor e = fits[static_cast<size_t>(i)].solution();
    const Quantity& target = targets[static_cast<size_t>(i)];
    const bool of_types = is_sum(target) || of_nodes(target);
    references.push_back(referenced && of_types ? e : at::zeros({e.size(0)}, at::kDouble));
    if (referenced && !of_types) {
      means_[i].copy_(sums[1][i] / sums[0][i].clamp_min(1));
    }
  }
  references_ = at::stack(references);
  fit_deviations(train);
}

void Property::fit_deviations(const Dataset& train) {
  // A second pass: the squares of large numbers would drown their differences.
  const Schema& schema = train.schema();
  deviations_ = at::ones({count()}, at::kDouble);
  Tensor rests = at::zeros({3, count()}, at::kDouble);  // numbers, their sum, and that of their squares
  for_each_chunk(train, kPropertyChunk, [&](const Batch& batch) {
    const std::vector<Tensor> references = references_of(batch.input, schema.interface, schema.labels);
    for (int64_t i = 0; i < count(); ++i) {
      const std::string& name = options_.targets[static_cast<size_t>(i)];
      const Tensor rest =
          flat(named_tensor(batch.labels, name, "label") - references[static_cast<size_t>(i)]);
      const Tensor known = known_rows(rest).unsqueeze(1).expand_as(rest);
      const Tensor x = rest.masked_fill(known.logical_not(), 0);
      rests.select(1, i).add_(at::stack({known.sum().to(at::kDouble), x.sum(), x.square().sum()}));
    }
  });
  for (int64_t i = 0; i < count(); ++i) {
    const std::string& name = options_.targets[static_cast<size_t>(i)];
    const double n = std::max(rests[0][i].item<double>(), 1.0);
    // Numbers vary about their mean; the components of vectors and tensors about zero, the only mean that turns with them.
    const double sum = target_in(schema.labels, name).kind == Kind::scalar ? rests[1][i].item<double>() : 0;
    const double variance = (rests[2][i].item<double>() - sum * sum / n) / n;
    require<DataError>(std::isfinite(variance) && variance > 1e-24, "task property: '", name,
                       "' on the training set must differ from what its reference tells, got the variance ",
                       variance);
    deviations_[i].fill_(std::sqrt(variance));
  }
  scales_ = options_.normalise ? deviations_.clone() : at::ones_like(deviations_);
}

bool Property::adopt(const Schema& data, const OutputLaw& law) {
  const Quantity* target = find_quantity(data.labels, options_.targets.front());
  const bool number = target == nullptr || (target->kind == Kind::scalar && !of_nodes(*target));
  if ((count() > 1 || !number) && !law.plain()) {
    return false;
  }
  scales_ = at::full({count()}, law.scale, at::kDouble);
  deviations_ = scales_.clone();
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
  Tensor scales = at::ones({count()}, at::kDouble), deviations = scales.clone(),
         means = at::zeros({count()}, at::kDouble);
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
    deviations[i].copy_(other->deviations_[k] * factor);
    means[i].copy_(other->means_[k] * factor);
  }
  references_ = at::stack(references);
  scales_ = scales;
  deviations_ = deviations;
  means_ = means;
  return true;
}

void Property::refer(const Dataset& train, const Named& outputs) {
  if (options_.reference == Reference::none) {
    return;
  }
  const Schema& schema = train.schema();
  std::vector<ReferenceFit> fits;
  std::vector<int64_t> taken;  // targets that are numbers of graphs, of which there are outputs
  for (int64_t i = 0; i < count(); ++i) {
    const Quantity& target = target_in(schema.labels, options_.targets[static_cast<size_t>(i)]);
    if (!of_nodes(target) && target.kind == Kind::scalar) {
      taken.push_back(i);
    }
    fits.emplace_back(options_.reference, schema.interface.types);
  }
  Tensor sums = at::zeros({2, count()}, at::kDouble);
  int64_t begin = 0;
  for_each_chunk(train, kPropertyChunk, [&](const Batch& batch) {
    const Tensor composition = composition_of(batch.input, schema.interface.types);
    const std::vector<Tensor> references = references_of(batch.input, schema.interface, schema.labels);
    for (const int64_t i : taken) {
      const std::string& name = options_.targets[static_cast<size_t>(i)];
      const Tensor said = outputs.at(name).narrow(0, begin, composition.size(0)) * scales_[i] +
                          references[static_cast<size_t>(i)];
      const Tensor rest = (named_tensor(batch.labels, name, "label") - said).select(1, 0);
      const Tensor missing = at::isnan(rest);
      fits[static_cast<size_t>(i)].add(composition, rest);
      sums.select(1, i).add_(
          at::stack({missing.logical_not().to(at::kDouble).sum(), rest.masked_fill(missing, 0).sum()}));
    }
    begin += composition.size(0);
  });
  for (const int64_t i : taken) {
    if (is_sum(target_in(schema.labels, options_.targets[static_cast<size_t>(i)]))) {
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
  return {{"scales", scales_},
          {"deviations", deviations_},
          {"references", references_},
          {"means", means_},
          {"seen", seen_}};
}

void Property::load(const NamedTensors& state) {
  const Tensor scales = saved_numbers(state, "property", "scales", {count()}),
               references = saved_numbers(state, "property", "references", {count(), -1}),
               means = saved_numbers(state, "property", "means", {count()}),
               // Files that were written before there was one have none of these two.
      deviations =
          state.contains("deviations") ? saved_numbers(state, "property", "deviations", {count()}) : scales,
               seen = state.contains("seen") ? saved_numbers(state, "property", "seen", {references.size(1)})
                                             : at::ones({references.size(1)}, at::kDouble);
  require<DataError>(((scales > 0) & (deviations > 0)).all().item<bool>(),
                     "task property: 'scales' and 'deviations' must be positive");
  scales_ = scales;
  deviations_ = deviations;
  references_ = references;
  means_ = means;
  seen_ = seen;
}

std::vector<Tensor> Property::references_of(const Input& input, const Interface& interface,
                                            const std::vector<Quantity>& targets, bool prepared) const {
  const Tensor composition = composition_of(input, interface.types);
  if (references_.defined() && (composition.device().is_cpu() || !prepared)) {
    require_seen("property", composition, seen_, interface.elements);
  }
  std::vector<Tensor> result;
  for (int64_t i = 0; i < count(); ++i) {
    const Quantity& target = target_in(targets, options_.targets[static_cast<size_t>(i)]);
    const Tensor of_rows =
        of_nodes(target) ? composition_of_rows(target, input, interface.types) : composition;
    const at::Device device = of_rows.device();
    const Tensor part =
        references_.defined()
            ? at::matmul(of_rows, to_device(references_, device)[i]) + to_device(means_, device)[i]
            : at::zeros({of_rows.size(0)}, of_rows.options());  // not fitted: a config's audit
    result.push_back(from_isotropic_part(target, part, interface.dimension));
  }
  return result;
}

double Property::scale_of(int64_t target) const {
  return scales_.defined() ? scales_.const_data_ptr<double>()[target] : 1;
}

double Property::weight_of(int64_t target) const {
  const std::vector<double>& weights = options_.weights;
  return weights.empty() ? 1 / static_cast<double>(count())
                         : weights[static_cast<size_t>(target)] / std::reduce(weights.begin(), weights.end());
}

std::unique_ptr<Meter> Property::errors_in(const std::vector<Quantity>& targets) const {
  std::vector<std::string> units;
  Tensor shares = at::zeros({count()}, at::kDouble);
  for (int64_t i = 0; i < count(); ++i) {
    units.push_back(target_in(targets, options_.targets[static_cast<size_t>(i)]).unit);
    shares[i].fill_(weight_of(i));
  }
  return std::make_unique<TargetErrors>(options_.targets, units,
                                        deviations_.defined() ? shares / deviations_ : shares);
}

Tensor Property::missing_to_total(const std::string& target, const Tensor& values, const Input& input) const {
  const auto held = std::ranges::find(options_.held, target, &HeldSum::target);
  if (held == options_.held.end()) {
    return {};
  }
  const Segments& graphs = graphs_of(input);
  const Tensor sums = segment_sum(values, graphs);
  // A feature of graphs is of points alone.
  const Tensor wanted =
      held->to.empty()
          ? at::zeros_like(sums)
          : named_tensor(std::get<Points>(input).of_graphs, held->to, "feature").to(values.scalar_type());
  const Tensor each = (wanted - sums) / graphs.sizes_on_device().unsqueeze(1).clamp_min(1);
  return each.index_select(0, graphs.index);
}

void Property::prepare(Batch& batch, const Interface& model) const {
  if (references_.defined()) {
    require_seen("property", composition_of(batch.input, model.types), seen_, model.elements);
  }
}

std::vector<Tensor> Property::loss_weights(const Batch& batch, const Interface&) const {
  std::vector<Tensor> known;
  for (const std::string& name : options_.targets) {
    known.push_back(known_rows(flat(named_tensor(batch.labels, name, "label"))).sum().to(at::kDouble));
  }
  return known;
}

Step Property::step(Model& model, const Batch& batch, const LossShares& shares) const {
  const Named outputs = model(batch.input);
  const Interface& interface = model.interface;
  const std::vector<Tensor> references =
      references_of(batch.input, interface, interface.outputs, model.training());
  Step result;
  for (int64_t i = 0; i < count(); ++i) {
    const std::string& name = options_.targets[static_cast<size_t>(i)];
    const Tensor& y = named_tensor(outputs, name, "output of the model");
    const double s = scale_of(i);
    Tensor r = references[static_cast<size_t>(i)];
    if (const Tensor more = missing_to_total(name, y.to(at::kDouble) * s + r, batch.input); more.defined()) {
      r = r + more;
    }
    const Tensor target = flat((named_tensor(batch.labels, name, "label") - r) / s);
    Tensor error = (flat(y) - target.to(y.scalar_type())).to(model.dtype());
    const Tensor known = known_rows(target).unsqueeze(1);
    if (error.size(1) > 1) {  // the root mean square of the components, which no rotation changes
      error = at::linalg_vector_norm(error.masked_fill(known.logical_not(), 0), 2, {1}, /*keepdim=*/true) /
              std::sqrt(static_cast<double>(error.size(1)));
    }
    const Tensor mean = mean_error(options_.loss, options_.huber_delta, error, known);
    // Without any label the loss still depends on the weights.
    const Tensor term = (y.sum() * 0).to(mean.scalar_type()) + shared(mean, shares, static_cast<size_t>(i));
    result.loss = result.loss.defined() ? result.loss + weight_of(i) * term : weight_of(i) * term;
    result.predictions[name] = (y.detach().to(at::kDouble) * s + r).detach();
  }
  return result;
}

Named Property::predict(Model& model, const Batch& batch) const {
  const at::NoGradGuard no_grad;
  const Interface& interface = model.interface;
  Named outputs;
  if (options_.test_time_rotations.count == 1 && !batch.labels.contains(conformers_label)) {
    outputs = model(batch.input);
  } else {  // numbers of graphs alone
    const Quantity all{.name = "targets", .level = Level::graph, .channels = count()};
    const auto numbers = [&](const Input& input) {
      const Named found = model(input);
      std::vector<Tensor> columns;
      for (const std::string& name : options_.targets) {
        columns.push_back(named_tensor(found, name, "output of the model"));
      }
      return at::cat(columns, 1).to(at::kDouble);
    };
    const Tensor mean = mean_over_conformers(batch, [&](const Input& conformer) {
      return mean_over_rotations(options_.test_time_rotations, conformer, interface, all, numbers);
    });
    for (int64_t i = 0; i < count(); ++i) {
      outputs[options_.targets[static_cast<size_t>(i)]] = mean.narrow(1, i, 1);
    }
  }
  const std::vector<Tensor> references = references_of(batch.input, interface, interface.outputs);
  Named result;
  for (int64_t i = 0; i < count(); ++i) {
    const std::string& name = options_.targets[static_cast<size_t>(i)];
    Tensor value = named_tensor(outputs, name, "output of the model").to(at::kDouble) * scale_of(i) +
                   references[static_cast<size_t>(i)];
    if (const Tensor more = missing_to_total(name, value, batch.input); more.defined()) {
      value = value + more;
    }
    result[name] = value;
  }
  return result;
}

std::unique_ptr<Meter> Property::meter(const Interface& model) const {
  return errors_in(model.outputs);
}

std::string Property::headline() const {
  return count() == 1 ? "mae" : "standardised_mae";
}

std::vector<std::pair<std::string, Metrics>> Property::baselines(const Dataset& data) const {
  if (!references_.defined()) {
    return {};
  }
  const std::unique_ptr<Meter> meter = errors_in(data.schema().labels);
  for_each_chunk(data, kPropertyChunk, [&](const Batch& batch) {
    const std::vector<Tensor> references =
        references_of(batch.input, data.schema().interface, data.schema().labels);
    Named said;
    for (size_t i = 0; i < references.size(); ++i) {
      said[options_.targets[i]] = references[i];
    }
    meter->add(batch, said);
  });
  return {{"references", meter->values()}};
}

}  // namespace weyl
