#include "weyl/data/atoms/molecular_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/data/folder.h"
#include "weyl/algebra/lie/kabsch.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace molecular_graph_test {

/// Which of some columns is 1; -1: none.
int64_t column(const std::vector<double>& values, size_t begin, int64_t count) {
  int64_t found = -1;
  for (int64_t c = 0; c < count; ++c) {
    const double x = values[begin + static_cast<size_t>(c)];
    EXPECT_TRUE(x == 0 || (x == 1 && found < 0));
    found = x == 1 ? c : found;
  }
  return found;
}

/// A chain of ten atoms, a ring of three behind it, and an atom alone.
TEST(MolecularGraph, OfChainsRingsAndAtoms) {
  AtomsFrame frame;
  frame.numbers.assign(12, 6);
  for (int64_t i = 0; i + 1 < 10; ++i) {
    frame.bonds.push_back({i, i + 1, i == 0 ? 2 : i == 1 ? 3 : i == 2 ? 4 : i == 3 ? 0 : 1});
  }
  frame.bonds.push_back({10, 8, 1});
  frame.bonds.push_back({9, 10, 1});
  std::vector<double> degrees(3, 7.0), pairs(2, 7.0);  // behind what is there
  append_graph(frame, degrees, pairs);
  ASSERT_EQ(degrees.size(), 3 + 12 * degree_channels);
  ASSERT_EQ(pairs.size(), 2 + 144 * (bond_channels + path_channels));
  const int64_t wanted[] = {1, 2, 2, 2, 2, 2, 2, 2, 3, 2, 2, 0};
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(column(degrees, 3 + i * degree_channels, degree_channels), wanted[i]) << i;
  }
  const auto bond = [&](size_t i, size_t j) { return column(pairs, 2 + (12 * i + j) * 13, bond_channels); };
  const auto path = [&](size_t i, size_t j) {
    return column(pairs, 2 + (12 * i + j) * 13 + 5, path_channels);
  };
  const int64_t kinds[] = {1, 2, 3, 4, 0};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(bond(i, i + 1), kinds[i]);
    EXPECT_EQ(bond(i + 1, i), kinds[i]);
  }
  EXPECT_EQ(bond(0, 2), -1);
  EXPECT_EQ(path(0, 1), 0);
  EXPECT_EQ(path(1, 6), 4);
  EXPECT_EQ(path(0, 9), 7);   // nine
  EXPECT_EQ(path(1, 9), 7);   // eight
  EXPECT_EQ(path(7, 10), 1);  // around the ring
  EXPECT_EQ(path(3, 3), -1);
  EXPECT_EQ(path(3, 11), -1);
}

TEST(MolecularGraph, HasALimit) {
  AtomsFrame frame;
  frame.numbers.assign(most_atoms_of_graph + 1, 6);
  std::vector<double> degrees, pairs;
  EXPECT_NE(message_of<ShapeError>([&] { append_graph(frame, degrees, pairs); }).find("at most 1000 atoms"),
            std::string::npos);
  EXPECT_TRUE(pairs.empty());
}

AtomsFrame molecule(std::vector<int> numbers, std::vector<Bond> bonds) {
  AtomsFrame frame;
  frame.numbers = std::move(numbers);
  frame.bonds = std::move(bonds);
  return frame;
}

/// The molecule with atom i as its atom to[i], and its bonds in another order and direction.
AtomsFrame renumbered(const AtomsFrame& frame, const std::vector<size_t>& to) {
  AtomsFrame other;
  other.numbers.resize(frame.numbers.size());
  for (size_t i = 0; i < to.size(); ++i) {
    other.numbers[to[i]] = frame.numbers[i];
  }
  for (const Bond& bond : frame.bonds) {
    const auto place = [&](int64_t atom) { return static_cast<int64_t>(to[static_cast<size_t>(atom)]); };
    other.bonds.insert(other.bonds.begin(), {place(bond.second), place(bond.first), bond.order});
  }
  return other;
}

using Match = std::optional<std::vector<size_t>>;

