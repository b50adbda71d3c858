#include "weyl/ops/edges/neighbours.h"

#include <ATen/Parallel.h>

#include <array>
#include <random>
#include <set>
#include <tuple>

#include "tests/device/device.h"
#include "tests/gradients.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/autograd/without_kernels.h"
#include "weyl/ops/edges/device_neighbours.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace neighbours_test {

using Shift = std::array<int64_t, 3>;
using Edge = std::tuple<int64_t, int64_t, Shift>;
using Rows = std::vector<std::array<double, 3>>;

Tensor tensor_of(const Rows& rows) {
  Tensor x = at::empty({static_cast<int64_t>(rows.size()), 3}, at::kDouble);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (int64_t c = 0; c < 3; ++c) {
      x[static_cast<int64_t>(i)][c] = rows[i][c];
    }
  }
  return x;
}

struct System {
  Rows positions, cell;
  std::array<bool, 3> pbc{true, true, true};
  Segments graphs() const {
    return Segments::of_sizes(std::vector<int64_t>{static_cast<int64_t>(positions.size())});
  }
  Tensor pbc_tensor() const {
    return at::tensor(std::vector<int64_t>(pbc.begin(), pbc.end()), at::kLong).to(at::kBool).view({1, 3});
  }
  Edges edges(double cutoff, bool self = false) const {
    return neighbours(tensor_of(positions), graphs(), cutoff, tensor_of(cell).unsqueeze(0), pbc_tensor(),
                      self);
  }
};

std::vector<Edge> list_of(const Edges& edges) {
  std::vector<Edge> list;
  const auto *i = edges.centre.const_data_ptr<int64_t>(), *j = edges.neighbour.const_data_ptr<int64_t>(),
             *s = edges.shifts.defined() ? edges.shifts.const_data_ptr<int64_t>() : nullptr;
  for (int64_t e = 0; e < edges.count(); ++e) {
    list.emplace_back(i[e], j[e], s ? Shift{s[3 * e], s[3 * e + 1], s[3 * e + 2]} : Shift{});
  }
  return list;
}

/// Every atom with every image of every atom, `images` to each side.
std::vector<Edge> one_by_one(const System& system, double cutoff, bool self, int64_t images) {
  std::vector<Edge> list;
  Shift most{};
  for (int k = 0; k < 3; ++k) {
    most[k] = system.pbc[k] ? images : 0;
  }
  const auto n = static_cast<int64_t>(system.positions.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t a = -most[0]; a <= most[0]; ++a) {
        for (int64_t b = -most[1]; b <= most[1]; ++b) {
          for (int64_t c = -most[2]; c <= most[2]; ++c) {
            double squares = 0;
            for (int x = 0; x < 3; ++x) {
              double d = system.positions[j][x] - system.positions[i][x];
              d += static_cast<double>(a) * system.cell[0][x] + static_cast<double>(b) * system.cell[1][x] +
                   static_cast<double>(c) * system.cell[2][x];
              squares += d * d;
            }
            const bool itself = i == j && a == 0 && b == 0 && c == 0;
            if (squares < cutoff * cutoff && (!itself || self)) {
              list.emplace_back(i, j, Shift{a, b, c});
            }
          }
        }
      }
    }
  }
  return list;
}

/// Every edge has its reverse, and they are one bond.
void expect_bonds(const Edges& edges) {
  const std::vector<Edge> list = list_of(edges);
  int64_t itself = 0;
  for (size_t e = 0; e < list.size(); ++e) {
    const auto& [i, j, s] = list[e];
    const Edge reverse{j, i, {-s[0], -s[1], -s[2]}};
    const auto first =
        edges.edge_of_bond[edges.bond[static_cast<int64_t>(e)].item<int64_t>()].item<int64_t>();
    EXPECT_EQ(list[first], std::min(list[e], reverse));
    itself += reverse == list[e] ? 1 : 0;
  }
  EXPECT_EQ(2 * edges.bonds(), edges.count() + itself);
}

