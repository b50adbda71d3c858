#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace weyl {

/// Usual names of energies, forces and stresses (or virials) in files of frames, the preferred ones first.
inline constexpr std::array<std::string_view, 5> energy_keys{"energy", "REF_energy", "dft_energy",
                                                             "DFT_energy", "ref_energy"};
inline constexpr std::array<std::string_view, 6> forces_keys{"forces",     "REF_forces", "dft_forces",
                                                             "DFT_forces", "ref_forces", "force"};
inline constexpr std::array<std::string_view, 12> stress_keys{
    "stress",  "REF_stress", "dft_stress",  "DFT_stress", "ref_stress",  "virial",
    "virials", "REF_virial", "REF_virials", "dft_virial", "dft_virials", "DFT_virial"};
/// Energies that are no labels of ours.
inline constexpr std::array<std::string_view, 3> other_energy_keys{"free_energy", "dft_free_energy",
                                                                   "energies"};
/// Values of a frame that say the units of its energies and lengths, and of its forces and stress where these
/// are not energies by lengths.
inline constexpr std::string_view energy_unit_key = "energy_unit", length_unit_key = "length_unit",
                                  force_unit_key = "force_unit", stress_unit_key = "stress_unit";

/// What stands before the name of a prediction, which is in the units of the labels beside it.
inline constexpr std::string_view prediction_prefix = "weyl_";

/// Whether a name of stresses says minus stress times volume.
bool is_virial_key(std::string_view key);

/// Whether a name is a usual one of stresses or virials, or of predictions of them.
bool is_stress_key(std::string_view key);

/// The power of a length that stands beside the energy in the unit of what has a usual name: 0 of energies
/// and virials, -1 of forces, -3 of stresses, and the same of predictions of them; nothing of other names.
std::optional<int> length_power_of(std::string_view key);

}  // namespace weyl
