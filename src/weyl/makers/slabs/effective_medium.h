#pragma once

#include <array>
#include <span>
#include <vector>

#include "weyl/algebra/lattice/cell.h"
#include "weyl/dynamics/single_point.h"

namespace weyl {

/// Effective-medium theory of Jacobsen, Stoltze and Norskov (Surface Science 366, 394 (1996)) for Al, Ni, Cu, Pd, Ag, Pt, Au,
/// and, with the numbers that ASE's EMT adds for tests, H, C, N and O. As an energy surface for relaxations it is fast and
/// has all that a lesson needs; it says nothing reliable of real adsorbates.
///
/// Of an atom i with neighbours j at distances r, theta(r) = 1 / (1 + exp(a (r - r_c))) and xi_ij = n0_j / n0_i:
///
///   sigma_i = sum_j xi_ij exp(-eta2_j (r - beta s0_j)) theta / gamma1_i
///   ds_i    = -ln(sigma_i / 12) / (beta eta2_i)
///   E_i     = E0_i ((1 + lambda_i ds_i) exp(-lambda_i ds_i) - 1) + 6 V0_i exp(-kappa_i ds_i)
///             - sum_j V0_i / 2 xi_ij exp(-kappa_j (r / beta - s0_j)) theta / gamma2_i
///
/// An atom without neighbours has E_i = -E0_i, one in its own crystal 0. gamma1 and gamma2 make the perfect crystal the
/// minimum: sums over its first three shells. r_c lies between the third and the fourth shell of the largest of these elements,
/// silver, and is the same in all systems, as in ASE.
class EffectiveMedium {
 public:
  /// `numbers` (N) atomic numbers; rows of `cell` along axes that are not periodic mean nothing. ConfigError: an element that has
  /// no parameters.
  EffectiveMedium(std::vector<int> numbers, const CellRows& cell, const std::array<bool, 3>& periodic);

  /// Energy (eV) and forces (eV/A) at positions (N, 3) in A. DataError: places that are not finite, or a cell without
  /// volume.
  SinglePoint operator()(std::span<const double> positions) const;

  /// The distance of nearest neighbours in the crystal of a metal, beta s0, in A. ConfigError as above.
  static double bond_length(int number);
  /// -E0, the energy of an atom alone.
  static double energy_of_atom(int number);

 private:
  struct Element {
    double E0 = 0, s0 = 0, V0 = 0, eta2 = 0, kappa = 0, lambda = 0, n0 = 0;  // in eV and A
    double gamma1 = 0, gamma2 = 0;
  };
  static Element element(int number);
  static double beta();

  std::vector<Element> elements_;  // of the atoms
  CellRows cell_;
  std::array<bool, 3> periodic_;
  double cutoff_ = 0, steepness_ = 0;  // r_c, a
};

}  // namespace weyl
