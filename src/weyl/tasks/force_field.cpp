#include "weyl/tasks/force_field.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/linalg_det.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "weyl/core/check.h"
#include "weyl/data/formats/units.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/differentiable.h"
#include "weyl/tasks/chunks.h"
#include "weyl/tasks/error_law.h"
#include "weyl/tasks/references.h"

namespace weyl {
namespace {

constexpr const char* kEnergy = "energy";
constexpr const char* kForces = "forces";
constexpr const char* kStress = "stress";
constexpr int64_t kChunk = 1024;  // samples at a time when a whole set is read

Quantity energy_quantity(const std::string& unit = "") {
  return {.name = kEnergy, .level = Level::graph, .extensive = true, .unit = unit};
}
Quantity forces_quantity(const std::string& unit = "") {
  return {.name = kForces, .kind = Kind::vector, .unit = unit};
}
Quantity stress_quantity(const std::string& unit = "") {
  return {.name = kStress, .level = Level::graph, .kind = Kind::symmetric_tensor, .unit = unit};
}

bool learns_forces(const ForceFieldOptions& o) {
  return o.forces != ForceSource::none && o.force_weight > 0;
}
bool learns_stress(const ForceFieldOptions& o) {
  return o.stress && o.stress_weight > 0;
}

const Points& points_of(const Input& input) {
  const auto* points = std::get_if<Points>(&input);
  require(points != nullptr, "force_field: the input must be points");
  return *points;
}

/// A label in float64, or nothing.
std::optional<Tensor> label_of(const Batch& batch, const char* name) {
  const auto found = batch.labels.find(name);
  return found == batch.labels.end() ? std::nullopt : std::optional<Tensor>(found->second);
}

const Tensor& needed(const Batch& batch, const char* name) {
  const auto found = batch.labels.find(name);
  require(found != batch.labels.end(), "force_field: the batch has no label '", name, "'");
  return found->second;
}

std::string unit_of(const std::vector<Quantity>& quantities, const char* name) {
  const auto found =
      std::find_if(quantities.begin(), quantities.end(), [&](const Quantity& q) { return q.name == name; });
  return found == quantities.end() ? "" : found->unit;
}

std::string force_unit(const Interface& interface) {
  const std::string energy = unit_of(interface.outputs, kEnergy);
  return energy.empty() || interface.length_unit.empty() ? "" : energy + "/" + interface.length_unit;
}

Tensor or_zeros(const Tensor& gradient, const Tensor& like) {
  return gradient.defined() ? gradient : at::zeros_like(like);
}

}  // namespace

ForceField::ForceField(ForceFieldOptions options) : options_(std::move(options)) {
  require<ConfigError>(
      options_.energy_weight > 0 || learns_forces(options_) || learns_stress(options_),
      "task.force_field: one of energy_weight, force_weight and stress_weight must be above 0");
  require<ConfigError>(!options_.stress || options_.forces == ForceSource::gradient,
                       "task.force_field.stress: needs forces = \"gradient\"");
  try {
    unit_factor("eV", options_.units);
  } catch (const ConfigError& error) {
    throw ConfigError(text("task.force_field.units: must be an energy: ", error.what()));
  }
}

std::vector<Quantity> ForceField::labels() const {
  std::vector<Quantity> result;
  if (options_.energy_weight > 0) {
    result.push_back(energy_quantity());
  }
  if (learns_forces(options_)) {
    result.push_back(forces_quantity());
  }
  if (learns_stress(options_)) {
    result.push_back(stress_quantity());
  }
  return result;
}

Interface ForceField::interface(const Schema& data) const {
  require<ConfigError>(data.carrier == Carrier::points && data.interface.dimension == 3,
                       "task force_field: needs points in three dimensions, the data set holds ",
                       carrier_names[static_cast<int>(data.carrier)], " in ", data.interface.dimension);
  Interface result = data.interface;
  result.length_unit = data.length_unit;
  const std::string energy = unit_of(data.labels, kEnergy), forces = unit_of(data.labels, kForces);
  if (!energy.empty()) {
    unit_factor(energy, options_.units);
  }
  result.outputs = {energy_quantity(energy)};
  const std::string expected = force_unit(result);
  require<ConfigError>(
      forces.empty() || expected.empty() || std::abs(unit_factor(forces, expected) - 1) < 1e-9,
      "task force_field: forces must be in ", expected, ", as energies and lengths are, got ", forces);
  if (options_.forces == ForceSource::direct) {
    result.outputs.push_back(forces_quantity(expected));
  }
  return result;
}

std::vector<Quantity> ForceField::predictions(const Interface& model) const {
  const std::string per_length = force_unit(model);
  std::vector<Quantity> result{energy_quantity(unit_of(model.outputs, kEnergy))};
  if (options_.forces != ForceSource::none) {
    result.push_back(forces_quantity(per_length));
  }
  if (options_.stress) {
    result.push_back(stress_quantity(per_length.empty() ? "" : per_length + "^3"));
  }
  return result;
}

void ForceField::fit(const Dataset& train) {
  const int64_t types = train.schema().interface.types;
  require<DataError>(train.size() > 0, "task force_field: the training set is empty");
  const bool referenced = options_.reference != Reference::none;
  ReferenceFit fit(referenced ? options_.reference : Reference::mean, types);
  seen_ = at::zeros({std::max<int64_t>(types, 1)}, at::kDouble);
  double square = 0, components = 0;
  for_each_chunk(train, kChunk, [&](const Batch& batch) {
    const Tensor composition = composition_of(batch.input, types);
    seen_ += composition.sum(0);
    if (const auto energy = label_of(batch, kEnergy); energy && referenced) {
      fit.add(composition, energy->select(1, 0));
    }
    if (const auto forces = label_of(batch, kForces); forces && options_.forces != ForceSource::none) {
      const Tensor known = at::isnan(*forces).logical_not();
      square += forces->masked_fill(known.logical_not(), 0).square().sum().item<double>();
      components += static_cast<double>(known.sum().item<int64_t>());
    }
  });
  references_ = referenced ? fit.solution() : at::zeros_like(seen_);
  if (components == 0) {  // of energies per atom: the scale of what is left
    double sum = 0, sum_square = 0, count = 0;
    for_each_chunk(train, kChunk, [&](const Batch& batch) {
      if (const auto energy = label_of(batch, kEnergy)) {
        const Points& points = points_of(batch.input);
        const Tensor rest =
            (energy->select(1, 0) - at::matmul(composition_of(batch.input, types), references_)) /
            counts_of(points.graphs, *energy);
        const Tensor known = at::isnan(rest).logical_not();
        const Tensor x = rest.masked_fill(known.logical_not(), 0);
        sum += x.sum().item<double>();
        sum_square += x.square().sum().item<double>();
        count += static_cast<double>(known.sum().item<int64_t>());
      }
    });
    square = sum_square - sum * sum / std::max(count, 1.0);
    components = count;
  }
  const double mean = square / std::max(components, 1.0);
  // A flat energy leaves the rounding of its sums.
  require<DataError>(
      std::isfinite(mean) && mean > 1e-24,
      "task force_field: what is to be learned must differ from what the composition tells: the "
      "mean square of ",
      options_.forces == ForceSource::none ? "energies per atom" : "forces",
      " on the training set must be positive, got ", mean);
  scale_ = std::sqrt(mean);
}

NamedTensors ForceField::state() const {
  if (!references_.defined()) {
    return {};
  }
  return {{"scale", at::full({1}, scale_, at::kDouble)}, {"references", references_}, {"seen", seen_}};
}

void ForceField::load(const NamedTensors& state) {
  const auto numbers = [&](const char* name) {
    const auto found = state.find(name);
    require<DataError>(found != state.end() && found->second.dim() == 1 && found->second.numel() > 0 &&
                           found->second.is_floating_point(),
                       "task force_field: state must hold the numbers '", name, "'");
    const Tensor x = found->second.to(at::kCPU, at::kDouble);
    require<DataError>(at::isfinite(x).all().item<bool>(), "task force_field: '", name, "' must be finite");
    return x;
  };
  const Tensor scale = numbers("scale"), references = numbers("references"), seen = numbers("seen");
  require<DataError>(scale.item<double>() > 0, "task force_field: 'scale' must be positive, got ",
                     scale.item<double>());
  require<DataError>(references.numel() == seen.numel(),
                     "task force_field: 'references' and 'seen' must be of the same types");
  scale_ = scale.item<double>();
  references_ = references;
  seen_ = seen;
}

Tensor ForceField::reference_energies(const Points& points, const Interface& interface) const {
  if (!references_.defined()) {  // not fitted: a config's audit
    return at::zeros({points.count()}, points.positions.options().dtype(at::kDouble));
  }
  const auto device = points.positions.device();
  const Tensor composition = composition_of(points, interface.types);
  require(composition.size(1) == references_.size(0), "force_field: the state is of ", references_.size(0),
          " types, the model of ", composition.size(1));
  const Tensor unseen = (composition.sum(0) > 0) & (seen_.to(device) == 0);
  if (unseen.any().item<bool>()) {
    const int64_t type = unseen.nonzero()[0].item<int64_t>();
    const bool named = static_cast<size_t>(type) < interface.elements.size();
    throw ShapeError(text("force_field: an atom is of type ", type,
                          named ? text(" (", interface.elements[type], ")") : std::string(),
                          ", of which the training data had none"));
  }
  return at::matmul(composition, references_.to(device));
}

ForceField::Answer ForceField::answer(Model& model, const Input& input, bool training) const {
  const bool gradient = options_.forces == ForceSource::gradient;
  Points points = points_of(input);
  Answer result;
  const at::AutoGradMode mode(gradient || at::GradMode::is_enabled());
  Tensor positions, strain;
  if (gradient) {
    positions = points.positions = points.positions.detach().clone().requires_grad_(true);
  }
  if (options_.stress) {
    result.volume = at::zeros({points.count()}, positions.options().dtype(at::kDouble));
  }
  if (options_.stress && points.cell.defined()) {
    const Tensor volume = at::linalg_det(points.cell.to(at::kDouble)).abs();
    result.volume = points.pbc.defined() ? volume * points.pbc.all(1).to(at::kDouble) : volume;
    strain = at::zeros({points.count(), 3, 3}, positions.options()).requires_grad_(true);
    const Tensor symmetric = 0.5 * (strain + strain.transpose(1, 2));
    const Tensor per_node = at::index_select(symmetric, 0, points.graphs.index);
    points.positions = positions + at::matmul(positions.unsqueeze(1), per_node).squeeze(1);
    points.cell = points.cell + at::matmul(points.cell, symmetric);
  }
  const Named outputs = model(points);
  const auto found = outputs.find(kEnergy);
  require(found != outputs.end(), "force_field: the model has no output 'energy'");
  result.energy = found->second.select(1, 0);
  result.reference = reference_energies(points, model.interface);
  if (options_.forces == ForceSource::direct) {
    const auto forces = outputs.find(kForces);
    require(forces != outputs.end(), "force_field: the model has no output 'forces'");
    result.forces = forces->second.select(1, 0);
  }
  if (!gradient) {
    return result;
  }
  std::vector<Tensor> by{positions}, slopes(2);
  if (strain.defined()) {
    by.push_back(strain);
  }
  if (result.energy.requires_grad()) {  // a model may see no positions
    slopes = torch::autograd::grad({result.energy.sum()}, by, {}, training, training, /*allow_unused=*/true);
  }
  result.forces = -or_zeros(slopes[0], positions);
  if (strain.defined()) {
    result.virial = or_zeros(slopes[1], strain);
  }
  return result;
}

Named ForceField::in_units(const Answer& answer) const {
  Named result{{kEnergy, (answer.energy.detach().to(at::kDouble) * scale_ + answer.reference).unsqueeze(1)}};
  if (answer.forces.defined()) {
    result[kForces] = (answer.forces.detach().to(at::kDouble) * scale_).unsqueeze(1);
  }
  if (options_.stress) {
    const Tensor volume = answer.volume.view({-1, 1, 1, 1});
    const Tensor nothing = at::full({answer.volume.size(0), 1, 3, 3}, NAN, volume.options());
    result[kStress] =
        answer.virial.defined()
            ? at::where(volume > 0, answer.virial.detach().to(at::kDouble).unsqueeze(1) * scale_ / volume,
                        nothing)
            : nothing;
  }
  return result;
}

Step ForceField::step(Model& model, const Batch& batch) const {
  const bool training = at::GradMode::is_enabled();
  std::optional<ExpectSecondDerivatives> expect;
  if (options_.forces == ForceSource::gradient && training) {
    expect.emplace();
  }
  const Points& points = points_of(batch.input);
  const Answer a = answer(model, batch.input, training);
  const auto dtype = a.energy.scalar_type();
  const Tensor atoms = counts_of(points.graphs, a.reference);
  Tensor loss = a.energy.sum() * 0;  // keeps its graph when no label of the batch is known
  const auto add = [&](double weight, ErrorLaw law, const Tensor& said, const Tensor& target) {
    const Tensor known = at::isnan(target).logical_not();
    loss = loss + weight * mean_error(law, options_.huber_delta, said - target.to(dtype), known);
  };
  if (options_.energy_weight > 0) {
    const Tensor size = options_.energy_per_atom ? atoms : at::ones({}, atoms.options());
    const Tensor target = (needed(batch, kEnergy).select(1, 0) - a.reference) / (scale_ * size);
    add(options_.energy_weight, options_.energy_loss, a.energy / size.to(dtype), target);
  }
  if (learns_forces(options_)) {
    add(options_.force_weight, options_.force_loss, a.forces, needed(batch, kForces).select(1, 0) / scale_);
  }
  if (learns_stress(options_) && a.virial.defined()) {
    const Tensor size = atoms.view({-1, 1, 1});
    const Tensor volume = at::where(a.volume > 0, a.volume, at::full({}, NAN, a.volume.options()));
    add(options_.stress_weight, options_.stress_loss, a.virial / size.to(dtype),
        needed(batch, kStress).select(1, 0) * volume.view({-1, 1, 1}) / (scale_ * size));
  }
  return {loss, in_units(a)};
}

Named ForceField::predict(Model& model, const Batch& batch) const {
  return in_units(answer(model, batch.input, false));
}

std::vector<std::string> ForceField::notes() const {
  if (options_.forces != ForceSource::direct) {
    return {};
  }
  return {
      "forces are a direct output of the model, not the derivative of its energy: not conservative, their "
      "sum is "
      "not zero, and molecular dynamics with them does not keep the energy"};
}

std::unique_ptr<ForceErrors> ForceField::errors(const std::string& energy_unit,
                                                const std::string& length_unit,
                                                const std::vector<std::string>& elements) const {
  ForceErrors::Options o;
  o.energy_unit = energy_unit;
  o.length_unit = length_unit;
  o.report = options_.units;
  o.direct = options_.forces == ForceSource::direct;
  o.elements = elements;
  o.energy = o.forces = o.stress = false;
  for (const Quantity& q : labels()) {
    (q.name == kEnergy ? o.energy : q.name == kForces ? o.forces : o.stress) = true;
  }
  return std::make_unique<ForceErrors>(o);
}

std::unique_ptr<Meter> ForceField::meter(const Interface& model) const {
  return errors(unit_of(model.outputs, kEnergy), model.length_unit, model.elements);
}

std::string ForceField::headline() const {
  return learns_forces(options_) ? ForceErrors::force_mae(options_.forces == ForceSource::direct)
                                 : "energy_mae";
}

std::vector<std::pair<std::string, Metrics>> ForceField::baselines(const Dataset& data) const {
  if (!references_.defined()) {
    return {};
  }
  const Schema& schema = data.schema();
  const auto meter = errors(unit_of(schema.labels, kEnergy), schema.length_unit, schema.interface.elements);
  for_each_chunk(data, kChunk, [&](const Batch& batch) {
    const Points& points = points_of(batch.input);
    const Tensor energy = at::matmul(composition_of(points, schema.interface.types), references_);
    Named said{{kEnergy, energy.unsqueeze(1)}};
    if (options_.forces != ForceSource::none) {
      said[kForces] = at::zeros({points.nodes(), 1, 3}, at::kDouble);
    }
    if (options_.stress) {
      said[kStress] = at::zeros({points.count(), 1, 3, 3}, at::kDouble);
    }
    meter->add(batch, said);
  });
  return {{"references, no forces", meter->values()}};
}

}  // namespace weyl
