#include "weyl/tasks/relaxation.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

#include "weyl/carriers/node_feature.h"
#include "weyl/core/check.h"
#include "weyl/ops/edges/edges.h"
#include "weyl/ops/segment.h"
#include "weyl/tasks/conformers.h"
#include "weyl/tasks/label_statistics.h"
#include "weyl/tasks/relaxation_errors.h"

namespace weyl {
namespace {

constexpr int64_t kRelaxationChunk = 256;  // samples at a time when a whole set is read

/// The output that holds, for each tag above 0, what a node of that tag adds to the number.
std::string of_tags(const std::string& target) {
  return target + "_of_tags";
}

const Quantity* tags_of(const Interface& interface) {
  for (const Quantity& q : interface.features) {
    if (q.name == "tag" && q.level == Level::node && q.kind == Kind::scalar) {
      return &q;
    }
  }
  return nullptr;
}

/// 1 for nodes that are no images, (N) float64.
Tensor ones_of_real(const Points& points, const Interface& interface) {
  const Tensor real = real_nodes(points, interface);
  return real.defined() ? real.to(at::kDouble)
                        : at::ones({points.nodes()}, points.positions.options().dtype(at::kDouble));
}

/// By how much each node carries each tag above 0, (N, K - 1) float64: 0 for images.
Tensor carriers(const Points& points, const Interface& interface) {
  const Tensor tags = node_feature(points, interface, "tag");
  return (tags.slice(1, 1) > 0).to(at::kDouble) * ones_of_real(points, interface).unsqueeze(1);
}

/// How many real nodes of each type every graph has, and 1: (B, T + 1), float64.
Tensor composition_of_real(const Points& points, const Interface& interface) {
  const Tensor real = ones_of_real(points, interface).unsqueeze(1);
  const int64_t types = interface.types;
  const Tensor of_nodes = types > 0 ? at::one_hot(points.types, types).to(at::kDouble) * real : real;
  const Tensor counts = segment_sum(of_nodes, points.graphs);
  return at::cat({counts, at::ones({counts.size(0), 1}, counts.options())}, 1);
}

const Tensor& number_label(const Batch& batch, const std::string& target) {
  const auto found = batch.labels.find(target);
  require(found != batch.labels.end(), "relaxation: the batch has no label '", target, "'");
  require(found->second.sizes() == at::IntArrayRef({batch.count(), 1}), "relaxation: the label '", target,
          "' must be (", batch.count(), ", 1), got ", found->second.sizes());
  return found->second;
}

double at_fraction(const WeightCourse& w, double fraction) {
  return w.start + (w.end - w.start) * std::clamp(fraction, 0.0, 1.0);
}

bool counts(const WeightCourse& w) {
  return w.start > 0 || w.end > 0;
}

/// The mean of |x| over rows that count, (L, ...) and weights (L); 0 when none does. In the dtype of x.
Tensor mean_absolute(const Tensor& x, const Tensor& counted) {
  const Tensor rows = x.dim() > 1 ? x.abs().flatten(1).mean(1) : x.abs();
  const Tensor weights = counted.to(x.scalar_type());
  return (rows * weights).sum() / weights.sum().clamp_min(1);
}

/// Pairs i < j of nodes of a graph that both count: 1, else 0, in the order of all_pairs.
Tensor counted_pairs(const Edges& edges, const Tensor& counted) {
  return (edges.centre < edges.neighbour).to(at::kDouble) * counted.index_select(0, edges.centre) *
         counted.index_select(0, edges.neighbour);
}

Tensor lengths_of(const Tensor& places, const Edges& edges) {
  return polar(displacements(places, edges)).length;
}

std::string unit_or(const std::vector<Quantity>& all, const std::string& name, const std::string& unit) {
  const Quantity* found = find_quantity(all, name);
  return found != nullptr && !found->unit.empty() ? found->unit : unit;
}

}  // namespace

Relaxation::Relaxation(RelaxationOptions options) : options_(std::move(options)) {
  require<ConfigError>(!options_.target.empty() || moves(),
                       "task.relaxation: must learn something, got no target, displacement_weight = 0 and "
                       "distance_weight = 0");
  for (const char* taken : {relaxed_label, cell_label, displacement_name}) {
    require<ConfigError>(options_.target != taken,
                         "task.relaxation.target: must be a number of graphs, got '", taken, "'");
  }
}

bool Relaxation::moves() const {
  return counts(options_.displacement_weight) || counts(options_.distance_weight);
}

std::vector<Quantity> Relaxation::labels() const {
  std::vector<Quantity> result;
  if (!options_.target.empty()) {
    result.push_back({.name = options_.target, .level = Level::graph});
  }
  if (moves()) {
    result.push_back({.name = relaxed_label, .kind = Kind::vector, .role = Role::point});
  }
  return result;
}

bool Relaxation::measures_without(const Quantity& label) const {
  return label.name == relaxed_label && !options_.target.empty();
}

Interface Relaxation::interface(const Schema& data) const {
  require<ConfigError>(data.carrier() == Carrier::points && data.interface.dimension == 3,
                       "task relaxation: needs points in space, the data set holds ", name_of(data.carrier()),
                       " of dimension ", data.interface.dimension);
  Interface result = data.interface;
  result.outputs.clear();
  if (!options_.target.empty()) {
    const std::string unit = unit_of(data.labels, options_.target);
    const Quantity* tags = tags_of(data.interface);
    require<ConfigError>(tags == nullptr || tags->channels > 1,
                         "task relaxation: the feature 'tag' must have a column for each tag, got ",
                         tags == nullptr ? 0 : tags->channels);
    result.outputs.push_back(
        tags == nullptr
            ? Quantity{.name = options_.target, .level = Level::graph, .unit = unit}
            : Quantity{.name = of_tags(options_.target), .channels = tags->channels - 1, .unit = unit});
  }
  if (moves()) {
    result.outputs.push_back({.name = displacement_name,
                              .kind = Kind::vector,
                              .role = Role::offset,
                              .unit = unit_or(data.labels, relaxed_label, data.interface.length_unit)});
  }
  return result;
}

std::vector<Quantity> Relaxation::predictions(const Interface& model) const {
  std::vector<Quantity> result;
  if (!options_.target.empty()) {
    const std::string& name = options_.target;
    const Quantity* whole = find_quantity(model.outputs, name);
    result.push_back({.name = name,
                      .level = Level::graph,
                      .unit = whole != nullptr ? whole->unit : unit_of(model.outputs, of_tags(name))});
  }
  if (moves()) {
    const std::string unit = unit_of(model.outputs, displacement_name);
    result.push_back({.name = displacement_name, .kind = Kind::vector, .role = Role::offset, .unit = unit});
    result.push_back({.name = relaxed_label, .kind = Kind::vector, .role = Role::point, .unit = unit});
  }
  return result;
}

void Relaxation::fit(const Dataset& train) {
  require<DataError>(train.size() > 0, "task relaxation: the training set is empty");
  const Interface& inputs = train.schema().interface;
  const bool numbers = !options_.target.empty(), tagged = numbers && tags_of(inputs) != nullptr;
  // Sums of numbers are taken from their first, so that those of large numbers keep their digits.
  double first = NAN, known = 0, sum = 0, squares = 0, carrying = 0, components = 0, ways = 0;
  const int64_t types = std::max<int64_t>(inputs.types, 1);
  ReferenceFit composition(Reference::elements, types + 1);
  seen_ = at::zeros({types}, at::kDouble);
  for_each_chunk(train, kRelaxationChunk, [&](const Batch& batch) {
    const Points& points = relaxing_points(batch.input);
    seen_ += composition_of(batch.input, inputs.types).sum(0);
    if (numbers) {
      const Tensor t = number_label(batch, options_.target).select(1, 0), there = at::isfinite(t);
      if (std::isnan(first) && there.any().item<bool>()) {
        first = t.masked_select(there)[0].item<double>();
      }
      const Tensor x = (t - first).masked_fill(there.logical_not(), 0);
      known += there.sum().item<double>();
      sum += x.sum().item<double>();
      squares += x.square().sum().item<double>();
      composition.add(composition_of_real(points, inputs), t);
      carrying += tagged ? carriers(points, inputs).sum().item<double>() : 0;
    }
    if (moves()) {
      const RelaxationTarget target = relaxation_target(batch, inputs);
      components += 3 * target.counted.sum().item<double>();
      ways += (target.displacement.square().sum(1) * target.counted).sum().item<double>();
    }
  });
  composition_ = at::zeros({types + 1}, at::kDouble);
  if (numbers) {
    const double mean = sum / std::max(known, 1.0), variance = squares / std::max(known, 1.0) - mean * mean;
    require<DataError>(std::isfinite(variance) && variance > 1e-24, "task relaxation: '", options_.target,
                       "' must have a positive variance on the training set, got ", variance);
    mean_ = first + mean;
    deviation_ = std::sqrt(variance);
    composition_ = composition.solution();
  }
  if (tagged) {
    require<DataError>(carrying > 0, "task relaxation: nodes of a tag above 0 must carry '", options_.target,
                       "', the training set has none");
    carriers_ = carrying / static_cast<double>(train.size());
  }
  if (moves()) {
    const double square = ways / std::max(components, 1.0);
    require<DataError>(
        std::isfinite(square) && (square > 0 || !options_.normalise),
        "task relaxation: the mean square of the displacements of free nodes must be positive on "
        "the training set to be its unit (task.relaxation.normalise), got ",
        square);
    length_ = options_.normalise ? std::sqrt(square) : 1;
  }
}

bool Relaxation::keep(const Task& before, const Interface& from, const Interface& to) {
  const auto* other = dynamic_cast<const Relaxation*>(&before);
  if (other == nullptr || !other->composition_.defined() || other->options_.target != options_.target ||
      other->moves() != moves()) {
    return false;
  }
  if (!options_.target.empty()) {
    const bool tagged = find_quantity(to.outputs, of_tags(options_.target)) != nullptr;
    const double factor = unit_factor_of(tagged ? of_tags(options_.target) : options_.target, from, to);
    mean_ = other->mean_ * factor;
    deviation_ = other->deviation_ * factor;
    carriers_ = other->carriers_;
  }
  return true;
}

NamedTensors Relaxation::state() const {
  if (!composition_.defined()) {
    return {};
  }
  const auto numbers = [](const std::vector<double>& x) { return at::tensor(x, at::kDouble); };
  return {{"number", numbers({mean_, deviation_})},
          {"displacement", numbers({length_})},
          {"carriers", numbers({carriers_})},
          {"composition", composition_},
          {"seen", seen_}};
}

void Relaxation::load(const NamedTensors& state) {
  const Tensor number = saved_numbers(state, "relaxation", "number", {2});
  const double deviation = number[1].item<double>(),
               length = saved_numbers(state, "relaxation", "displacement", {1}).item<double>(),
               carrying = saved_numbers(state, "relaxation", "carriers", {1}).item<double>();
  const Tensor composition = saved_numbers(state, "relaxation", "composition", {-1}),
               seen = saved_numbers(state, "relaxation", "seen", {composition.size(0) - 1});
  require<DataError>(
      deviation > 0 && length > 0 && carrying > 0,
      "task relaxation: the deviation of 'number', 'displacement' and 'carriers' must be positive, "
      "got ",
      deviation, ", ", length, " and ", carrying);
  mean_ = number[0].item<double>();
  deviation_ = deviation;
  length_ = length;
  carriers_ = carrying;
  composition_ = composition;
  seen_ = seen;
}

void Relaxation::require_known_types(const Input& input, const Interface& interface) const {
  if (seen_.defined()) {
    require_seen("relaxation", composition_of(input, interface.types), seen_, interface.elements);
  }
}

void Relaxation::prepare(Batch& batch, const Interface& model) const {
  require_known_types(batch.input, model);
}

Relaxation::Answer Relaxation::answer(Model& model, const Input& input) const {
  const Points& points = relaxing_points(input);
  if (points.positions.is_cpu() || !model.training()) {  // else `prepare` has looked
    require_known_types(input, model.interface);
  }
  const Named outputs = model(input);
  const auto output = [&](const std::string& name) {
    const auto found = outputs.find(name);
    require(found != outputs.end(), "relaxation: the model has no output '", name, "'");
    return found->second;
  };
  Answer result;
  if (!options_.target.empty()) {
    if (tags_of(model.interface) != nullptr) {
      const Tensor parts =
          output(of_tags(options_.target)).to(at::kDouble) * carriers(points, model.interface);
      result.number = segment_sum(parts.sum(1), points.graphs) / carriers_;
    } else {
      result.number = output(options_.target).select(1, 0).to(at::kDouble);
    }
  }
  if (moves()) {
    const Tensor d = output(displacement_name).squeeze(1),
                 free = node_feature(points, model.interface, "free");
    result.displacement = free.defined() ? d.masked_fill((free.slice(1, 0, 1) > 0).logical_not(), 0) : d;
  }
  return result;
}

Named Relaxation::named(const Answer& answer, const Input& input) const {
  Named result;
  if (answer.number.defined()) {
    result[options_.target] = (answer.number.detach() * deviation_ + mean_).unsqueeze(1);
  }
  if (answer.displacement.defined()) {
    const Tensor d = answer.displacement.detach().to(at::kDouble).unsqueeze(1);
    result[displacement_name] = d;
    result[relaxed_label] = relaxing_points(input).positions.to(at::kDouble).unsqueeze(1) + d;
  }
  return result;
}

std::vector<Tensor> Relaxation::loss_weights(const Batch& batch, const Interface& model) const {
  std::vector<Tensor> weights;
  if (!options_.target.empty()) {
    weights.push_back(at::isfinite(number_label(batch, options_.target)).sum().to(at::kDouble));
  }
  if (moves()) {
    const Tensor counted = relaxation_target(batch, model).counted;
    weights.push_back(counted.sum());
    if (counts(options_.distance_weight)) {
      weights.push_back(counted_pairs(all_pairs(relaxing_points(batch.input).graphs), counted).sum());
    }
  }
  return weights;
}

Step Relaxation::step(Model& model, const Batch& batch, const LossShares& shares) const {
  const Answer found = answer(model, batch.input);
  size_t term = 0;
  Tensor loss = at::zeros({}, at::TensorOptions(model.device()).dtype(model.dtype()));
  const auto add = [&](const Tensor& x, double weight) {
    loss = loss + weight * shared(x, shares, term++).to(loss.scalar_type());
  };
  if (found.number.defined()) {
    const Tensor truth = number_label(batch, options_.target).select(1, 0), known = at::isfinite(truth);
    const Tensor error = found.number - (truth.masked_fill(known.logical_not(), 0) - mean_) / deviation_;
    add(mean_absolute(error, known), 1);
  }
  if (moves()) {
    const RelaxationTarget target = relaxation_target(batch, model.interface);
    const Tensor error =
        (found.displacement - target.displacement.to(found.displacement.scalar_type())) / length_;
    add(mean_absolute(error, target.counted), at_fraction(options_.displacement_weight, fraction_));
    if (counts(options_.distance_weight)) {
      const Points& points = relaxing_points(batch.input);
      const Edges edges = all_pairs(points.graphs);
      const Tensor wide = points.positions.to(at::kDouble);
      const Tensor predicted = lengths_of(wide + found.displacement.to(at::kDouble), edges),
                   truth = lengths_of(wide + target.displacement, edges);
      add(mean_absolute((predicted - truth) / length_, counted_pairs(edges, target.counted)),
          at_fraction(options_.distance_weight, fraction_));
    }
  }
  return {loss, named(found, batch.input)};
}

Named Relaxation::predict(Model& model, const Batch& batch) const {
  const at::NoGradGuard no_grad;
  Answer found = answer(model, batch.input);
  if (found.number.defined() && batch.labels.contains(conformers_label)) {
    found.number =
        mean_over_conformers(batch, [&](const Input& input) { return answer(model, input).number; });
  }
  return named(found, batch.input);
}

std::unique_ptr<Meter> Relaxation::meter(const Interface& model) const {
  RelaxationErrors::Options options{.target = options_.target, .displacements = moves(), .inputs = model};
  for (const Quantity& q : predictions(model)) {
    (q.name == options_.target ? options.unit : options.inputs.length_unit) = q.unit;
  }
  return std::make_unique<RelaxationErrors>(options);
}

std::vector<std::pair<std::string, Metrics>> Relaxation::baselines(const Dataset& data) const {
  if (!composition_.defined()) {
    return {};
  }
  const Interface inputs = interface(data.schema());
  const bool numbers = !options_.target.empty(),
             places = moves() && find_quantity(data.schema().labels, relaxed_label) != nullptr;
  const auto meter_of = [&](bool of_numbers) {
    RelaxationErrors::Options options{.displacements = !of_numbers, .inputs = inputs};
    options.inputs.length_unit = unit_of(inputs.outputs, displacement_name);
    if (of_numbers) {
      options.target = options_.target;
      options.unit = unit_of(data.schema().labels, options_.target);
    }
    return RelaxationErrors(options);
  };
  RelaxationErrors mean = meter_of(true), linear = meter_of(true), still = meter_of(false);
  for_each_chunk(data, kRelaxationChunk, [&](const Batch& batch) {
    const Points& points = relaxing_points(batch.input);
    if (numbers) {
      const Tensor c = composition_of_real(points, inputs);
      mean.add(batch, {{options_.target, at::full({c.size(0), 1}, mean_, at::kDouble)}});
      linear.add(batch, {{options_.target, at::matmul(c, composition_).unsqueeze(1)}});
    }
    if (places) {
      still.add(batch, {{displacement_name, at::zeros({points.nodes(), 1, 3}, at::kDouble)}});
    }
  });
  std::vector<std::pair<std::string, Metrics>> rows;
  if (numbers) {
    rows.emplace_back("mean", mean.values());
    rows.emplace_back("linear in composition", linear.values());
  }
  if (places) {
    rows.emplace_back("no motion", still.values());
  }
  return rows;
}

}  // namespace weyl
