#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "weyl/algebra/lattice/cell.h"

namespace weyl {

/// The atoms of one graph. positions (n, 3) contiguous, anywhere in space; cell (3, 3), rows are lattice
/// vectors, or null; along axes that are not periodic its rows mean nothing and may be zero.
///
/// A list with a skin is one of a radius larger than the cutoff: until an atom has moved by half of what it is larger, the
/// list holds all edges within the cutoff. Shifts account for atoms outside the cell, so positions must then not be
/// wrapped back into it.
struct NeighbourSearch {
  const double* positions = nullptr;
  int64_t atoms = 0;
  const double* cell = nullptr;
  std::array<bool, 3> periodic{};
  double radius = 0;
  bool self = false;          // edges (i, i) without a shift, too
  double most_edges = 2.1e9;  // more, expected or found, are NeighbourFault::too_many
};

/// Edges i -> j with |r_j + shift . cell - r_i| < radius, in the order of i, then j, then the shift: those of
/// centre i stand at offsets[i] .. offsets[i + 1]. With (i, j, s) there is (j, i, -s).
struct NeighbourList {
  std::vector<int64_t> offsets;
  std::vector<int64_t> neighbour;
  std::vector<Shift3> shift;
};

enum class NeighbourFault {
  none,
  positions_not_finite,
  cell_not_finite,
  cell_singular,
  too_far_outside,  // an atom is 2^30 cells away
  too_many          // more than most_edges are to be expected, or were found
};

/// Systems without periodic axes of up to so many atoms are compared all with all.
constexpr int64_t few_atoms = 160;

/// How many edges the atoms have if they are spread evenly over their cell, or over the box that holds them along axes
/// that are not periodic (an atom far away makes that box large, and the number too small). Linear in the atoms. 0 when
/// `find_neighbours` would refuse the cell.
double expected_edges(const NeighbourSearch& search);

/// Calls work(worker, first, last) for the parts of 0 .. total, one a worker, each part once, and returns when all are
/// done; parts may run at a time.
using ShareOut = std::function<void(int64_t total, int64_t workers,
                                    const std::function<void(int64_t, int64_t, int64_t)>& work)>;

/// All edges, never a part of them; the same for any number of workers. Time and memory are linear in the atoms at a
/// given density: atoms are sorted into bins as wide as the radius, of a reduced basis of the lattice, however skewed
/// the given one is; a cell smaller than the radius is searched over as many images as it takes. Where most of the bins
/// would be empty, because some atoms are far from the others, only those that hold atoms are kept. A few atoms of an
/// open system are compared all with all. `share_out` is needed for more than one worker.
NeighbourFault find_neighbours(const NeighbourSearch& search, NeighbourList& list, int64_t workers = 1,
                               const ShareOut& share_out = {});

/// How many edges `find_neighbours` finds of each of these atoms, without looking at those of the others. `too_many` where
/// too many are to be expected of all.
NeighbourFault count_neighbours(const NeighbourSearch& search, std::span<const int64_t> centres,
                                std::vector<int64_t>& counts);

}  // namespace weyl
