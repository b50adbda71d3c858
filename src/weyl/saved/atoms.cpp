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

/// What is said of one of several samples begins with this.
std::string where_of(size_t sample, size_t samples) {
  return samples == 1 ? kWhere : text(kWhere, ": sample ", sample + 1, " of ", samples);
}

/// The quantity of a name that the predictor gives.
const Quantity& wanted(const std::vector<Quantity>& outputs, const char* name) {
  const Quantity* q = find_quantity(outputs, name);
  require<ConfigError>(q != nullptr, kWhere, ": the model must give '", name, "', but does not");
  require<ConfigError>(!q->unit.empty(), kWhere, ": the unit of '", name,
                       "' must be known, the model does not say");
  return *q;
}

/// The value of a number of the whole that a frame has under a name.
double value_of(const AtomsFrame& atoms, const std::string& name, const std::string& where) {
  const FrameValue* value = atoms.value(name);
  const auto reals = value != nullptr ? reals_of(value->values) : std::nullopt;
  require<DataError>(reals && reals->size() == 1 && std::isfinite(reals->front()), where,
                     ": the model must be told '", name, "', one finite number, which the atoms do not have");
  return reals->front();
}

bool is_periodic(const AtomsFrame& atoms) {
  return atoms.pbc != std::array<bool, 3>{};
}

void require_atoms(const AtomsFrame& atoms, const std::string& where) {
  require<DataError>(atoms.size() > 0, where, ": there must be atoms, got none");
  require(atoms.positions.size() == 3 * atoms.numbers.size(), where, ": positions must be (", atoms.size(),
          ", 3), got ", atoms.positions.size(), " numbers");
  for (size_t i = 0; i < atoms.positions.size(); ++i) {
    require<DataError>(std::isfinite(atoms.positions[i]), where, ": positions[", i / 3, "][", i % 3,
                       "] must be finite, got ", atoms.positions[i]);
  }
  require<DataError>(atoms.cell || !is_periodic(atoms), where, ": pbc needs a cell");
  require<DataError>(!is_periodic(atoms) || spans_its_periods(*atoms.cell, atoms.pbc), where,
                     ": the cell's periodic vectors must be independent");
}

std::vector<int64_t> types_of(const AtomsFrame& atoms, const Interface& interface, const std::string& where) {
  std::vector<int64_t> types;
  for (const int number : atoms.numbers) {
    const auto symbol = std::ranges::find(interface.elements, element_symbol(number));
    require<DataError>(symbol != interface.elements.end(), where, ": the model knows no element ",
                       element_symbol(number));
    types.push_back(symbol - interface.elements.begin());
  }
  return types;
}

/// The feature of a whole under its name: 1 in the channel of the atoms' own state (carriers/frame_state.h), or a number.
void put_feature(const Quantity& q, const std::vector<FrameState>& states, const AtomsFrame& atoms,
                 const std::string& where, double* row) {
  const auto state = std::ranges::find(states, q.name, &FrameState::key);
  if (state != states.end()) {
    row[channel_of(*state, atoms, where, "the model")] = 1;
  } else {
    row[0] = value_of(atoms, q.name, where);
  }
}

Points points_of(std::span<const AtomsFrame> samples, const Interface& interface,
                 const std::vector<FrameState>& states) {
  require<ConfigError>(!interface.length_unit.empty(), kWhere,
                       ": the unit of lengths must be known, the model does not say");
  const double length = unit_factor("Angstrom", interface.length_unit);
  const auto count = std::ssize(samples);
  std::vector<int64_t> sizes, types;
  std::vector<double> positions;
  for (size_t g = 0; g < samples.size(); ++g) {
    const std::string where = where_of(g, samples.size());
    require_atoms(samples[g], where);
    const std::vector<int64_t> own = types_of(samples[g], interface, where);
    sizes.push_back(samples[g].size());
    types.insert(types.end(), own.begin(), own.end());
    positions.insert(positions.end(), samples[g].positions.begin(), samples[g].positions.end());
  }
  Points points;
  points.graphs = Segments::of_sizes(sizes);
  points.positions = at::tensor(positions, at::kDouble).view({-1, 3}) * length;
  points.types = at::tensor(types, at::kLong);
  if (std::ranges::any_of(samples, is_periodic)) {
    points.cell = at::zeros({count, 3, 3}, at::kDouble);
    points.pbc = at::full({count, 3}, false, at::kBool);
    double* cell = points.cell.mutable_data_ptr<double>();
    bool* pbc = points.pbc.mutable_data_ptr<bool>();
    for (const AtomsFrame& atoms : samples) {
      if (is_periodic(atoms)) {
        std::ranges::transform(*atoms.cell, cell, [&](double x) { return x * length; });
        std::ranges::copy(atoms.pbc, pbc);
      }
      cell += 9;
      pbc += 3;
    }
  }
  for (const Quantity& q : interface.features) {
    const bool state = std::ranges::find(states, q.name, &FrameState::key) != states.end();
    require<ConfigError>(state || (q.level == Level::graph && q.kind == Kind::scalar && q.channels == 1),
                         kWhere, ": atoms cannot tell the model its feature '", q.name, "'");
    Tensor& values = points.of_graphs[q.name] = at::zeros({count, q.channels}, at::kDouble);
    for (size_t g = 0; g < samples.size(); ++g) {
      put_feature(q, states, samples[g], where_of(g, samples.size()),
                  values.mutable_data_ptr<double>() + static_cast<int64_t>(g) * q.channels);
    }
  }
  return points;
}

