#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weyl {

/// What a key of a frame says the unit of. `other`: it says units that are not read, those of cells and virials and
/// those of everything at once (`units=metal`).
enum class UnitOf { nothing, energy, length, force, stress, other };

/// Reads keys in every spelling that files have: energy_unit, energy-units, EnergyUnit, unit_energy, forces_unit,
/// length_units, position_unit, units, ...
UnitOf unit_said_by(std::string_view key);

/// What a file says of a unit in words that nobody reads: "'units' = 'metal'".
struct UnreadUnit {
  UnitOf of = UnitOf::other;
  std::string said;
  bool operator==(const UnreadUnit&) const = default;
};

/// Whether one of them is the unit of such things; those of everything at once are no unit of stresses or forces alone.
bool is_unread(std::span<const UnreadUnit> units, UnitOf of);

/// Those that are of such things, or of everything at once, in one line: "'units' = 'metal', 'energy-unit' = 'x'".
std::string unread_of(std::span<const UnreadUnit> units, UnitOf of);
/// All of them.
std::string unread_line(std::span<const UnreadUnit> units);

/// The unit that energies, lengths, forces or stresses are taken to be in.
struct TakenUnit {
  UnitOf of = UnitOf::energy;
  std::string unit;
  bool open = true;     // there are such numbers, and no option says their unit
  bool stated = false;  // the file says the unit in words that are read
};

/// What to say of units that a file says in words nobody reads: "says ..., which is not read: energies are taken to be in eV;
/// say what is meant by OPTION.energy_unit"; empty: nothing. Words about everything at once leave energies and lengths in
/// doubt where the file does not state their unit as well.
std::string unread_units_line(std::span<const UnreadUnit> unread, const std::array<TakenUnit, 4>& taken,
                              const std::string& option);

/// The unit in the words of units.h, for what `like` measures: other spellings (ANGSTROM, hartrees, electronvolt) and
/// i-PI's atomic_unit are known. Nothing: it is no such unit.
std::optional<std::string> unit_in_our_words(std::string_view said, std::string_view like);

/// What is wrong with a unit that is known, but not one of what `like` measures. Empty: nothing, or nobody knows it.
std::string fault_of_unit(std::string_view said, std::string_view like);

}  // namespace weyl
