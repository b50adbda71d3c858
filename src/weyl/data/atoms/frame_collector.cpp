#include "weyl/data/atoms/frame_collector.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <numeric>

#include "weyl/carriers/frame_state.h"
#include "weyl/carriers/points.h"
#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/nearest.h"
#include "weyl/core/quote.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/atom_inputs.h"
#include "weyl/data/atoms/frame_checks.h"
#include "weyl/data/atoms/molecular_graph.h"
#include "weyl/data/atoms/potential_keys.h"
#include "weyl/data/atoms/stress_tensor.h"

namespace weyl {
namespace {

/// Nine numbers from nine or six, symmetric.
std::vector<double> tensor_from(const std::vector<double>& given, StressOrder order) {
  if (given.size() == 6) {
    return tensor_of_six(given, order);
  }
  std::vector<double> s(9);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      s[3 * i + j] = 0.5 * (given[3 * i + j] + given[3 * j + i]);
    }
  }
  return s;
}

/// Whether a text says an isolated atom, whatever its case and the signs between the words.
bool says_isolated_atom(const std::string& kind) {
  std::string letters;
  for (const char c : kind) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters == "isolatedatom" || letters == "isolatedatoms";
}

/// Nine numbers each, row by row. DataError: they are no symmetric matrix, but for what printing them has rounded.
void require_symmetric(const std::vector<double>& tensors, const std::string& where, const std::string& key) {
  for (size_t t = 0; t + 9 <= tensors.size(); t += 9) {
    const double* a = tensors.data() + t;
    double largest = 0, apart = 0;
    for (const auto& [i, j] : {std::pair{1, 3}, {2, 6}, {5, 7}}) {
      apart = std::max(apart, std::abs(a[i] - a[j]));
    }
    for (size_t i = 0; i < 9; ++i) {
      largest = std::max(largest, std::abs(a[i]));
    }
    require<DataError>(!(apart > 1e-4 * largest), where, ": ", quote(key),
                       " must be a symmetric tensor, nine numbers row by row, got entries that differ by ",
                       apart);
  }
}

}  // namespace

bool is_isolated_atom(const AtomsFrame& frame, const std::string& config_type) {
  if (frame.size() != 1) {
    return false;
  }
  const auto says = [&](std::string_view key) {
    const FrameValue* kind = frame.value(key);
    const auto* words = kind != nullptr ? std::get_if<std::vector<std::string>>(&kind->values) : nullptr;
    return words != nullptr && words->size() == 1 && says_isolated_atom(words->front());
  };
  return frame.pbc == std::array<bool, 3>{} || says(config_type) || says(config_type_label);
}

bool FrameLabel::is_virial() const {
  return quantity.name == "stress" && is_virial_key(key);
}

bool FrameLabel::follow(const FrameLabel& later) {
  if (!key.empty() && !later.key.empty() && key != later.key) {
    return false;
  }
  key = key.empty() ? later.key : key;
  known += later.known;
  expected += later.expected;
  ordinary += later.ordinary;
  excused += later.excused;
  six = six || later.six;
  missing = missing.empty() ? later.missing : missing;
  ambiguous = ambiguous.empty() ? later.ambiguous : ambiguous;
  return true;
}

