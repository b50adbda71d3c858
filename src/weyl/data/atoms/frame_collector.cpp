#include "weyl/data/atoms/frame_collector.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "weyl/carriers/cell_volume.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/shortest_distance.h"
#include "weyl/data/formats/elements.h"

namespace weyl {
namespace {

Tensor tensor_of(std::vector<double>& values, const std::vector<int64_t>& shape) {
  Tensor t = at::empty(shape, at::kDouble);
  std::copy(values.begin(), values.end(), t.mutable_data_ptr<double>());
  values = {};
  return t;
}

/// What a frame has, for messages.
std::string names_in(const AtomsFrame& frame) {
  std::string all;
  const auto add = [&](const std::string& name) { all += (all.empty() ? "" : ", ") + quote(name); };
  for (const auto& value : frame.values) {
    add(value.name);
  }
  for (const auto& column : frame.columns) {
    add(column.name);
  }
  return all.empty() ? "nothing" : all;
}

/// The one text, number or logical of a value; empty of several.
std::string word_of(const FrameValues& values) {
  return std::visit(
      [](const auto& all) {
        using T = typename std::decay_t<decltype(all)>::value_type;
        if constexpr (std::is_same_v<T, uint8_t>) {
          return all.size() != 1 ? std::string() : all[0] != 0 ? "T" : "F";
        } else {
          return all.size() == 1 ? text(all[0]) : std::string();
        }
      },
      values);
}

/// Nine numbers from nine or six in Voigt's order, symmetric.
std::vector<double> tensor_from(const std::vector<double>& given) {
  if (given.size() == 6) {
    return {given[0], given[5], given[4], given[5], given[1], given[3], given[4], given[3], given[2]};
  }
  std::vector<double> s(9);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      s[3 * i + j] = 0.5 * (given[3 * i + j] + given[3 * j + i]);
    }
  }
  return s;
}

}  // namespace

double FrameCollector::factor_of(const std::string& key, const std::string& from,
                                 const std::string& to) const {
  try {
    return from == to ? 1 : unit_factor(from, to);
  } catch (const ConfigError& error) {
    throw ConfigError(text(layout_.option, ": unit of ", quote(key), ": ", error.what()));
  }
}

FrameCollector::FrameCollector(FrameLayout layout, const FrameReader& reader, Labels labels)
    : layout_(std::move(layout)), reader_(&reader), rule_(labels), schema_(frames_schema(layout_)) {
  type_of_.assign(most_elements + 1, -1);
  for (size_t t = 0; t < schema_.interface.elements.size(); ++t) {
    type_of_[static_cast<size_t>(atomic_number(schema_.interface.elements[t]))] = static_cast<int64_t>(t);
  }
  features_.resize(layout_.features.size());
  if (rule_ == Labels::none) {
    return;
  }
  for (const Quantity& q : schema_.labels) {
    Label label{.quantity = q, .keys = keys_of(layout_, q)};
    label.given = label.keys.size() == 1;
    label.of_atoms = q.level == Level::node;
    label.width = components(q.kind, 3);
    labels_.push_back(std::move(label));
  }
}

void FrameCollector::take_units() {
  FrameUnits units = units_of(layout_, *reader_);
  if (units == units_) {
    return;
  }
  units_ = std::move(units);
  length_ = factor_of("pos", units_.length, length_unit_of_models);
  const double energy = factor_of("energy", units_.energy, energy_unit_of_models);
  for (Label& label : labels_) {
    const Quantity& q = label.quantity;
    const bool of_potential = q.name == "energy" || q.name == "forces" || q.name == "stress";
    const bool asked = of_potential && !(layout_.energy_unit.empty() && layout_.length_unit.empty());
    const std::string said(asked ? "" : reader_->unit_of(q.name));
    label.factor = !said.empty() && !q.unit.empty() ? factor_of(q.name, said, q.unit)
                   : q.name == "energy"             ? energy
                   : q.name == "forces"             ? energy / length_
                   : q.name == "stress"             ? energy / std::pow(length_, 3)
                                                    : 1;
  }
}

bool FrameCollector::is_virial(const Label& label) {
  return label.quantity.name == "stress" && label.key.find("virial") != std::string::npos;
}

