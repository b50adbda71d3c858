#pragma once

#include <span>
#include <vector>

#include "weyl/core/random.h"
#include "weyl/dynamics/single_point.h"

namespace weyl {

/// Boltzmann's constant in eV/K (exact by the definition of its units).
constexpr double kBoltzmann = 1.380649e-23 / 1.602176634e-19;

/// Moves positions (N, 3) in A such that their centre of mass is the origin.
void centre_masses(std::span<const double> masses, std::span<double> positions);

/// Takes the velocity of the centre of mass and the angular velocity about it from velocities (N, 3): what
/// is left has neither momentum nor angular momentum. Linear and one-atom molecules too.
void remove_rigid_motion(std::span<const double> masses, std::span<const double> positions,
                         std::span<double> velocities);

/// Atoms of masses (N) in amu that move on an energy surface: positions in A, velocities in A/fs, time step
/// in fs. The surface is asked once a step.
class MolecularDynamics {
 public:
  /// Asks the surface at the positions.
  MolecularDynamics(std::vector<double> masses, double time_step, EnergySurface surface,
                    std::vector<double> positions, std::vector<double> velocities);

  /// Maxwell-Boltzmann velocities at `temperature` (K) without momentum and angular momentum.
  void draw_velocities(double temperature, Stream& stream);

  /// Velocity Verlet: constant energy.
  void verlet_step();

  /// BAOAB of Leimkuhler and Matthews (2013), dv = -friction v dt + noise (friction in 1/fs) at
  /// `temperature`: half a kick, half a drift, v -> c v + sqrt((1 - c^2) kT/m) xi with c = exp(-friction dt),
  /// half a drift, half a kick. After the noise momentum and angular momentum are taken away: the molecule
  /// neither drifts nor spins, and its 3N - 6 other degrees of freedom are at `temperature`.
  void langevin_step(double temperature, double friction, Stream& noise);

  const std::vector<double>& positions() const { return positions_; }
  const std::vector<double>& velocities() const { return velocities_; }
  const SinglePoint& point() const { return point_; }  // at the positions
  double kinetic_energy() const;                       // eV

 private:
  void kick();   // half a step
  void drift();  // half a step

  std::vector<double> masses_;
  double time_step_;
  EnergySurface surface_;
  std::vector<double> positions_, velocities_;
  SinglePoint point_;
};

}  // namespace weyl
