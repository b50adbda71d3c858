#include "weyl/train/loop/changes_on_resume.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "weyl/core/check.h"

namespace weyl {
namespace changes_on_resume_test {

bool has(const std::string& line, const std::string& part) {
  return line.find(part) != std::string::npos;
}

TEST(Budget, IsAllThatMayChange) {
  EXPECT_NO_THROW(
      require_may_change(std::vector<std::string>{"train.epochs=5", "train.steps=10", "train.flops=1e12",
                                                  "train.max_seconds=3.5", "model.platonic.linear=dense"}));
  for (const char* other : {"train.batch=4", "model.system=lie", "train.epochs_=5", "train=5",
                            "model.platonic=dense", "model.platonic.linear_norm=mean"}) {
    EXPECT_THROW(require_may_change(std::vector<std::string>{"train.epochs=5", other}), ConfigError) << other;
  }
}

TEST(Budget, IsTakenWhole) {
  const TrainOptions from{.epochs = 20, .max_seconds = 60};
  TrainOptions into{.seed = 7, .epochs = 10, .steps = 100, .flops = 1e9};
  EXPECT_FALSE(same_budget(from, into));
  take_budget(from, into);
  EXPECT_TRUE(same_budget(from, into));
  EXPECT_FALSE(into.steps.has_value());
  EXPECT_FALSE(into.flops.has_value());
  EXPECT_FALSE(same_budget({.flops = 1e9}, {.flops = 2e9}));
  EXPECT_EQ(into.seed, 7);
  EXPECT_EQ(budget_text(from), "20 epochs or 60 seconds");
  EXPECT_EQ(budget_text({.epochs = 1}), "1 epoch");
  EXPECT_EQ(budget_text({.steps = 10, .flops = 1e16}), "10 steps or 1e+16 FLOPs");
}

TEST(Budget, SaysWhatFollowsForTheSchedule) {
  TrainOptions before{.epochs = 10}, after{.epochs = 20};
  before.optimiser.rate = after.optimiser.rate = 1e-3;
  const Elapsed half{.step = 50, .epoch = 5};
  const std::string cosine = change_of_budget(before, after, {}, half);
  EXPECT_TRUE(has(cosine, "the budget is now 20 epochs, it was 10 epochs")) << cosine;
  EXPECT_TRUE(has(cosine, "the cosine schedule is stretched")) << cosine;
  EXPECT_TRUE(has(cosine, "at step 50 goes from 0.0005 to 0.0008536")) << cosine;  // (1 + cos(pi / 4)) / 2
  EXPECT_TRUE(has(cosine, "other bits")) << cosine;
  before.schedule.name = after.schedule.name = ScheduleLaw::plateau;
  const std::string plateau = change_of_budget(before, after, {}, half);
  EXPECT_TRUE(has(plateau, "the plateau schedule does not depend on it")) << plateau;
  EXPECT_FALSE(has(plateau, "other bits")) << plateau;
}

TEST(Budget, OfWhichMoreIsSpentMovesNoSchedule) {
  TrainOptions before{.steps = 10}, after{.steps = 5};
  before.schedule.name = after.schedule.name = ScheduleLaw::cosine;
  EXPECT_EQ(change_of_budget(before, after, {}, {.step = 10}),
            "the budget is now 5 steps, it was 10 steps; the run is past it");
}

// Twice a budget that was made smaller was finished again.
TEST(Budget, TheAdviceIsToTrainOn) {
  const auto advice = [](const TrainOptions& options, const Elapsed& now) {
    const std::string line = finished_text("run", options, now, false);
    return line.substr(line.find("--resume run") + 12);
  };
  EXPECT_EQ(advice({.steps = 5}, {.step = 10, .epoch = 2}), " train.steps=20");
  EXPECT_EQ(advice({.epochs = 2}, {.step = 10, .epoch = 4.25}), " train.epochs=10");
  EXPECT_EQ(advice({.max_seconds = 30}, {.step = 10, .seconds = 80}), " train.max_seconds=160");
  EXPECT_EQ(advice({.flops = 1e12}, {.step = 10, .flops = 1.001e12}), " train.flops=2e+12");
  EXPECT_EQ(advice({.flops = 1e12}, {.step = 10, .flops = 3e12}), " train.flops=6e+12");
  EXPECT_EQ(advice({.epochs = 1, .steps = 5}, {.step = 10, .epoch = 2}), " train.epochs=4 train.steps=20");
}

TEST(Budget, AFinishedRunSaysOfWhatAndHowToTrainOn) {
  EXPECT_EQ(finished_text("runs/a", {.epochs = 4}, {.step = 36, .epoch = 4}, false),
            "runs/a is finished: step 36, 4 of 4 epochs; train on with, say: weyl train --resume runs/a "
            "train.epochs=8");
  EXPECT_EQ(
      finished_text("runs/a", {.epochs = 4, .steps = 10}, {.step = 10, .epoch = 1.25}, false),
      "runs/a is finished: step 10 of 10, 1.25 of 4 epochs; train on with, say: weyl train --resume runs/a "
      "train.steps=20");
  EXPECT_EQ(finished_text("runs/a", {.max_seconds = 60}, {.step = 7, .seconds = 60.5}, false),
            "runs/a is finished: step 7, 60.5 of 60 seconds; train on with, say: weyl train --resume runs/a "
            "train.max_seconds=120");
  EXPECT_EQ(
      finished_text("runs/a", {.flops = 1e12}, {.step = 7, .flops = 1.02e12}, false),
      "runs/a is finished: step 7, 1.02e+12 of 1e+12 FLOPs; train on with, say: weyl train --resume runs/a "
      "train.flops=2e+12");
  const std::string patience =
      finished_text("runs/a", {.epochs = 100, .patience = 3}, {.step = 90, .epoch = 9}, true);
  EXPECT_TRUE(has(patience, "3 validations without improvement (train.patience)")) << patience;
  EXPECT_FALSE(has(patience, "--resume")) << patience;
}

}  // namespace changes_on_resume_test
}  // namespace weyl