/// 4-carboxypyridine with a chain, no atom of which is like another.
const AtomsFrame acid = molecule({6, 6, 6, 7, 6, 6, 6, 8, 8, 6, 16}, {{0, 1, 2},
                                                                      {1, 2, 1},
                                                                      {2, 3, 2},
                                                                      {3, 4, 1},
                                                                      {4, 5, 2},
                                                                      {5, 0, 1},
                                                                      {0, 6, 1},
                                                                      {6, 7, 2},
                                                                      {6, 8, 1},
                                                                      {1, 9, 1},
                                                                      {9, 10, 1}});

TEST(MatchingAtoms, AreFoundWhateverTheirOrder) {
  Stream stream(5, "renumbered");
  std::vector<size_t> to(acid.numbers.size());
  std::iota(to.begin(), to.end(), size_t{0});
  EXPECT_EQ(matching_atoms(acid, acid), Match(to));
  for (int draw = 0; draw < 50; ++draw) {
    for (size_t i = to.size(); i-- > 1;) {
      std::swap(to[i], to[static_cast<size_t>(stream.below(static_cast<int64_t>(i) + 1))]);
    }
    EXPECT_EQ(matching_atoms(acid, renumbered(acid, to)), Match(to));
  }
}

// A ring may be written with its double bonds the other way, and that alone moves no atom.
TEST(MatchingAtoms, OfAnotherKekuleStructureStay) {
  AtomsFrame other = acid;
  for (size_t bond = 0; bond < 6; ++bond) {
    other.bonds[bond].order = 3 - other.bonds[bond].order;
  }
  std::vector<size_t> same(acid.numbers.size());
  std::iota(same.begin(), same.end(), size_t{0});
  EXPECT_EQ(matching_atoms(acid, other), Match(same));
  for (size_t bond = 0; bond < 6; ++bond) {
    other.bonds[bond].order = 4;
  }
  EXPECT_EQ(matching_atoms(acid, other), Match(same));
  // The two oxygens change places where their bonds do.
  std::swap(other.bonds[7].order, other.bonds[8].order);
  std::swap(same[7], same[8]);
  EXPECT_EQ(matching_atoms(acid, other), Match(same));
  // Of symmetric atoms each keeps its number.
  const AtomsFrame butane = molecule({6, 6, 6, 6}, {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}});
  EXPECT_EQ(matching_atoms(butane, renumbered(butane, {3, 2, 1, 0})), Match({0, 1, 2, 3}));
}

TEST(MatchingAtoms, AreNotThoseOfAnotherMolecule) {
  AtomsFrame other = acid;
  other.bonds[10] = {10, 8, 1};  // the chain's end at another place
  EXPECT_EQ(matching_atoms(acid, other), Match());
  other = acid;
  std::swap(other.numbers[9], other.numbers[10]);
  EXPECT_EQ(matching_atoms(acid, other), Match());
  const AtomsFrame ring = molecule({6, 6, 6, 6, 6, 6},
                                   {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}, {4, 5, 1}, {5, 0, 1}}),
                   rings = molecule({6, 6, 6, 6, 6, 6},
                                    {{0, 1, 1}, {1, 2, 1}, {2, 0, 1}, {3, 4, 1}, {4, 5, 1}, {5, 3, 1}});
  EXPECT_EQ(matching_atoms(ring, rings), Match());
  EXPECT_EQ(matching_atoms(rings, ring), Match());
  EXPECT_EQ(matching_atoms(rings, rings)->size(), 6);
  EXPECT_EQ(matching_atoms({}, {})->size(), 0);
}