// Cells of every shape (small, large, flat, sheared by whole lattice vectors), every combination of periodic
// axes, atoms far outside of the cell; whenever the images looked at one by one are enough.
TEST(Neighbours, AreThoseFoundOneByOne) {
  std::mt19937_64 draw(7);
  std::normal_distribution<double> normal;
  constexpr int64_t images = 10;
  int compared = 0, with_images_of_itself = 0;
  for (int trial = 0; trial < 400; ++trial) {
    System system;
    const double size = 3 * std::exp(0.7 * normal(draw));
    for (int k = 0; k < 3; ++k) {
      system.cell.push_back({size * normal(draw), size * normal(draw), size * normal(draw)});
      system.pbc[k] = (trial >> k) % 2 == 1;
    }
    if (trial % 3 == 0) {
      for (int c = 0; c < 3; ++c) {
        system.cell[1][c] += 4 * system.cell[0][c];
        system.cell[2][c] -= 3 * system.cell[1][c];
      }
    }
    const auto atoms = static_cast<int>(1 + draw() % 6);
    for (int i = 0; i < atoms; ++i) {
      system.positions.push_back({2 * size * normal(draw), 2 * size * normal(draw), 2 * size * normal(draw)});
    }
    const double cutoff = 3 * std::exp(0.3 * normal(draw));
    const bool self = trial % 2 == 1;
    const Edges edges = system.edges(cutoff, self);
    const std::vector<Edge> found = list_of(edges);
    expect_bonds(edges);
    int64_t farthest = 0;
    for (const auto& [i, j, shift] : found) {
      for (const int64_t s : shift) {
        farthest = std::max(farthest, std::abs(s));
      }
      with_images_of_itself += i == j && shift != Shift{} ? 1 : 0;
    }
    if (farthest > images) {
      continue;
    }
    ++compared;
    EXPECT_EQ(found, one_by_one(system, cutoff, self, images)) << "trial " << trial;
  }
  EXPECT_GT(compared, 250);
  EXPECT_GT(with_images_of_itself, 1000);
}

TEST(Neighbours, OfManyAtomsOfAnOpenSystemAreThoseFoundOneByOne) {
  std::mt19937_64 draw(3);
  std::uniform_real_distribution<double> uniform(-10, 10);
  System system;
  system.cell = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};  // means nothing along axes that are not periodic
  system.pbc = {false, false, false};
  for (int i = 0; i < 700; ++i) {
    system.positions.push_back(
        {uniform(draw), uniform(draw), i % 50 == 0 ? 1e4 * uniform(draw) : 0.3 * uniform(draw)});
  }
  const Edges edges = neighbours(tensor_of(system.positions), system.graphs(), 3);
  EXPECT_FALSE(edges.shifts.defined());
  EXPECT_EQ(list_of(edges), one_by_one(system, 3, false, 0));
  EXPECT_GT(edges.count(), 5000);
  EXPECT_EQ(list_of(system.edges(3, true)), one_by_one(system, 3, true, 0));
}

