#include "weyl/tasks/force_field.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "weyl/carriers/points.h"
#include "weyl/core/check.h"
#include "weyl/core/to_device.h"
#include "weyl/core/units.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/edges/bond_gradient.h"
#include "weyl/tasks/error_law.h"
#include "weyl/tasks/label_statistics.h"

namespace weyl {
namespace {

constexpr const char* kEnergy = "energy";
constexpr const char* kForces = "forces";
constexpr const char* kStress = "stress";
constexpr const char* kAtomEnergies = "energies";
constexpr const char* kAtomVirials = "virials";
constexpr int64_t kForceFieldChunk = 1024;  // samples at a time when a whole set is read

Quantity energy_quantity(const std::string& unit = "", bool extensive = true) {
  return {.name = kEnergy, .level = Level::graph, .extensive = extensive, .unit = unit};
}
Quantity forces_quantity(const std::string& unit = "") {
  return {.name = kForces, .kind = Kind::vector, .unit = unit};
}
Quantity stress_quantity(const std::string& unit = "") {
  return {.name = kStress, .level = Level::graph, .kind = Kind::symmetric_tensor, .unit = unit};
}

const Points& force_field_points(const Input& input) {
  const auto* points = std::get_if<Points>(&input);
  require(points != nullptr, "force_field: the input must be points");
  return *points;
}

const Tensor& needed(const Batch& batch, const char* name) {
  const auto found = batch.labels.find(name);
  require(found != batch.labels.end(), "force_field: the batch has no label '", name, "'");
  return found->second;
}

std::string force_unit(const Interface& interface) {
  const std::string energy = unit_of(interface.outputs, kEnergy);
  return energy.empty() || interface.length_unit.empty() ? "" : energy + "/" + interface.length_unit;
}

/// Where data have forces alone, energies are in the unit of force times length.
std::string energy_unit_of(const Schema& data) {
  std::string energy = unit_of(data.labels, kEnergy);
  const std::string forces = unit_of(data.labels, kForces);
  if (!energy.empty() || forces.empty() || data.interface.length_unit.empty()) {
    return energy;
  }
  const std::string per_length = "/" + data.interface.length_unit;
  return forces.ends_with(per_length) ? forces.substr(0, forces.size() - per_length.size())
                                      : text("(", forces, ")*(", data.interface.length_unit, ")");
}

Tensor mean_error_by(ErrorLaw law, double huber_delta, const Tensor& error, const Tensor& known) {
  return mean_error(law, huber_delta, error, known);
}
Tensor mean_error_by(ForceLaw law, double huber_delta, const Tensor& error, const Tensor& known) {
  return law == ForceLaw::norm ? mean_length(error, known)
                               : mean_error(law == ForceLaw::l1   ? ErrorLaw::l1
                                            : law == ForceLaw::l2 ? ErrorLaw::l2
                                                                  : ErrorLaw::huber,
                                            huber_delta, error, known);
}

Tensor symmetric_part(const Tensor& matrices) {
  return 0.5 * (matrices + matrices.transpose(1, 2));
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
    check_unit(options_.units, "eV");
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
  require<ConfigError>(data.carrier() == Carrier::points && data.interface.dimension == 3,
                       "task force_field: needs points in three dimensions, the data set holds ",
                       name_of(data.carrier()), " in ", data.interface.dimension);
  Interface result = data.interface;
  const std::string energy = energy_unit_of(data), forces = unit_of(data.labels, kForces);
  if (!energy.empty()) {
    unit_factor(energy, options_.units);
  }
  result.outputs = {energy_quantity(energy, !options_.pooled)};
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
  return predictions_asked(model, {});
}

bool ForceField::gives_stress(const Asked& asked) const {
  return options_.stress || (asked.stress && options_.forces == ForceSource::gradient);
}

std::vector<Quantity> ForceField::predictions_asked(const Interface& model, const Asked& asked) const {
  const std::string per_length = force_unit(model);
  std::vector<Quantity> result{energy_quantity(unit_of(model.outputs, kEnergy), !options_.pooled)};
  if (options_.forces != ForceSource::none && asked.forces) {
    result.push_back(forces_quantity(per_length));
  }
  if (gives_stress(asked)) {
    result.push_back(stress_quantity(per_length.empty() ? "" : per_length + "^3"));
  }
  const std::string energy = unit_of(model.outputs, kEnergy);
  if (asked.energies) {
    result.push_back({.name = kAtomEnergies, .unit = energy});
  }
  if (asked.virials) {
    result.push_back({.name = kAtomVirials, .kind = Kind::symmetric_tensor, .unit = energy});
  }
  return result;
}

void ForceField::fit(const Dataset& train) {
  statistics_.fit(train, options_);
}

bool ForceField::adopt(const Schema& data, const OutputLaw& law) {
  statistics_.adopt(data.interface.types, law);
  return true;
}

bool ForceField::keep(const Task& before, const Interface& from, const Interface& to) {
  const auto* other = dynamic_cast<const ForceField*>(&before);
  if (other == nullptr || !other->statistics_.fitted()) {
    return false;
  }
  statistics_.keep(other->statistics_, options_, unit_factor_of(kEnergy, from, to));
  return true;
}

void ForceField::refer(const Dataset& train, const Named& outputs) {
  statistics_.refer(train, options_, outputs.at(kEnergy).select(1, 0));
}

NamedTensors ForceField::state() const {
  return statistics_.state();
}

void ForceField::load(const NamedTensors& state) {
  statistics_.load(state);
}

ForceField::Answer ForceField::answer(Model& model, const Input& input, bool training,
                                      const Asked& asked) const {
  const bool derivatives = options_.forces == ForceSource::gradient, stress = gives_stress(asked),
             gradient = derivatives && (asked.forces || stress || asked.virials);
  Points points = force_field_points(input);
  points.by_node = asked.energies || asked.owned.defined();
  require<ConfigError>(derivatives || !asked.virials,
                       "force_field: virials of atoms need forces that are gradients of the energy");
  const Tensor& owned = asked.owned;
  require(!owned.defined() ||
              (owned.dim() == 1 && owned.size(0) == points.nodes() && owned.scalar_type() == at::kBool),
          "force_field: `owned` must be bool (", points.nodes(), "), got ",
          owned.defined() ? owned.sizes() : at::IntArrayRef{});
  if (gradient && !training && find_quantity(model.interface.outputs, kEnergy) != nullptr) {
    if (const auto bonds = model.bond_gradient(points, owned)) {
      return answer_of(*bonds, points, model.interface, asked);
    }
  }
  Answer result;
  const at::AutoGradMode mode(gradient || at::GradMode::is_enabled());
  Tensor positions, strain, strains;
  if (gradient) {
    positions = points.positions = points.positions.detach().clone().requires_grad_(true);
  }
  if (stress) {
    result.volume = cell_volumes(points);
  }
  if (stress && points.cell.defined()) {
    strain = at::zeros({points.count(), 3, 3}, positions.options()).requires_grad_(true);
    const Tensor symmetric = symmetric_part(strain);
    const Tensor per_node = at::index_select(symmetric, 0, points.graphs.index);
    points.positions = positions + at::matmul(positions.unsqueeze(1), per_node).squeeze(1);
    points.cell = points.cell + at::matmul(points.cell, symmetric);
  }
  if (asked.virials) {
    strains = at::zeros({points.nodes(), 3, 3}, positions.options().dtype(at::kDouble)).requires_grad_(true);
    points.strains = symmetric_part(strains);
  }
  const Named outputs = model(points);
  const auto found = outputs.find(kEnergy);
  require(found != outputs.end(), "force_field: the model has no output 'energy'");
  result.energy = found->second.select(1, 0).to(at::kDouble);
  result.reference = statistics_.energies(points, model.interface, /*prepared=*/model.training());
  if (points.by_node) {
    sum_energies(result, points, owned);
  }
  if (options_.forces == ForceSource::direct && asked.forces) {
    const auto forces = outputs.find(kForces);
    require(forces != outputs.end(), "force_field: the model has no output 'forces'");
    result.forces = forces->second.select(1, 0);
    if (owned.defined()) {  // those of the others follow from what is not all there
      result.forces = result.forces * to_device(owned, result.forces.device()).unsqueeze(1);
    }
  }
  if (!gradient) {
    return result;
  }
  std::vector<Tensor> by{positions}, slopes(3);
  for (const Tensor& x : {strain, strains}) {
    if (x.defined()) {
      by.push_back(x);
    }
  }
  if (result.energy.requires_grad()) {  // a model may see no positions
    slopes = torch::autograd::grad({result.energy.sum()}, by, {}, training, training, /*allow_unused=*/true);
  }
  result.forces = -or_zeros(slopes[0], positions);
  if (strain.defined()) {
    result.virial = or_zeros(slopes[1], strain);
  }
  if (strains.defined()) {
    result.slopes = or_zeros(slopes[by.size() - 1], strains);
  }
  return result;
}

ForceField::Answer ForceField::answer_of(const BondGradient& bonds, const Points& points,
                                         const Interface& interface, const Asked& asked) const {
  Answer result;
  result.energy = bonds.energies.to(at::kDouble);
  result.reference = statistics_.energies(points, interface, /*prepared=*/false);
  if (points.by_node) {
    sum_energies(result, points, asked.owned);
  } else {
    result.energy = sum_nodes(result.energy, points.graphs);
  }
  result.forces = forces_of(bonds);
  if (gives_stress(asked)) {
    result.volume = cell_volumes(points);
    result.virial = points.cell.defined() ? slopes_by_strain(bonds) : Tensor();
  }
  result.slopes = asked.virials ? slopes_by_node_strains(bonds) : Tensor();
  return result;
}

void ForceField::sum_energies(Answer& answer, const Points& points, const Tensor& owned) const {
  require<ConfigError>(
      !options_.pooled && answer.energy.size(0) == points.nodes(),
      "force_field: energies of atoms need an energy that is their sum: neither pooled nor a mean "
      "over frames");
  answer.energies = answer.energy;
  answer.references = statistics_.energies_of_nodes(points);
  if (owned.defined()) {
    const Tensor counts = to_device(owned, answer.energies.device());
    answer.energies = answer.energies * counts;
    answer.references = answer.references * counts;
    answer.reference = sum_nodes(answer.references, points.graphs);
  } else {
    const Tensor constant = answer.reference - sum_nodes(answer.references, points.graphs);
    answer.references =
        answer.references + spread(constant / counts_of(points.graphs, constant), points.graphs);
  }
  answer.energy = sum_nodes(answer.energies, points.graphs);
}

Named ForceField::in_units(const Answer& answer, const Asked& asked) const {
  const double scale = statistics_.scale();
  const auto said = [&](const Tensor& y) { return y.detach().to(at::kDouble) * scale; };
  Named result{{kEnergy, (said(answer.energy) + answer.reference).unsqueeze(1)}};
  if (answer.forces.defined() && asked.forces) {
    result[kForces] = said(answer.forces).unsqueeze(1);
  }
  if (answer.volume.defined()) {
    const Tensor volume = answer.volume.view({-1, 1, 1, 1});
    const Tensor nothing = at::full({answer.volume.size(0), 1, 3, 3}, NAN, volume.options());
    result[kStress] = answer.virial.defined()
                          ? at::where(volume > 0, said(answer.virial).unsqueeze(1) / volume, nothing)
                          : nothing;
  }
  if (answer.energies.defined()) {
    result[kAtomEnergies] = (said(answer.energies) + answer.references).unsqueeze(1);
  }
  if (answer.slopes.defined()) {
    result[kAtomVirials] = -said(answer.slopes).unsqueeze(1);
  }
  return result;
}

void ForceField::prepare(Batch& batch, const Interface& model) const {
  statistics_.require_seen_elements(force_field_points(batch.input), model);
}

std::vector<Tensor> ForceField::loss_weights(const Batch& batch, const Interface&) const {
  const auto known = [&](const char* label) { return at::isnan(needed(batch, label)).logical_not(); };
  std::vector<Tensor> weights;
  if (options_.energy_weight > 0) {
    weights.push_back(known(kEnergy).sum().to(at::kDouble));
  }
  if (learns_forces(options_)) {
    const Tensor numbers = known(kForces).select(1, 0);
    weights.push_back(
        (options_.force_loss == ForceLaw::norm ? numbers.all(1) : numbers).sum().to(at::kDouble));
  }
  if (learns_stress(options_)) {
    const Points& points = force_field_points(batch.input);
    Tensor numbers = known(kStress).select(1, 0);  // (B, 3, 3)
    if (points.cell.defined()) {
      numbers = numbers.logical_and((cell_volumes(points) > 0).to(numbers.device()).view({-1, 1, 1}));
    }
    weights.push_back(numbers.sum().to(at::kDouble));
  }
  return weights;
}

Step ForceField::step(Model& model, const Batch& batch, const LossShares& shares) const {
  const bool training = at::GradMode::is_enabled();
  std::optional<ExpectSecondDerivatives> expect;
  if (options_.forces == ForceSource::gradient && training) {
    expect.emplace();
  }
  const Points& points = force_field_points(batch.input);
  const Answer a = answer(model, batch.input, training, {});
  const at::ScalarType dtype = points.positions.scalar_type();
  const Tensor atoms = counts_of(points.graphs, a.reference);
  Tensor loss = (a.energy.sum() * 0).to(dtype);  // keeps its graph when no label of the batch is known
  const double unit = options_.normalise ? 1 : statistics_.scale();  // of the errors in the loss
  size_t term = 0;                                                   // of loss_weights
  const auto add = [&](double weight, auto law, const Tensor& said, const Tensor& target) {
    const Tensor known = at::isnan(target).logical_not();
    const Tensor error = (said - target.to(said.scalar_type())).to(dtype) * unit;
    loss = loss + weight * shared(mean_error_by(law, options_.huber_delta, error, known), shares, term++);
  };
  if (options_.energy_weight > 0) {
    const Tensor size = options_.energy_per_atom ? atoms : at::ones({}, atoms.options());
    const Tensor target = (needed(batch, kEnergy).select(1, 0) - a.reference) / (statistics_.scale() * size);
    add(options_.energy_weight, options_.energy_loss, a.energy / size, target);
  }
  if (learns_forces(options_)) {
    add(options_.force_weight, options_.force_loss, a.forces,
        needed(batch, kForces).select(1, 0) / statistics_.scale());
  }
  if (learns_stress(options_) && a.virial.defined()) {
    const Tensor size = atoms.view({-1, 1, 1});
    const Tensor volume = at::where(a.volume > 0, a.volume, at::full({}, NAN, a.volume.options()));
    add(options_.stress_weight, options_.stress_loss, a.virial / size.to(dtype),
        needed(batch, kStress).select(1, 0) * volume.view({-1, 1, 1}) / (statistics_.scale() * size));
  }
  return {loss, in_units(a)};
}

Named ForceField::predict(Model& model, const Batch& batch) const {
  return predict_asked(model, batch, {});
}

Named ForceField::predict_asked(Model& model, const Batch& batch, const Asked& asked) const {
  return in_units(answer(model, batch.input, false, asked), asked);
}

std::string ForceField::differentiated_by() const {
  return options_.forces == ForceSource::gradient ? "task.force_field.forces = \"gradient\"" : "";
}

/// Energies alone are measured, too: reference calculations, coupled cluster's for one, often give no more.
bool ForceField::measures_without(const Quantity& label) const {
  return options_.energy_weight > 0 && label.name != kEnergy;
}

std::vector<std::string> ForceField::notes() const {
  return notes_of({options_});
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
  o.tells_forces = options_.forces != ForceSource::none;
  o.tells_stress = options_.stress;
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
  if (!statistics_.fitted()) {
    return {};
  }
  const Schema& schema = data.schema();
  const auto meter = errors(energy_unit_of(schema), schema.interface.length_unit, schema.interface.elements);
  for_each_chunk(data, kForceFieldChunk, [&](const Batch& batch) {
    const Points& points = force_field_points(batch.input);
    const Tensor energy = statistics_.energies(composition_of(points, schema.interface.types));
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