// Two graphs of sixteen atoms with six bonds each that look the same from every atom: the rook's graph and Shrikhande's.
TEST(MatchingAtoms, AreSearchedForWhereColoursSayNothing) {
  AtomsFrame rook = molecule(std::vector<int>(16, 6), {}), shrikhande = rook;
  for (int64_t a = 0; a < 16; ++a) {
    for (int64_t b = 0; b < a; ++b) {
      const int64_t x = ((a / 4 - b / 4) % 4 + 4) % 4, y = ((a % 4 - b % 4) % 4 + 4) % 4;
      if ((x == 0) != (y == 0)) {
        rook.bonds.push_back({a, b, 1});
      }
      const bool edge = (x == 0 && y % 2 == 1) || (y == 0 && x % 2 == 1) || (x == y && x % 2 == 1);
      if (edge) {
        shrikhande.bonds.push_back({a, b, 1});
      }
    }
  }
  ASSERT_EQ(rook.bonds.size(), 48);
  ASSERT_EQ(shrikhande.bonds.size(), 48);
  EXPECT_EQ(matching_atoms(rook, shrikhande), Match());
  EXPECT_TRUE(matching_atoms(shrikhande,
                             renumbered(shrikhande, {3, 1, 2, 0, 7, 5, 6, 4, 8, 9, 10, 11, 12, 13, 14, 15})));
}

/// Places at random, about `centres` where there are some, else about the origin.
std::vector<double> places_about(const std::vector<double>& centres, size_t n, double width, Stream& stream) {
  std::vector<double> places;
  for (size_t k = 0; k < 3 * n; ++k) {
    places.push_back((centres.empty() ? 0 : centres[k]) + width * stream.normal());
  }
  return places;
}

std::vector<Vector3> rows(const std::vector<double>& places, const std::vector<size_t>& order) {
  std::vector<Vector3> found;
  for (const size_t i : order) {
    found.push_back({places[3 * i], places[3 * i + 1], places[3 * i + 2]});
  }
  return found;
}

/// What a match leaves of the distances in space, the sum of their squares.
double rest(const AtomsFrame& other, const std::vector<size_t>& match, const std::vector<double>& places) {
  std::vector<size_t> same(match.size());
  std::iota(same.begin(), same.end(), size_t{0});
  const auto from = rows(other.positions, match), to = rows(places, same);
  const RigidFit fit = kabsch(from, to);
  double sum = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    const Vector3 at = fit(from[i]);
    for (size_t c = 0; c < 3; ++c) {
      sum += (at[c] - to[i][c]) * (at[c] - to[i][c]);
    }
  }
  return sum;
}

/// A copy with its atoms renumbered, turned by a third of a turn about (1, 1, 1), shifted and, where asked, mirrored.
AtomsFrame copy_in_space(const AtomsFrame& frame, const std::vector<size_t>& to, bool mirrored) {
  AtomsFrame other = renumbered(frame, to);
  other.positions.resize(frame.positions.size());
  for (size_t i = 0; i < to.size(); ++i) {
    const double* x = frame.positions.data() + 3 * i;
    const double turned[3] = {x[2] + 1, (mirrored ? -1 : 1) * x[0], x[1] - 2};
    std::copy_n(turned, 3, other.positions.begin() + static_cast<ptrdiff_t>(3 * to[i]));
  }
  return other;
}

std::vector<size_t> shuffled(size_t n, Stream& stream) {
  std::vector<size_t> to;
  for (const int64_t i : stream.permutation(static_cast<int64_t>(n))) {
    to.push_back(static_cast<size_t>(i));
  }
  return to;
}

