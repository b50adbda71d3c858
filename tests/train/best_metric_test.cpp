// Which model is the best: the metric that picks it, what has none, and what decides between equal ones.
#include "weyl/train/loop/best_metric.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/train/small_training.h"
#include "weyl/core/check.h"
#include "weyl/tasks/classification.h"
#include "weyl/train/run/journal.h"

namespace weyl {
namespace best_metric_test {

const std::vector<MetricName> of_classes{{"accuracy", false}, {"accuracy_cat", false}, {"cross_entropy"}};

std::string refusal(const std::string& best) {
  try {
    BestMetric(best, Classification({}), of_classes);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BestMetric, IsTheHeadlineUnlessAnotherIsChosen) {
  const Metrics metrics{{"accuracy", {0.5, ""}}, {"cross_entropy", {2, "nat"}}};
  const BestMetric headline("", Classification({}), of_classes);
  EXPECT_EQ(headline.name(), "accuracy");
  EXPECT_FALSE(headline.lower_is_better());
  EXPECT_EQ(headline.of(metrics).value, 0.5);
  EXPECT_EQ(headline.loss_of(metrics), 2);
  const BestMetric loss("cross_entropy", Classification({}), of_classes);
  EXPECT_TRUE(loss.lower_is_better());
  EXPECT_EQ(loss.of(metrics).value, 2);
  EXPECT_EQ(loss.of(metrics).unit, "nat");
}

TEST(BestMetric, OfASumKnowsItsUnitAndWhatIsNotThere) {
  const BestMetric sum("accuracy + 0.50 * accuracy_cat", Classification({}), of_classes);
  EXPECT_EQ(sum.name(), "accuracy + 0.5 accuracy_cat");
  EXPECT_EQ(sum.of({{"accuracy", {0.5, "x"}}, {"accuracy_cat", {0.25, "x"}}}).value, 0.625);
  EXPECT_EQ(sum.of({{"accuracy", {0.5, "x"}}, {"accuracy_cat", {0.25, "x"}}}).unit, "x");
  EXPECT_EQ(sum.of({{"accuracy", {0.5, "x"}}, {"accuracy_cat", {0.25, "y"}}}).unit, "");
  EXPECT_TRUE(std::isnan(sum.of({{"accuracy", {0.5, ""}}}).value));
  EXPECT_TRUE(std::isnan(sum.loss_of({{"accuracy", {0.5, ""}}})));
}

TEST(BestMetric, CountsWhatItsMetricsLeaveOut) {
  const std::vector<MetricName> of_masks{
      {"far", true, "lost"}, {"far_1", true, "lost_1"}, {"lost"}, {"lost_1"}};
  const Metrics metrics{{"far", {3, "mm"}}, {"far_1", {2, "mm"}}, {"lost", {4, ""}}, {"lost_1", {1, ""}}};
  const BestMetric sum("far + 10 far_1", Classification({}), of_masks);
  EXPECT_EQ(sum.left_out(), (std::vector<std::string>{"lost", "lost_1"}));
  EXPECT_EQ(sum.score_of(metrics), (Score{23, 5}));
  EXPECT_EQ(BestMetric("far_1", Classification({}), of_masks).score_of(metrics), (Score{2, 1}));
  EXPECT_EQ(BestMetric("lost", Classification({}), of_masks).score_of(metrics), (Score{4, 0}));
}

TEST(BestMetric, FailingIsNoWayToBeBest) {
  EXPECT_TRUE(is_better({9, 0}, Score{1, 2}, true));
  EXPECT_FALSE(is_better({1, 2}, Score{9, 0}, true));
  EXPECT_TRUE(is_better({0.1, 0}, Score{0.9, 1}, false));
  EXPECT_TRUE(is_better({1, 2}, Score{2, 2}, true));
  EXPECT_FALSE(is_better({2, 2}, Score{2, 2}, true));
  EXPECT_TRUE(is_better({5, 7}, {}, true));
  EXPECT_FALSE(is_better({NAN, 0}, {}, true));
  EXPECT_FALSE(is_better({NAN, 0}, Score{1, 3}, true));
}

TEST(BestMetric, RefusesUnknownMetricsAndBothDirections) {
  EXPECT_NE(refusal("acuracy").find("did you mean accuracy?"), std::string::npos) << refusal("acuracy");
  EXPECT_NE(refusal("accuracy + cross_entropy").find("of accuracy higher is better, of cross_entropy lower"),
            std::string::npos)
      << refusal("accuracy + cross_entropy");
}

TEST(BestMetric, PicksTheModelThatTrainingKeeps) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.best = "mse + 2 rmse";
  const TrainResult result = train_small(recipe, folder / "run");
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.best->metric, "mse + 2 rmse");
  EXPECT_EQ(result.best->unit, "");  // m^2 and m
  const CsvTable table = read_csv(folder / "run/metrics.csv");
  double least = INFINITY, step = 0;
  for (const auto& row : table.rows) {
    const double sum = row[static_cast<size_t>(table.column("valid_mse"))] +
                       2 * row[static_cast<size_t>(table.column("valid_rmse"))];
    if (sum < least) {
      least = sum;
      step = row[0];
    }
  }
  EXPECT_EQ(result.best->value, least);
  EXPECT_EQ(static_cast<double>(result.best->step), step);
  const SafetensorsFile file(folder / "run/best/model.safetensors");
  EXPECT_EQ(read_summary(file.header(), file.path()).metric, "mse + 2 rmse");
  recipe.train.best = "rmse";
  EXPECT_EQ(train_small(recipe, folder / "other").best->unit, "m");
}

TEST(BestMetric, IsRefusedBeforeTrainingStarts) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.best = "rmes";
  EXPECT_THROW(train_small(recipe, folder / "run"), ConfigError);
  TrainRequest request;
  request.out = folder / "other";
  request.data = small_data();
  EXPECT_THROW(train(recipe, request), ConfigError);
  EXPECT_FALSE(std::filesystem::exists(folder / "other"));  // not even a folder
  recipe.train.best = "rmse";
  Splits data = small_data();
  data.valid = nullptr;
  EXPECT_THROW(train_small(recipe, folder / "third", data), ConfigError);
}