void FrameLabel::add(const AtomsFrame& frame, const FrameReader& reader, const FrameLayout& layout,
                     double virial_factor, bool finite) {
  const auto has = [&](const std::string& name) {
    return of_atoms ? frame.column(name) != nullptr : frame.value(name) != nullptr;
  };
  if (key.empty()) {
    const auto found = std::ranges::find_if(keys, has);
    key = found == keys.end() ? "" : *found;
  }
  const auto other =
      std::ranges::find_if(keys, [&](const std::string& name) { return name != key && has(name); });
  if (other != keys.end() && ambiguous.empty()) {  // which one is meant nobody knows
    ambiguous = text(key, " and ", *other, " (", reader.where(), "; say which by ", layout.option, ".",
                     quantity.name, ")");
  }
  const bool stress = quantity.name == "stress";
  const auto rows = static_cast<size_t>(of_atoms ? frame.size() : 1);
  const size_t count = rows * static_cast<size_t>(width);
  const bool applies = !stress || (frame.cell && std::ranges::all_of(frame.pbc, std::identity()));
  expected += applies ? 1 : 0;
  const bool alone = is_isolated_atom(frame, layout.config_type);
  const AtomColumn* column = of_atoms ? frame.column(key) : nullptr;
  const FrameValue* value = of_atoms ? nullptr : frame.value(key);
  if ((column == nullptr && value == nullptr) || !applies) {
    excused += applies && alone && (stress || quantity.name == "forces") ? 1 : 0;
    if (missing.empty() && applies) {
      missing = reader.where();
    }
    values.insert(values.end(), count, NAN);
    return;
  }
  const auto reals = reals_of(column != nullptr ? column->values : value->values);
  require<DataError>(reals.has_value(), reader.where(), ": ", quote(key), " must be numbers");
  const bool fits = column != nullptr ? column->width == width
                    : stress          ? reals->size() == 9 || reals->size() == 6
                                      : reals->size() == static_cast<size_t>(norm ? 3 : width);
  require<DataError>(fits, reader.where(), ": ", quote(key), " must be ", norm ? 3 : width,
                     of_atoms     ? " numbers an atom"
                     : stress     ? " numbers, or 6"
                     : norm       ? " numbers, of which `norm` is the length"
                     : width == 1 ? " number"
                                  : " numbers",
                     ", got ", column != nullptr ? column->width : static_cast<int64_t>(reals->size()));
  if (!stress && quantity.kind == Kind::symmetric_tensor) {
    require_symmetric(*reals, reader.where(), key);
  }
  const auto bad = std::ranges::find_if(*reals, [](double x) { return !std::isfinite(x); });
  if (finite && bad != reals->end()) {
    throw DataError(text(reader.where(), ": ", quote(key), " must be finite, got ", *bad));
  }
  if (is_virial() && !is_virial_key(layout.stress)) {
    for (const auto& [option, said] :
         {std::pair{"stress_unit", !layout.stress_unit.empty()}, {"stress_sign", layout.compression}}) {
      require<ConfigError>(!said, layout.option, ".", option, ": is of a stress, the frames have ",
                           quote(key), ", minus stress times volume (", reader.where(),
                           "); leave it out, or say stress = \"", key, "\" and the unit of that");
    }
  }
  six = six || (stress && reals->size() == 6);
  const double scale = is_virial() ? virial_factor : factor;
  const std::vector<double> numbers = stress ? tensor_from(*reals, layout.stress_order)
                                      : norm ? std::vector{std::hypot((*reals)[0], (*reals)[1], (*reals)[2])}
                                             : *reals;
  for (const double x : numbers) {
    values.push_back(scale * x);
  }
  ++known;
  ordinary += alone ? 0 : 1;
}

std::string FrameLabel::reason_to_leave_out(const FrameLayout& layout) const {
  if (!ambiguous.empty()) {
    return ambiguous;
  }
  // Where all frames are single atoms, none is a reference for the others.
  if (layout.mask_missing || known + (ordinary > 0 ? excused : 0) >= expected) {
    return "";
  }
  return text(key, " in ", known, " of ", expected, " frames (not in ", missing, "; ", layout.option,
              ".missing = \"mask\" leaves such frames out of its part of the loss)");
}

namespace {

constexpr size_t kMostNames = 1000, kMostListed = 12;

}  // namespace

void FrameNames::count(const AtomsFrame& frame) {
  ++frames_;
  const auto one = [&](const std::string& name, bool of_atoms) {
    const auto found = std::ranges::find_if(
        present_, [&](const Present& p) { return p.of_atoms == of_atoms && p.name == name; });
    if (found != present_.end()) {
      ++found->frames;
    } else if (present_.size() < kMostNames) {
      present_.push_back({name, of_atoms, 1});
    }
  };
  for (const auto& value : frame.values) {
    one(value.name, false);
  }
  for (const auto& column : frame.columns) {
    one(column.name, true);
  }
}

void FrameNames::add(const FrameNames& later) {
  frames_ += later.frames_;
  for (const Present& p : later.present_) {
    const auto found = std::ranges::find_if(
        present_, [&](const Present& q) { return q.of_atoms == p.of_atoms && q.name == p.name; });
    if (found != present_.end()) {
      found->frames += p.frames;
    } else if (present_.size() < kMostNames) {
      present_.push_back(p);
    }
  }
}