TEST(Neighbours, OfASupercellAreThoseOfTheCell) {
  std::mt19937_64 draw(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  System small;
  small.cell = {{2.1, 0.3, -0.2}, {0.9, 2.4, 0.1}, {-0.7, 0.5, 1.9}};
  const auto at_fractions = [&](double a, double b, double c) {
    std::array<double, 3> r{};
    for (int x = 0; x < 3; ++x) {
      r[x] = a * small.cell[0][x] + b * small.cell[1][x] + c * small.cell[2][x];
    }
    return r;
  };
  System large = small;
  const int times[3] = {3, 2, 4};
  std::vector<std::array<double, 3>> fractions;
  for (int i = 0; i < 3; ++i) {
    fractions.push_back({uniform(draw), uniform(draw), uniform(draw)});
    small.positions.push_back(at_fractions(fractions[i][0], fractions[i][1], fractions[i][2]));
  }
  for (int k = 0; k < 3; ++k) {
    for (int x = 0; x < 3; ++x) {
      large.cell[k][x] *= times[k];
    }
  }
  for (int a = 0; a < times[0]; ++a) {
    for (int b = 0; b < times[1]; ++b) {
      for (int c = 0; c < times[2]; ++c) {
        for (const auto& f : fractions) {
          large.positions.push_back(at_fractions(f[0] + a, f[1] + b, f[2] + c));
        }
      }
    }
  }
  const auto lengths = [](const System& s, const Edges& edges) {
    return std::get<0>(
        displacements(tensor_of(s.positions), edges, tensor_of(s.cell).unsqueeze(0)).norm(2, 1).sort());
  };
  const Edges one = small.edges(4), many = large.edges(4);
  EXPECT_EQ(many.count(), 24 * one.count());
  EXPECT_GT(one.count(), 100);
  EXPECT_TRUE(
      at::allclose(lengths(large, many).view({-1, 24}), lengths(small, one).unsqueeze(1), 1e-12, 1e-12));
  // The same lattice in another basis, and the same atoms with whole lattice vectors added.
  System skewed = small;
  for (int x = 0; x < 3; ++x) {
    skewed.cell[1][x] += 17 * small.cell[0][x];
    skewed.cell[2][x] += -9 * small.cell[0][x] + 23 * small.cell[1][x];
    skewed.positions[1][x] += 1000 * small.cell[2][x] - 40 * small.cell[0][x];
  }
  const Edges same = skewed.edges(4);
  ASSERT_EQ(same.count(), one.count());
  EXPECT_TRUE(at::allclose(lengths(skewed, same), lengths(small, one), 1e-9, 1e-9));
}

TEST(Neighbours, MoveWithAPermutationOfTheAtoms) {
  std::mt19937_64 draw(9);
  std::uniform_real_distribution<double> uniform(0, 6);
  System system;
  system.cell = {{6, 0, 0}, {1, 6, 0}, {0, -2, 6}};
  system.pbc = {true, true, false};
  for (int i = 0; i < 40; ++i) {
    system.positions.push_back({uniform(draw), uniform(draw), uniform(draw)});
  }
  System permuted = system;
  std::vector<int64_t> to(40);
  std::iota(to.begin(), to.end(), 0);
  std::shuffle(to.begin(), to.end(), draw);
  for (size_t i = 0; i < to.size(); ++i) {
    permuted.positions[to[i]] = system.positions[i];
  }
  std::set<Edge> moved;
  for (const auto& [i, j, shift] : list_of(system.edges(2.5))) {
    moved.emplace(to[i], to[j], shift);
  }
  const std::vector<Edge> found = list_of(permuted.edges(2.5));
  EXPECT_EQ(moved, std::set<Edge>(found.begin(), found.end()));
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
}

TEST(Neighbours, OfABatchAreThoseOfEachGraph) {
  std::mt19937_64 draw(2);
  std::uniform_real_distribution<double> uniform(0, 3);
  const std::vector<int64_t> sizes{3, 0, 5, 1};
  const Segments graphs = Segments::of_sizes(sizes);
  Rows all;
  for (int i = 0; i < 9; ++i) {
    all.push_back({uniform(draw), uniform(draw), uniform(draw)});
  }
  const Tensor cell = at::eye(3, at::kDouble).unsqueeze(0).repeat({4, 1, 1}) *
                      at::tensor({3.0, 1.0, 4.0, 2.0}, at::kDouble).view({4, 1, 1});
  const Tensor pbc = at::tensor({1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0}, at::kLong).to(at::kBool).view({4, 3});
  const ShareAll however_little;
  const int threads = at::get_num_threads();
  at::set_num_threads(3);
  const Edges batch = neighbours(tensor_of(all).to(at::kFloat), graphs, 2.5, cell, pbc, true);
  at::set_num_threads(threads);
  EXPECT_EQ(batch.graphs(), 4);
  EXPECT_EQ(batch.nodes(), 9);
  for (int64_t g = 0; g < 4; ++g) {
    const int64_t first = graphs.offsets[g], end = graphs.offsets[g + 1];
    const Edges alone = neighbours(tensor_of(all).to(at::kFloat).slice(0, first, end),
                                   Segments::of_sizes(std::vector<int64_t>{sizes[g]}), 2.5,
                                   cell.slice(0, g, g + 1), pbc.slice(0, g, g + 1), true);
    const int64_t from = batch.of_graph.offsets[g], to = batch.of_graph.offsets[g + 1];
    EXPECT_TRUE(at::equal(batch.centre.slice(0, from, to) - first, alone.centre));
    EXPECT_TRUE(at::equal(batch.neighbour.slice(0, from, to) - first, alone.neighbour));
    EXPECT_TRUE(at::equal(batch.shifts.slice(0, from, to), alone.shifts));
  }
  EXPECT_GT(batch.of_graph.size(3), 1);  // one atom sees its own images
}

TEST(Neighbours, InThePlaneOnALineAndOfNothing) {
  const Segments five = Segments::of_sizes(std::vector<int64_t>{5});
  const Tensor line = at::arange(5, at::kDouble).view({5, 1});
  EXPECT_EQ(neighbours(line, five, 1.5).count(), 8);
  EXPECT_EQ(neighbours(at::cat({line, line}, 1), five, 1.5, {}, {}, true).count(), 13);
  EXPECT_EQ(neighbours(line, five, 1).count(), 0);  // closer than, not as close as
  const Segments none = Segments::of_sizes(std::vector<int64_t>{0, 0});
  EXPECT_EQ(neighbours(at::zeros({0, 3}, at::kDouble), none, 1).count(), 0);
  // Atoms in one place are neighbours.
  EXPECT_EQ(neighbours(at::zeros({5, 3}, at::kFloat), five, 1).count(), 20);
}

// Sixteen graphs of one size, and a large one beside small ones, whose atoms are shared out.
TEST(Neighbours, AreTheSameForAnyNumberOfThreads) {
  const ShareAll however_little;
  const int threads = at::get_num_threads();
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>(16, 20), {3, 400, 0, 7}, {500}}) {
    const Segments graphs = Segments::of_sizes(sizes);
    const int64_t count = graphs.count();
    at::manual_seed(1);
    const Tensor r = 9 * at::rand({graphs.rows(), 3}, at::kDouble);
    const Tensor cell = (9 * at::eye(3, at::kDouble)).unsqueeze(0).repeat({count, 1, 1}),
                 pbc = at::ones({count, 3}, at::kBool);
    at::set_num_threads(1);
    const Edges one = neighbours(r, graphs, 4, cell, pbc);
    EXPECT_GT(one.count(), 1000);
    for (const int n : {2, 3, 5}) {
      at::set_num_threads(n);
      const Edges many = neighbours(r, graphs, 4, cell, pbc);
      EXPECT_TRUE(at::equal(many.centre, one.centre));
      EXPECT_TRUE(at::equal(many.neighbour, one.neighbour));
      EXPECT_TRUE(at::equal(many.shifts, one.shifts));
    }
  }
  at::set_num_threads(threads);
}

