#include "weyl/train/loop/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/train/recipe.h"

namespace weyl {
namespace schedule_test {

TrainOptions epochs(int64_t n, ScheduleLaw law) {
  TrainOptions o;
  o.epochs = n;
  o.schedule.name = law;
  return o;
}

// platonic fact sheet, section 5, "Common LR": per-epoch cosine times (e + 1e-6) / (w + 1e-6). More digits by
// Python's math; rounded they are the sheet's.
TEST(Schedule, CommonFactorsOfThePlatonicRecipes) {
  TrainOptions o = epochs(1000, ScheduleLaw::cosine);
  o.schedule.warmup = 10;
  o.schedule.per_epoch = true;
  const Schedule s(o);
  const std::pair<double, double> golden[] = {{0, 9.9999990000001e-08}, {1, 0.09999984325986185},
                                              {5, 0.499969208117326},   {10, 0.9997532801828658},
                                              {11, 0.9997014741774864}, {500, 0.5}};
  for (const auto& [e, factor] : golden) {
    EXPECT_NEAR(s.factor({.step = 7, .epoch = e}), factor, 1e-12) << e;
    EXPECT_NEAR(s.factor({.step = 7, .epoch = e + 0.93}), factor, 1e-12) << "held through epoch " << e;
  }
  o.schedule.per_epoch = false;
  EXPECT_GT(std::abs(Schedule(o).factor({.epoch = 5.93}) - golden[2].second), 1e-3);
}

TEST(Schedule, OfThePlatonicPaperConfigsChangesBetweenEpochsAsTheAuthorsDoes) {
  for (const auto& [config, warmup] : {std::pair{"qm9", 10.0}, std::pair{"cifar10", 20.0}}) {
    const Recipe recipe =
        read_recipe(std::string(WEYL_SOURCE_DIR) + "/configs/" + config + "/platonic.paper.toml");
    const Schedule s(recipe.train);
    EXPECT_NEAR(s.factor({.epoch = 0.9}), 1e-6 / (warmup + 1e-6), 1e-12) << config;
    const double used = 15 / static_cast<double>(*recipe.train.epochs);
    const double rise = std::min(1.0, (15 + 1e-6) / (warmup + 1e-6));
    EXPECT_NEAR(s.factor({.epoch = 15.6}), rise * 0.5 * (1 + std::cos(M_PI * used)), 1e-12) << config;
  }
}

TEST(Schedule, PerEpochHoldsUnderABudgetInSteps) {
  TrainOptions o;
  o.steps = 400;
  o.schedule.per_epoch = true;
  const Schedule s(o);  // 40 steps an epoch
  EXPECT_DOUBLE_EQ(s.factor({.step = 100, .epoch = 2.5}), 0.5 * (1 + std::cos(M_PI * 0.2)));
}

TEST(Schedule, LawsOfTheFraction) {
  TrainOptions o = epochs(8, ScheduleLaw::cosine);
  o.schedule.final_factor = 0.1;
  EXPECT_NEAR(Schedule(o).factor({.epoch = 0}), 1, 1e-15);
  EXPECT_NEAR(Schedule(o).factor({.epoch = 4}), 0.55, 1e-15);
  EXPECT_NEAR(Schedule(o).factor({.epoch = 8}), 0.1, 1e-15);
  o.schedule.name = ScheduleLaw::linear;
  EXPECT_NEAR(Schedule(o).factor({.epoch = 2}), 0.775, 1e-15);
  o.schedule.name = ScheduleLaw::exponential;
  EXPECT_NEAR(Schedule(o).factor({.epoch = 4}), std::sqrt(0.1), 1e-15);
  EXPECT_NEAR(Schedule(o).factor({.epoch = 8}), 0.1, 1e-15);
  o.schedule.name = ScheduleLaw::constant;
  EXPECT_EQ(Schedule(o).factor({.epoch = 2}), 1);
  o.schedule.name = ScheduleLaw::step;
  o.schedule.factor = 0.5;
  o.schedule.every = 3;
  EXPECT_EQ(Schedule(o).factor({.epoch = 2.99}), 1);
  EXPECT_EQ(Schedule(o).factor({.epoch = 3}), 0.5);
  EXPECT_EQ(Schedule(o).factor({.epoch = 7}), 0.25);
}

TEST(Schedule, WarmsUpLinearlyUnderEveryLaw) {
  for (auto law : {ScheduleLaw::constant, ScheduleLaw::cosine, ScheduleLaw::linear, ScheduleLaw::exponential,
                   ScheduleLaw::step, ScheduleLaw::plateau}) {
    TrainOptions o = epochs(1000000, law);
    o.schedule.final_factor = 0.99999999;
    o.schedule.warmup = 4;
    const Schedule s(o);
    EXPECT_NEAR(s.factor({.epoch = 1}), 0.25, 1e-5);
    EXPECT_NEAR(s.factor({.epoch = 2.5}), 0.625, 1e-5);
    EXPECT_NEAR(s.factor({.epoch = 5}), 1, 1e-5);
  }
}

TEST(Schedule, BudgetEndsAtWhicheverComesFirst) {
  TrainOptions o = epochs(10, ScheduleLaw::linear);
  o.steps = 50;
  o.max_seconds = 3;
  const Schedule s(o);
  EXPECT_DOUBLE_EQ(s.fraction({.step = 20, .epoch = 5, .seconds = 2.9}), 0.5);  // seconds only end it
  EXPECT_DOUBLE_EQ(s.fraction({.step = 40, .epoch = 5}), 0.8);
  EXPECT_FALSE(s.finished({.step = 49, .epoch = 9.9, .seconds = 2.9}));
  EXPECT_TRUE(s.finished({.step = 50}));
  EXPECT_TRUE(s.finished({.epoch = 10}));
  EXPECT_TRUE(s.finished({.seconds = 3}));
  TrainOptions timed;
  timed.max_seconds = 4;
  EXPECT_DOUBLE_EQ(Schedule(timed).fraction({.step = 7, .epoch = 3, .seconds = 1}), 0.25);
  EXPECT_THROW(Schedule(TrainOptions{}), ConfigError);
}

TEST(Schedule, ABudgetOfFlopsIsOneOfSteps) {
  TrainOptions o;
  o.schedule.name = ScheduleLaw::linear;
  o.flops = 1e12;
  const Schedule s(o);
  EXPECT_DOUBLE_EQ(s.fraction({.step = 7, .epoch = 3, .seconds = 9, .flops = 2.5e11}), 0.25);
  EXPECT_DOUBLE_EQ(s.factor({.step = 7, .flops = 2.5e11}), 0.75);
  EXPECT_FALSE(s.finished({.step = 7, .flops = 9.99e11}));
  EXPECT_TRUE(s.finished({.step = 7, .flops = 1e12}));
  o.steps = 10;
  o.max_seconds = 3;  // ends the run, and does not bend the schedule
  EXPECT_DOUBLE_EQ(Schedule(o).fraction({.step = 5, .seconds = 2.9, .flops = 2.5e11}), 0.5);
  EXPECT_DOUBLE_EQ(Schedule(o).fraction({.step = 1, .seconds = 2.9, .flops = 2.5e11}), 0.25);
  EXPECT_TRUE(Schedule(o).finished({.step = 1, .seconds = 3}));
  o = {};
  o.flops = 0;
  EXPECT_TRUE(Schedule(o).finished({}));
  EXPECT_EQ(Schedule(o).fraction({}), 1);
}

TEST(Schedule, PlateauDropsAfterPatienceAndRemembers) {
  TrainOptions o = epochs(100, ScheduleLaw::plateau);
  o.schedule.factor = 0.5;
  o.schedule.patience = 2;
  Schedule s(o);
  for (double v : {3.0, 2.0, 2.5, 2.0}) {
    s.observe({v}, true);
  }
  EXPECT_EQ(s.factor({}), 1);
  Schedule resumed(o);
  resumed.load(s.state());
  for (auto* each : {&s, &resumed}) {
    each->observe({NAN}, true);  // the third in a row
    EXPECT_EQ(each->factor({}), 0.5);
    each->observe({1.0}, true);
    EXPECT_EQ(each->factor({}), 0.5);
  }
  EXPECT_EQ(s.state(), resumed.state());
  Schedule rising(o);
  for (double v : {1.0, 2.0, 3.0, 4.0}) {
    rising.observe({v}, false);
  }
  EXPECT_EQ(rising.factor({}), 1);
  Schedule failing(o);
  for (double left_out : {3.0, 2.0, 1.0, 0.0}) {  // fewer left out is better, though the values rise
    failing.observe({5 - left_out, left_out}, true);
  }
  EXPECT_EQ(failing.factor({}), 1);
}

}  // namespace schedule_test
}  // namespace weyl
