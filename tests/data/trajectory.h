// Steps of molecular dynamics on a surface that is known, for tests of units.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/core/random.h"
#include "weyl/data/atoms/trajectory_work.h"
#include "weyl/dynamics/molecular_dynamics.h"

namespace weyl {

/// Morse bonds of a chain of atoms, and of atoms two apart: eV, Angstrom.
inline SinglePoint morse_chain(std::span<const double> x) {
  SinglePoint result;
  result.forces.assign(x.size(), 0.0);
  const size_t n = x.size() / 3;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < std::min(i + 3, n); ++j) {
      const double depth = j == i + 1 ? 4 : 0.5, rest = j == i + 1 ? 1.1 : 1.8, steep = 2;
      double r = 0;
      for (size_t d = 0; d < 3; ++d) {
        r += (x[3 * i + d] - x[3 * j + d]) * (x[3 * i + d] - x[3 * j + d]);
      }
      r = std::sqrt(r);
      const double e = std::exp(-steep * (r - rest));
      result.energy += depth * (1 - e) * (1 - e);
      const double slope = 2 * depth * steep * (1 - e) * e;
      for (size_t d = 0; d < 3; ++d) {
        const double along = slope * (x[3 * i + d] - x[3 * j + d]) / r;
        result.forces[3 * i + d] -= along;
        result.forces[3 * j + d] += along;
      }
    }
  }
  return result;
}

/// Frames of a chain H-C-C-O at 500 K, 5 fs apart as makers and MD17 have them, with `energy` and `forces`: eV,
/// Angstrom.
inline std::vector<AtomsFrame> trajectory_frames(int count, uint64_t seed = 1) {
  MolecularDynamics motion({1, 12, 12, 16}, 0.5, morse_chain, {0, 0, 0, 1, 0.4, 0, 2, -0.2, 0.3, 3, 0.1, 0},
                           std::vector<double>(12, 0.0));
  Stream stream(seed, "trajectory");
  motion.draw_velocities(500, stream);
  std::vector<AtomsFrame> frames;
  for (int step = 0; static_cast<int>(frames.size()) < count; ++step) {
    motion.langevin_step(500, 0.01, stream);
    if (step % 10 == 0) {
      AtomsFrame frame;
      frame.numbers = {1, 6, 6, 8};
      frame.positions = motion.positions();
      frame.set(AtomColumn{"forces", 3, motion.point().forces});
      frame.set("energy", motion.point().energy - 2000);
      frames.push_back(std::move(frame));
    }
  }
  return frames;
}

/// The same energies and forces, multiplied.
inline std::vector<AtomsFrame> scaled(std::vector<AtomsFrame> frames, double energy, double forces) {
  for (AtomsFrame& frame : frames) {
    frame.set("energy", energy * reals_of(frame.value("energy")->values)->front());
    auto all = *reals_of(frame.column("forces")->values);
    std::ranges::for_each(all, [&](double& x) { x *= forces; });
    frame.set(AtomColumn{"forces", 3, std::move(all)});
  }
  return frames;
}

inline std::optional<WorkLaw> work_law(const std::vector<AtomsFrame>& frames) {
  TrajectoryWork work;
  for (const AtomsFrame& frame : frames) {
    work.add({.kinds = {frame.numbers.begin(), frame.numbers.end()},
              .positions = frame.positions,
              .cell = frame.cell,
              .pbc = frame.pbc,
              .energy = reals_of(frame.value("energy")->values)->front(),
              .forces = *reals_of(frame.column("forces")->values)});
  }
  return work.law();
}

}  // namespace weyl
