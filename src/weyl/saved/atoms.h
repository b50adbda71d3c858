#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/saved/predictor.h"

namespace weyl {

/// What a potential predicts for atoms, in eV and Angstrom.
struct EnergyAndForces {
  double energy = 0;           // eV
  std::vector<double> forces;  // (N, 3) eV/Angstrom; empty where they are not asked for
  /// (3, 3) eV/Angstrom^3, where it is asked for, forces are gradients and the atoms have a volume.
  std::optional<std::array<double, 9>> stress;
  std::vector<double> energies;  // (N) eV, where they are asked for
  std::vector<double> virials;   // (N, 3, 3) eV, likewise; their sum is -volume times the stress

  /// Standard deviations over several models (saved/ensemble.h), number by number; of one model there are none.
  struct Deviations {
    double energy = 0;
    std::vector<double> forces;
    std::optional<std::array<double, 9>> stress;
  };
  std::optional<Deviations> deviations;
};

/// Energy and forces of atoms, given as programs hold them: atomic numbers; positions (N, 3) in Angstrom; for periodic
/// atoms (`pbc`) a cell. Features of the whole system, its charge say, are values of the frame under their names.
/// Values are float64 to and from the model, whatever dtype it computes in. `asked`: what else is wanted (tasks/task.h);
/// `owned` tells apart the atoms of a program's own domain and those that are there because the others see them, so that
/// energies of domains add up: an atom needs all others within the model's reach (Model::reach).
///
/// ConfigError: the model gives no energy, or not what is asked for; has unknown units, or has a feature that
/// is not a number of the whole system. DataError: no atoms; an element that the model does not know; pbc without a cell
/// that spans its periods; a position that is not finite; two atoms at one place (carriers/coincident_atoms.h); a feature
/// that the frame does not have; a prediction that is not finite. ShapeError: not three coordinates for each atom.
EnergyAndForces energy_and_forces(const Predictor& predictor, const AtomsFrame& atoms,
                                  const Asked& asked = {});

/// The same of several samples, which go through the model together; messages count them from 1. `asked` has no `owned`,
/// or one (N) of the atoms of all.
std::vector<EnergyAndForces> energies_and_forces(const Predictor& predictor,
                                                 std::span<const AtomsFrame> samples,
                                                 const Asked& asked = {});

/// The errors of energy_and_forces that do not depend on where the atoms are: outputs, elements, features, periods.
void require_known(const Predictor& predictor, const AtomsFrame& atoms, const Asked& asked = {});

}  // namespace weyl
