#pragma once

#include <array>
#include <optional>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/saved/predictor.h"

namespace weyl {

/// What a potential predicts for atoms, in eV and Angstrom.
struct EnergyAndForces {
  double energy = 0;           // eV
  std::vector<double> forces;  // (N, 3) eV/Angstrom
  /// (3, 3) eV/Angstrom^3, where the predictor gives it and the atoms have a volume.
  std::optional<std::array<double, 9>> stress;
};

/// Energy and forces of atoms, given as programs hold them: atomic numbers; positions (N, 3) in Angstrom; for periodic
/// atoms (`pbc`) a cell. Features of the whole system, its charge say, are values of the frame under their names.
/// Values are float64 to and from the model, whatever dtype it computes in.
///
/// ConfigError: the model gives no energy or no forces, has unknown units, or has a feature that is not a number of the
/// whole system. DataError: no atoms; an element that the model does not know; pbc without a cell that spans its
/// periods; a position that is not finite; two atoms at one place (carriers/coincident_atoms.h); a feature that the
/// frame does not have; a prediction that is not finite. ShapeError: not three coordinates for each atom.
EnergyAndForces energy_and_forces(const Predictor& predictor, const AtomsFrame& atoms);

}  // namespace weyl