/// All matches, by trying every order of the atoms.
std::set<std::vector<size_t>> every_match(const AtomsFrame& molecule, const AtomsFrame& other) {
  const auto bonds_of = [](const AtomsFrame& frame, const std::vector<size_t>& to) {
    std::set<std::pair<size_t, size_t>> bonds;
    for (const Bond& bond : frame.bonds) {
      bonds.insert(std::minmax(to[static_cast<size_t>(bond.first)], to[static_cast<size_t>(bond.second)]));
    }
    return bonds;
  };
  std::vector<size_t> order(molecule.numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto wanted = bonds_of(other, order);
  std::set<std::vector<size_t>> all;
  do {
    bool alike = bonds_of(molecule, order) == wanted;
    for (size_t i = 0; alike && i < order.size(); ++i) {
      alike = molecule.numbers[i] == other.numbers[order[i]];
    }
    if (alike) {
      all.insert(order);
    }
  } while (std::ranges::next_permutation(order).found);
  return all;
}

/// Heavy atoms of 2-(difluoromethyl)propan-2-ol: two methyls and two fluorines may change places, four symmetries.
const AtomsFrame star =
    molecule({6, 6, 6, 6, 9, 9, 8}, {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {3, 4, 1}, {3, 5, 1}, {0, 6, 1}});

TEST(AtomMatcher, TakesTheNearestOfAllMatches) {
  Stream stream(6, "nearest");
  for (int draw = 0; draw < 20; ++draw) {
    AtomsFrame frame = star;
    frame.positions = places_about({}, 7, 1, stream);
    AtomMatcher matcher(frame);
    // Its own copy, whatever the order of its atoms.
    const AtomsFrame same = copy_in_space(frame, shuffled(7, stream), false);
    EXPECT_LT(rest(same, *matcher.nearest(same, frame.positions), frame.positions), 1e-18);
    // A mirror image is none, and the nearest of all matches is found by trying each.
    const AtomsFrame mirror = copy_in_space(frame, shuffled(7, stream), true);
    const auto found = matcher.nearest(mirror, frame.positions);
    const auto all = every_match(frame, mirror);
    EXPECT_EQ(all.size(), 4);
    EXPECT_TRUE(all.contains(*found));
    double least = 1e9;
    for (const auto& match : all) {
      least = std::min(least, rest(mirror, match, frame.positions));
    }
    EXPECT_NEAR(rest(mirror, *found, frame.positions), least, 1e-9);
    EXPECT_GT(least, 1e-3);
  }
}

TEST(AtomMatcher, KeepsNumbersWhereAllAreAsNear) {
  AtomsFrame square = molecule({6, 6, 6, 6}, {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}});
  square.positions = {1, 1, 0, -1, 1, 0, -1, -1, 0, 1, -1, 0};
  EXPECT_EQ(AtomMatcher(square).nearest(square, square.positions), Match({0, 1, 2, 3}));
  EXPECT_EQ(AtomMatcher(square).nearest(star, square.positions), Match());
  EXPECT_EQ(AtomMatcher({}).nearest({}, {})->size(), 0);
}

// Tetrakis(trimethylsilyl)silane has 31,104 symmetries, of which not all are tried.
TEST(AtomMatcher, SearchesOnWhereThereAreTooManySymmetries) {
  Stream stream(7, "many");
  AtomsFrame silane = molecule({14}, {});
  silane.positions = {0, 0, 0};
  const double corners[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  const auto add = [&](int number, int64_t to, const double* x, const double* from, double length) {
    silane.bonds.push_back({to, silane.size(), 1});
    silane.numbers.push_back(number);
    for (int c = 0; c < 3; ++c) {
      silane.positions.push_back(from[c] + length * x[c]);
    }
  };
  for (const auto& corner : corners) {
    const int64_t silicon = silane.size();
    const double at[3] = {1.35 * corner[0], 1.35 * corner[1], 1.35 * corner[2]};
    add(14, 0, at, corners[0], 0);
    std::copy_n(at, 3, silane.positions.end() - 3);
    for (const auto& other : corners) {
      const double outwards[3] = {-other[0], -other[1], -other[2]};
      if (&other != &corner) {
        add(6, silicon, outwards, at, 1.08);
      }
    }
  }
  ASSERT_EQ(silane.size(), 17);
  for (int draw = 0; draw < 10; ++draw) {
    AtomsFrame frame = silane;
    frame.positions = places_about(silane.positions, 17, 0.15, stream);
    const AtomsFrame other = copy_in_space(frame, shuffled(17, stream), false);
    const auto found = AtomMatcher(frame).nearest(other, frame.positions);
    ASSERT_TRUE(found);
    EXPECT_LT(rest(other, *found, frame.positions), 1e-18) << draw;
    EXPECT_GT(rest(other, *matching_atoms(frame, other), frame.positions), 1)
        << draw;  // the first one is not
  }
}

}  // namespace molecular_graph_test
}  // namespace weyl
