// Losses stand in one table only where they are numbers of one thing.
#include <gtest/gtest.h>

#include "weyl/core/check.h"
#include "weyl/study/sweep/comparable.h"

namespace weyl {
namespace comparable_test {

SweepRuns two_of(const TaskChoice& first, const TaskChoice& second) {
  SweepRuns runs;
  runs.models.resize(2);
  runs.models[0].system = "one";
  runs.models[1].system = "other";
  runs.models[0].size = runs.models[1].size = "w8";
  runs.models[0].recipe.task.task = first;
  runs.models[1].recipe.task.task = second;
  return runs;
}

/// Empty: nothing is wrong.
std::string fault_of(const std::function<void()>& check) {
  try {
    check();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}
std::string fault_of(const TaskChoice& first, const TaskChoice& second) {
  return fault_of([&] { require_one_task(two_of(first, second)); });
}

TEST(Comparable, ATaskMayBeLearnedInAnyWay) {
  RigidMotionOptions rigid;
  rigid.norm_weight = 1;
  rigid.baseline = MotionBaseline::constant_velocity;
  EXPECT_EQ(fault_of(RigidMotionOptions{}, rigid), "");
  ForceFieldOptions forces;
  forces.forces = ForceSource::direct;
  forces.force_weight = 100;
  forces.energy_loss = ErrorLaw::l1;
  EXPECT_EQ(fault_of(ForceFieldOptions{}, forces), "");
  PropertyOptions one, same;
  one.targets = same.targets = {"gap"};
  same.normalise = false;
  same.loss = ErrorLaw::l1;
  EXPECT_EQ(fault_of(one, same), "");
}

TEST(Comparable, WhatIsMeasuredMustBeTheSame) {
  ForceFieldOptions forces;
  forces.units = "eV";
  EXPECT_EQ(fault_of(ForceFieldOptions{}, forces),
            "other w8: must be measured as one w8, or their losses cannot be compared, got "
            "task.force_field.units = \"eV\", but \"meV\" there");
  PropertyOptions one, two;
  one.targets = {"gap"};
  two.targets = {"mu"};
  EXPECT_NE(fault_of(one, two).find("targets = [\"mu\"], but [\"gap\"] there"), std::string::npos)
      << fault_of(one, two);
  one.targets = two.targets = {"gap", "mu"};
  two.weights = {1, 2};  // of several the headline is a mean by weights, in units of their spread
  EXPECT_NE(fault_of(one, two), "");
  SegmentationOptions whole, parts, more;
  parts.regions = {{"core", {1, 2}}};
  more.regions = {{"core", {1, 2}}, {"rim", {3}}};
  EXPECT_NE(fault_of(whole, parts), "");
  EXPECT_EQ(fault_of(parts, parts), "");
  EXPECT_NE(fault_of(parts, more).find("got task.segmentation.regions = [2 of them], but [1 of them] there"),
            std::string::npos)
      << fault_of(parts, more);
  EXPECT_NE(fault_of(more, parts), "");
  EXPECT_NE(fault_of(ForceFieldOptions{}, RigidMotionOptions{}).find("must be trained on the task and data"),
            std::string::npos);
}

// The mean over targets is in units of their spread in the training data, an error of one target is not.
TEST(Comparable, UnitsOfTheTrainingSetCountOnlyInALossThatHasThem) {
  PropertyOptions one, other;
  one.targets = other.targets = {"gap", "mu"};
  other.normalise = false;  // the units are those of the spread all the same
  other.reference = Reference::none;
  SweepRuns runs = two_of(one, other);
  const auto options = [&] { return fault_of([&] { require_one_task(runs); }); };
  EXPECT_NE(options(), "");
  runs.options.loss = "standardised_mae";
  EXPECT_NE(options(), "");
  runs.options.loss = "mae_gap";
  EXPECT_EQ(options(), "");
  runs.options.loss.clear();
  runs.models[0].recipe.train.best = runs.models[1].recipe.train.best = "mae_gap";
  EXPECT_EQ(options(), "");

  runs = two_of(one, one);
  std::vector<ModelCost> costs(2);
  const auto with = [](int64_t samples) {
    return Json::object().set("train", Json::object().set("samples", samples).set("labels", "a"));
  };
  costs[0].evaluated = with(5);
  costs[1].evaluated = with(4);
  const auto samples = [&] { return fault_of([&] { require_comparable(runs, costs); }); };
  EXPECT_NE(samples().find("other w8: must have the training samples of one w8"), std::string::npos)
      << samples();
  EXPECT_NE(samples().find("got 4 train samples, not 5"), std::string::npos) << samples();
  runs.options.loss = "mae_mu";
  EXPECT_EQ(samples(), "");
  costs[1].evaluated = with(5);
  runs = two_of(one, one);
  EXPECT_EQ(samples(), "");
}

Json split(int64_t samples, const char* labels, int64_t tokens = 9, const char* places = "p") {
  return Json::object()
      .set("samples", samples)
      .set("tokens", tokens)
      .set("places_and_labels", places)
      .set("labels", labels);
}

TEST(Comparable, MetricsAndSamplesMustBeTheSame) {
  SweepRuns runs = two_of(TrajectoryOptions{}, TrajectoryOptions{});
  std::vector<ModelCost> costs(2);
  costs[0].metric = "mse";
  costs[1].metric = "rmse";
  const auto fault = [&] { return fault_of([&] { require_comparable(runs, costs); }); };
  EXPECT_EQ(fault(),
            "other w8: train.best: must be that of one w8, mse, as it is each run's loss where the sweep "
            "names none (loss = \"...\"), got rmse");
  runs.options.loss = "mse";  // each may choose its best model as it likes
  EXPECT_EQ(fault(), "");
  costs[0].evaluated = Json::object().set("valid", split(5, "a")).set("test", split(6, "b"));
  EXPECT_EQ(fault(), "");  // what the other holds is not known
  costs[1].evaluated = costs[0].evaluated;
  EXPECT_EQ(fault(), "");
  costs[1].evaluated.set("valid", split(4, "a"));
  EXPECT_NE(fault().find("validation and test samples of one w8"), std::string::npos) << fault();
  EXPECT_NE(fault().find("got 4 valid samples, not 5"), std::string::npos) << fault();
  costs[1].evaluated.set("valid", split(5, "a")).set("test", split(6, "c"));
  EXPECT_NE(fault().find("got other labels of test samples"), std::string::npos) << fault();
  costs[1].evaluated = Json::object().set("valid", split(5, "a"));
  EXPECT_NE(fault().find("got no test split"), std::string::npos) << fault();
}

// Points and grids of the same samples have other tokens; what has as many may be turned, and is told.
TEST(Comparable, SamplesMayBeSeenInOtherWays) {
  SweepRuns runs = two_of(ClassificationOptions{}, ClassificationOptions{});
  std::vector<ModelCost> costs(2);
  costs[0].evaluated = Json::object().set("test", split(5, "a", 640, "p"));
  costs[1].evaluated = Json::object().set("test", split(5, "a", 163840, "q"));
  EXPECT_TRUE(require_comparable(runs, costs).empty());
  costs[1].evaluated = Json::object().set("test", split(5, "a", 640, "q"));
  EXPECT_EQ(
      require_comparable(runs, costs),
      (std::vector<std::string>{
          "other w8: its test samples have the labels of those of one w8, but other places or values"}));
  costs[1].evaluated = costs[0].evaluated;
  EXPECT_TRUE(require_comparable(runs, costs).empty());
}

}  // namespace comparable_test
}  // namespace weyl
