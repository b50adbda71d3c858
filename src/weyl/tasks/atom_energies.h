#pragma once

#include <string>

#include "weyl/carriers/batch.h"

namespace weyl {

/// The energies of single atoms in a text, of each type of a schema (T), float64, in the unit of its label `energy`:
/// lines "C -1027.59" or "C -37.76 Hartree", comments from # on. Types that the text does not name have 0. DataError:
/// no such file, a line of another form, a unit that is none of energy, an element twice, or one that the text does not
/// name though `seen` (T) counts atoms of it; ConfigError: types that are no elements.
Tensor atom_energies_in(const std::string& path, const Schema& schema, const Tensor& seen);

}  // namespace weyl
