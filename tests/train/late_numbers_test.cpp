// Trainings on a device read loss and norm of a step one step late. Here the CPU does the same.
#include "weyl/train/loop/late_numbers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/train/small_training.h"
#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/steerable/options.h"
#include "weyl/train/loop/loading.h"

namespace weyl {
namespace late_numbers_test {

TEST(LateNumbers, AreThoseOfTheTensors) {
  const auto number = [](double x) { return at::full({}, x, at::kDouble); };
  const LateNumbers sound(number(2.5), number(1e200));
  EXPECT_EQ(sound.read().loss, 2.5);
  EXPECT_EQ(sound.read().norm, 1e200);
  EXPECT_TRUE(sound.read().finite());
  EXPECT_EQ(sound.found_inf().scalar_type(), at::kFloat);
  EXPECT_EQ(sound.found_inf().item<float>(), 0);
  for (const auto& [loss, norm] : {std::pair{NAN, 1.0}, {1.0, -INFINITY}, {INFINITY, NAN}}) {
    const LateNumbers faulty(number(loss), number(norm));
    EXPECT_FALSE(faulty.read().finite());
    EXPECT_EQ(faulty.found_inf().item<float>(), 1);
    EXPECT_TRUE(faulty.may_be_finite());  // for all that the host knows
    EXPECT_FALSE(LateNumbers({loss, norm}).may_be_finite());
  }
  EXPECT_FALSE(LateNumbers({1, 2}).found_inf().defined());
  EXPECT_EQ(LateNumbers({1, 2}).read().norm, 2);
}

struct Heard : TrainObserver {
  void stepped(const TrainTick& tick) override {
    steps.push_back(tick.elapsed.step);
    losses.push_back(tick.loss);
  }
  std::vector<int64_t> steps;
  std::vector<double> losses;
};

TEST(LateNumbers, GiveTheBitsOfATrainingThatReadsThemAtOnce) {
  const ScratchFolder folder;
  Heard at_once, late;
  train_small(small_recipe(), folder / "at once", small_data(), &at_once);
  const ReadLate reading_late;
  train_small(small_recipe(), folder / "late", small_data(), &late);
  expect_same_bits(folder / "at once", folder / "late");
  EXPECT_EQ(at_once.steps, late.steps);
  EXPECT_EQ(at_once.losses, late.losses);
}

TEST(LateNumbers, AreReadWhenTheNextStepIsQueued) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.epochs = 1;
  recipe.train.evaluate_every = 1;
  recipe.train.log_every_steps = 3;
  // How many steps were heard of when the training asks, before each of five steps, whether to stop.
  const auto heard = [&](const std::string& run) {
    Heard log;
    std::vector<size_t> before;
    train_small(recipe, run, small_data(), &log, [&] {
      before.push_back(log.steps.size());
      return false;
    });
    return before;
  };
  EXPECT_EQ(heard(folder / "at once"), (std::vector<size_t>{0, 1, 2, 3, 4}));
  const ReadLate reading_late;
  EXPECT_EQ(heard(folder / "late"),
            (std::vector<size_t>{0, 0, 1, 3, 3}));  // a row of metrics.csv after the third
}

TEST(LateNumbers, GoOnFromWhereARunWasStopped) {
  const ScratchFolder folder;
  train_small(small_recipe(), folder / "through");
  const ReadLate reading_late;
  for (int parts = 0;
       train_small(small_recipe(), folder / "parted", small_data(), nullptr, stop_after(4)).ending ==
       Ending::interrupted;
       ++parts) {
    ASSERT_LT(parts, 10);
  }
  expect_same_bits(folder / "through", folder / "parted");
}

/// What a training says that ends at a step that is not finite; `spoil` changes the training set, to which the task was
/// fitted before.
template <class F>
std::string refusal(const std::string& run, const Recipe& recipe, Splits data, F spoil) {
  SavedModel saved = small_model(recipe, data);
  Batch all = dynamic_cast<const InMemory&>(*data.train).all();
  for (auto& [name, label] : all.labels) {
    label = label.clone();
  }
  spoil(all);
  data.train = std::make_shared<InMemory>(all, data.train->schema());
  std::filesystem::create_directories(run);
  Trainer trainer(std::move(saved), recipe.train, data, run);
  try {
    trainer.run();
  } catch (const Error& e) {
    const std::string message = e.what();
    return message.substr(0, message.find("the state before the step is saved in"));
  }
  return "";
}

/// The same refusal and the same checkpoint, at once and late; the step that was refused.
template <class F>
int64_t expect_same_refusal(const ScratchFolder& folder, const std::string& name, const Recipe& recipe,
                            const Splits& data, F spoil) {
  const std::string at_once = folder / (name + " at once"), late = folder / (name + " late");
  const std::string message = refusal(at_once, recipe, data, spoil);
  EXPECT_NE(message.find("loss and gradient must be finite"), std::string::npos) << message;
  {
    const ReadLate reading_late;
    EXPECT_EQ(refusal(late, recipe, data, spoil), message);
  }
  for (const char* file : {"/last/model.safetensors", "/last/state.safetensors", "/metrics.csv"}) {
    EXPECT_TRUE(read_if_there(at_once + file) == read_if_there(late + file)) << name << file;
  }
  for (const auto& [parameter, t] : read_checkpoint(late).weights) {
    EXPECT_TRUE(at::isfinite(t).all().item().toBool()) << parameter;
  }
  return read_checkpoint(late).state.step + 1;
}

TEST(LateNumbers, RefuseTheStepThatIsNotFiniteAndSaveTheStateBefore) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.log_every_steps = 100;  // no number is asked for before its time
  recipe.train.evaluate_every = 2;
  std::set<int64_t> steps;
  for (const int64_t node : {7, 60, 120, 200, 250}) {
    steps.insert(expect_same_refusal(folder, text("node ", node), recipe, small_data(), [&](Batch& all) {
      all.labels["displacement"][node] = node == 120 ? 1e300 : NAN;  // finite, but not its square
    }));
  }
  EXPECT_TRUE(steps.contains(5)) << "the last step of an epoch";
  EXPECT_GT(steps.size(), 2u);
}

