#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/data/makers/molecule_start.h"
#include "weyl/data/makers/molecules.h"

namespace weyl {

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