TEST(Neighbours, OfACutoffFarLargerThanTheCellAreRefusedWithTheirNumber) {
  at::manual_seed(2);
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{8});
  const Tensor r = 7 * at::rand({8, 3}, at::kDouble), cell = (7 * at::eye(3, at::kDouble)).unsqueeze(0),
               pbc = at::ones({1, 3}, at::kBool);
  EXPECT_GT(neighbours(r, graphs, 20, cell, pbc).count(), 5000);
  try {
    neighbours(r, graphs, 100, cell, pbc);
    ADD_FAILURE() << "must be refused";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(
        error.what(),
        "neighbours: graph 0: a cutoff of 100 makes about 781582 edges, 97698 for each of the 8 atoms, which "
        "take 150 MiB; at most 10000 for an atom are taken: take a smaller cutoff");
  }
  // Of an open system all pairs are meant, as many as fit; 70,000 atoms have more than indices can count.
  const Segments many = Segments::of_sizes(std::vector<int64_t>{70000});
  try {
    neighbours(at::rand({70000, 3}, at::kDouble), many, 100);
    ADD_FAILURE() << "must be refused";
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find("makes about 2.56563e+09 edges"), std::string::npos)
        << error.what();
  }
}

/// The message of the one error.
std::string refusal(const Tensor& positions, const Tensor& cell, const Tensor& pbc, double cutoff = 2) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{1, 2});
  try {
    neighbours(positions, graphs, cutoff, cell, pbc);
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "";
}