struct Told {
  double score, loss, lost = 0;  // `lost` results are left out of `score`
};

/// The displacements of small_data, whose validations say what they are told to.
class Scripted : public Task {
 public:
  Scripted(std::shared_ptr<Task> inner, std::vector<Told> script)
      : inner_(std::move(inner)), script_(std::move(script)) {}
  std::string name() const override { return inner_->name(); }
  std::vector<Quantity> labels() const override { return inner_->labels(); }
  Interface interface(const Schema& data) const override { return inner_->interface(data); }
  std::vector<Quantity> predictions(const Interface& model) const override {
    return inner_->predictions(model);
  }
  void fit(const Dataset& train) override { inner_->fit(train); }
  NamedTensors state() const override { return inner_->state(); }
  void load(const NamedTensors& state) override { inner_->load(state); }
  std::vector<Tensor> loss_weights(const Batch& batch, const Interface& model) const override {
    return inner_->loss_weights(batch, model);
  }
  Step step(Model& model, const Batch& batch, const LossShares& shares) const override {
    return inner_->step(model, batch, shares);
  }
  Named predict(Model& model, const Batch& batch) const override { return inner_->predict(model, batch); }
  std::string headline() const override { return "score"; }
  bool lower_is_better() const override { return false; }
  std::string loss_metric() const override { return "loss"; }

  std::unique_ptr<Meter> meter(const Interface&) const override {
    class Says : public Meter {
     public:
      explicit Says(const Scripted& task) : task_(task) {}
      void add(const Batch& batch, const Named&) override { samples_ += batch.count(); }
      void merge(const Meter&) override {}
      void tell(Message&) override {}
      Metrics values() const override {
        if (samples_ == 1) {  // the one that is tried before the first step lacks "rare"
          return {{"score", {0, ""}}, {"loss", {0, ""}}};
        }
        const Told told = task_.script_.at(task_.next_++);
        return {{"score", {told.score, ""}},
                {"loss", {told.loss, ""}},
                {"lost", {told.lost, ""}},
                {"rare", {1, ""}}};
      }
      std::vector<MetricName> names(const Schema&) const override {
        return {{"score", false, "lost"}, {"rare"}, {"loss"}, {"lost"}};
      }

     private:
      const Scripted& task_;
      int64_t samples_ = 0;
    };
    return std::make_unique<Says>(*this);
  }

 private:
  std::shared_ptr<Task> inner_;
  std::vector<Told> script_;
  mutable size_t next_ = 0;
};