void FrameCollector::add_label(Label& label, const AtomsFrame& frame) {
  const auto has = [&](const std::string& key) {
    return label.of_atoms ? frame.column(key) != nullptr : frame.value(key) != nullptr;
  };
  if (label.key.empty()) {
    const auto found = std::ranges::find_if(label.keys, has);
    label.key = found == label.keys.end() ? "" : *found;
  }
  const auto other =
      std::ranges::find_if(label.keys, [&](const std::string& key) { return key != label.key && has(key); });
  if (other != label.keys.end() && label.ambiguous.empty()) {  // which one is meant nobody knows
    label.ambiguous = text(label.key, " and ", *other, " (", where(), "; say which by ", layout_.option, ".",
                           label.quantity.name, ")");
  }
  const bool stress = label.quantity.name == "stress";
  const auto rows = static_cast<size_t>(label.of_atoms ? frame.size() : 1);
  const size_t count = rows * static_cast<size_t>(label.width);
  const bool applies = !stress || (frame.cell && std::ranges::all_of(frame.pbc, std::identity()));
  label.expected += applies ? 1 : 0;
  const AtomColumn* column = label.of_atoms ? frame.column(label.key) : nullptr;
  const FrameValue* value = label.of_atoms ? nullptr : frame.value(label.key);
  if ((column == nullptr && value == nullptr) || !applies) {
    if (label.missing.empty() && applies) {
      label.missing = where();
    }
    label.values.insert(label.values.end(), count, NAN);
    return;
  }
  const auto reals = reals_of(column != nullptr ? column->values : value->values);
  require<DataError>(reals.has_value(), where(), ": ", quote(label.key), " must be numbers");
  const bool fits = column != nullptr ? column->width == label.width
                    : stress          ? reals->size() == 9 || reals->size() == 6
                                      : reals->size() == 1;
  require<DataError>(fits, where(), ": ", quote(label.key), " must be ", label.width,
                     label.of_atoms ? " numbers an atom"
                     : stress       ? " numbers, or 6"
                                    : " number",
                     ", got ", column != nullptr ? column->width : static_cast<int64_t>(reals->size()));
  for (const double x : *reals) {
    require<DataError>(std::isfinite(x) || rule_ == Labels::found, where(), ": ", quote(label.key),
                       " must be finite, got ", x);
  }
  const double factor = label.factor * (is_virial(label) ? std::pow(length_, 3) : 1);
  const std::vector<double> given = stress ? tensor_from(*reals) : *reals;
  for (const double x : given) {
    label.values.push_back(factor * x);
  }
  ++label.known;
}

void FrameCollector::add_features(const AtomsFrame& frame) {
  for (size_t i = 0; i < features_.size(); ++i) {
    const std::string& key = layout_.features[i];
    const FrameValue* value = frame.value(key);
    require<DataError>(value != nullptr, where(), ": must have the feature ", quote(key), ", has ",
                       names_in(frame));
    const auto reals = reals_of(value->values);
    require<DataError>(reals && reals->size() == 1 && std::isfinite(reals->front()), where(), ": ",
                       quote(key), " must be one finite number");
    features_[i].push_back(reals->front());
  }
}

void FrameCollector::add(const AtomsFrame& frame) {
  require<DataError>(frame.size() > 0, where(), ": must have atoms, got none");
  take_units();
  for (size_t i = 0; i < frame.numbers.size(); ++i) {
    const auto z = static_cast<size_t>(frame.numbers[i]);
    const int64_t type = z < type_of_.size() ? type_of_[z] : -1;
    if (type < 0) {
      std::string all = "of atomic numbers 0 .. 99";
      if (!layout_.elements.empty()) {
        all = "one of";
        for (const auto& symbol : layout_.elements) {
          all += " " + symbol;
        }
      }
      throw DataError(
          text(where(), ": atom ", i + 1, " must be ", all, " (elements), got ",
               z <= most_elements ? std::string(element_symbol(static_cast<int>(z))) : std::to_string(z)));
    }
    types_.push_back(type);
  }
  for (const double x : frame.positions) {
    positions_.push_back(x * length_);
  }
  const std::array<double, 9> cell = frame.cell.value_or(std::array<double, 9>{});
  for (const double x : cell) {
    cells_.push_back(x * length_);
  }
  for (const bool p : frame.pbc) {
    pbc_.push_back(p ? 1 : 0);
    periodic_ = periodic_ || p;
  }
  if (schema_.warnings.empty() && rule_ != Labels::none) {
    if (std::string warning = overlap_warning(frame, where(), units_.length); !warning.empty()) {
      schema_.warnings.push_back(std::move(warning));
    }
  }
  add_features(frame);
  for (Label& label : labels_) {
    add_label(label, frame);
  }
  if (rule_ != Labels::none) {
    std::string name;
    if (const FrameValue* value = layout_.config_type.empty() ? nullptr : frame.value(layout_.config_type)) {
      name = word_of(value->values);
    }
    const auto found = std::ranges::find(config_names_, name);
    config_types_.push_back(found - config_names_.begin());
    if (found == config_names_.end()) {
      config_names_.push_back(name);
    }
    if (sizes_.empty()) {
      for (const auto& v : frame.values) {
        schema_.unread.push_back(v.name);
      }
      for (const auto& c : frame.columns) {
        schema_.unread.push_back(c.name);
      }
    }
  }
  sizes_.push_back(frame.size());
}

