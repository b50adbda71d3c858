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
#include "weyl/models/grids/options.h"
#include "weyl/models/steerable/options.h"
#include "weyl/nn/norms.h"
#include "weyl/nn/shared_batch.h"
#include "weyl/parallel/message.h"

namespace weyl {
namespace ranks_test {

const bool one_thread = [] {  // processes are forked from this one
  at::set_num_threads(1);
  return true;
}();

std::string metrics_bits(const Metrics& metrics) {
  std::string bits;
  for (const auto& [name, metric] : metrics) {
    bits += name + text("=", std::bit_cast<int64_t>(metric.value), " ");
  }
  return bits;
}

/// All ranks have the same metrics, to the bit.
void expect_same_everywhere(Ranks& ranks, const Metrics& metrics) {
  const std::string own = metrics_bits(metrics);
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

/// Other averages in the newest checkpoint of a run than it has.
void spoil_averages(const std::string& run) {
  const std::string path = run + "/last/state.safetensors";
  std::map<std::string, std::string> metadata;
  NamedTensors tensors;
  {
    const SafetensorsFile file(path);
    metadata = file.header().metadata;
    tensors = load_tensors(file);
  }
  int64_t spoilt = 0;
  for (auto& [name, tensor] : tensors) {
    if (name.starts_with(std::string(average_prefix) + "weights.")) {
      tensor = tensor + 1;
      ++spoilt;
    }
  }
  EXPECT_GT(spoilt, 0);
  save_tensors(path, tensors, metadata);
}

// A disk of several hosts may show a rank what it was before: averages go on, and the best model is tested, as the first rank reads them.
TEST(RanksTrain, AveragesAndTheBestModelAreThoseOfTheFirst) {
  const ScratchFolder folder;
  const Recipe recipe = small_recipe();
  const auto seventh = [](int rank, int64_t asked) { return rank == 2 && asked == 6; };
  EXPECT_EQ(train_over(3, recipe, folder, "parted", seventh), three_ended);
  std::filesystem::copy(folder / "parted", folder / "whole", std::filesystem::copy_options::recursive);
  std::filesystem::copy(folder / "parted", folder / "stale", std::filesystem::copy_options::recursive);
  spoil_averages(folder / "stale");
  for (const std::string run : {"whole", "parted"}) {
    EXPECT_EQ(run_ranks(3, folder / ("meet-" + run),
                        [&](const std::shared_ptr<Ranks>& all) {
                          const bool stale = run == "parted" && all->rank() == 2;
                          const TrainResult result = train_small(recipe, folder / (stale ? "stale" : run),
                                                                 small_data(), nullptr, {}, all);
                          if (all->rank() == 0) {
                            std::ofstream(folder / (run + ".test")) << metrics_bits(result.test->metrics);
                          }
                        }),
              three_ended);
  }
  expect_same_bits(folder / "whole", folder / "parted");
  EXPECT_FALSE(read_if_there(folder / "whole.test").empty());
  EXPECT_EQ(read_if_there(folder / "whole.test"), read_if_there(folder / "parted.test"));
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
    EXPECT_LT(apart(folder / run, folder / "alone"), 1e-10) << run;
    EXPECT_GT(apart(folder / run, folder / "alone"), 0) << run;  // another order of sums
  }
}

/// Noisy images of two classes.
std::shared_ptr<const Dataset> images(int64_t samples, uint64_t seed) {
  Stream stream(seed, "images");
  const Tensor classes = at::arange(samples, at::kLong).remainder(2).unsqueeze(1);
  const Tensor values = normal_tensor({samples, 1, 12, 12}, stream) + classes.unsqueeze(2).unsqueeze(3);
  Schema schema;
  schema.interface.grid = true;
  schema.interface.dimension = 2;
  schema.interface.typical_nodes = 144;
  schema.interface.features = {{.name = "intensity"}};
  schema.labels = {{.name = "class", .level = Level::graph, .kind = Kind::category, .categories = 2}};
  return std::make_shared<InMemory>(Batch{Grid{values}, {{"class", classes}}}, schema);
}

// Norms over the batch, of features and of the rows of a head: over that of all ranks, of which the last batch of an epoch has
// fewer samples than there are ranks.
TEST(RanksTrain, NormsAreOverTheBatchOfAll) {
  const Splits data{images(14, 1), images(6, 2), images(5, 3)};  // batches of 4, 4, 4, 2
  Recipe recipe = small_recipe();
  recipe.train.augment = Augmentation::none;
  recipe.train.precision = Precision::float64;
  recipe.train.batch = 4;
  recipe.train.epochs = 2;
  recipe.task.task = ClassificationOptions{};
  steerable::Options turned;
  turned.orders = 2;
  turned.stages = {{.middle = 0, .channels = 4, .kernel = 3, .pool = 2}};
  turned.norm = steerable::NormLaw::batch;
  turned.encoder.depth = 1;
  turned.encoder.heads = 2;
  grids::CnnOptions plain;
  plain.base = 4;
  plain.stages = {{1, {3}, {1}}, {}};
  for (const SystemOptions& system : {SystemOptions(turned), SystemOptions(plain)}) {
    const ScratchFolder folder;
    recipe.model.system = system;
    train_small(recipe, folder / "alone", data);
    for (const int ranks : {2, 3}) {
      const std::string run = "of" + std::to_string(ranks);
      EXPECT_EQ(train_over(ranks, recipe, folder, run, {}, data), std::vector<int>(ranks, 0));
      EXPECT_LT(apart(folder / run, folder / "alone"), 1e-10) << run;
      EXPECT_GT(apart(folder / run, folder / "alone"), 0) << run;
      EXPECT_EQ(train_over(ranks, recipe, folder, run + "-again", {}, data), std::vector<int>(ranks, 0));
      expect_same_bits(folder / run, folder / (run + "-again"));
    }
    // The comparison sees another batch.
    recipe.train.batch = 2;
    train_small(recipe, folder / "smaller", data);
    recipe.train.batch = 4;
    EXPECT_GT(apart(folder / "smaller", folder / "alone"), 1e-6);
  }
}

// What a rank has of such a norm is what every other has, to the bit, with a part and without one.
TEST(RanksTrain, RunningValuesAreTheSameEverywhere) {
  const ScratchFolder folder;
  EXPECT_EQ(
      run_ranks(3, folder / "meet",
                [](const std::shared_ptr<Ranks>& all) {
                  BatchNorm norm(5);
                  norm.train(true);
                  Stream stream(7, "rows");
                  const Tensor rows = normal_tensor({9, 5}, stream).to(at::kFloat) * 3 + 100;
                  const std::vector<Tensor> parts{rows.slice(0, 0, 4), rows.slice(0, 4), rows.slice(0, 0, 1)};
                  Tensor mine = parts[static_cast<size_t>(all->rank())].clone().requires_grad_(true);
                  {
                    const SharedBatch shared(all, all->rank() < 2);  // the last one's row stands in for none
                    norm(mine).square().sum().backward();
                  }
                  BatchNorm alone(5);
                  alone.train(true);
                  alone(rows);
                  std::string bits;
                  for (size_t p = 0; p < norm.parameters().size(); ++p) {
                    const Tensor here = norm.parameters()[p].tensor.detach(),
                                 there = alone.parameters()[p].tensor.detach();
                    EXPECT_LT((here - there).abs().max().item<double>(), 1e-4);
                    Message message;
                    Tensor told = here;
                    message(told);
                    bits += message.bytes();
                  }
                  for (const std::string& other : all->gather(bits)) {
                    EXPECT_EQ(other, bits);
                  }
                  EXPECT_NE((norm.parameters()[2].tensor.detach() - 0).abs().max().item<double>(), 0);
                }),
      three_ended);
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
