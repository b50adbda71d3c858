#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/carriers/frame_state.h"
#include "weyl/config/fields.h"

namespace weyl {

enum class Keep;
struct Schema;
struct Splits;

/// What a property is of, the frame as a whole or each of its atoms, and how it turns with them.
enum class PropertyLevel { graph, node };
constexpr auto names_of(PropertyLevel) {
  return std::array<std::string_view, 2>{"graph", "node"};
}
enum class PropertyKind { scalar, vector, symmetric_tensor };
constexpr auto names_of(PropertyKind) {
  return std::array<std::string_view, 3>{"scalar", "vector", "symmetric_tensor"};
}

/// A value or a column of frames that becomes a label of the same name.
struct FrameProperty {
  std::string key;
  std::string unit;        // of the label; a file that says another is converted
  bool extensive = false;  // grows with the number of atoms
  bool norm = false;       // the files have a vector, the label is its length
  PropertyLevel level = PropertyLevel::graph;
  PropertyKind kind = PropertyKind::scalar;

  bool operator==(const FrameProperty&) const = default;
};
void fields(Fields& f, FrameProperty& o);

/// What happens to a frame that lacks a label which other frames have: it is refused (error), or left out of that
/// label's part of the loss (mask).
enum class MissingLabels { error, mask };
constexpr auto names_of(MissingLabels) {
  return std::array<std::string_view, 2>{"error", "mask"};
}

/// What the column of forces holds: the forces, or the gradient of the energy, which is minus the forces.
enum class ForceSign { force, gradient };
constexpr auto names_of(ForceSign) {
  return std::array<std::string_view, 2>{"force", "gradient"};
}

/// Sign convention of a file's stress. Its diagonal is positive under tension, as ours is (conventions.md), or under
/// compression, as VASP prints it (`vasp` means the same as `compression`).
enum class StressSign { tension, compression, vasp };
constexpr auto names_of(StressSign) {
  return std::array<std::string_view, 3>{"tension", "compression", "vasp"};
}

/// The order of a stress of six numbers in a file: xx yy zz yz xz xy, Voigt's, as ASE has it; or xx yy zz xy yz zx, as
/// VASP prints it.
enum class StressOrder { voigt, vasp };
constexpr auto names_of(StressOrder) {
  return std::array<std::string_view, 2>{"voigt", "vasp"};
}

/// The order in which frames and molecules are divided into splits: permuted by our random numbers (weyl), permuted by
/// numpy's RandomState(seed) (numpy), or as the files have them (file).
enum class SplitOrder { weyl, numpy, file };
constexpr auto names_of(SplitOrder) {
  return std::array<std::string_view, 3>{"weyl", "numpy", "file"};
}

/// Atoms with energies, forces, stress and properties, from any file of frames (atoms/molecules.h).
struct MoleculesDataOptions {
  static constexpr const char* name_in_config = "molecules";
  std::string path = "data/molecules";
  std::string energy, forces, stress;    // keys; empty: the usual ones
  std::string energy_unit, length_unit;  // of the files; empty: as their format says, else eV and Angstrom
  std::string force_unit, stress_unit;   // of the files; empty: as their format says, else from the two above
  ForceSign force_sign = ForceSign::force;
  StressSign stress_sign = StressSign::tension;
  StressOrder stress_order = StressOrder::voigt;  // of stresses and virials of six numbers
  std::vector<std::string> elements;  // symbols of the types in their order; none: 100 types, one for each Z
  std::vector<std::string> features;  // keys of frames that the model gets as numbers, such as charge
  std::vector<FrameState> states;     // keys of frames for each of whose values the model learns an embedding
  std::vector<FrameProperty> properties;
  std::string config_type = "config_type";  // key that says the kind of a frame, for tables
  MissingLabels missing = MissingLabels::error;
  bool stream = false;                     // frames stay on disk and are read when a batch asks for them
  SplitOrder order = SplitOrder::weyl;     // of the frames of one file
  int64_t train = 0, valid = 0, test = 0;  // frames of one file; all 0: by the fractions; test 0: the rest
  std::vector<double> fractions{0.8, 0.1, 0.1};
  int64_t seed = 0;
};
void fields(Fields& f, MoleculesDataOptions& o);
void require_effects(const MoleculesDataOptions& options);
/// Molecules and materials as points, float64, in Angstrom and eV: frames of any file that open_frames reads. What
/// frames become stands in data/atoms/frame_collector.h. They are read once and kept in memory, or stay on disk
/// (data/atoms/molecules.h).
///
///   molecules  a file (or folder without splits), whose frames are split at random by counts or fractions,
///              isolated atoms for training;
///              or a folder with train.*, valid.* and test.*, whose first frames are taken, as many as the
///              counts say (0: all)
///   md17       .npz of MD17 and rMD17
///   qm9        all fifteen properties as labels, under the names of qm9_properties, energies in eV; extensive
///              are zpve, U0, U, H, G, Cv and alpha. gdb9.sdf and its table also give the energies of
///              atomisation U0_atom, U_atom, H_atom and G_atom, in eV and extensive. The molecules that
///              `exclude` lists are left out
///
/// DataError: a missing or broken file; fewer frames than asked for; a label that is needed and missing
/// (FrameCollector::Labels::needed). ConfigError: a unit or sign of forces or stress is set and the training frames
/// have none.
Schema declared_schema(const MoleculesDataOptions& options);
Splits open_set(const MoleculesDataOptions& options, Keep keep = Keep{});

/// Trajectories of single molecules with energies and forces: MD17's and rMD17's .npz (atoms/molecules.h).
struct Md17DataOptions {
  static constexpr const char* name_in_config = "md17";
  std::string path = "data/md17/md17_aspirin.npz";
  std::vector<std::string> elements;             // as for molecules
  int64_t train = 950, valid = 50, test = 0;     // frames; test 0: the rest
  std::vector<double> fractions{0.8, 0.1, 0.1};  // used where train, valid and test are 0
  int64_t seed = 0;
};
void fields(Fields& f, Md17DataOptions& o);
void require_effects(const Md17DataOptions& options);
Schema declared_schema(const Md17DataOptions& options);
Splits open_set(const Md17DataOptions& options, Keep keep = Keep{});

/// What a model is told about an atom: its element, or the 97 numbers that the Platonic Transformer's code gives it
/// (data/atoms/atom_inputs.h).
enum class AtomInputs { elements, pyg };
constexpr auto names_of(AtomInputs) {
  return std::array<std::string_view, 2>{"elements", "pyg"};
}

/// 134 thousand small molecules with fifteen properties each (atoms/molecules.h).
struct Qm9DataOptions {
  static constexpr const char* name_in_config = "qm9";
  std::string path = "data/qm9";
  std::string exclude;  // file of the molecules to leave out, found like `path`; empty: uncharacterized.txt
                        // beside them
  SplitOrder order = SplitOrder::weyl;
  AtomInputs inputs = AtomInputs::elements;
  std::vector<std::string> elements;                // as for molecules
  int64_t train = 110000, valid = 10000, test = 0;  // molecules; test 0: the rest
  std::vector<double> fractions{0.8, 0.1, 0.1};     // where train, valid and test are 0
  int64_t seed = 0;
};
void fields(Fields& f, Qm9DataOptions& o);
void require_effects(const Qm9DataOptions& options);
Schema declared_schema(const Qm9DataOptions& options);
Splits open_set(const Qm9DataOptions& options, Keep keep = Keep{});

/// The two splits of Molecule3D: drawn at random, or by the scaffolds of molecules, which then differ between the splits.
enum class Molecule3dSplit { random, scaffold };
constexpr auto names_of(Molecule3dSplit) {
  return std::array<std::string_view, 2>{"random", "scaffold"};
}

/// 3.9 million molecules in geometries of density-functional theory (data/atoms/molecule3d.h). Labels are homo, lumo,
/// homolumogap (eV), scf_energy and the vector dipole. The molecules stay on disk.
struct Molecule3dDataOptions {
  static constexpr const char* name_in_config = "molecule3d";
  std::string path = "data/molecule3d";
  Molecule3dSplit split = Molecule3dSplit::random;
  bool graph = false;                 // whether the model is told of bonds (data/atoms/molecular_graph.h)
  std::vector<std::string> elements;  // as for molecules
  int64_t train = 0, valid = 0, test = 0;  // the first molecules of each list; 0: all
};
void fields(Fields& f, Molecule3dDataOptions& o);
Schema declared_schema(const Molecule3dDataOptions& options);
Splits open_set(const Molecule3dDataOptions& options);

/// Where a training sample stands: with probability `relaxed` at the relaxed geometry with Gaussian noise on each coordinate;
/// with probability `middle` between such a place and a conformer that was moved onto it (kabsch), at the share 0.4 to 0.6 of
/// the way; else at a conformer, each with equal chances. (Uni-Mol+, arXiv:2303.16982: 0.8, 0.1, 0.2 Angstrom.)
struct ConformerMixture {
  double relaxed = 0, middle = 0;
  double noise = 0.2;  // Angstrom
};
void fields(Fields& f, ConformerMixture& o);

/// 3.7 million molecules with the gap between HOMO and LUMO, as conformers (data/atoms/pcqm4mv2.h). A sample is a molecule at
/// its first conformer, or in training where `mixture` says. Labels are `gap` (eV), `conformers` (N, C, 3), the places of all,
/// over which tasks average predictions, and in the training split `relaxed` (N, 1, 3), the places of density-functional
/// theory, moved onto the input by the rigid motion that brings them nearest. The splits are train, valid and test-dev. The
/// molecules stay on disk.
struct Pcqm4mv2DataOptions {
  static constexpr const char* name_in_config = "pcqm4mv2";
  std::string path = "data/pcqm4mv2";
  int64_t conformers = 8;  // C
  ConformerMixture mixture;
  bool graph = false;                 // whether the model is told of bonds (data/atoms/molecular_graph.h)
  std::vector<std::string> elements;  // as for molecules
  int64_t train = 0, valid = 0, test = 0;  // the first molecules of each list; 0: all
};
void fields(Fields& f, Pcqm4mv2DataOptions& o);
void require_effects(const Pcqm4mv2DataOptions& options);
Schema declared_schema(const Pcqm4mv2DataOptions& options);
Splits open_set(const Pcqm4mv2DataOptions& options);

/// Noisy nodes (Godwin et al., ICLR 2022) as Equiformer has them for OC20: with this probability a training structure
/// starts somewhere between its two ends, each free atom at q x + (1 - q) r + noise, q uniform in (0, 1), where x is its
/// initial and r its relaxed place, with Gaussian noise of this deviation (Angstrom) on each coordinate.
struct NoisyNodes {
  double probability = 0.5, deviation = 0.3;
};
void fields(Fields& f, NoisyNodes& o);

/// Slabs with an adsorbate, and what they relax to: Open Catalyst 2020, IS2RE and IS2RS (data/atoms/oc20.h).
struct Oc20DataOptions {
  static constexpr const char* name_in_config = "oc20";
  std::string path = "data/oc20";
  std::vector<std::string> elements;  // as for molecules
  double image_radius = 8;  // Angstrom around the adsorbate, within which images are tokens; 0: none
  std::optional<NoisyNodes> noisy_nodes;
  int64_t train = 0, valid = 0, test = 0;  // the first so many of each file; 0: all
};
void fields(Fields& f, Oc20DataOptions& o);
Schema declared_schema(const Oc20DataOptions& options);
Splits open_set(const Oc20DataOptions& options);

}  // namespace weyl