TEST(Neighbours, RefuseWhatHasNoAnswer) {
  const Tensor r = at::zeros({3, 3}, at::kDouble), cell = at::eye(3, at::kDouble).repeat({2, 1, 1}) * 3,
               pbc = at::ones({2, 3}, at::kBool);
  EXPECT_EQ(refusal(r, cell, pbc), "");
  Tensor bad = r.clone();
  bad[2][1] = std::nan("");
  EXPECT_EQ(refusal(bad, cell, pbc), "neighbours: graph 1: positions must be finite");
  EXPECT_EQ(refusal(bad, {}, {}), "neighbours: graph 1: positions must be finite");
  bad[2][1] = 1e200;
  EXPECT_EQ(refusal(bad, cell, pbc), "neighbours: graph 1: positions must be within 2^30 cells of the cell");
  Tensor broken = cell.clone();
  broken[1][0][2] = INFINITY;
  EXPECT_EQ(refusal(r, broken, pbc), "neighbours: graph 1: cell must be finite");
  broken = cell.clone();
  broken[0][2] = broken[0][1] * 2 - broken[0][0];
  EXPECT_EQ(refusal(r, broken, pbc),
            "neighbours: graph 0: periodic rows of cell must be linearly independent");
  Tensor slab = pbc.clone();
  slab[0][2] = false;
  EXPECT_EQ(refusal(r, broken, slab), "");
  broken = cell.clone();
  broken[1][0] = 0;
  EXPECT_EQ(refusal(r, broken, pbc),
            "neighbours: graph 1: periodic rows of cell must be linearly independent");
  EXPECT_EQ(refusal(r, cell * 1e-4, pbc, 10)
                .find("neighbours: graph 0: a cutoff of 10 makes about 1.5514e+14 edges, 1.5514e+14 for each "
                      "of the 1 "
                      "atoms, which take "),
            0U);
  EXPECT_NE(refusal(r, cell, {}), "");
  EXPECT_NE(refusal(r, cell[0], pbc), "");
  EXPECT_NE(refusal(r, cell, pbc.to(at::kLong)), "");
  EXPECT_NE(refusal(r.slice(0, 0, 2), cell, pbc), "");
  EXPECT_NE(refusal(r, cell, pbc, 0), "");
  EXPECT_NE(refusal(r, cell, pbc, std::nan("")), "");
}

void expect_same(const Segments& a, const Segments& b) {
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_TRUE(at::equal(a.index, b.index));
  EXPECT_TRUE(at::equal(a.offsets_on_device(), b.offsets_on_device()));
  EXPECT_TRUE(at::equal(a.sizes_on_device(), b.sizes_on_device()));
}

void expect_same(const Edges& a, const Edges& b) {
  ASSERT_EQ(a.count(), b.count());
  EXPECT_TRUE(at::equal(a.centre, b.centre));
  EXPECT_TRUE(at::equal(a.neighbour, b.neighbour));
  ASSERT_EQ(a.shifts.defined(), b.shifts.defined());
  EXPECT_TRUE(!a.shifts.defined() || at::equal(a.shifts, b.shifts));
  expect_same(a.of_centre, b.of_centre);
  expect_same(a.of_graph, b.of_graph);
  EXPECT_TRUE(at::equal(a.bond, b.bond));
  EXPECT_TRUE(at::equal(a.edge_of_bond, b.edge_of_bond));
}

/// All ways in which a device may search.
const std::vector<DeviceSearchLimits> kWays{
    {},                               // as it chooses
    {0, 0, 1 << 23, 5000},            // cells as they are given, else all images
    {0, 0, 0, 1 << 22},               // cells as they are given, else a reduced basis
    {0, int64_t{1} << 40, 0, 20000},  // a reduced basis
};

void expect_same_on_a_device(const Tensor& positions, const Segments& graphs, double cutoff,
                             const Tensor& cell = {}, const Tensor& pbc = {}, bool self = false) {
  const Edges want = neighbours(positions, graphs, cutoff, cell, pbc, self);
  const auto there = [](const Tensor& x) { return x.defined() ? x.to(test_device()) : x; };
  for (size_t way = 0; way < kWays.size(); ++way) {
    SCOPED_TRACE(way);
    Edges found = device_neighbours(there(positions), graphs.to(test_device()), cutoff, there(cell),
                                    there(pbc), self, kWays[way]);
    for (Tensor* x : {&found.centre, &found.neighbour, &found.shifts, &found.bond, &found.edge_of_bond}) {
      *x = x->defined() ? x->cpu() : *x;
    }
    found.of_centre = found.of_centre.to(at::kCPU);
    found.of_graph = found.of_graph.to(at::kCPU);
    expect_same(found, want);
  }
}

