#pragma once

#include <atomic>
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

/// The geometries that the options name, as given: one by name, or all frames of a file of any format that
/// open_frames reads (places without a unit are in A). ConfigError:
/// not exactly one of molecule and file, an unknown name, a molecule that xtb does not take, less than two
/// atoms. DataError: a file without frames or with periodic ones.
std::vector<MoleculeStart> molecule_starts(const MoleculesMakerOptions& options);

/// Relaxes one of them to forces of at most 0.005 eV/A. When stopped it is where it got to.
void relax_start(MoleculeStart& start, const MoleculesMakerOptions& options,
                 const std::atomic<bool>& stopped);

}  // namespace weyl
