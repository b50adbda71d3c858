#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weyl {

/// What a key of a frame says the unit of. `other`: it says units that are not read, those of cells and virials and
/// those of everything at once (`units=metal`).
enum class UnitOf { nothing, energy, length, force, stress, other };

/// Reads keys in every spelling that files have: energy_unit, energy-units, EnergyUnit, unit_energy, forces_unit,
/// length_units, position_unit, units, ...
UnitOf unit_said_by(std::string_view key);

/// The unit in the words of units.h, for what `like` measures: other spellings (ANGSTROM, hartrees, electronvolt) and
/// i-PI's atomic_unit are known. Nothing: it is no such unit.
std::optional<std::string> unit_in_our_words(std::string_view said, std::string_view like);

}  // namespace weyl
