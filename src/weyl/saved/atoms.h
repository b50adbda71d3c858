#pragma once

#include <array>
#include <optional>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/saved/predictor.h"

namespace weyl {

/// What a potential says of atoms, in eV and Angstrom.
struct EnergyAndForces {
  double energy = 0;           // eV
  std::vector<double> forces;  // (N, 3) eV/Angstrom
  /// (3, 3) eV/Angstrom^3, where the predictor gives it and the atoms have a volume.
  std::optional<std::array<double, 9>> stress;
};

/// Energy and forces of atoms as programs hold them: atomic numbers, positions (N, 3) in Angstrom, for periodic ones
/// (`pbc`) a cell; what the model is told of the whole (its charge, say) as values of the frame under their names.
/// In float64 to and from the model, whatever it computes in. ConfigError: a model that gives no energy or no forces,
/// or one whose units are not known, or with another feature than numbers of the whole. DataError: no atoms, an
/// element that the model does not know, pbc without a cell that spans its periods, a feature that the frame does not
/// have, a prediction that is not finite; ShapeError: not three coordinates an atom.
EnergyAndForces energy_and_forces(const Predictor& predictor, const AtomsFrame& atoms);

}  // namespace weyl
