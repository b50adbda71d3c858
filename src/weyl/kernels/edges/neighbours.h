#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace weyl::kernels {

/// The atoms of one graph. positions (n, 3) contiguous, anywhere in space; cell (3, 3), rows are lattice
/// vectors, or null; along axes that are not periodic its rows mean nothing and may be zero.
struct NeighbourSearch {
  const double* positions = nullptr;
  int64_t atoms = 0;
  const double* cell = nullptr;
  std::array<bool, 3> periodic{};
  double cutoff = 0;
  bool self = false;  // edges (i, i) without a shift, too
};

/// Edges i -> j with |r_j + shift . cell - r_i| < cutoff, in the order of i, then j, then the shift: those of
/// centre i stand at offsets[i] .. offsets[i + 1]. With (i, j, s) there is (j, i, -s).
struct NeighbourList {
  std::vector<int64_t> offsets;
  std::vector<int64_t> neighbour;
  std::vector<std::array<int64_t, 3>> shift;
};

enum class NeighbourFault {
  none,
  positions_not_finite,
  cell_not_finite,
  cell_singular,
  too_far_outside,  // an atom is 2^30 cells away
  too_many          // more than 2^31 edges are to be expected
};

/// All edges, never a part of them. Time and memory are linear in the atoms at a given density: atoms are
/// sorted into bins as wide as the cutoff, of a reduced basis of the lattice, however skewed the given one
/// is; a cell smaller than the cutoff is searched over as many images as it takes. A few atoms of an open
/// system are compared all with all.
NeighbourFault neighbours(const NeighbourSearch& search, NeighbourList& list);

}  // namespace weyl::kernels
