#pragma once

#include <array>
#include <string_view>

namespace weyl {

/// A unit as its value in SI units and its dimension: exponents of length, mass, time, charge, temperature,
/// atoms.
struct Unit {
  double factor = 1;
  std::array<int, 6> dimension{};
};

/// Reads products and quotients of names: "kcal/mol/Angstrom", "eV/Angstrom^3", "e*Bohr", "kJ/(mol nm)",
/// "1/cm". A blank multiplies. Lengths Angstrom (Ang, A), Bohr (a0), pm, nm, cm, m; energies eV, meV, keV,
/// Hartree (Ha, Eh), mHartree (mHa), Rydberg (Ry), cal, kcal, J, kJ; mol, a number (6.02214076e23); times fs,
/// ps, ns, s, frequencies Hz, GHz, THz; masses amu (u, Da), me, g, kg; charges e, C; Debye; pressures Pa,
/// kPa, MPa, GPa, bar, kbar, atm; K; atom (as in meV/atom). Names begin in either case where that means one
/// thing (hartree, ev). CODATA 2022. ConfigError: what is no unit, with the nearest name.
Unit parse_unit(std::string_view unit);

/// ConfigError unless `unit` can be one of atoms and molecules for what `like` (eV, eV/Angstrom, ...) measures: what
/// is no unit; what measures another thing, with the length that an energy lacks; cal, kcal and kJ that are not
/// per mole, 1e22 times what is meant.
void check_unit(std::string_view unit, std::string_view like);

/// The number that a quantity in `from` is multiplied with to be in `to`. ConfigError when their dimensions
/// differ.
double unit_factor(std::string_view from, std::string_view to);

/// Whether two names are of one unit, as Hartree and Ha; the same name is, whatever it means. ConfigError as
/// unit_factor.
bool same_unit(std::string_view a, std::string_view b);

}  // namespace weyl