Tensor uniform(std::vector<int64_t> shape) {
  return at::rand(shape, at::kDouble);
}
Segments segments_of(std::vector<int64_t> sizes) {
  return Segments::of_sizes(sizes);
}
/// (B, 3): bit k of each number says whether axis k is periodic.
Tensor flags(std::vector<int64_t> bits) {
  const Tensor all = at::tensor(bits, at::kLong).unsqueeze(1);
  return (all.div(at::tensor({1, 2, 4}, at::kLong), "floor") % 2).to(at::kBool);
}

TEST(NeighboursOnADevice, OfOpenSystemsAreThoseOfTheKernel) {
  at::manual_seed(11);
  for (int trial = 0; trial < 30; ++trial) {
    SCOPED_TRACE(trial);
    const int64_t axes = 1 + trial % 3;
    const Segments graphs = segments_of({trial % 7, 0, 5 + 3 * trial, 1, trial % 2 * 200, 0});
    Tensor r = (uniform({graphs.rows(), axes}) - 0.5) * (2 + trial);
    if (trial % 5 == 4) {  // some far away, some very far
      r = r * at::where(uniform({graphs.rows(), 1}) < 0.1, 1e3, 1.0);
      r[1][0] = 1e30;
      r[3][axes - 1] = -3e14;
    }
    expect_same_on_a_device(r, graphs, 1.7, {}, {}, trial % 2 == 1);
    expect_same_on_a_device(r.to(at::kFloat), graphs, 1.7, {}, {}, trial % 2 == 0);
    r[2][0] = 1e200;
    expect_same_on_a_device(r, graphs, 1.7);
  }
}

