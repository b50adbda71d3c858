// What a plan measures where there are no data, and where memory is short.
#include <gtest/gtest.h>

#include <algorithm>

#include "weyl/data/options.h"
#include "weyl/models/systems.h"
#include "weyl/predict/subject.h"
#include "weyl/study/sweep/measure.h"

namespace weyl {
namespace measure_test {

/// `nodes`: of a typical sample; 0: as the config has it.
ModelCost cost_without_data(const std::string& config, std::vector<std::string> overrides, double memory,
                            double nodes = 0) {
  MeasureOptions options;
  options.threads = 1;
  options.steps = 1;
  options.memory = memory;
  const Systems& systems = built_in_systems();
  Recipe recipe = read_recipe(WEYL_SOURCE_DIR "/configs/" + config, overrides, options_of(systems));
  if (nodes > 0) {
    recipe.interface = build_subject(recipe, at::kMeta, {}, systems).model->interface;
    recipe.interface->typical_nodes = nodes;
  }
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
  EXPECT_EQ(cut.real_flops_a_token, whole.real_flops_a_token);
  EXPECT_GT(cut.step_seconds, 0);
  // Nothing fits: a sample at a time.
  EXPECT_EQ(cost_without_data("nbody/transformer.toml", wide, 1).accumulate, 64);
}

// One sample of the paper's scenes is as much work as whole batches of others: a shorter one is timed.
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
  EXPECT_GT(cost.step_seconds, 0);
  EXPECT_GT(cost.valid_seconds, 0);
  EXPECT_NEAR(cost.test_seconds, 2 * cost.valid_seconds, 1e-9 * cost.test_seconds);
}

/// Megabytes of a step on one sample, of a cost for which no memory sufficed.
double megabytes_in(const std::string& how) {
  const std::string takes = "a step on one sample takes ";
  const size_t at = how.find(takes);
  EXPECT_NE(at, std::string::npos) << how;
  EXPECT_NE(how.find(" MB of memory, and a job may take 1 MB: `scale run` will not get far"),
            std::string::npos)
      << how;
  return at == std::string::npos ? 0 : std::stod(how.substr(at + takes.size()));
}

// Memory is that of whole samples, of which the one that was timed is a short part.
TEST(SweepMeasure, MemoryIsThatOfWholeSamples) {
  const auto with = [&](double memory, double nodes) {
    return cost_without_data("nbody/transformer.toml", {"train.batch=8"}, memory, nodes);
  };
  const ModelCost whole = with(1e6, 1024), cut = with(1e6, 8192);
  EXPECT_EQ(whole.how.find("timed on random tokens; "), 0u) << whole.how;
  const std::string one = "timed on one random sample of ";
  ASSERT_EQ(cut.how.find(one), 0u) << cut.how;
  EXPECT_LE(std::stod(cut.how.substr(one.size())), 4096);
  EXPECT_EQ(cut.accumulate, 8);
  const double megabytes = megabytes_in(cut.how);
  EXPECT_NEAR(megabytes / megabytes_in(whole.how), 8, 2.5);
  // Four fifths of the memory count.
  const auto room_for = [&](double samples) { return with(1.01e6 * samples * megabytes / 0.8, 8192); };
  const ModelCost all = room_for(8), half = room_for(4), least = room_for(1);
  EXPECT_EQ(all.accumulate, 1);
  EXPECT_EQ(all.how.find("memory"), std::string::npos) << all.how;
  EXPECT_EQ(half.accumulate, 2);
  EXPECT_NE(half.how.find("; a batch of 8 does not fit into memory: timed with train.batch=4 "
                          "train.accumulate=2, which"),
            std::string::npos)
      << half.how;
  EXPECT_EQ(least.accumulate, 8);
  EXPECT_NE(least.how.find("train.batch=1 train.accumulate=8"), std::string::npos) << least.how;
}

// A step is of parts, which are timed as such; validation is of the whole.
TEST(SweepMeasure, StepsAreOfPartsAndPredictionsOfTheWhole) {
  const auto with = [](const std::string& crop) {
    return cost_without_data("solids/steerable-conv.toml",
                             {"train.batch=4", "data.modelnet.voxels=24", "data.modelnet.train=10",
                              "data.modelnet.valid=4", "data.modelnet.test=4", "train.crop=[" + crop + "]"},
                             plenty);
  };
  const ModelCost whole = with("24"), part = with("17");
  EXPECT_EQ(whole.tokens_a_step, 4 * 24 * 24 * 24);
  EXPECT_EQ(part.tokens_a_step, 4 * 17 * 17 * 17);
  EXPECT_EQ(part.epoch_tokens, 10 * 17 * 17 * 17);
  // A third of the cells, a third of the work; predictions are the same.
  EXPECT_GT(part.real_flops_a_token, 0);
  EXPECT_EQ(part.real_flops_a_token, whole.real_flops_a_token);
  EXPECT_EQ(part.evaluation, "validation by 4 forward passes, the test by 4 forward passes");
  EXPECT_EQ(part.evaluation, whole.evaluation);
  EXPECT_GT(part.step_seconds, 0);
  EXPECT_GT(part.valid_seconds, 0);
}

TEST(SweepMeasure, PredictionsMayTakeManyPasses) {
  const auto cost = [](const std::string& count) {
    return cost_without_data("solids/platonic.toml",
                             {"data.modelnet.train=7", "data.modelnet.valid=3", "data.modelnet.test=5",
                              "task.classification.test_time_rotations.count=" + count},
                             plenty);
  };
  EXPECT_EQ(cost("1").evaluation, "validation by 3 forward passes, the test by 5 forward passes");
  const ModelCost all = cost("24");
  EXPECT_EQ(all.evaluation, "validation by 72 forward passes, the test by 120 forward passes");
  EXPECT_EQ(all.facts.tokens, 0);
  EXPECT_EQ(all.epoch_tokens, 7 * 128);
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

}  // namespace measure_test
}  // namespace weyl