std::string FrameNames::is_other(const std::string& key, bool of_atoms) const {
  const bool there = std::ranges::any_of(
      present_, [&](const Present& p) { return p.of_atoms != of_atoms && p.name == key; });
  return !there     ? ""
         : of_atoms ? " as a column of the atoms, it is a value of the frame"
                    : " as a value of the frame, it is a column of the atoms";
}

std::string FrameNames::list(const std::string& key, bool of_atoms) const {
  std::vector<Present> there;
  std::vector<std::string> names;
  for (const Present& p : present_) {
    if (p.of_atoms == of_atoms) {
      there.push_back(p);
      names.push_back(p.name);
    }
  }
  const std::string near = nearest(key, names);
  std::ranges::stable_sort(there, [&](const Present& a, const Present& b) {
    const bool a_near = a.name == near, b_near = b.name == near;
    return a_near != b_near ? a_near : a.frames > b.frames;
  });
  std::string list;
  for (size_t i = 0; i < std::min(there.size(), kMostListed); ++i) {
    list += text(i == 0 ? "" : ", ", there[i].frames, i == 0 ? " have " : " ", quote(there[i].name, 40));
  }
  const char* kind = of_atoms ? "columns" : "values";
  return list.empty()
             ? text("they have no ", kind)
             : text(kind, ": of ", frames_, " frames ", list, there.size() > kMostListed ? ", ..." : "");
}

