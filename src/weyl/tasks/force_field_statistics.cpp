#include "weyl/tasks/force_field_statistics.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/core/to_device.h"
#include "weyl/core/units.h"
#include "weyl/nn/pooling.h"
#include "weyl/tasks/label_statistics.h"

namespace weyl {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;  // a line for each element has a few

/// How many times larger a number in `from` is in `to`; DataError in the name of `where`.
double factor_between(const std::string& from, const std::string& to, const std::string& where) {
  try {
    return to.empty() || from.empty() ? 1 : unit_factor(from, to);
  } catch (const ConfigError& error) {
    throw DataError(text(where, ": ", error.what()));
  }
}

}  // namespace

Tensor atom_energies_in(const std::string& path, const Schema& schema, const Tensor& seen) {
  const std::vector<std::string>& elements = schema.interface.elements;
  require<ConfigError>(!elements.empty(),
                       "task.force_field.references: has no effect on data whose types are no "
                       "elements; leave the option out");
  const FileContents file = read_file(path, kMostBytes);
  require<DataError>(file.fault.empty(), path, ": ", file.fault);
  const std::string unit = unit_of(schema.labels, "energy");
  Tensor energies = at::zeros({std::ssize(elements)}, at::kDouble);
  std::vector<bool> told(elements.size(), false);
  std::istringstream lines(file.text);
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = text(path, ": line ", ++number);
    std::istringstream words(line.substr(0, line.find('#')));
    std::string symbol, value, own_unit, more;
    words >> symbol >> value >> own_unit >> more;
    if (symbol.empty()) {
      continue;
    }
    const auto energy = parse_real(value);
    require<DataError>(energy && std::isfinite(*energy) && more.empty(), where,
                       ": must be an element's symbol, a number and perhaps a unit, got ", quote(line, 60));
    const auto type = std::ranges::find(elements, symbol) - elements.begin();
    if (type == std::ssize(elements)) {
      continue;  // of a table of all elements, those that the data cannot have
    }
    const auto t = static_cast<size_t>(type);
    require<DataError>(!told[t], where, ": ", symbol, " must be given once");
    told[t] = true;
    energies.mutable_data_ptr<double>()[type] = *energy * factor_between(own_unit, unit, where);
  }
  for (size_t t = 0; t < elements.size(); ++t) {
    require<DataError>(told[t] || seen.const_data_ptr<double>()[t] == 0, path, ": must have the energy of ",
                       elements[t], ", of which the training data have atoms");
  }
  return energies;
}

namespace {

constexpr int64_t kStatisticsChunk = 1024;  // samples at a time when a whole set is read

/// A label in float64, or nothing.
std::optional<Tensor> label_if_given(const Batch& batch, const char* name) {
  const auto found = batch.labels.find(name);
  return found == batch.labels.end() ? std::nullopt : std::optional<Tensor>(found->second);
}

}  // namespace

bool learns_forces(const ForceFieldOptions& o) {
  return o.forces != ForceSource::none && o.force_weight > 0;
}
bool learns_stress(const ForceFieldOptions& o) {
  return o.stress && o.stress_weight > 0;
}

