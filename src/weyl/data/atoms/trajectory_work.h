#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace weyl {

/// A frame with its energy and forces, in any units that belong together.
struct WorkFrame {
  std::vector<int64_t> kinds;                 // (N) of atoms, whatever tells them apart
  std::vector<double> positions;              // (N, 3)
  std::optional<std::array<double, 9>> cell;  // (3, 3) rows are lattice vectors
  std::array<bool, 3> pbc{};
  double energy = 0;
  std::vector<double> forces;                   // (N, 3)
  std::optional<std::array<double, 9>> stress;  // (3, 3), which the work does not need
};

/// How the energies of frames that follow one another change with the work of their forces: the step from one to
/// the next is compared with -F dx, F the mean of the forces of both. In units and signs that fit the slope is 1.
struct WorkLaw {
  int64_t pairs = 0;       // that were compared
  double atoms = 0;        // of a frame, mean
  double correlation = 0;  // of dE with -F dx, through the origin
  double slope = 0;        // dE = slope (-F dx): the line of least absolute deviations
  double spread = 0;       // the same slope as a ratio of root mean squares, with the sign of the correlation
  /// Mean over three frames in a row of |x2 - x0|^2 over the mean of |x1 - x0|^2 and |x2 - x1|^2: 4 of a motion that
  /// goes straight on, 1 of places that are drawn anew for each frame.
  double onward = 0;
  double below = 0, above = 0;  // shares of pairs whose own ratio dE / (-F dx) is below 0.8, above 1.25
  /// Share of pairs whose dE is not between -F dx with the force of the one frame and with that of the other: between
  /// them it lies where the force changes steadily, however long the step.
  double beyond = 0;

  /// Whether the frames are steps of a trajectory (correlation beyond 0.9, onward beyond 1.75, of slopes of 0.55 to 1.8
  /// beyond 2.25) that energies and forces of one unit cannot be: both slopes, and six of ten pairs by themselves, lie on
  /// the same side of 0.8 to 1.25. Of structures that are shaken one by one the work correlates as well, but the mean force
  /// of two of them is not that of the way between them; and so it is with the long steps of a scan, say the curve of a
  /// dimer, where frames go straight on (onward beyond 3.9): there a third of the pairs must be beyond their two forces.
  bool is_wrong() const;
};

/// Gathers pairs of consecutive frames, as they stand in a file, until there are enough of them.
class TrajectoryWork {
 public:
  /// Frames of other atoms, in another cell, with numbers that are not finite, or where nothing moved, begin anew.
  /// Periodic atoms move to the nearest image.
  void add(WorkFrame frame);
  /// For a frame that has no energy or forces: the next one begins anew.
  void skip() {
    last_.reset();
    last_step_.clear();
  }
  bool enough() const { return static_cast<int64_t>(steps_.size()) >= most; }
  /// Of the pairs whose energies differ by more than the rounding of their digits the half that moved least, and those that
  /// moved as far: a step that is long beside a vibration says little. Nothing of fewer than twelve.
  std::optional<WorkLaw> law() const;

 private:
  static constexpr int64_t most = 400;  // pairs
  struct Step {
    double energy, change, work, moved;  // of the first frame; dE; -F dx; the largest |dx|
    double at_start, at_end;             // -F dx with the force of the first frame, of the second
  };
  std::optional<WorkFrame> last_;
  std::vector<Step> steps_;
  std::vector<double> last_step_;  // (N, 3) to the last frame; empty: from none
  double onward_ = 0;              // sum over three frames in a row
  int64_t threes_ = 0;
  double atoms_ = 0;
  int decimals_ = 0;  // of the energies
};

/// What a law that is wrong says, for messages: "along 120 pairs of frames that follow one another the energy
/// changes by 51.4 times the work of the forces, not once (correlation 0.998), as with forces in Hartree/Bohr beside
/// energies in eV (data.molecules: force_unit = \"Hartree/Bohr\")". The keys are those of the table `option`; empty:
/// there are none.
std::string work_fault(const WorkLaw& law, const std::string& option);

}  // namespace weyl
