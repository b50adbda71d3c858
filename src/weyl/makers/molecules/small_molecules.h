#pragma once

#include <string>
#include <vector>

namespace weyl {

/// SMILES of some three thousand different molecules of up to 12 atoms of C, N, O, F, S and Cl beside hydrogens: chains, rings and
/// carbonyl compounds, each with two substituents. Needs RDKit to tell which are the same (canonical_smiles); sorted.
/// ConfigError without it.
std::vector<std::string> small_molecules();

}  // namespace weyl