TEST(LateNumbers, AStepOfLambThatIsNotFiniteChangesNothing) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.optimiser.name = OptimiserLaw::lamb;
  recipe.train.log_every_steps = 100;
  const auto spoil = [](Batch& all) { all.labels["displacement"][60] = NAN; };
  const std::string message = refusal(folder / "at once", recipe, small_data(), spoil);
  const ReadLate reading_late;
  const std::string late = refusal(folder / "late", recipe, small_data(), spoil);
  EXPECT_EQ(late.substr(late.find("at step")), message.substr(message.find("at step")));
  const Resumed a = read_checkpoint(folder / "at once"), b = read_checkpoint(folder / "late");
  ASSERT_GT(a.state.step, 0);
  for (const auto& [name, t] : a.weights) {
    EXPECT_LT((t - b.weights.at(name)).abs().max().item<double>(), 1e-5) << name;
  }
  for (const auto& [name, t] : a.optimiser) {
    if (name.starts_with("steps.")) {
      EXPECT_TRUE(at::equal(t, b.optimiser.at(name))) << name;
    }
  }
}

/// Noisy images of two classes.
std::shared_ptr<const Dataset> images(int64_t samples, uint64_t seed) {
  Stream stream(seed, "images");
  Tensor values = normal_tensor({samples, 1, 12, 12}, stream);
  const Tensor classes = at::arange(samples, at::kLong).remainder(2).unsqueeze(1);
  values = values + classes.unsqueeze(2).unsqueeze(3);
  Schema schema;
  schema.interface.grid = true;
  schema.interface.dimension = 2;
  schema.interface.typical_nodes = 144;
  schema.interface.features = {{.name = "intensity"}};
  schema.labels = {{.name = "class", .level = Level::graph, .kind = Kind::category, .categories = 2}};
  return std::make_shared<InMemory>(Batch{Grid{values}, {{"class", classes}}}, schema);
}

Recipe recipe_of_images() {
  Recipe recipe;
  steerable::Options model;
  model.orders = 2;
  model.stages = {{.middle = 0, .channels = 4, .kernel = 3, .pool = 2}};
  model.norm = steerable::NormLaw::batch;
  model.encoder.depth = 1;
  model.encoder.heads = 2;
  recipe.model.system = model;
  recipe.task.task = ClassificationOptions{};
  recipe.train.epochs = 3;
  recipe.train.batch = 4;
  recipe.train.average = 0.9;
  recipe.train.save_every_seconds = 1e9;
  recipe.train.log_every_steps = 100;
  return recipe;
}

TEST(LateNumbers, RunningStatisticsStayThoseBeforeTheRefusedStep) {
  const ScratchFolder folder;
  const Recipe recipe = recipe_of_images();
  const Splits data{images(24, 1), images(8, 2), {}};
  int64_t still = 0;
  const SavedModel saved = small_model(recipe, data);
  for (const Parameter& p : saved.model->parameters()) {
    still += p.trainable ? 0 : 1;
  }
  ASSERT_GT(still, 0);
  // Of training that goes through, and of one whose step spoils the statistics too.
  train_small(recipe, folder / "at once", data);
  {
    const ReadLate reading_late;
    train_small(recipe, folder / "late", data);
  }
  expect_same_bits(folder / "at once", folder / "late");
  std::set<int64_t> steps;
  for (const int64_t sample : {1, 8, 15, 20}) {
    steps.insert(expect_same_refusal(folder, text("sample ", sample), recipe, data, [&](Batch& all) {
      auto& values = std::get<Grid>(all.input).values;
      values = values.clone();
      values[sample][0][3] = NAN;
    }));
  }
  EXPECT_GT(*steps.rbegin(), 1);
}

// The step after cannot be computed at all.
TEST(LateNumbers, RefuseTheStepBeforeOneOfTheWrongShape) {
  const ScratchFolder folder;
  const Recipe recipe = recipe_of_images();
  const Splits data{images(24, 1), images(8, 2), {}};
  const SavedModel saved = small_model(recipe, data);
  const auto plan =
      Loader(data.train, loader_options(recipe.train, *saved.model), static_cast<uint64_t>(recipe.train.seed))
          .plan(0)
          .all();
  // Samples 0, 3, 6, ... are tried for comparison where a step is refused.
  const auto wrong = std::ranges::find_if(plan[2], [](int64_t sample) { return sample % 3 != 0; });
  ASSERT_NE(wrong, plan[2].end());
  const int64_t step = expect_same_refusal(folder, "then wrong", recipe, data, [&](Batch& all) {
    auto& values = std::get<Grid>(all.input).values;
    values = values.clone();
    values[plan[1][0]][0][3] = NAN;
    all.labels["class"][*wrong] = 2;
  });
  EXPECT_EQ(step, 2);
}

}  // namespace late_numbers_test
}  // namespace weyl
