#include "weyl/saved/atoms.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "weyl/carriers/coincident_atoms.h"
#include "weyl/carriers/frame_state.h"
#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/units.h"

namespace weyl {
namespace {

constexpr const char* kWhere = "energy_and_forces";

/// The quantity of a name that the predictor gives.
const Quantity& wanted(const Predictor& predictor, const char* name) {
  const Quantity* q = find_quantity(predictor.outputs(), name);
  require<ConfigError>(q != nullptr, kWhere, ": the model must give '", name, "', but does not");
  require<ConfigError>(!q->unit.empty(), kWhere, ": the unit of '", name,
                       "' must be known, the model does not say");
  return *q;
}

/// The value of a number of the whole that a frame has under a name.
double value_of(const AtomsFrame& atoms, const std::string& name) {
  const FrameValue* value = atoms.value(name);
  const auto reals = value != nullptr ? reals_of(value->values) : std::nullopt;
  require<DataError>(reals && reals->size() == 1 && std::isfinite(reals->front()), kWhere,
                     ": the model must be told '", name, "', one finite number, which the atoms do not have");
  return reals->front();
}

/// The feature of a state (carriers/frame_state.h): 1 in the channel of the atoms' own.
Tensor one_of(const FrameState& state, const AtomsFrame& atoms) {
  Tensor channels = at::zeros({1, state.channels()}, at::kDouble);
  channels.mutable_data_ptr<double>()[channel_of(state, atoms, kWhere, "the model")] = 1;
  return channels;
}

Points points_of(const AtomsFrame& atoms, const Interface& interface, const std::vector<FrameState>& states) {
  require<DataError>(atoms.size() > 0, kWhere, ": there must be atoms, got none");
  require(atoms.positions.size() == 3 * atoms.numbers.size(), kWhere, ": positions must be (", atoms.size(),
          ", 3), got ", atoms.positions.size(), " numbers");
  for (size_t i = 0; i < atoms.positions.size(); ++i) {
    require<DataError>(std::isfinite(atoms.positions[i]), kWhere, ": positions[", i / 3, "][", i % 3,
                       "] must be finite, got ", atoms.positions[i]);
  }
  require<ConfigError>(!interface.length_unit.empty(), kWhere,
                       ": the unit of lengths must be known, the model does not say");
  const double length = unit_factor("Angstrom", interface.length_unit);
  Points points;
  points.graphs = Segments::of_sizes({{atoms.size()}});
  points.positions = at::tensor(atoms.positions, at::kDouble).view({atoms.size(), 3}) * length;
  std::vector<int64_t> types;
  for (const int number : atoms.numbers) {
    const auto symbol = std::ranges::find(interface.elements, element_symbol(number));
    require<DataError>(symbol != interface.elements.end(), kWhere, ": the model knows no element ",
                       element_symbol(number));
    types.push_back(symbol - interface.elements.begin());
  }
  points.types = at::tensor(types, at::kLong);
  const bool periodic = atoms.pbc != std::array<bool, 3>{};
  require<DataError>(atoms.cell || !periodic, kWhere, ": pbc needs a cell");
  if (periodic) {
    require<DataError>(spans_its_periods(*atoms.cell, atoms.pbc), kWhere,
                       ": the cell's periodic vectors must be independent");
    points.cell = at::tensor(*atoms.cell, at::kDouble).view({1, 3, 3}) * length;
    points.pbc = at::full({1, 3}, false, at::kBool);
    for (int axis = 0; axis < 3; ++axis) {
      points.pbc[0][axis].fill_(atoms.pbc[static_cast<size_t>(axis)]);
    }
  }
  for (const FrameState& state : states) {
    points.of_graphs[state.key] = one_of(state, atoms);
  }
  for (const Quantity& q : interface.features) {
    if (points.of_graphs.contains(q.name)) {
      continue;
    }
    require<ConfigError>(q.level == Level::graph && q.kind == Kind::scalar && q.channels == 1, kWhere,
                         ": atoms cannot tell the model its feature '", q.name, "'");
    points.of_graphs[q.name] = at::full({1, 1}, value_of(atoms, q.name), at::kDouble);
  }
  return points;
}

/// The numbers of a prediction in another unit.
std::vector<double> numbers_of(const Named& predictions, const Quantity& q, const char* unit) {
  const Tensor values = predictions.at(q.name).detach().to(at::kCPU, at::kDouble).contiguous();
  const double factor = unit_factor(q.unit, unit);
  std::vector<double> numbers(values.const_data_ptr<double>(),
                              values.const_data_ptr<double>() + values.numel());
  for (double& x : numbers) {
    x *= factor;
  }
  return numbers;
}

void require_finite(const std::vector<double>& numbers, const char* name) {
  require<DataError>(std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }), kWhere, ": '",
                     name, "' must be finite, got NaN or infinity (float64 may help)");
}

}  // namespace

EnergyAndForces energy_and_forces(const Predictor& predictor, const AtomsFrame& atoms) {
  const Interface& interface = predictor.interface();
  require<ConfigError>(carrier_of(interface) == Carrier::points && !interface.elements.empty(), kWhere,
                       ": the model must be of points whose types are elements");
  const Quantity &energy = wanted(predictor, "energy"), &forces = wanted(predictor, "forces");
  const SavedModel& saved = predictor.saved();
  const auto states = states_told(saved.recipe.states, interface, saved.trained_on.states);
  const Points points = points_of(atoms, interface, states);
  const std::string coincident = coincident_atoms(points, interface);
  require<DataError>(coincident.empty(), kWhere, ": ", coincident);
  const Named predictions = predictor(points);
  EnergyAndForces result;
  const std::vector<double> energies = numbers_of(predictions, energy, "eV");
  require_finite(energies, "energy");
  result.energy = energies.front();
  result.forces = numbers_of(predictions, forces, "eV/Angstrom");
  require_finite(result.forces, "forces");
  if (find_quantity(predictor.outputs(), "stress") != nullptr) {
    const auto stress = numbers_of(predictions, wanted(predictor, "stress"), "eV/Angstrom^3");
    if (std::ranges::none_of(stress, [](double x) { return std::isnan(x); })) {  // NaN: no volume
      std::ranges::copy(stress, result.stress.emplace().begin());
    }
  }
  return result;
}

}  // namespace weyl
