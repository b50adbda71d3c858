#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weyl/carriers/atoms_frame.h"

namespace weyl {

struct PythonMember;

/// A value of JSON as Python's `json` writes it, in which NaN, Infinity and -Infinity are numbers. Lists of numbers
/// alone, logicals alone or texts alone are kept as such (integers beside reals as reals; an empty list is a List), so
/// that a number of an array takes eight bytes.
struct PythonJson {
  using List = std::vector<PythonJson>;
  using Members = std::vector<PythonMember>;
  std::variant<std::monostate, bool, int64_t, double, std::string, FrameValues, List, Members> value;

  /// A member of an object; null where there is none of that name, or this is no object.
  const PythonJson* find(std::string_view key) const;
};

struct PythonMember {
  std::string key;
  PythonJson value;
};

/// How deep lists and objects may lie in one another, and what a text may hold: a number of an array counts one,
/// everything else eight.
constexpr int python_json_depth = 64;
constexpr int64_t python_json_limit = int64_t{1} << 25;

/// DataError naming `where` and the byte: a text that is no such JSON, or is beyond these limits.
PythonJson parse_python_json(std::string_view text, std::string_view where);

/// An array in ASE's JSON, {"__ndarray__": [shape, type, values]} or lists of one shape in one another, a number, a
/// logical or a text (of an empty shape).
struct AseArray {
  std::vector<int64_t> shape;
  FrameValues values;
};

/// Nothing of what is none: objects, dates, complex numbers, lists of several shapes. DataError naming `where` and the
/// array: its values do not fit its shape and type.
std::optional<AseArray> ase_array(const PythonJson& json, std::string_view where, std::string_view name);

/// A row of a database of ASE as a frame, in Angstrom, eV, amu and elementary charges:
///
///   numbers, positions, cell, pbc   the atoms; a cell of zeros is none
///   what ASE knows of atoms         columns: forces, charges, magmoms, energies, stresses, momenta, masses, tags,
///                                   initial_charges, initial_magmoms, born_effective_charges
///   what it knows of the whole      values: energy, free_energy, stress, dipole, magmom and others
///   key_value_pairs                 values
///   data                            values; arrays of as many rows as atoms with `charges`, `spins`, `magmoms` or
///                                   `forces` in their names are columns; of objects in objects "outer.inner"
///
/// Of a name that is there twice, the first stays as it is and later ones are "data.name". Left out are the names of
/// the row, its times, user, calculator and constraints, and what is no array or an empty one. DataError naming `where`: atoms that
/// are not there or not of these shapes, places or a cell that are not finite, a number that is no element's, periodic
/// directions without a cell or with lattice vectors that are not independent, columns of other rows than atoms.
void read_ase_row(const PythonJson& row, AtomsFrame& frame, std::string_view where);

}  // namespace weyl