TEST(NeighboursOnADevice, InCellsAreThoseOfTheKernel) {
  std::mt19937_64 draw(13);
  at::manual_seed(13);
  std::normal_distribution<double> normal;
  int64_t found = 0;
  for (int trial = 0; trial < 150; ++trial) {
    SCOPED_TRACE(trial);
    const Segments graphs = segments_of({1 + static_cast<int64_t>(draw() % 6), 0, trial % 3, 12});
    const double size = 4 * std::exp(0.5 * normal(draw));
    Tensor cell = size * at::randn({4, 3, 3}, at::kDouble);
    if (trial % 3 == 0) {
      cell.select(1, 1).add_(4 * cell.select(1, 0));
      cell.select(1, 2).sub_(3 * cell.select(1, 1));
    }
    if (trial % 4 == 0) {  // room for the cutoff
      cell = at::eye(3, at::kDouble) * 9 + 0.7 * cell / size;
    }
    const Tensor pbc = flags({trial % 8, trial / 8 % 8, 7, trial / 2 % 8});
    const Tensor r = 2 * size * at::randn({graphs.rows(), 3}, at::kDouble);
    const double cutoff = 3 * std::exp(0.3 * normal(draw));
    found += neighbours(r, graphs, cutoff, cell, pbc).count();
    expect_same_on_a_device(r, graphs, cutoff, cell, pbc, trial % 2 == 1);
  }
  EXPECT_GT(found, 100'000);
}

// A cell of one atom seen over hundreds of images, and one thinner than a hundredth of the cutoff.
TEST(NeighboursOnADevice, InTinyCellsAreThoseOfTheKernel) {
  const Segments graphs = segments_of({1, 2, 1});
  const Tensor cell = at::tensor({1.0, 1.1, 40.0}, at::kDouble).view({3, 1, 1}) *
                      at::tensor({1.0, 0.2, 0.0, -0.3, 1.0, 0.1, 0.0, 0.4, 1.0}, at::kDouble).view({3, 3});
  Tensor thin = cell.clone();
  thin[2][1] = at::tensor({0.05, 0.0, 0.0}, at::kDouble);
  const Tensor r =
      at::tensor({7.0, -30.0, 0.2, 0.0, 0.0, 0.0, 0.5, 0.4, 0.3, 1.0, 1.0, 1.0}, at::kDouble).view({4, 3});
  expect_same_on_a_device(r, graphs, 6, cell, flags({7, 7, 7}), true);
  expect_same_on_a_device(r, graphs, 6, thin, flags({3, 6, 2}));
}

// Lattices, whose distances equal the cutoff up to rounding: which of them are edges is for rounding to say, and the
// same for both.
TEST(NeighboursOnADevice, AtTheCutoffAreThoseOfTheKernel) {
  int64_t counts[2] = {};
  for (const double step : {0.1, 0.3, 1.0 / 3, 1.1}) {
    SCOPED_TRACE(step);
    const Tensor line = at::arange(4, at::kDouble) * step;
    const Tensor grid = at::cartesian_prod({line, line, line});
    const Tensor turn =
        at::tensor({0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6}, at::kDouble).view({3, 3});
    const Segments graphs = segments_of({64, 64});
    const Tensor cell = at::stack({at::eye(3, at::kDouble), turn}) * (4 * step);
    const Tensor r = at::cat({grid, grid.matmul(turn)});
    for (const double times : {1.0, std::sqrt(2.0), 2.0, 3.0}) {
      expect_same_on_a_device(r, graphs, times * step);
      expect_same_on_a_device(r, graphs, times * step, cell, flags({7, 7}));
      expect_same_on_a_device(r, graphs, times * step, cell, flags({7, 4}), true);
    }
    const Edges edges = neighbours(r, graphs, step, cell, flags({7, 7}));
    counts[0] += edges.of_graph.size(0);
    counts[1] += edges.of_graph.size(1);
  }
  EXPECT_GT(counts[0], 0);
  EXPECT_LT(counts[0], 4 * 64 * 6);
}

TEST(NeighboursOnADevice, OfManyAtomsAreThoseOfTheKernel) {
  at::manual_seed(17);
  const Segments one = segments_of({2000}), some = segments_of({900, 0, 700, 400});
  const Tensor r = 24 * uniform({2000, 3});
  const Tensor box = (24 * at::eye(3, at::kDouble) + uniform({4, 3, 3})).contiguous();
  expect_same_on_a_device(r, one, 3.5);
  expect_same_on_a_device(r, some, 3.5, {}, {}, true);
  expect_same_on_a_device(r, one, 3.5, box.slice(0, 0, 1), flags({7}));
  expect_same_on_a_device(r * 3 - 40, one, 3.5, box.slice(0, 0, 1), flags({7}), true);
  expect_same_on_a_device(r, some, 3.5, box, flags({7, 0, 3, 5}));
  Tensor thin = box.clone();
  thin[2] *= 0.1;  // its third axis is an open one, and does not matter
  thin[3][0] *= 0.1;
  expect_same_on_a_device(r.slice(0, 0, 550), segments_of({250, 0, 200, 100}), 3.5, thin,
                          flags({7, 7, 0, 1}));
}

TEST(NeighboursOnADevice, OfNothing) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{}, {0}, {0, 0}, {1}, {0, 1, 1, 0}}) {
    const Segments graphs = segments_of(sizes);
    const int64_t count = graphs.count();
    const Tensor r = at::zeros({graphs.rows(), 3}, at::kFloat), cell = 9 * at::eye(3).expand({count, 3, 3});
    expect_same_on_a_device(r, graphs, 2);
    expect_same_on_a_device(r.slice(1, 0, 1), graphs, 2, {}, {}, true);
    expect_same_on_a_device(r, graphs, 2, cell, at::ones({count, 3}, at::kBool), true);
    expect_same_on_a_device(r, graphs, 2, cell, at::zeros({count, 3}, at::kBool));
    expect_same_on_a_device(r, graphs, 1e-200, {}, {}, true);  // nothing is nearer, not an atom to itself
  }
}