/// Whether a label cannot be one, which is a fault only of who needs it: the reason goes beside what is
/// unread.
bool FrameCollector::leave_out(Label& label, std::vector<std::string>& unread) const {
  std::string why = label.ambiguous;
  if (why.empty() && !layout_.mask_missing && label.known < label.expected) {
    why = text(label.key, " in ", label.known, " of ", label.expected, " frames (not in ", label.missing,
               "; ", layout_.option, ".missing = \"mask\" leaves such frames out of its part of the loss)");
  }
  if (why.empty()) {
    return false;
  }
  std::erase_if(unread, [&](const std::string& name) {
    return std::ranges::find(label.keys, name) != label.keys.end();
  });
  unread.push_back(std::move(why));
  label.values.clear();
  return true;
}

FrameCollector::Frames FrameCollector::take() {
  const int64_t b = size(), n = static_cast<int64_t>(types_.size());
  Frames result{{}, schema_};
  Points points;
  points.graphs = Segments::of_sizes(sizes_);
  points.positions = tensor_of(positions_, {n, 3});
  points.types = at::empty({n}, at::kLong);
  std::copy(types_.begin(), types_.end(), points.types.mutable_data_ptr<int64_t>());
  if (periodic_) {
    points.cell = tensor_of(cells_, {b, 3, 3});
    points.pbc = at::empty({b, 3}, at::kBool);
    std::transform(pbc_.begin(), pbc_.end(), points.pbc.mutable_data_ptr<bool>(),
                   [](uint8_t p) { return p != 0; });
  }
  for (size_t i = 0; i < features_.size(); ++i) {
    points.of_graphs[layout_.features[i]] = tensor_of(features_[i], {b, 1});
  }
  result.schema.interface.typical_nodes = b > 0 ? static_cast<double>(n) / static_cast<double>(b) : 1;
  result.schema.labels.clear();
  for (Label& label : labels_) {
    require<DataError>(rule_ != Labels::needed || !label.given || label.known > 0 || b == 0, where(),
                       ": no frame has ", quote(label.keys[0]), " (", layout_.option, ")");
    if (label.known == 0) {
      label.values.clear();
      continue;
    }
    if (rule_ == Labels::needed && leave_out(label, result.schema.unread)) {
      continue;
    }
    const Quantity& q = label.quantity;
    result.schema.labels.push_back(q);
    std::erase(result.schema.unread, label.key);
    std::vector<int64_t> shape{label.of_atoms ? n : b, 1};
    if (q.kind == Kind::vector) {
      shape.push_back(3);
    }
    if (q.kind == Kind::symmetric_tensor) {
      shape.insert(shape.end(), {3, 3});
    }
    Tensor& values = result.batch.labels[q.name] = tensor_of(label.values, shape);
    if (is_virial(label)) {  // of frames without a volume NaN already
      values = -values / cell_volumes(points).view({-1, 1, 1, 1});
    }
  }
  if (config_names_.size() > 1 || (config_names_.size() == 1 && !config_names_[0].empty())) {
    Tensor kinds = at::empty({b, 1}, at::kLong);
    std::copy(config_types_.begin(), config_types_.end(), kinds.mutable_data_ptr<int64_t>());
    result.batch.labels[config_type_label] = kinds;
    result.schema.labels.push_back({.name = config_type_label,
                                    .level = Level::graph,
                                    .kind = Kind::category,
                                    .categories = static_cast<int64_t>(config_names_.size())});
    std::erase(result.schema.unread, layout_.config_type);
    for (const std::string& name : config_names_) {
      result.schema.category_names[config_type_label].push_back(name.empty() ? "(none)" : printable(name));
    }
  }
  result.batch.input = std::move(points);
  *this = FrameCollector(layout_, *reader_, rule_);
  return result;
}

}  // namespace weyl
