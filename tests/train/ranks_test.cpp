// A training of several processes: equal bits each time and after a stop, the numbers of one process to rounding, and what one
// of them cannot do without the others.
#include "weyl/parallel/ranks.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/parallel/processes.h"
#include "tests/train/small_training.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace ranks_test {

const bool one_thread = [] {  // processes are forked from this one
  at::set_num_threads(1);
  return true;
}();

/// All ranks have the same metrics, to the bit.
void expect_same_everywhere(Ranks& ranks, const Metrics& metrics) {
  std::string own;
  for (const auto& [name, metric] : metrics) {
    own += name + text("=", std::bit_cast<int64_t>(metric.value), " ");
  }
  EXPECT_FALSE(own.empty());
  for (const std::string& other : ranks.gather(own)) {
    EXPECT_EQ(other, own);
  }
}

/// Trains with so many ranks; each of them stops when it is told to.
std::vector<int> train_over(int ranks, const Recipe& recipe, const ScratchFolder& folder,
                            const std::string& run,
                            const std::function<bool(int rank, int64_t asked)>& stop = {},
                            const Splits& data = small_data()) {
  static int meetings = 0;
  return run_ranks(ranks, folder / ("meet" + std::to_string(meetings++)),
                   [&](const std::shared_ptr<Ranks>& all) {
                     int64_t asked = 0;
                     const std::function<bool()> asks = [&] { return stop && stop(all->rank(), asked++); };
                     const TrainResult result = train_small(recipe, folder / run, data, nullptr, asks, all);
                     EXPECT_EQ(result.ending, stop ? Ending::interrupted : Ending::finished);
                     EXPECT_EQ(result.test.has_value(), !stop);
                     if (result.test) {
                       expect_same_everywhere(*all, result.test->metrics);
                     }
                   });
}

const std::vector<int> three_ended{0, 0, 0};

// Three: with two ranks no order of sums could be told from another.
TEST(RanksTrain, SameBitsEachTimeAndAfterAStopOfAny) {
  const ScratchFolder folder;
  const Recipe recipe = small_recipe();
  EXPECT_EQ(train_over(3, recipe, folder, "a"), three_ended);
  EXPECT_EQ(train_over(3, recipe, folder, "b"), three_ended);
  expect_same_bits(folder / "a", folder / "b");
  // One rank is asked to stop in its seventh step: all end after it, and the run goes on from there.
  const auto seventh = [](int rank, int64_t asked) { return rank == 2 && asked == 6; };
  EXPECT_EQ(train_over(3, recipe, folder, "parted", seventh), three_ended);
  EXPECT_EQ(read_checkpoint(folder / "parted").state.step, 7);
  EXPECT_EQ(train_over(3, recipe, folder, "parted"), three_ended);
  expect_same_bits(folder / "a", folder / "parted");
}

/// The largest difference of two runs' weights, NaN where one of them is none.
double apart(const std::string& run, const std::string& other) {
  const auto a = read_checkpoint(run).weights, b = read_checkpoint(other).weights;
  double largest = 0;
  for (const auto& [name, weight] : a) {
    largest = worst_of(largest, (b.at(name) - weight).abs().max().item<double>());
  }
  return largest;
}

TEST(RanksTrain, NumbersOfOneProcessToRounding) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.precision = Precision::float64;
  recipe.model.system.get_if<transformer::Options>()->dropout = 0;  // each rank drops by itself
  train_small(recipe, folder / "alone");
  EXPECT_EQ(train_over(3, recipe, folder, "three"), three_ended);
  EXPECT_EQ(train_over(2, recipe, folder, "two"), (std::vector<int>{0, 0}));
  const auto alone = read_checkpoint(folder / "alone");
  for (const char* run : {"three", "two"}) {
    const auto found = read_checkpoint(folder / run);
    EXPECT_EQ(found.state.step, alone.state.step);
    EXPECT_EQ(found.state.tokens, alone.state.tokens);
    double largest = 0;
    for (const auto& [name, weight] : alone.weights) {
      largest = std::max(largest, (found.weights.at(name) - weight).abs().max().item<double>());
    }
    EXPECT_LT(largest, 1e-10) << run;
    EXPECT_GT(largest, 0) << run;  // another order of sums
  }
}

// More ranks than a batch has samples: some have none, and join all the same.
TEST(RanksTrain, SomeWithoutSamples) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.batch = 2;
  recipe.train.accumulate = 1;
  recipe.train.epochs = 1;
  EXPECT_EQ(train_over(3, recipe, folder, "run"), three_ended);
}

TEST(RanksTrain, AKilledOneEndsTheOthersAndLeavesAWholeCheckpoint) {
  const ScratchFolder folder;
  const Recipe recipe = small_recipe();
  for (const int victim : {0, 1}) {
    const std::string run = "killed" + std::to_string(victim);
    const auto kills = [&](int rank, int64_t asked) {
      if (rank == victim && asked == 5) {
        kill(getpid(), SIGKILL);
      }
      return false;
    };
    std::vector<int> expected{9, 9, 9};
    expected[static_cast<size_t>(victim)] = -SIGKILL;
    EXPECT_EQ(train_over(3, recipe, folder, run, kills), expected);
    EXPECT_EQ(train_over(3, recipe, folder, run), three_ended);
  }
  expect_same_bits(folder / "killed0", folder / "killed1");
}

}  // namespace ranks_test
}  // namespace weyl
