#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/atoms_frame.h"

namespace weyl {

/// What a SMILES says of its molecule. All hydrogens are among the atoms.
struct SmilesMolecule {
  std::vector<int> numbers;     // (N) atomic numbers
  int charge = 0;               // e
  std::optional<int> unpaired;  // electrons, of radicals; nothing where an atom without fixed valences (a
                                // transition metal) leaves it open
};

/// Hydrogens counted.
constexpr int64_t kMostAtomsOfSmiles = 200;

/// "2022.09.3"; empty when this build is without RDKit, or its libraries are not there any more.
std::string rdkit_version();

/// ConfigError with the SMILES and what is wrong with it: syntax, valences, aromatic rings that have no
/// Kekule form, several molecules (a dot), atoms that are no elements, isotopes, no atom or more than 200;
/// without RDKit how to get it.
SmilesMolecule read_smiles(const std::string& smiles);

/// A conformer, (N, 3) in A, in the order of `read_smiles`: drawn by ETKDG, version 3, of Wang et al. (JCIM
/// 2020, 60, 2044) and moved downhill by MMFF94 (UFF for what has no types in it). A function of both
/// arguments, to the bit with one build of RDKit; centres and double bonds whose geometry the SMILES leaves
/// open are drawn too. ConfigError as above, and for a molecule that has no places to find or no force field.
std::vector<double> conformer_of_smiles(const std::string& smiles, uint64_t seed);

/// `count` conformers with all hydrogens, bonds and formal charges, drawn by ETKDG, version 3, and moved downhill by MMFF94 (UFF for
/// what has no types in it, and as drawn for what neither knows). Fewer where RDKit finds fewer; where it finds none, one in
/// the plane (the value `dimensions` is 2). Isotopes are taken too, and several
/// molecules in one SMILES, which are laid side by side, 3 Angstrom apart. A function of all
/// arguments but `threads` (0: one per core), to the bit with one build of RDKit. ConfigError as `read_smiles` for what RDKit cannot read.
std::vector<AtomsFrame> conformers_of_smiles(const std::string& smiles, int64_t count, uint64_t seed,
                                             int64_t threads);

/// RDKit's one SMILES of the molecule, by which two of them are compared. ConfigError as above.
std::string canonical_smiles(const std::string& smiles);

}  // namespace weyl
