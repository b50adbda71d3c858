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

/// The atom of `other` that each atom of a molecule is, by elements and bonds: bonded atoms are those that are bonded in `other`.
/// Where it can be, the orders of an atom's bonds have the same sum in both, which holds for each Kekule structure of a
/// molecule; else only what is bonded counts. Atoms that may keep their number keep it. Nothing: these are two molecules, or
/// graphs so symmetric that no match is found soon.
std::optional<std::vector<size_t>> matching_atoms(const AtomsFrame& molecule, const AtomsFrame& other);

}  // namespace weyl
