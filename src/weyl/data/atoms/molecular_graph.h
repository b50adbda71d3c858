#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/carriers/quantity.h"

namespace weyl {

/// What a model is told of the bonds of a molecule, as Graphormer and Uni-Mol+ have them, 1 in one column of each and 0 in the others:
///
///   degree  of an atom, the number of its bonds: 0, 1, ..., 5, more
///   bond    of a pair of atoms: single, double, triple, aromatic, another kind; no column of two that are not bonded
///   path    of a pair, the bonds on the shortest path between them: 1, 2, ..., 7, more; no column of an atom and itself,
///           nor of atoms that no path joins
constexpr int64_t degree_channels = 7, bond_channels = 5, path_channels = 8;
std::array<Quantity, 3> graph_features();

/// The most atoms of a molecule whose pairs a model is told of: 104 MB of numbers. V2000 has no larger molecules.
constexpr int64_t most_atoms_of_graph = 1000;

/// Appends them of a molecule of n atoms: degrees (n, 7), and bonds and paths of all pairs (n n, 5 + 8), in the order of the first
/// atom, then the second. ShapeError: more than most_atoms_of_graph.
void append_graph(const AtomsFrame& frame, std::vector<double>& degrees, std::vector<double>& pairs);

/// For each atom of a molecule the atom of another copy that it is.
using AtomMatch = std::vector<size_t>;

/// The atom of `other` that each atom of a molecule is, by elements and bonds: bonded atoms are those that are bonded in `other`.
/// Where it can be, the orders of an atom's bonds have the same sum in both, which holds for each Kekule structure of a
/// molecule; else only what is bonded counts. Atoms that may keep their number keep it. Nothing: these are two molecules, or
/// graphs so symmetric that no match is found soon.
std::optional<AtomMatch> matching_atoms(const AtomsFrame& molecule, const AtomsFrame& other);

/// Matches other copies of one molecule with it where they lie in space, too: elements and bonds leave open which is which of atoms
/// that a symmetry of the graph exchanges, as the two ends of propane.
class AtomMatcher {
 public:
  /// `molecule` must live as long.
  explicit AtomMatcher(const AtomsFrame& molecule) : molecule_(molecule) {}

  /// The match m that matching_atoms allows with the least
  ///
  ///   min over rotations R, never reflections, and shifts t of   sum_i |R x_m(i) + t - y_i|^2
  ///
  /// x the places of `other`, y those of `places` (N, 3), a geometry in the order of the molecule's atoms (kabsch). Of equally
  /// near ones the first, so that atoms that may keep their number keep it. All symmetries of the graph are tried where there are fewer than
  /// most_symmetries; of larger groups so many, and drawn_symmetries drawn from all of them, each of which is refined by
  /// searching next to the place where the best rotation puts each atom, until that is no nearer. Nothing: as matching_atoms.
  std::optional<AtomMatch> nearest(const AtomsFrame& other, const std::vector<double>& places);

  static constexpr size_t most_symmetries = 1000, drawn_symmetries = 64;

 private:
  const std::vector<AtomMatch>& symmetries(bool orders);

  const AtomsFrame& molecule_;
  std::array<std::vector<AtomMatch>, 2>
      symmetries_;  // without and with the orders of bonds; empty: not looked for yet
};

}  // namespace weyl
