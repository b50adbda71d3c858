#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "weyl/data/makers/molecules.h"
#include "weyl/data/makers/xtb.h"

namespace weyl {

/// Where walkers start: the centre of mass is the origin.
struct MoleculeStart {
  std::string name;               // config_type of its frames
  std::vector<int> numbers;       // (N)
  std::vector<double> masses;     // (N) amu
  std::vector<double> positions;  // (N, 3) A
};

Xtb::Options xtb_options(const MoleculesMakerOptions& options);

/// The options with charge and unpaired electrons: those given, else those that `smiles` says, else 0.
/// ConfigError: not exactly one of molecule, smiles and file, what read_smiles refuses, numbers that disagree
/// with what the SMILES says.
MoleculesMakerOptions with_electrons(MoleculesMakerOptions options);

/// The geometries that such options name, as given: one by name, all frames of a file of any format that
/// open_frames reads (places without a unit are in A), or of a SMILES a conformer for each walker. A true
/// `stop` ends it early, with what it has. ConfigError: an unknown name, a molecule that xtb does not take,
/// less than two atoms, a SMILES without conformers. DataError: a file without frames or with periodic ones.
std::vector<MoleculeStart> molecule_starts(const MoleculesMakerOptions& options,
                                           const std::function<bool()>& stop = {});

/// Relaxes one of them to forces of at most 0.005 eV/A. When stopped it is where it got to.
void relax_start(MoleculeStart& start, const MoleculesMakerOptions& options,
                 const std::atomic<bool>& stopped);

}  // namespace weyl
