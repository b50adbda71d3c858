#include "weyl/data/atoms/frame_layout.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/quote.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/atom_inputs.h"
#include "weyl/data/atoms/molecular_graph.h"
#include "weyl/data/atoms/molecule3d.h"
#include "weyl/data/atoms/pcqm4mv2.h"
#include "weyl/data/atoms/potential_keys.h"
#include "weyl/data/atoms/stated_units.h"

namespace weyl {
namespace {

constexpr int kNumbers = 100;  // types, where they are atomic numbers

std::vector<FrameProperty> qm9_labels() {
  return {
      {"A", "GHz"},       {"B", "GHz"},      {"C", "GHz"},      {"mu", "Debye"},   {"alpha", "Bohr^3", true},
      {"homo", "eV"},     {"lumo", "eV"},    {"gap", "eV"},     {"r2", "Bohr^2"},  {"zpve", "eV", true},
      {"U0", "eV", true}, {"U", "eV", true}, {"H", "eV", true}, {"G", "eV", true}, {"Cv", "cal/mol/K", true}};
}

/// Energies less those of the single atoms, which the table beside gdb9.sdf has and the files of each molecule have not.
std::vector<FrameProperty> qm9_atomisation() {
  return {{"U0_atom", "eV", true}, {"U_atom", "eV", true}, {"H_atom", "eV", true}, {"G_atom", "eV", true}};
}

std::vector<std::string> symbols_of(const FrameLayout& layout) {
  if (!layout.elements.empty()) {
    return layout.elements;
  }
  std::vector<std::string> all;
  for (int z = 0; z < kNumbers; ++z) {
    all.emplace_back(element_symbol(z));
  }
  return all;
}

Quantity atom_inputs() {
  return {.name = atom_inputs_name, .level = Level::node, .channels = atom_inputs_channels};
}

void check_states(const FrameLayout& layout) {
  std::set<std::string> keys(layout.features.begin(), layout.features.end());
  for (size_t i = 0; i < layout.states.size(); ++i) {
    const FrameState& state = layout.states[i];
    const std::string where = text(layout.option, ".states[", i, "]");
    require<ConfigError>(!state.key.empty(), where, ": `key` must be given");
    require<ConfigError>(keys.insert(state.key).second, where, ".key: ", quote(state.key),
                         " is a feature already");
    require<ConfigError>(state.least < state.most, where, ": least must be below most, got ", state.least,
                         " and ", state.most);
  }
}

void check_units(const FrameLayout& layout) {
  const bool virial = is_virial_key(layout.stress);
  for (const auto& [option, unit, like] :
       {std::tuple{"energy_unit", &layout.energy_unit, "eV"},
        {"length_unit", &layout.length_unit, "Angstrom"},
        {"force_unit", &layout.force_unit, "eV/Angstrom"},
        {"stress_unit", &layout.stress_unit, virial ? "eV" : "eV/Angstrom^3"}}) {
    if (unit->empty()) {
      continue;
    }
    try {
      check_unit(*unit, like);
    } catch (const ConfigError& error) {
      throw ConfigError(text(layout.option, ".", option, ": ", error.what()));
    }
  }
  require<ConfigError>(!layout.compression || !virial, layout.option, ".stress_sign: has no effect, ",
                       quote(layout.stress), " is minus stress times volume; leave the option out");
}

}  // namespace

FrameLayout layout_of(const MoleculesDataOptions& o) {
  return {.option = "data.molecules",
          .elements = o.elements,
          .energy = o.energy,
          .forces = o.forces,
          .stress = o.stress,
          .energy_unit = o.energy_unit,
          .length_unit = o.length_unit,
          .force_unit = o.force_unit,
          .stress_unit = o.stress_unit,
          .gradients = o.force_sign == ForceSign::gradient,
          .compression = o.stress_sign != StressSign::tension,
          .stress_order = o.stress_order,
          .features = o.features,
          .states = o.states,
          .properties = o.properties,
          .config_type = o.config_type,
          .mask_missing = o.missing == MissingLabels::mask};
}

FrameLayout layout_of(const Md17DataOptions& o) {
  return {.option = "data.md17", .elements = o.elements, .config_type = config_type_label};
}

FrameLayout layout_of(const Qm9DataOptions& o) {
  FrameLayout layout{.option = "data.qm9", .elements = o.elements, .config_type = config_type_label};
  layout.atom_inputs = o.inputs == AtomInputs::pyg;
  layout.potential = false;
  layout.properties = qm9_labels();
  for (FrameProperty& property : qm9_atomisation()) {
    layout.optional.push_back(property.key);
    layout.properties.push_back(std::move(property));
  }
  return layout;
}

FrameLayout layout_of(const Molecule3dDataOptions& o) {
  FrameLayout layout{.option = "data.molecule3d", .elements = o.elements, .config_type = config_type_label};
  layout.graph = o.graph;
  layout.potential = false;
  for (const Molecule3dColumn& column : molecule3d_columns) {
    layout.properties.push_back(
        {std::string(column.name), std::string(column.unit), column.name == "scf_energy"});
    if (column.name != "homolumogap") {
      layout.optional.emplace_back(column.name);
    }
  }
  layout.properties.push_back({.key = molecule3d_dipole, .extensive = true, .kind = PropertyKind::vector});
  layout.optional.emplace_back(molecule3d_dipole);
  return layout;
}

FrameLayout layout_of(const Pcqm4mv2DataOptions& o) {
  FrameLayout layout{.option = "data.pcqm4mv2", .elements = o.elements, .config_type = config_type_label};
  layout.graph = o.graph;
  layout.potential = false;
  layout.properties = {{"gap", "eV"}};
  const auto places = [](const char* name, int64_t count) {
    return Quantity{.name = name,
                    .kind = Kind::vector,
                    .channels = count,
                    .role = Role::point,
                    .unit = length_unit_of_models};
  };
  layout.places = {places(conformers_column, o.conformers), places(relaxed_column, 1)};
  layout.optional = {relaxed_column};
  layout.mask_missing = true;
  return layout;
}

FrameLayout layout_of(AskedSet asked) {
  if (const auto* molecules = asked.get_if<MoleculesDataOptions>()) {
    return layout_of(*molecules);
  }
  if (const auto* md17 = asked.get_if<Md17DataOptions>()) {
    return layout_of(*md17);
  }
  if (const auto* qm9 = asked.get_if<Qm9DataOptions>()) {
    return layout_of(*qm9);
  }
  if (const auto* molecule3d = asked.get_if<Molecule3dDataOptions>()) {
    return layout_of(*molecule3d);
  }
  if (const auto* pcqm4mv2 = asked.get_if<Pcqm4mv2DataOptions>()) {
    return layout_of(*pcqm4mv2);
  }
  return {.option = "data.molecules", .config_type = config_type_label};
}

FrameLayout as_told(FrameLayout layout, const Interface& model) {
  layout.told = true;
  layout.elements = model.elements;
  layout.features.clear();
  layout.atom_inputs = layout.graph = false;
  const auto of_graph = graph_features();
  layout.states = states_told(layout.states, model, {});
  for (const Quantity& q : model.features) {
    if (q == atom_inputs()) {
      layout.atom_inputs = true;
    } else if (std::ranges::find(of_graph, q) != of_graph.end()) {
      layout.graph = true;
    } else if (std::ranges::find(layout.states, q.name, &FrameState::key) == layout.states.end()) {
      layout.features.push_back(q.name);
    }
  }
  return layout;
}

Schema frames_schema(const FrameLayout& layout) {
  Schema schema;
  schema.interface.length_unit = length_unit_of_models;
  Interface& i = schema.interface;
  if (layout.atom_inputs) {
    i.features.push_back(atom_inputs());
  } else {
    i.elements = symbols_of(layout);
  }
  i.types = static_cast<int64_t>(i.elements.size());
  if (layout.graph) {
    const auto of_graph = graph_features();
    i.features.insert(i.features.end(), of_graph.begin(), of_graph.end());
  }
  check_units(layout);
  std::set<std::string> known;
  for (const auto& symbol : i.elements) {
    require<ConfigError>(atomic_number(symbol) >= 0, layout.option, ".elements: ", unknown_element(symbol));
    require<ConfigError>(known.insert(symbol).second, layout.option, ".elements: ", symbol,
                         " is given twice");
  }
  for (const auto& key : layout.features) {
    i.features.push_back({.name = key, .level = Level::graph});
  }
  check_states(layout);
  for (const FrameState& state : layout.states) {
    i.features.push_back(feature_of(state));
  }
  require<ConfigError>(find_quantity(i.features, config_type_label) == nullptr, layout.option, ": '",
                       config_type_label, "' is the label of a frame's kind, and no feature");
  const std::string force = text(energy_unit_of_models, "/", length_unit_of_models);
  if (layout.potential) {
    schema.labels = {
        {.name = "energy", .level = Level::graph, .extensive = true, .unit = energy_unit_of_models},
        {.name = "forces", .kind = Kind::vector, .unit = force},
        {.name = "stress", .level = Level::graph, .kind = Kind::symmetric_tensor, .unit = force + "^3"}};
  }
  schema.labels.insert(schema.labels.end(), layout.places.begin(), layout.places.end());
  for (const auto& p : layout.properties) {
    require<ConfigError>(!p.key.empty(), layout.option, ".properties: `key` must be given");
    if (!p.unit.empty()) {
      try {
        parse_unit(p.unit);
      } catch (const ConfigError& error) {
        throw ConfigError(text(layout.option, ".properties: ", p.key, ": ", error.what(),
                               " (leave `unit` out where none fits)"));
      }
    }
    const bool taken = find_quantity(schema.labels, p.key) != nullptr || p.key == config_type_label;
    require<ConfigError>(!taken, layout.option, ".properties: ", quote(p.key), " is a label already");
    require<ConfigError>(!p.norm || (p.kind == PropertyKind::scalar && p.level == PropertyLevel::graph),
                         layout.option, ".properties: ", p.key,
                         ": norm makes a number of a frame, which has no other kind or level");
    require<ConfigError>(!p.extensive || p.level == PropertyLevel::graph, layout.option,
                         ".properties: ", p.key,
                         ": what an atom has does not grow with their number, extensive must be false");
    constexpr Kind kinds[] = {Kind::scalar, Kind::vector, Kind::symmetric_tensor};
    schema.labels.push_back({.name = p.key,
                             .level = p.level == PropertyLevel::node ? Level::node : Level::graph,
                             .kind = kinds[static_cast<int>(p.kind)],
                             .extensive = p.extensive,
                             .unit = p.unit});
  }
  return schema;
}

std::vector<std::string> keys_of(const FrameLayout& layout, const Quantity& label) {
  const auto keys = [](const std::string& given, const auto& usual) {
    return given.empty() ? std::vector<std::string>(usual.begin(), usual.end()) : std::vector{given};
  };
  return label.name == "energy"   ? keys(layout.energy, energy_keys)
         : label.name == "forces" ? keys(layout.forces, forces_keys)
         : label.name == "stress" ? keys(layout.stress, stress_keys)
                                  : std::vector{label.name};
}

std::string force_unit_of(const FrameUnits& units) {
  return text(units.energy, "/(", units.length, ")");
}
std::string stress_unit_of(const FrameUnits& units) {
  return text(units.energy, "/(", units.length, ")^3");
}

FrameUnits units_of(const FrameLayout& layout, const FrameReader& reader) {
  const auto first = [](std::string_view given, std::string_view said, std::string_view usual) {
    return std::string(!given.empty() ? given : !said.empty() ? said : usual);
  };
  const auto agree = [&](const std::string& given, std::string_view stated, const char* option) {
    require<DataError>(given.empty() || stated.empty() || same_unit(given, stated), reader.where(),
                       ": the file says ", quote(stated, 40), ", ", layout.option, ".", option, " says ",
                       quote(given, 40), ": leave the option out, or `weyl data convert` the file");
  };
  agree(layout.energy_unit, reader.stated_unit_of("energy"), "energy_unit");
  agree(layout.length_unit, reader.stated_unit_of("pos"), "length_unit");
  FrameUnits units{first(layout.energy_unit, reader.unit_of("energy"), energy_unit_of_models),
                   first(layout.length_unit, reader.unit_of("pos"), "Angstrom"),
                   {},
                   {}};
  units.says_energy = !reader.stated_unit_of("energy").empty();
  units.says_length = !reader.stated_unit_of("pos").empty();
  // What a file says of its energies it says of its forces and stress.
  const bool by_energy = units.says_energy;
  const bool asked = !layout.energy_unit.empty() || !layout.length_unit.empty();
  const auto derived = [&](std::string given, const char* name, UnitOf of, const char* option,
                           const std::string& usual) {
    const bool follows = by_energy && !is_unread(reader.unread_units(), of);
    const std::string stated = first(reader.stated_unit_of(name), follows ? usual : "", "");
    if (layout.told && !stated.empty()) {
      given.clear();
    }
    agree(given, stated, option);
    return first(given, stated, first(asked ? "" : reader.unit_of(name), "", usual));
  };
  units.forces = derived(layout.force_unit, "forces", UnitOf::force, "force_unit", force_unit_of(units));
  const bool of_virials = is_virial_key(layout.stress);
  units.stress = derived(of_virials ? "" : layout.stress_unit, "stress", UnitOf::stress, "stress_unit",
                         stress_unit_of(units));
  return units;
}

std::string unread_units_warning(const FrameLayout& layout, std::span<const UnreadUnit> unread,
                                 const FrameUnits& units, bool forces, bool stress) {
  return unread_units_line(unread,
                           {{{UnitOf::energy, units.energy, layout.energy_unit.empty(), units.says_energy},
                             {UnitOf::length, units.length, layout.length_unit.empty(), units.says_length},
                             {UnitOf::force, units.forces, forces && layout.force_unit.empty()},
                             {UnitOf::stress, units.stress, stress && layout.stress_unit.empty()}}},
                           layout.option);
}

}  // namespace weyl
