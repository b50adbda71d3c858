#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weyl {

constexpr int most_elements = 118;

/// Z of a symbol written as chemistry does ("Cl", not "CL" or "cl": "CO" is no cobalt), 0 of "X", which
/// stands for no element; -1 when it is none.
int atomic_number(std::string_view symbol);

/// The mass number of D and T, which stand for isotopes of hydrogen in many files; 0 of other words.
int64_t hydrogen_isotope(std::string_view symbol);

/// What an error line says of a symbol that is none: "unknown element 'CL' (did you mean 'Cl'?)".
std::string unknown_element(std::string_view symbol);

/// "H" .. "Og", and "X" of 0. ShapeError outside 0 .. 118.
std::string_view element_symbol(int z);

/// Mass in amu: the conventional standard atomic weight (IUPAC 2021); of an element without one, the mass of
/// its longest-lived isotope; 0 of "X". ShapeError outside 0 .. 118.
double standard_mass(int z);

/// Mass in amu of an isotope, by its mass number: of hydrogen's first three as measured (AME 2020), of others the mass
/// number itself, which is within a part in 300. 0 is no isotope, but the element (standard_mass).
double isotope_mass(int z, int64_t mass_number);

}  // namespace weyl