TEST(NeighboursOnADevice, RefuseWhatTheKernelRefuses) {
  const Tensor r = at::tensor({0.0, 0.0, 0.0, 1.0, 0.5, 0.0, 0.3, 0.0, 2.0}, at::kDouble).view({3, 3}),
               cell = at::eye(3, at::kDouble).repeat({2, 1, 1}) * 3, pbc = at::ones({2, 3}, at::kBool);
  const Segments graphs = segments_of({1, 2});
  const auto expect_same_error = [&](const Tensor& positions, const Tensor& box, const Tensor& periodic,
                                     double cutoff = 2) {
    const std::string want = refusal(positions, box, periodic, cutoff);
    EXPECT_NE(want, "");
    for (size_t way = 0; way < kWays.size(); ++way) {
      try {
        device_neighbours(positions, graphs, cutoff, box, periodic, false, kWays[way]);
        ADD_FAILURE() << "must be refused: " << want << ", by way " << way;
      } catch (const ShapeError& error) {
        EXPECT_EQ(error.what(), want) << way;
      }
    }
  };
  for (const double value : {std::nan(""), double{INFINITY}, -double{INFINITY}}) {
    Tensor bad = r.clone();
    bad[2][1] = value;
    expect_same_error(bad, cell, pbc);
    expect_same_error(bad, {}, {});
    bad = cell.clone();
    bad[1][0][2] = value;
    expect_same_error(r, bad, pbc);
  }
  Tensor bad = r.clone();
  bad[2][1] = 1e200;
  expect_same_error(bad, cell, pbc);
  bad[2][1] = -4e9;
  expect_same_error(bad, cell, pbc);
  bad = cell.clone();
  bad[0][2] = bad[0][1] * 2 - bad[0][0];
  expect_same_error(r, bad, pbc);
  bad = cell.clone();
  bad[1][0] = 0;
  expect_same_error(r, bad, pbc);
  expect_same_error(r, cell * 1e-4, pbc, 10);
  expect_same_error(r, cell, pbc, 100);
  expect_same_error(r, cell, flags({3, 5}), 1e5);
  const Segments many = segments_of({70000});
  try {
    device_neighbours(uniform({70000, 3}), many, 100, {}, {}, false);
    ADD_FAILURE() << "must be refused";
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find("makes about 2.56"), std::string::npos) << error.what();
  }
}

// Nothing is expected of a box that one atom makes large, but all others are in one place.
TEST(NeighboursOnADevice, MorePairsThanMemoryAreRefused) {
  const Segments graphs = segments_of({150'000});
  Tensor r = at::zeros({graphs.rows(), 1}, at::kDouble);
  r[0][0] = 1e9;
  try {
    device_neighbours(r, graphs, 1, {}, {}, false);
    ADD_FAILURE() << "must be refused";
  } catch (const MemoryError& error) {
    EXPECT_EQ(std::string(error.what())
                  .find("neighbours: a cutoff of 1 compares 2.24997e+10 pairs of atoms, "
                        "which take 386"),
              0U)
        << error.what();
  }
}

// `neighbours` itself without kernels, of positions that want a gradient, which flows through what follows from edges.
TEST(NeighboursOnADevice, CarryGradientsOfWhatFollows) {
  at::manual_seed(19);
  const Segments graphs = segments_of({12, 9});
  const Tensor start = 4 * uniform({21, 3}), cell = 4.5 * at::eye(3, at::kDouble).expand({2, 3, 3});
  const Tensor pbc = flags({7, 3});
  const auto energy = [&](const Tensor& r, const Edges& edges) {
    const Tensor length = polar(displacements(r, edges, cell)).length;
    return segment_sum((-length).exp(), edges.of_graph).pow(2).sum() +
           length.index_select(0, edges.edge_of_bond).sum();
  };
  const auto slope = [&] {
    const Tensor r = start.clone().requires_grad_();
    const Edges edges = neighbours(r, graphs, 2, cell, pbc);
    EXPECT_FALSE(edges.centre.requires_grad());
    EXPECT_GT(edges.count(), 50);
    return torch::autograd::grad({energy(r, edges)}, {r})[0];
  };
  const Tensor want = slope();
  const WithoutKernels without;
  EXPECT_TRUE(at::equal(slope(), want));
}

}  // namespace neighbours_test
}  // namespace weyl
