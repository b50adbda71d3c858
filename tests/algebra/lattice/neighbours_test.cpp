#include "weyl/algebra/lattice/neighbours.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>
#include <utility>

#include "tests/sanitized.h"

namespace weyl {
namespace neighbours_test {

std::vector<double> cloud(int64_t atoms, double width) {
  std::mt19937_64 draw(4);
  std::uniform_real_distribution<double> uniform(0, width);
  std::vector<double> r(static_cast<size_t>(3 * atoms));
  for (double& x : r) {
    x = uniform(draw);
  }
  return r;
}

NeighbourSearch search_of(const std::vector<double>& r, double radius, const double* cell = nullptr) {
  NeighbourSearch search;
  search.positions = r.data();
  search.atoms = static_cast<int64_t>(r.size() / 3);
  search.cell = cell;
  search.periodic = {cell != nullptr, cell != nullptr, cell != nullptr};
  search.radius = radius;
  return search;
}

void on_threads(int64_t total, int64_t workers, const std::function<void(int64_t, int64_t, int64_t)>& work) {
  std::vector<std::thread> threads;
  for (int64_t w = 0; w < workers; ++w) {
    threads.emplace_back([&, w] { work(w, total * w / workers, total * (w + 1) / workers); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

void expect_same(const NeighbourList& a, const NeighbourList& b) {
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.neighbour, b.neighbour);
  EXPECT_EQ(a.shift, b.shift);
}

TEST(NeighbourList, EdgesAndTheirOrderDoNotDependOnTheWorkers) {
  const std::vector<double> cell{17, 0, 0, 3, 17, 0, -2, 4, 4};  // an atom sees images of itself
  for (const double* box : {static_cast<const double*>(nullptr), cell.data()}) {
    const std::vector<double> r = cloud(300, 17);
    NeighbourList alone;
    ASSERT_EQ(find_neighbours(search_of(r, 5, box), alone), NeighbourFault::none);
    ASSERT_GT(alone.neighbour.size(), 5000U);
    for (const int64_t workers : {2, 3, 7, 300}) {
      NeighbourList shared;
      ASSERT_EQ(find_neighbours(search_of(r, 5, box), shared, workers, on_threads), NeighbourFault::none);
      expect_same(shared, alone);
    }
  }
}

const std::vector<double> wide_cell{1e5, 0, 0, 0, 1e5, 0, 0, 0, 1e5};

TEST(NeighbourList, OneAtomFarAwayChangesNothing) {
  const std::vector<double> r = cloud(20000, 60);
  NeighbourList all, list;
  ASSERT_EQ(find_neighbours(search_of(r, 4), all), NeighbourFault::none);
  for (const double place : {1e4, 1e9, 1e300}) {
    std::vector<double> more = r;
    more.insert(more.end(), {place, -place, place});
    ASSERT_EQ(find_neighbours(search_of(more, 4), list), NeighbourFault::none) << place;
    EXPECT_EQ(list.neighbour, all.neighbour) << place;
  }
  // Nor does a wide cell around a molecule.
  ASSERT_EQ(find_neighbours(search_of(r, 4, wide_cell.data()), list), NeighbourFault::none);
  EXPECT_EQ(list.neighbour, all.neighbour);
}

// Bins of the box that holds all were so wide that all atoms but one fell into one of them. These are 3.6e11 distances
// then, which take longer than the five minutes that CTest allows.
TEST(NeighbourList, OfManyAtomsAndOneFarAwayIsFound) {
  const int64_t atoms = under_sanitizers(30'000, 600'000);
  std::vector<double> r = cloud(atoms, 2.2 * std::cbrt(static_cast<double>(atoms)));
  NeighbourList list, other;
  ASSERT_EQ(find_neighbours(search_of(r, 2, wide_cell.data()), other), NeighbourFault::none);
  r.insert(r.end(), {1e9, -1e9, 1e9});
  ASSERT_EQ(find_neighbours(search_of(r, 2), list), NeighbourFault::none);
  EXPECT_GT(list.neighbour.size(), static_cast<size_t>(5 * atoms / 3));
  EXPECT_EQ(list.neighbour, other.neighbour);
  // A chain lies across its box, most of which is empty.
  std::vector<double> chain = cloud(20000, 3);
  for (size_t i = 0; i < chain.size(); ++i) {
    chain[i] += 0.5 * static_cast<double>(i / 3);
  }
  ASSERT_EQ(find_neighbours(search_of(chain, 4), list), NeighbourFault::none);
  EXPECT_GT(list.neighbour.size(), 20'000U);
}

TEST(NeighbourList, EdgesAreExpectedByTheDensity) {
  const std::vector<double> r = cloud(1000, 20), cell{20, 0, 0, 31, 20, 0, 0, -7, 20};
  NeighbourList list;
  ASSERT_EQ(find_neighbours(search_of(r, 6, cell.data()), list), NeighbourFault::none);
  EXPECT_NEAR(expected_edges(search_of(r, 6, cell.data())) / static_cast<double>(list.neighbour.size()), 1,
              0.02);
  ASSERT_EQ(find_neighbours(search_of(r, 3), list), NeighbourFault::none);
  EXPECT_NEAR(expected_edges(search_of(r, 3)) / static_cast<double>(list.neighbour.size()), 1, 0.3);
  EXPECT_EQ(expected_edges(search_of({}, 3)), 0);
  const std::vector<double> flat{1, 0, 0, 2, 0, 0, 0, 0, 1};
  EXPECT_EQ(expected_edges(search_of(r, 3, flat.data())), 0);  // singular
}

TEST(NeighbourList, NeverKeepsMoreEdgesThanItMay) {
  const std::vector<double> cell{7, 0, 0, 0, 7, 0, 0, 0, 7};
  const std::vector<double> r = cloud(8, 7);
  NeighbourList list;
  NeighbourSearch search = search_of(r, 100, cell.data());
  search.most_edges = 7e5;  // 781,000 are to be expected
  EXPECT_EQ(find_neighbours(search, list), NeighbourFault::too_many);
  EXPECT_TRUE(list.neighbour.empty());
  // An atom far away makes the density, and so what is expected, small: what is found counts.
  std::vector<double> far = cloud(1000, 3);
  far.insert(far.end(), {1e6, 1e6, 1e6});
  for (const int64_t workers : {1, 3}) {
    search = search_of(far, 5);
    search.most_edges = 1e5;
    EXPECT_LT(expected_edges(search), 1);
    EXPECT_EQ(find_neighbours(search, list, workers, on_threads), NeighbourFault::too_many);
    EXPECT_TRUE(list.neighbour.empty());
  }
}

// A list with a skin: what was found within a larger radius holds all edges of the cutoff, in their order, while atoms
// have moved by less than half the difference, over the walls of the cell too.
TEST(NeighbourList, OfALargerRadiusHoldsTheEdgesOfMovedAtoms) {
  constexpr double cutoff = 4, skin = 1.5;
  const std::vector<double> cell{13, 0, 0, 3, 12, 0, -2, 4, 3.5};
  const std::vector<double> before = cloud(250, 13);
  NeighbourList wide;
  ASSERT_EQ(find_neighbours(search_of(before, cutoff + skin, cell.data()), wide), NeighbourFault::none);
  const auto kept_after = [&](double way) {
    std::mt19937_64 draw(5);
    std::normal_distribution<double> normal;
    std::vector<double> r = before;
    for (size_t i = 0; i < r.size(); i += 3) {
      const Vector3 to = unit({normal(draw), normal(draw), normal(draw)});
      for (size_t c = 0; c < 3; ++c) {
        r[i + c] += way * to[c];
      }
    }
    NeighbourList kept, fresh;
    kept.offsets.assign(1, 0);
    for (size_t i = 0; i + 1 < wide.offsets.size(); ++i) {
      for (int64_t e = wide.offsets[i]; e < wide.offsets[i + 1]; ++e) {
        const auto j = static_cast<size_t>(wide.neighbour[e]);
        double squares = 0;
        for (size_t c = 0; c < 3; ++c) {
          double move = 0;
          for (size_t k = 0; k < 3; ++k) {
            move += static_cast<double>(wide.shift[e][k]) * cell[3 * k + c];
          }
          const double d = (r[3 * j + c] - r[3 * i + c]) + move;
          squares += d * d;
        }
        if (squares < cutoff * cutoff) {
          kept.neighbour.push_back(wide.neighbour[e]);
          kept.shift.push_back(wide.shift[e]);
        }
      }
      kept.offsets.push_back(static_cast<int64_t>(kept.neighbour.size()));
    }
    EXPECT_EQ(find_neighbours(search_of(r, cutoff, cell.data()), fresh), NeighbourFault::none);
    EXPECT_GT(fresh.neighbour.size(), 5000U);
    return std::pair{kept, fresh};
  };
  for (const double way : {0.0, 0.3, 0.999 * skin / 2}) {
    const auto [kept, fresh] = kept_after(way);
    expect_same(kept, fresh);
  }
  const auto [kept, fresh] = kept_after(2 * skin);
  EXPECT_LT(kept.neighbour.size(), fresh.neighbour.size());
}

TEST(NeighbourList, CountsAreThoseOfTheList) {
  const std::vector<double> cell{9, 0, 0, 3, 12, 0, -2, 4, 3.5};
  for (const int64_t atoms : {1, 12, 400}) {
    for (const double* box : {static_cast<const double*>(nullptr), cell.data()}) {
      for (const bool self : {false, true}) {
        const std::vector<double> r = cloud(atoms, 11);
        NeighbourSearch search = search_of(r, 5, box);
        search.self = self;
        NeighbourList list;
        ASSERT_EQ(find_neighbours(search, list), NeighbourFault::none);
        const std::vector<int64_t> centres{atoms - 1, 0, atoms / 2};
        std::vector<int64_t> counts{7};
        ASSERT_EQ(count_neighbours(search, centres, counts), NeighbourFault::none);
        ASSERT_EQ(counts.size(), 3U);
        for (size_t c = 0; c < 3; ++c) {
          EXPECT_EQ(counts[c], list.offsets[centres[c] + 1] - list.offsets[centres[c]]) << atoms;
        }
      }
    }
  }
  std::vector<int64_t> counts{7};
  EXPECT_EQ(count_neighbours(search_of({}, 5), {}, counts), NeighbourFault::none);
  EXPECT_TRUE(counts.empty());
  const std::vector<double> r = cloud(8, 7), flat{1, 0, 0, 2, 0, 0, 0, 0, 1};
  EXPECT_EQ(count_neighbours(search_of(r, 3, flat.data()), std::vector<int64_t>{0}, counts),
            NeighbourFault::cell_singular);
  const std::vector<double> far{0, 0, std::nan("")};
  EXPECT_EQ(count_neighbours(search_of(far, 3), std::vector<int64_t>{0}, counts),
            NeighbourFault::positions_not_finite);
  NeighbourSearch search = search_of(r, 100, cell.data());
  search.most_edges = 1e5;
  EXPECT_EQ(count_neighbours(search, std::vector<int64_t>{0}, counts), NeighbourFault::too_many);
  EXPECT_TRUE(counts.empty());
}

}  // namespace neighbours_test
}  // namespace weyl