struct Watcher : TrainObserver {
  std::vector<int64_t> bests;
  std::vector<std::string> notes;
  void validated(const TrainTick& tick, const Metrics&, bool best) override {
    if (best) {
      bests.push_back(tick.elapsed.step);
    }
  }
  void noted(const std::string& line) override { notes.push_back(line); }
};

TrainResult scripted(const Recipe& recipe, const std::string& run, std::vector<Told> script,
                     Watcher& watcher) {
  Splits data = small_data();
  data.test = nullptr;
  SavedModel saved = small_model(recipe, data);
  saved.task = std::make_unique<Scripted>(std::move(saved.task), std::move(script));
  std::filesystem::create_directories(run);
  return Trainer(std::move(saved), recipe.train, data, run, &watcher).run();
}

TEST(BestMetric, UndefinedIsNeverBestAndTheLossDecidesBetweenEqualOnes) {
  const ScratchFolder folder;
  Watcher watcher;
  Recipe recipe = small_recipe();  // validations after 0.7, 1.4, 2.1, 2.8, 3.5 and 4 epochs of 5 steps
  const TrainResult result = scripted(
      recipe, folder / "run", {{NAN, 0}, {0.5, 3}, {0.5, 2}, {0.5, 2.5}, {NAN, 0.1}, {0.5, NAN}}, watcher);
  const CsvTable table = read_csv(folder / "run/metrics.csv");
  std::vector<int64_t> steps;
  for (const auto& row : table.rows) {
    if (!std::isnan(row[static_cast<size_t>(table.column("valid_rare"))])) {
      steps.push_back(static_cast<int64_t>(row[0]));
    }
  }
  ASSERT_EQ(steps.size(), 6u);  // each has its number of what the first sample lacked
  EXPECT_EQ(watcher.bests, (std::vector<int64_t>{steps[1], steps[2]}));
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.best->metric, "score");
  EXPECT_EQ(result.best->value, 0.5);
  EXPECT_EQ(result.best->step, steps[2]);
  EXPECT_EQ(std::ranges::count_if(watcher.notes,
                                  [](const auto& n) { return n.starts_with("score is not defined"); }),
            1);
  const Resumed resumed = read_checkpoint(folder / "run");
  EXPECT_EQ(resumed.state.best_loss, 2);
  EXPECT_EQ(resumed.state.waited, 4);  // a tie is no improvement
}

TEST(BestMetric, FewerResultsLeftOutComeBeforeAnyValue) {
  const ScratchFolder folder;
  Watcher watcher;
  const TrainResult result =
      scripted(small_recipe(), folder / "run",
               {{0.9, 1, 3}, {0.5, 1, 1}, {0.95, 1, 2}, {0.4, 1, 1}, {0.6, 1, 1}, {0.99, 1, 2}}, watcher);
  EXPECT_EQ(result.best->value, 0.6);
  EXPECT_EQ(watcher.bests.size(), 3u);
  EXPECT_EQ(read_checkpoint(folder / "run").state.best, (Score{0.6, 1}));
}

TEST(BestMetric, PatienceFollowsIt) {
  const ScratchFolder folder;
  Watcher watcher;
  Recipe recipe = small_recipe();
  recipe.train.patience = 2;
  recipe.train.best = "loss";
  const TrainResult result = scripted(
      recipe, folder / "run", {{0.1, 3}, {0.2, 2}, {0.3, 2.5}, {0.4, 2.1}, {0.5, 1}, {0.6, 0.5}}, watcher);
  EXPECT_EQ(result.ending, Ending::patience);
  EXPECT_EQ(result.best->value, 2);
  EXPECT_EQ(result.best->metric, "loss");
  const TrainResult other =
      scripted(small_recipe(), folder / "other",
               {{0.1, 3}, {0.2, 2}, {0.3, 2.5}, {0.4, 2.1}, {0.5, 1}, {0.6, 0.5}}, watcher);
  EXPECT_EQ(other.ending, Ending::finished);
  EXPECT_EQ(other.best->value, 0.6);
}

TEST(BestMetric, WithoutADefinedOneThereIsNoBest) {
  const ScratchFolder folder;
  Watcher watcher;
  const TrainResult result =
      scripted(small_recipe(), folder / "run", std::vector<Told>(6, Told{NAN, 1}), watcher);
  EXPECT_FALSE(result.best.has_value());
  EXPECT_FALSE(std::filesystem::exists(folder / "run/best"));
}

}  // namespace best_metric_test
}  // namespace weyl
