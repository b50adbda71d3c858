#pragma once

#include <string>
#include <vector>

#include "weyl/carriers/atoms_frame.h"

namespace weyl {

/// Names of the molecules that need no file, sorted.
std::vector<std::string> molecule_names();

/// One conformer of a molecule by name; blanks and hyphens count as underscores, capitals as small letters.
/// The conformer is the one of least energy to a force field (tools/molecule_table.py). ConfigError naming
/// the nearest.
AtomsFrame molecule_by_name(const std::string& name);

}  // namespace weyl
