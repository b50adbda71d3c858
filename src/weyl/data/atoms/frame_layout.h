#pragma once

#include <span>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/data/atoms/frame_reader.h"
#include "weyl/data/atoms/options.h"
#include "weyl/data/base/file_format.h"

namespace weyl {

// The units of models and labels, whatever a file has.
constexpr const char* energy_unit_of_models = "eV";
constexpr const char* length_unit_of_models = "\u00c5";
/// The label that says of which kind a frame is.
constexpr const char* config_type_label = "config_type";

/// What frames of atoms become: which elements are which types, which keys are labels and features, in which
/// units. Models and labels have lengths in Angstrom and energies in eV.
struct FrameLayout {
  std::string option;                    // "data.molecules", for messages
  std::vector<std::string> elements;     // symbols of the types in their order; none: 100 types, Z each
  std::string energy, forces, stress;    // keys; empty: the usual ones
  std::string energy_unit, length_unit;  // of the files; empty: what their format says, else eV, Angstrom
  std::string force_unit, stress_unit;   // the same; else of the energies and lengths
  bool gradients = false;                // whether the files have minus the forces,
  bool compression = false;              // and minus the stress
  StressOrder stress_order = StressOrder::voigt;  // of stresses of six numbers
  bool told = false;                              // whether a model says the layout, and no labels are read
  bool atom_inputs = false;                       // whether atoms are told by atom_inputs.h, and not by types
  bool graph = false;                             // whether bonds are told too, by molecular_graph.h
  bool potential = true;                          // whether energy, forces and stress are labels
  std::vector<std::string> features;
  std::vector<FrameState> states;
  std::vector<FrameProperty> properties;
  std::vector<std::string> optional;  // keys of properties, and columns, that files may lack
  std::vector<Quantity> places;       // labels of atoms that are columns of places, under the same names
  std::string config_type;
  bool mask_missing = false;
};

/// Layout of the options of a set; of a set that is none of frames, the defaults.
FrameLayout layout_of(const MoleculesDataOptions& options);
FrameLayout layout_of(const Md17DataOptions& options);
FrameLayout layout_of(const Qm9DataOptions& options);
FrameLayout layout_of(const Molecule3dDataOptions& options);
FrameLayout layout_of(const Pcqm4mv2DataOptions& options);
FrameLayout layout_of(AskedSet asked);
/// The types and features that a model knows. What a file says of the units of its forces and stress goes before
/// what the layout says: they are what predictions are written in.
FrameLayout as_told(FrameLayout layout, const Interface& model);

/// Points with types, or with atom_inputs.h; labels `energy` (graph scalar, extensive, eV), `forces` (node vector, eV/Å), `stress`
/// (graph symmetric tensor, eV/Å^3), the properties and the places. ConfigError: an element that is none, or twice; a unit
/// that is none or of another thing.
Schema frames_schema(const FrameLayout& layout);

/// The keys under which files may have a label: the one that the layout gives, or the usual ones.
std::vector<std::string> keys_of(const FrameLayout& layout, const Quantity& label);

/// The units of a file's energies, lengths, forces and stress.
struct FrameUnits {
  std::string energy, length, forces, stress;
  bool says_energy = false, says_length = false;  // whether the file says that unit
  bool operator==(const FrameUnits& other) const {
    return energy == other.energy && length == other.length && forces == other.forces &&
           stress == other.stress;
  }
};
/// Those of forces and stress that follow from the units of energies and lengths.
std::string force_unit_of(const FrameUnits& units);
std::string stress_unit_of(const FrameUnits& units);
/// The units of the frame that the reader gave last; `stress` is that of stresses even where the layout says one
/// of virials. DataError: the file says another unit than the layout, of forces and stress also by the units of
/// its energies and lengths.
FrameUnits units_of(const FrameLayout& layout, const FrameReader& reader);

/// What to say of units that a file says in words nobody reads, and that no option of the layout says: "says ..., which is
/// not read: ..."; empty: nothing. `units`: those that are taken, of units_of. `forces`, `stress`: whether it has such numbers.
std::string unread_units_warning(const FrameLayout& layout, std::span<const UnreadUnit> unread,
                                 const FrameUnits& units, bool forces, bool stress);

}  // namespace weyl