namespace {

Tensor tensor_of(std::vector<double>& values, const std::vector<int64_t>& shape) {
  Tensor t = at::empty(shape, at::kDouble);
  std::copy(values.begin(), values.end(), t.mutable_data_ptr<double>());
  values = {};
  return t;
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
  states_.resize(layout_.states.size());
  if (rule_ == Labels::none) {
    return;
  }
  for (const Quantity& q : schema_.labels) {
    FrameLabel label{.quantity = q, .keys = keys_of(layout_, q)};
    label.given =
        label.keys.size() == 1 && std::ranges::find(layout_.optional, q.name) == layout_.optional.end();
    label.of_atoms = q.level == Level::node;
    label.width = q.channels * components(q.kind, 3);
    label.norm = std::ranges::any_of(layout_.properties,
                                     [&](const FrameProperty& p) { return p.norm && p.key == q.name; });
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
  energy_ = factor_of("energy", units_.energy, energy_unit_of_models);
  const bool of_virials = !layout_.stress_unit.empty() && is_virial_key(layout_.stress);
  virial_ = of_virials ? factor_of("stress", layout_.stress_unit, energy_unit_of_models) : energy_;
  // The same bits as ever, which a resumed run compares: a quotient of factors where options say the units.
  const bool asked = !layout_.energy_unit.empty() || !layout_.length_unit.empty();
  const auto factor = [&](const Quantity& q) -> double {
    if (q.name == "energy") {
      return energy_;
    }
    if (q.name == "forces") {
      return asked && units_.forces == force_unit_of(units_) ? energy_ / length_
                                                             : factor_of(q.name, units_.forces, q.unit);
    }
    if (q.name == "stress") {
      return asked && units_.stress == stress_unit_of(units_) ? energy_ / std::pow(length_, 3)
                                                              : factor_of(q.name, units_.stress, q.unit);
    }
    if (q.role == Role::point) {
      return length_;
    }
    const std::string said(reader_->unit_of(q.name));
    return said.empty() || q.unit.empty() ? 1 : factor_of(q.name, said, q.unit);
  };
  for (FrameLabel& label : labels_) {
    const Quantity& q = label.quantity;
    label.factor = factor(q);
    const bool turned =
        (q.name == "forces" && layout_.gradients) || (q.name == "stress" && layout_.compression);
    label.factor *= turned ? -1 : 1;
  }
}

/// What to say of a label whose key no frame has.
std::string FrameCollector::no_frame_has(const FrameLabel& label) const {
  const std::string& key = label.keys[0];
  const std::string& name = label.quantity.name;
  const bool of_potential = name == "energy" || name == "forces" || name == "stress";
  if (name == "stress" && label.expected == 0) {
    return text(reader_->where(), ": no frame has ", quote(key), " (", layout_.option,
                ".stress) and is periodic along all three lattice vectors, without which there is no volume");
  }
  const bool named =
      of_potential || layout_.option == "data.molecules";  // of other sets nobody names the properties
  return text(reader_->where(), ": no frame has ", quote(key), names_.is_other(key, label.of_atoms),
              named ? text(" (", layout_.option, ".", of_potential ? name : "properties", ")") : "", "; ",
              names_.list(key, label.of_atoms));
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
  for (size_t i = 0; i < states_.size(); ++i) {
    const int64_t channel = channel_of(layout_.states[i], frame, where(), layout_.option + ".states");
    states_[i].push_back(static_cast<uint16_t>(channel));
  }
}

std::vector<uint16_t> FrameCollector::states_of_last() const {
  std::vector<uint16_t> channels;
  for (const auto& of_frames : states_) {
    channels.push_back(of_frames.back());
  }
  return channels;
}

/// Their types, or what tells them instead.
void FrameCollector::add_atoms(const AtomsFrame& frame) {
  if (layout_.atom_inputs) {
    require<DataError>(!frame.bonds.empty() || frame.size() == 1, where(),
                       ": must have bonds for the inputs \"pyg\" of its atoms (gdb9.sdf has them), has none");
    append_atom_inputs(inputs_, frame, where());
    return;
  }
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
  if (layout_.graph) {
    // Ions have no bonds; atoms without any of one molecule are those of a format that does not say them.
    const bool bonds = !frame.bonds.empty() || frame.column("formal_charges") != nullptr;
    require<DataError>(bonds || frame.size() == 1, where(),
                       ": must have bonds, of which the model is told, has none");
    require<DataError>(frame.size() <= most_atoms_of_graph, where(), ": must have at most ",
                       most_atoms_of_graph, " atoms, of whose bonds the model is told, has ", frame.size());
    append_graph(frame, inputs_, pairs_);
  }
}

/// Notes atoms that overlap, once, and units that the file says in words nobody reads.
void FrameCollector::warn_of(const AtomsFrame& frame) {
  if (!overlap_said_) {
    if (std::string warning = overlap_warning(frame, where(), units_.length); !warning.empty()) {
      schema_.warnings.push_back(std::move(warning));
      overlap_said_ = true;
    }
  }
  if (const auto unread = reader_->unread_units(); unread_.empty() && !unread.empty()) {
    unread_.assign(unread.begin(), unread.end());
    unread_where_ = where();
    unread_taken_ = units_;
  }
}

void FrameCollector::add(const AtomsFrame& frame) {
  require<DataError>(frame.size() > 0, where(), ": must have atoms, got none");
  take_units();
  add_atoms(frame);
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
  if (rule_ != Labels::none) {
    warn_of(frame);
  }
  add_features(frame);
  for (FrameLabel& label : labels_) {
    label.add(frame, *reader_, layout_, virial_, rule_ != Labels::found);
  }
  if (rule_ != Labels::none) {
    names_.count(frame);
    std::string name;
    if (const FrameValue* value = layout_.config_type.empty() ? nullptr : frame.value(layout_.config_type)) {
      name = word_of(value->values);
    }
    const auto [found, first] = config_numbers_.try_emplace(name, static_cast<int64_t>(config_names_.size()));
    config_types_.push_back(found->second);
    if (first) {
      config_names_.push_back(name);
    }
    if (frames_ == 0) {
      for (const auto& v : frame.values) {
        schema_.unread.push_back(v.name);
      }
      for (const auto& c : frame.columns) {
        schema_.unread.push_back(c.name);
      }
    }
  }
  sizes_.push_back(frame.size());
  ++frames_;
  atoms_ += frame.size();
}

bool FrameCollector::has_config_types() const {
  return config_names_.size() > 1 || (config_names_.size() == 1 && !config_names_[0].empty());
}

Schema FrameCollector::schema() const {
  Schema schema = schema_;
  schema.interface.typical_nodes =
      frames_ > 0 ? static_cast<double>(atoms_) / static_cast<double>(frames_) : 1;
  schema.labels.clear();
  for (const FrameLabel& label : labels_) {
    if (rule_ == Labels::needed && label.given && label.known == 0 && frames_ > 0) {
      throw DataError(no_frame_has(label));
    }
    if (label.known == 0) {
      continue;
    }
    if (std::string why = rule_ == Labels::needed ? label.reason_to_leave_out(layout_) : ""; !why.empty()) {
      std::erase_if(schema.unread, [&](const std::string& name) {
        return std::ranges::find(label.keys, name) != label.keys.end();
      });
      schema.left_out[label.quantity.name] = std::move(why);
      continue;
    }
    if (label.quantity.name == "stress" && layout_.stress_order != StressOrder::voigt && !label.six) {
      schema.warnings.push_back(text(layout_.option, ".stress_order: has no effect, every ",
                                     quote(label.key, 40), " is of nine numbers, which have no order"));
    }
    schema.labels.push_back(label.quantity);
    std::erase(schema.unread, label.key);
  }
  const auto has = [&](const char* name) {
    return std::ranges::any_of(labels_, [&](const FrameLabel& label) {
      return label.quantity.name == name && !label.is_virial() &&
             find_quantity(schema.labels, name) != nullptr;
    });
  };
  if (std::string line = unread_units_warning(layout_, unread_, unread_taken_, has("forces"), has("stress"));
      !line.empty()) {
    schema.warnings.push_back(text(unread_where_, ": ", line));
  }
  add_config_types(schema);
  return schema;
}

/// The label of the kinds of frames, where there are some.
void FrameCollector::add_config_types(Schema& schema) const {
  if (has_config_types()) {
    schema.labels.push_back({.name = config_type_label,
                             .level = Level::graph,
                             .kind = Kind::category,
                             .categories = static_cast<int64_t>(config_names_.size())});
    std::erase(schema.unread, layout_.config_type);
    for (const std::string& name : config_names_) {
      schema.category_names[config_type_label].push_back(name.empty() ? "(none)" : printable(name));
    }
  }
}

bool FrameCollector::follow(const FrameCollector& later) {
  FrameCollector both = *this;
  for (size_t i = 0; i < labels_.size(); ++i) {
    if (!both.labels_[i].follow(later.labels_[i])) {
      return false;
    }
  }
  if (both.frames_ == 0) {
    both.schema_.unread = later.schema_.unread;
  }
  if (!both.overlap_said_) {
    both.schema_.warnings = later.schema_.warnings;
    both.overlap_said_ = later.overlap_said_;
  }
  if (both.unread_.empty()) {
    both.unread_ = later.unread_;
    both.unread_where_ = later.unread_where_;
    both.unread_taken_ = later.unread_taken_;
  }
  both.names_.add(later.names_);
  for (const std::string& name : later.config_names_) {
    if (both.config_numbers_.try_emplace(name, std::ssize(both.config_names_)).second) {
      both.config_names_.push_back(name);
    }
  }
  both.frames_ += later.frames_;
  both.atoms_ += later.atoms_;
  both.periodic_ = both.periodic_ || later.periodic_;
  *this = std::move(both);
  return true;
}

FramesInCommon FrameCollector::common() const {
  const Schema of_all = schema();
  FramesInCommon common;
  for (const Quantity& q : of_all.labels) {
    if (q.name != config_type_label) {
      common.labels.push_back(q.name);
    }
  }
  for (const FrameLabel& label : labels_) {
    if (!label.key.empty()) {
      common.keys[label.quantity.name] = label.key;
    }
  }
  common.left_out = of_all.left_out;
  common.unread = of_all.unread;
  common.warnings = of_all.warnings;
  common.config_types = config_names_;
  common.typical_nodes = of_all.interface.typical_nodes;
  common.periodic = periodic_;
  return common;
}

Schema FrameCollector::know(const FramesInCommon& common) {
  Schema schema = schema_;
  schema.labels.clear();
  for (const std::string& name : common.labels) {
    const auto label =
        std::ranges::find_if(labels_, [&](const FrameLabel& l) { return l.quantity.name == name; });
    require<DataError>(label != labels_.end() && common.keys.contains(name), layout_.option, ": ",
                       quote(name, 40), " must be a label that frames have");
    schema.labels.push_back(label->quantity);
  }
  for (FrameLabel& label : labels_) {
    const auto key = common.keys.find(label.quantity.name);
    label.key = key != common.keys.end() ? key->second : "";
  }
  schema.left_out = common.left_out;
  schema.unread = common.unread;
  schema.warnings = common.warnings;
  schema.interface.typical_nodes = common.typical_nodes;
  config_names_ = common.config_types;
  config_numbers_.clear();
  for (size_t i = 0; i < config_names_.size(); ++i) {
    config_numbers_[config_names_[i]] = static_cast<int64_t>(i);
  }
  periodic_ = common.periodic;
  frames_ = 1;  // none is the first
  overlap_said_ = true;
  add_config_types(schema);
  return schema;
}

Batch FrameCollector::take_batch(const Schema& schema) {
  const int64_t b = size(), n = std::accumulate(sizes_.begin(), sizes_.end(), int64_t{0});
  Batch batch;
  Points points;
  points.graphs = Segments::of_sizes(sizes_);
  points.positions = tensor_of(positions_, {n, 3});
  if (layout_.atom_inputs) {
    points.scalars = tensor_of(inputs_, {n, atom_inputs_channels});
  } else {
    points.types = at::empty({n}, at::kLong);
    std::copy(types_.begin(), types_.end(), points.types.mutable_data_ptr<int64_t>());
  }
  if (layout_.graph) {
    points.scalars = tensor_of(inputs_, {n, degree_channels});
    points.pairs = tensor_of(pairs_, {points.graphs.pairs(), bond_channels + path_channels});
  }
  if (periodic_) {
    points.cell = tensor_of(cells_, {b, 3, 3});
    points.pbc = at::empty({b, 3}, at::kBool);
    std::transform(pbc_.begin(), pbc_.end(), points.pbc.mutable_data_ptr<bool>(),
                   [](uint8_t p) { return p != 0; });
  }
  for (size_t i = 0; i < features_.size(); ++i) {
    points.of_graphs[layout_.features[i]] = tensor_of(features_[i], {b, 1});
  }
  for (size_t i = 0; i < states_.size(); ++i) {
    const FrameState& state = layout_.states[i];
    Tensor& channels = points.of_graphs[state.key] = at::zeros({b, state.channels()}, at::kDouble);
    for (int64_t frame = 0; frame < b; ++frame) {
      const int64_t channel = states_[i][static_cast<size_t>(frame)];
      channels.mutable_data_ptr<double>()[frame * state.channels() + channel] = 1;
    }
  }
  for (FrameLabel& label : labels_) {
    const Quantity& q = label.quantity;
    if (find_quantity(schema.labels, q.name) == nullptr) {
      continue;
    }
    std::vector<int64_t> shape{label.of_atoms ? n : b, q.channels};
    if (q.kind == Kind::vector) {
      shape.push_back(3);
    }
    if (q.kind == Kind::symmetric_tensor) {
      shape.insert(shape.end(), {3, 3});
    }
    Tensor& values = batch.labels[q.name] = tensor_of(label.values, shape);
    if (label.is_virial()) {  // of frames without a volume NaN already
      values = -values / cell_volumes(points).view({-1, 1, 1, 1});
    }
  }
  if (find_quantity(schema.labels, config_type_label) != nullptr) {
    Tensor kinds = at::empty({b, 1}, at::kLong);
    std::copy(config_types_.begin(), config_types_.end(), kinds.mutable_data_ptr<int64_t>());
    batch.labels[config_type_label] = kinds;
  }
  batch.input = std::move(points);
  forget();
  return batch;
}

void FrameCollector::forget() {
  sizes_.clear();
  types_.clear();
  inputs_.clear();
  pairs_.clear();
  config_types_.clear();
  positions_.clear();
  cells_.clear();
  pbc_.clear();
  for (auto& values : features_) {
    values.clear();
  }
  for (auto& channels : states_) {
    channels.clear();
  }
  for (FrameLabel& label : labels_) {
    label.values.clear();
  }
}

FrameCollector::Frames FrameCollector::take() {
  Frames result{{}, schema()};
  result.batch = take_batch(result.schema);
  *this = FrameCollector(layout_, *reader_, rule_);
  return result;
}

}  // namespace weyl
