// What a plan measures where there are no data, and where memory is short.
#include <gtest/gtest.h>

#include <algorithm>

#include "weyl/data/declared_samples.h"
#include "weyl/models/systems.h"
#include "weyl/study/sweep/measure.h"

namespace weyl {
namespace {

ModelCost cost_without_data(const std::string& config, std::vector<std::string> overrides, double memory) {
  MeasureOptions options;
  options.threads = 1;
  options.steps = 1;
  options.memory = memory;
  const Systems& systems = built_in_systems();
  const Recipe recipe = read_recipe(WEYL_SOURCE_DIR "/configs/" + config, overrides, options_of(systems));
  return cost_of(recipe, nullptr, options, systems);
}

constexpr double plenty = 1e12;

TEST(SweepMeasure, ABatchTooLargeForMemoryIsTimedInParts) {
  const std::vector<std::string> wide{"model.transformer.width=64", "train.batch=64", "train.accumulate=2"};
  const ModelCost whole = cost_without_data("nbody/transformer.toml", wide, plenty);
  EXPECT_EQ(whole.accumulate, 1);
  EXPECT_EQ(whole.how, "timed on random tokens");
  // A memory of a few samples: the parts are as many as fit into four fifths of it.
  ModelCost cut = whole;
  double memory = 1e9;
  while (cut.accumulate == 1 && memory > 1e3) {
    cut = cost_without_data("nbody/transformer.toml", wide, memory /= 4);
  }
  ASSERT_GT(cut.accumulate, 1) << memory;
  const int64_t batch = (64 + cut.accumulate - 1) / cut.accumulate;
  const std::string words =
      "; a batch of 64 does not fit into memory: timed with train.batch=" + std::to_string(batch) +
      " train.accumulate=" + std::to_string(2 * cut.accumulate) + ", which";
  EXPECT_NE(cut.how.find(words), std::string::npos) << cut.how;
  const ModelCost half = cost_without_data("nbody/transformer.toml", wide, memory / 2);
  EXPECT_NEAR(static_cast<double>(half.accumulate) / static_cast<double>(cut.accumulate), 2, 1);
  // The step is the same work, of more and smaller batches.
  EXPECT_EQ(cut.tokens_a_step, whole.tokens_a_step);
  EXPECT_GT(cut.step_seconds, 0.3 * whole.step_seconds);
  // Nothing fits: a sample at a time.
  EXPECT_EQ(cost_without_data("nbody/transformer.toml", wide, 1).accumulate, 64);
}

// One sample of the paper's scenes is as much work as whole batches of others: a shorter one is timed, and memory, too,
// is that of a whole one.
TEST(SweepMeasure, OneShortSampleStandsForABatchOfLongOnes) {
  const std::vector<std::string> small{"model.transformer.size=1", "data.rigid_bodies.valid=10",
                                       "data.rigid_bodies.test=20"};
  const ModelCost cost = cost_without_data("rigid/transformer.paper.toml", small, plenty);
  EXPECT_EQ(cost.accumulate, 1);
  EXPECT_EQ(cost.how.find("timed on one random sample of "), 0u) << cost.how;
  const double tokens = std::stod(cost.how.substr(std::string("timed on one random sample of ").size()));
  EXPECT_LT(tokens, 5470);
  // 64 scenes; what the short sample took, times 64 and more.
  EXPECT_NEAR(cost.tokens_a_step, 64 * 5470, 64 * 100);
  EXPECT_EQ(cost.evaluation, "validation by 940 forward passes, the test by 1880 forward passes");
  // 940 forward passes, a third of the work of a sample's training each.
  const double of_a_step = cost.valid_seconds / 940 * 64 / cost.step_seconds;
  EXPECT_GT(of_a_step, 0.1);
  EXPECT_LT(of_a_step, 0.9);
  EXPECT_NEAR(cost.test_seconds, 2 * cost.valid_seconds, 1e-9 * cost.test_seconds);
}

TEST(SweepMeasure, WhatTheOptionsDoNotSayIsNotCounted) {
  const ModelCost cost = cost_without_data("nbody/transformer.toml", {}, plenty);
  EXPECT_EQ(cost.valid_seconds, 0);
  EXPECT_EQ(cost.evaluation,
            "validation is not counted, the test is not counted (the data's options, valid and test, do not "
            "say of how many samples)");
  EXPECT_EQ(cost.metric, "mse");
}

TEST(DeclaredSamples, AreThoseOfTheOptions) {
  NbodyDataOptions nbody;
  nbody.valid = 7;
  EXPECT_EQ(declared_samples({nbody}).valid, 7);
  EXPECT_EQ(declared_samples({nbody}).test, 0);
  RigidBodiesDataOptions rigid;
  rigid.train = 2;
  rigid.rollout = 3;
  EXPECT_EQ(declared_samples({rigid}).train, 2 * 92);  // of 96 frames, the first and the last three are none
  rigid.stride = 10;
  EXPECT_EQ(declared_samples({rigid}).train, 2 * 10);
  EXPECT_EQ(declared_samples({ImagesDataOptions{}}).valid, 0);
}

}  // namespace
}  // namespace weyl
