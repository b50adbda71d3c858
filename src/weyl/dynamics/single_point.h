#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

namespace weyl {

/// What a calculation at one geometry gives.
struct SinglePoint {
  double energy = 0;               // eV
  std::vector<double> forces;      // (N, 3) eV/A: minus the gradient of the energy
  std::array<double, 3> dipole{};  // e A; of an ion it depends on the origin
  std::vector<double> charges;     // (N) e
  double homo = 0,
         lumo = 0;  // eV, of the highest occupied orbital and the lowest empty one; NaN: there is none
};

/// An energy surface: of positions (N, 3) in A. Throws DataError where it has no value.
using EnergySurface = std::function<SinglePoint(std::span<const double> positions)>;

}  // namespace weyl
