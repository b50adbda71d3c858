#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/makers/molecules/molecules.h"
#include "weyl/makers/molecules/xtb.h"

namespace weyl {

/// Names of the molecules that need no file, sorted.
std::vector<std::string> molecule_names();

/// One conformer of a molecule by name; blanks and hyphens count as underscores, capitals as small letters.
/// The conformer is the one of least energy to a force field (tools/molecule_table.py). ConfigError naming
/// the nearest.
AtomsFrame molecule_by_name(const std::string& name);

/// Where walkers start: the centre of mass is the origin.
struct MoleculeStart {
  std::string name;               // config_type of its frames
  std::vector<int> numbers;       // (N)
  std::vector<double> masses;     // (N) amu
  std::vector<double> positions;  // (N, 3) A
  std::vector<int64_t> isotopes;  // (N) mass numbers that the file says, 0: none; empty: of no atom
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

/// One walker of the maker `molecules`: its steps, its frames, and what of them is kept on disk.
class MoleculeWalker {
 public:
  /// `partial` is the folder of files walker-<index>-<first frame>.safetensors. `what` says of what they must
  /// be: ConfigError when one is of something else.
  MoleculeWalker(const MoleculesMakerOptions& options, const MoleculeStart& start, int64_t index,
                 std::string partial, std::string what);

  int64_t steps() const;  // of all its frames
  int64_t done() const { return step_; }

  /// Goes on where the files end, until all frames are made or `stopped`; writes a file every 10 s and at the
  /// end. `on_step` is called after each.
  void run(const std::atomic<bool>& stopped, const std::function<void()>& on_step);

  /// Frame `i` of its own as it is written.
  AtomsFrame frame(int64_t i) const;

 private:
  void resume();
  void save();
  std::string path(int64_t first) const;
  void record(const SinglePoint& point, std::span<const double> positions);
  void displace();
  size_t row() const { return 7 * start_.numbers.size() + 4; }  // places, forces, charges, energy, dipole

  const MoleculesMakerOptions& o_;
  const MoleculeStart& start_;
  int64_t index_, first_, count_;  // its frames among all
  std::string partial_, what_;
  std::vector<double> positions_, velocities_;  // where it is after step_
  int64_t step_ = 0;
  std::vector<double> rows_;  // of the frames made
  int64_t saved_ = 0;         // frames in whole files
};

}  // namespace weyl
