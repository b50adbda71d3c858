#include "weyl/kernels/edges/neighbours.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>

#include "tests/processor_time.h"

namespace weyl::kernels {
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

NeighbourSearch search_of(const std::vector<double>& r, double cutoff, const double* cell = nullptr) {
  NeighbourSearch search;
  search.positions = r.data();
  search.atoms = static_cast<int64_t>(r.size() / 3);
  search.cell = cell;
  search.periodic = {cell != nullptr, cell != nullptr, cell != nullptr};
  search.cutoff = cutoff;
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

TEST(NeighbourKernel, EdgesAndTheirOrderDoNotDependOnTheWorkers) {
  const std::vector<double> cell{17, 0, 0, 3, 17, 0, -2, 4, 4};  // an atom sees images of itself
  for (const double* box : {static_cast<const double*>(nullptr), cell.data()}) {
    const std::vector<double> r = cloud(300, 17);
    NeighbourList alone;
    ASSERT_EQ(neighbours(search_of(r, 5, box), alone), NeighbourFault::none);
    ASSERT_GT(alone.neighbour.size(), 5000U);
    for (const int64_t workers : {2, 3, 7, 300}) {
      NeighbourList shared;
      ASSERT_EQ(neighbours(search_of(r, 5, box), shared, workers, on_threads), NeighbourFault::none);
      expect_same(shared, alone);
    }
  }
}

double seconds_of(const NeighbourSearch& search, NeighbourList& list) {
  double least = 1e30;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const double start = processor_seconds();
    EXPECT_EQ(neighbours(search, list), NeighbourFault::none);
    least = std::min(least, processor_seconds() - start);
  }
  return least;
}

// Bins of the box that holds all were so wide that 20,000 atoms fell into one of them: 4e8 distances.
TEST(NeighbourKernel, OneAtomFarAwayCostsNothing) {
  const std::vector<double> r = cloud(20000, 60);
  NeighbourList all;
  const double without = seconds_of(search_of(r, 4), all);
  for (const double place : {1e4, 1e9, 1e300}) {
    std::vector<double> more = r;
    more.insert(more.end(), {place, -place, place});
    NeighbourList list;
    EXPECT_LT(seconds_of(search_of(more, 4), list), 4 * without) << place;
    EXPECT_EQ(list.neighbour, all.neighbour) << place;
  }
  // Nor does a chain across the box, or a molecule in a wide cell.
  std::vector<double> chain = cloud(20000, 3);
  for (size_t i = 0; i < chain.size(); ++i) {
    chain[i] += 0.5 * static_cast<double>(i / 3);
  }
  NeighbourList list;
  EXPECT_LT(seconds_of(search_of(chain, 4), list), 4 * without);
  const std::vector<double> cell{1e5, 0, 0, 0, 1e5, 0, 0, 0, 1e5};
  EXPECT_LT(seconds_of(search_of(r, 4, cell.data()), list), 4 * without);
  EXPECT_EQ(list.neighbour.size(), all.neighbour.size());
}

TEST(NeighbourKernel, EdgesAreExpectedByTheDensity) {
  const std::vector<double> r = cloud(1000, 20), cell{20, 0, 0, 31, 20, 0, 0, -7, 20};
  NeighbourList list;
  ASSERT_EQ(neighbours(search_of(r, 6, cell.data()), list), NeighbourFault::none);
  EXPECT_NEAR(expected_edges(search_of(r, 6, cell.data())) / static_cast<double>(list.neighbour.size()), 1,
              0.02);
  ASSERT_EQ(neighbours(search_of(r, 3), list), NeighbourFault::none);
  EXPECT_NEAR(expected_edges(search_of(r, 3)) / static_cast<double>(list.neighbour.size()), 1, 0.3);
  EXPECT_EQ(expected_edges(search_of({}, 3)), 0);
  const std::vector<double> flat{1, 0, 0, 2, 0, 0, 0, 0, 1};
  EXPECT_EQ(expected_edges(search_of(r, 3, flat.data())), 0);  // singular
}

TEST(NeighbourKernel, NeverKeepsMoreEdgesThanItMay) {
  const std::vector<double> cell{7, 0, 0, 0, 7, 0, 0, 0, 7};
  const std::vector<double> r = cloud(8, 7);
  NeighbourList list;
  NeighbourSearch search = search_of(r, 100, cell.data());
  search.most_edges = 7e5;  // 781,000 are to be expected
  EXPECT_EQ(neighbours(search, list), NeighbourFault::too_many);
  EXPECT_TRUE(list.neighbour.empty());
  // An atom far away makes the density, and so what is expected, small: what is found counts.
  std::vector<double> far = cloud(1000, 3);
  far.insert(far.end(), {1e6, 1e6, 1e6});
  for (const int64_t workers : {1, 3}) {
    search = search_of(far, 5);
    search.most_edges = 1e5;
    EXPECT_LT(expected_edges(search), 1);
    EXPECT_EQ(neighbours(search, list, workers, on_threads), NeighbourFault::too_many);
    EXPECT_TRUE(list.neighbour.empty());
  }
}

}  // namespace neighbours_test
}  // namespace weyl::kernels
