#include "weyl/data/atoms/molecular_graph.h"

#include <gtest/gtest.h>

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

}  // namespace molecular_graph_test
}  // namespace weyl
