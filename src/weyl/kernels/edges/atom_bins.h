#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "weyl/kernels/edges/lattice_basis.h"
#include "weyl/kernels/edges/neighbours.h"

namespace weyl::kernels {

/// The atoms of a graph, sorted into bins that divide space along the axes of a reduced basis of the lattice. Two atoms
/// nearer than the cutoff are at most `reach` bins from one another along every axis.
struct AtomBins {
  struct Axis {
    bool periodic = false;
    int64_t bins = 1, reach = 0;
    double low = 0, extent = 1;  // of the places along the axis; of a periodic one 0 and 1, a cell
  };

  /// Finds the bins and puts the atoms into them. Positions must be finite and at least one. `too_far_outside`, or
  /// `none`.
  NeighbourFault sort(const NeighbourSearch& search, const LatticeBasis& basis);

  /// Where the atoms of a bin stand: `starts[slot]` .. `starts[slot + 1]` of `members`; -1: nobody is in it.
  int64_t slot(int64_t bin) const {
    if (!sparse) {
      return bin;
    }
    const auto found = slots.find(bin);
    return found == slots.end() ? -1 : found->second;
  }

  std::array<Axis, 3> axes;
  std::vector<double> wrapped, sorted;   // positions in the cell (n, 3), in the order of atoms and of bins
  std::vector<Shift3> cells;             // the cell of the reduced lattice in which an atom stands
  std::vector<int64_t> bin_of;           // of each atom: (x * bins of y + y) * bins of z + z
  std::vector<int64_t> starts, members;  // the atoms of each slot, in their order
  bool sparse = false;                   // slots are those bins that hold atoms, else all of them
  std::unordered_map<int64_t, int64_t> slots;  // of bins, when sparse

 private:
  void divide(const NeighbourSearch& search, const LatticeBasis& basis, const std::vector<double>& along);
  double count() const;  // of bins
};

/// Of the atoms of an open or periodic system: coordinates along the axes of the basis (n, 3), in lengths along open
/// ones and in cells along periodic ones.
std::vector<double> along_axes(const NeighbourSearch& search, const LatticeBasis& basis);

}  // namespace weyl::kernels