/// The numbers of a prediction, of all samples one after the other, in another unit.
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

/// The part of such numbers that belongs to a sample: `width` for each of its rows [begin, end).
std::vector<double> part_of(const std::vector<double>& numbers, int64_t begin, int64_t end, int64_t width) {
  return {numbers.begin() + begin * width, numbers.begin() + end * width};
}

std::optional<std::array<double, 9>> stress_in(const std::vector<double>& all, size_t sample) {
  std::array<double, 9> stress{};
  std::copy_n(all.begin() + static_cast<int64_t>(9 * sample), 9, stress.begin());
  const bool none =
      std::ranges::any_of(stress, [](double x) { return std::isnan(x); });  // there is no volume
  return none ? std::nullopt : std::optional(stress);
}

void require_finite(const std::vector<double>& numbers, const char* name, const std::string& where) {
  require<DataError>(std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }), where, ": '",
                     name, "' must be finite, got NaN or infinity (float64 may help)");
}

Points points_for(const Predictor& predictor, std::span<const AtomsFrame> samples) {
  const Interface& interface = predictor.interface();
  require<ConfigError>(carrier_of(interface) == Carrier::points && !interface.elements.empty(), kWhere,
                       ": the model must be of points whose types are elements");
  const SavedModel& saved = predictor.saved();
  return points_of(samples, interface, states_told(saved.recipe.states, interface, saved.trained_on.states));
}

std::vector<Quantity> outputs_of(const Predictor& predictor, const Asked& asked) {
  std::vector<Quantity> outputs = predictor.outputs(asked);
  wanted(outputs, "energy");
  if (asked.forces) {
    wanted(outputs, "forces");
  }
  return outputs;
}

}  // namespace

void require_known(const Predictor& predictor, const AtomsFrame& atoms, const Asked& asked) {
  outputs_of(predictor, asked);
  points_for(predictor, {&atoms, 1});
}

std::vector<EnergyAndForces> energies_and_forces(const Predictor& predictor,
                                                 std::span<const AtomsFrame> samples, const Asked& asked) {
  const Interface& interface = predictor.interface();
  const std::vector<Quantity> outputs = outputs_of(predictor, asked);
  const Points points = points_for(predictor, samples);
  const Quantity& energy = wanted(outputs, "energy");
  const std::string coincident = coincident_atoms(points, interface);
  require<DataError>(coincident.empty(), kWhere, ": ", coincident);
  const Named predictions = predictor(points, asked);

  struct Numbers {
    std::vector<double> energy, forces, stress, energies, virials;
  };
  const auto numbers = [&](const std::string& ending) {
    const auto of = [&](const Quantity* q, const char* unit) {
      if (q == nullptr) {
        return std::vector<double>();
      }
      Quantity named = *q;
      named.name += ending;
      return numbers_of(predictions, named, unit);
    };
    const auto maybe = [&](const char* name, const char* unit) {
      return of(find_quantity(outputs, name) != nullptr ? &wanted(outputs, name) : nullptr, unit);
    };
    return Numbers{of(&energy, "eV"), maybe("forces", "eV/Angstrom"), maybe("stress", "eV/Angstrom^3"),
                   maybe("energies", "eV"), maybe("virials", "eV")};
  };
  const Numbers values = numbers("");
  const bool several = find_quantity(outputs, "energy_std") != nullptr;
  const Numbers off = several ? numbers("_std") : Numbers();
  std::vector<EnergyAndForces> results;
  for (size_t g = 0; g < samples.size(); ++g) {
    const int64_t begin = points.graphs.offsets[g], end = points.graphs.offsets[g + 1];
    const auto part = [&](const std::vector<double>& all, int64_t width) {
      return all.empty() ? all : part_of(all, begin, end, width);
    };
    EnergyAndForces& result = results.emplace_back();
    result = {.energy = values.energy[g],
              .forces = part(values.forces, 3),
              .stress = values.stress.empty() ? std::nullopt : stress_in(values.stress, g),
              .energies = part(values.energies, 1),
              .virials = part(values.virials, 9),
              .deviations = {}};
    if (several) {
      result.deviations = {.energy = off.energy[g],
                           .forces = part(off.forces, 3),
                           .stress = off.stress.empty() ? std::nullopt : stress_in(off.stress, g)};
    }
    const std::string where = where_of(g, samples.size());
    require_finite({result.energy}, "energy", where);
    require_finite(result.forces, "forces", where);
    require_finite(result.energies, "energies", where);
    require_finite(result.virials, "virials", where);
  }
  return results;
}

EnergyAndForces energy_and_forces(const Predictor& predictor, const AtomsFrame& atoms, const Asked& asked) {
  return std::move(energies_and_forces(predictor, {&atoms, 1}, asked).front());
}

}  // namespace weyl