void ForceFieldStatistics::fit(const Dataset& train, const ForceFieldOptions& options) {
  const int64_t types = train.schema().interface.types;
  require<DataError>(train.size() > 0, "task force_field: the training set is empty");
  const bool referenced = options.reference != Reference::none;
  const bool fitted = referenced && options.references.empty();
  ReferenceFit fit(referenced ? options.reference : Reference::mean, types);
  seen_ = at::zeros({std::max<int64_t>(types, 1)}, at::kDouble);
  double square = 0, components = 0;
  for_each_chunk(train, kStatisticsChunk, [&](const Batch& batch) {
    const Tensor composition = composition_of(batch.input, types);
    seen_ += composition.sum(0);
    if (const auto energy = label_if_given(batch, "energy"); energy && fitted) {
      fit.add(composition, energy->select(1, 0));
    }
    if (const auto forces = label_if_given(batch, "forces"); forces && options.forces != ForceSource::none) {
      const Tensor known = at::isnan(*forces).logical_not();
      square += forces->masked_fill(known.logical_not(), 0).square().sum().item<double>();
      components += static_cast<double>(known.sum().item<int64_t>());
    }
  });
  if (fitted && options.reference == Reference::elements) {
    fit.hold(train.schema().atom_energies);
  }
  references_ = fitted       ? fit.solution()
                : referenced ? atom_energies_in(options.references, train.schema(), seen_)
                             : at::zeros_like(seen_);
  constant_ = 0;
  if (components == 0) {  // of energies per atom: the scale of what is left
    double sum = 0, sum_square = 0, count = 0;
    for_each_chunk(train, kStatisticsChunk, [&](const Batch& batch) {
      if (const auto energy = label_if_given(batch, "energy")) {
        const auto& points = std::get<Points>(batch.input);
        const Tensor rest = (energy->select(1, 0) - energies(composition_of(batch.input, types))) /
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
      options.forces == ForceSource::none ? "energies per atom" : "forces",
      " on the training set must be positive, got ", mean);
  scale_ = options.normalise ? std::sqrt(mean) : 1;
}

void ForceFieldStatistics::adopt(int64_t types, const OutputLaw& law) {
  scale_ = law.scale;
  constant_ = law.shift;
  references_ = at::zeros({std::max<int64_t>(types, 1)}, at::kDouble);
  seen_ = trained_counts(law.trained, references_.size(0));
}

void ForceFieldStatistics::keep(const ForceFieldStatistics& other, const ForceFieldOptions& options,
                                double factor) {
  if (options.references.empty()) {
    references_ = for_types(other.references_, references_.numel()) * factor;
  }
  scale_ = other.scale_ * factor;
  constant_ = other.constant_ * factor;
}

void ForceFieldStatistics::refer(const Dataset& train, const ForceFieldOptions& options,
                                 const Tensor& outputs) {
  if (options.reference == Reference::none || !options.references.empty()) {
    return;
  }
  const int64_t types = train.schema().interface.types;
  ReferenceFit fit(options.reference, types);
  int64_t begin = 0;
  for_each_chunk(train, kStatisticsChunk, [&](const Batch& batch) {
    const Tensor composition = composition_of(batch.input, types);
    const Tensor said = outputs.narrow(0, begin, composition.size(0)) * scale_ + energies(composition);
    if (const auto energy = label_if_given(batch, "energy")) {
      fit.add(composition, energy->select(1, 0) - said);
    }
    begin += composition.size(0);
  });
  references_ = references_ + fit.solution();
}

NamedTensors ForceFieldStatistics::state() const {
  if (!fitted()) {
    return {};
  }
  return {{"scale", at::full({1}, scale_, at::kDouble)},
          {"constant", at::full({1}, constant_, at::kDouble)},
          {"references", references_},
          {"seen", seen_}};
}

void ForceFieldStatistics::load(const NamedTensors& state) {
  const Tensor scale = saved_numbers(state, "force_field", "scale", {1}),
               references = saved_numbers(state, "force_field", "references", {-1}),
               seen = saved_numbers(state, "force_field", "seen", {-1});
  // Files that were written before there was one have none.
  const Tensor constant = state.contains("constant") ? saved_numbers(state, "force_field", "constant", {1})
                                                     : at::zeros({1}, at::kDouble);
  require<DataError>(scale.item<double>() > 0, "task force_field: 'scale' must be positive, got ",
                     scale.item<double>());
  require<DataError>(references.numel() == seen.numel(),
                     "task force_field: 'references' and 'seen' must be of the same types");
  scale_ = scale.item<double>();
  constant_ = constant.item<double>();
  references_ = references;
  seen_ = seen;
}

Tensor ForceFieldStatistics::energies(const Tensor& composition) const {
  return at::matmul(composition, to_device(references_, composition.device())) + constant_;
}

Tensor ForceFieldStatistics::energies_of_nodes(const Points& points) const {
  if (!fitted()) {
    return at::zeros({points.nodes()}, points.positions.options().dtype(at::kDouble));
  }
  const Tensor references = to_device(references_, points.positions.device());
  return points.types.defined() ? references.index_select(0, points.types)
                                : references.expand({points.nodes()});
}

void ForceFieldStatistics::require_seen_elements(const Points& points, const Interface& interface) const {
  if (fitted()) {
    require_seen("force_field", composition_of(points, interface.types), seen_, interface.elements);
  }
}

Tensor ForceFieldStatistics::energies(const Points& points, const Interface& interface, bool prepared) const {
  if (!fitted()) {  // not fitted: a config's audit
    return at::zeros({points.count()}, points.positions.options().dtype(at::kDouble));
  }
  const Tensor composition = composition_of(points, interface.types);
  if (composition.is_cpu() || !prepared) {
    require_seen("force_field", composition, seen_, interface.elements);
  }
  return energies(composition);
}

}  // namespace weyl
