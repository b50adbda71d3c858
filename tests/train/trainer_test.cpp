#include "weyl/train/loop/trainer.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/train/small_training.h"
#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/transformer/options.h"
#include "weyl/models/work.h"
#include "weyl/saved/evaluate.h"
#include "weyl/train/loop/overflow.h"
#include "weyl/train/train.h"

namespace weyl {
namespace trainer_test {

TEST(Trainer, Learns) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.epochs = 40;
  recipe.train.augment = Augmentation::none;
  recipe.train.schedule.name = ScheduleLaw::cosine;
  recipe.model.system.get_if<transformer::Options>()->dropout = 0;
  const TrainResult result = train_small(recipe, folder / "run");
  EXPECT_EQ(result.ending, Ending::finished);
  EXPECT_EQ(result.steps, 40 * 5);  // 9 batches of 8 and 6 graphs, two a step
  const auto table = read_csv(folder / "run/metrics.csv");
  const auto valid = table.column("valid_mse");
  ASSERT_GE(valid, 0);
  double first = NAN;
  for (const auto& row : table.rows) {
    if (std::isnan(first)) first = row[static_cast<size_t>(valid)];
  }
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.best->metric, "mse");
  EXPECT_EQ(result.best->unit, "m^2");
  EXPECT_LT(result.best->value, 0.3 * first);
  ASSERT_TRUE(result.test.has_value());
  EXPECT_LT(result.test->metrics.at("mse").value, 0.5 * first);
  // The best model in the file is the one that was measured.
  const SavedModel best = load_model(folder / "run");
  EXPECT_EQ(evaluate(*best.model, *best.task, small_data().valid, {.batch = 8}).metrics.at("mse").value,
            result.best->value);
}

TEST(Trainer, SameSeedSameBitsOtherSeedOtherBits) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  train_small(recipe, folder / "a");
  train_small(recipe, folder / "b");
  expect_same_bits(folder / "a", folder / "b");
  recipe.train.seed = 6;
  train_small(recipe, folder / "c");
  EXPECT_NE(bits_of(folder / "a").at("metrics.csv"), bits_of(folder / "c").at("metrics.csv"));
}

class Resuming : public testing::TestWithParam<int> {};

TEST_P(Resuming, GivesTheBitsOfARunThatWentThrough) {
  const ScratchFolder folder;
  const Recipe recipe = small_recipe();
  train_small(recipe, folder / "through");
  int parts = 0;
  for (;; ++parts) {
    const auto result = train_small(recipe, folder / "parted", small_data(), nullptr, stop_after(GetParam()));
    if (result.ending != Ending::interrupted) {
      EXPECT_EQ(result.steps, 20);
      break;
    }
    ASSERT_LT(parts, 30);
  }
  EXPECT_EQ(parts, (20 - 1) / GetParam());
  expect_same_bits(folder / "through", folder / "parted");
}
INSTANTIATE_TEST_SUITE_P(AfterSteps, Resuming, testing::Values(1, 3, 7));

TEST(Trainer, ResumingAFinishedRunOnlyReports) {
  const ScratchFolder folder;
  const auto first = train_small(small_recipe(), folder / "run");
  const auto before = bits_of(folder / "run");
  const auto again = train_small(small_recipe(), folder / "run");
  EXPECT_EQ(before, bits_of(folder / "run"));
  EXPECT_EQ(again.steps, first.steps);
  EXPECT_EQ(again.best->value, first.best->value);
  EXPECT_EQ(again.test->metrics.at("mse").value, first.test->metrics.at("mse").value);
}

TEST(Trainer, AccumulationIsOneLargerBatch) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.precision = Precision::float64;
  recipe.train.steps = 3;
  recipe.train.augment = Augmentation::none;
  recipe.train.average.reset();
  recipe.train.schedule = {.name = ScheduleLaw::constant};
  recipe.train.optimiser.epsilon = 0.1;  // or Adam blows rounding up where a gradient is zero
  recipe.model.system.get_if<transformer::Options>()->dropout = 0;
  Splits data = small_data();
  std::vector<int64_t> alike;  // graphs of one size: the loss is a mean over nodes
  for (int64_t i = 0; i < data.train->size(); ++i) {
    if (data.train->tokens(i) == 4) alike.push_back(i);
  }
  data.train = std::make_shared<InMemory>(data.train->batch(alike), data.train->schema());
  data.test.reset();
  recipe.train.batch = 4;
  train_small(recipe, folder / "accumulated", data);
  recipe.train.batch = 8;
  recipe.train.accumulate = 1;
  train_small(recipe, folder / "whole", data);
  const auto a = load_tensors(folder / "accumulated/last/model.safetensors");
  const auto b = load_tensors(folder / "whole/last/model.safetensors");
  const auto start = small_model(recipe, data).model->parameters();
  double error = 0, moved = 0;
  for (const auto& p : start) {
    error = worst_of(error, (a.at(p.name) - b.at(p.name)).abs().max().item<double>());
    moved = worst_of(moved, (a.at(p.name) - p.tensor.detach()).abs().max().item<double>());
  }
  EXPECT_LT(error, 1e-9);
  EXPECT_GT(moved, 1e-4);
}

TEST(Trainer, ABudgetOfNoTimeLeavesAModelAllTheSame) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.epochs.reset();
  recipe.train.max_seconds = 0;
  EXPECT_EQ(train_small(recipe, folder / "run").steps, 0);
  EXPECT_NO_THROW(load_model(folder / "run"));
  // On a busy machine no step may begin in a short time.
  int64_t steps = 0;
  for (double seconds = 0.2; steps == 0; seconds *= 2) {
    recipe.train.max_seconds = seconds;
    steps = train_small(recipe, folder / ("timed" + std::to_string(seconds))).steps;
  }
}

/// The tokens that a run has seen after each of its steps.
struct TokensOfSteps : TrainObserver {
  std::vector<double> flops;
  void stepped(const TrainTick& tick) override { flops.push_back(tick.elapsed.flops); }
};

TEST(Trainer, ABudgetOfFlopsEndsWithTheStepThatReachesIt) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.schedule = {.name = ScheduleLaw::cosine};
  recipe.train.epochs = 2;
  TokensOfSteps whole;
  const TrainResult two = train_small(recipe, folder / "epochs", small_data(), &whole);
  const auto model = small_model(recipe, small_data()).model;
  const double each = model->work_of_token().nominal;
  int64_t tokens = 0;
  for (int64_t sample = 0; sample < small_data().train->size(); ++sample) {
    tokens += small_data().train->tokens(sample);
  }
  EXPECT_EQ(two.tokens, 2 * tokens);
  EXPECT_DOUBLE_EQ(two.nominal_flops, each * 2 * static_cast<double>(tokens));
  const Work work = model->work_of_token();
  EXPECT_DOUBLE_EQ(two.flops, work.training() * 2 * static_cast<double>(tokens));
  EXPECT_LT(work.backward, 2 * work.forward);  // inputs have no derivative
  EXPECT_GT(work.backward, 1.9 * work.forward);

  // A hair more than five steps have: six. The rate follows the budget.
  ASSERT_GT(whole.flops.size(), 6u);
  recipe.train.epochs.reset();
  recipe.train.flops = whole.flops[4] * (1 + 1e-9);
  const TrainResult six = train_small(recipe, folder / "flops");
  EXPECT_EQ(six.steps, 6);
  EXPECT_DOUBLE_EQ(six.nominal_flops, whole.flops[5]);
  recipe.train.flops = whole.flops[4];
  EXPECT_EQ(train_small(recipe, folder / "five").steps, 5);
  const CsvTable metrics = read_csv(folder / "five/metrics.csv");
  const auto rate = static_cast<size_t>(metrics.column("rate"));
  const double used = whole.flops[3] / whole.flops[4];  // before the last step
  EXPECT_NEAR(metrics.rows.back()[rate],
              recipe.train.optimiser.rate * (1 + std::cos(std::acos(-1.0) * used)) / 2, 1e-12);
}

TEST(Trainer, ABudgetOfFlopsGoesOnToTheSameBits) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.epochs.reset();
  recipe.train.flops = 20 * 60 * small_model(recipe, small_data()).model->work_of_token().nominal;
  const TrainResult through = train_small(recipe, folder / "through");
  ASSERT_GT(through.steps, 8);
  for (const int64_t part : {3, 4}) {
    EXPECT_EQ(train_small(recipe, folder / "parts", small_data(), nullptr, stop_after(part)).ending,
              Ending::interrupted);
  }
  const TrainResult parts = train_small(recipe, folder / "parts");
  EXPECT_EQ(parts.tokens, through.tokens);
  EXPECT_EQ(parts.steps, through.steps);
  expect_same_bits(folder / "through", folder / "parts");

  // What versions that did not count wrote is counted on loading.
  std::filesystem::remove_all(folder / "parts");
  train_small(recipe, folder / "parts", small_data(), nullptr, stop_after(7));
  const std::string file = folder / "parts/last/state.safetensors";
  auto metadata = SafetensorsFile(file).header().metadata;
  TrainState state = train_state(metadata.at("state"), file);
  ASSERT_GT(state.epoch, 0);
  ASSERT_GT(state.batch, 0);
  state.tokens.reset();
  metadata["state"] = to_json(state);
  save_tensors(file, load_tensors(file), metadata);
  EXPECT_EQ(train_small(recipe, folder / "parts").tokens, through.tokens);
  expect_same_bits(folder / "through", folder / "parts");
}

TEST(Trainer, EndsWhenPatienceRunsOut) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.epochs = 1000;
  recipe.train.patience = 2;
  recipe.train.optimiser.rate = 0;  // nothing ever improves
  recipe.train.average.reset();
  const auto result = train_small(recipe, folder / "run");
  EXPECT_EQ(result.ending, Ending::patience);
  EXPECT_EQ(read_csv(folder / "run/metrics.csv").rows.back()[0], static_cast<double>(result.steps));
  EXPECT_EQ(train_small(recipe, folder / "run").steps, result.steps);
}

/// What a training says that ends at a step whose loss is not finite, and whether data are at fault. `spoil` changes the
/// training set, to which the task was fitted before.
struct Failure {
  std::string message;
  bool of_data = false;
};
template <class F>
Failure failure(const std::string& run, Recipe recipe, F spoil) {
  Splits data = small_data();
  Batch all = dynamic_cast<const InMemory&>(*data.train).all();
  for (auto& [name, label] : all.labels) {
    label = label.clone();
  }
  spoil(all);
  SavedModel saved = small_model(recipe, data);
  data.train = std::make_shared<InMemory>(all, data.train->schema());
  std::filesystem::create_directories(run);
  Trainer trainer(std::move(saved), recipe.train, data, run);
  try {
    trainer.run();
  } catch (const DataError& e) {
    return {e.what(), true};
  } catch (const Error& e) {
    return {e.what(), false};
  }
  return {};
}

/// The sample that has a node.
int64_t sample_of(int64_t node) {
  const Splits data = small_data();
  const Batch& all = dynamic_cast<const InMemory&>(*data.train).all();
  return std::get<Points>(all.input).graphs.index[node].item<int64_t>();
}

TEST(Trainer, StopsAtALossThatIsNotFiniteAndSavesTheStateBefore) {
  const ScratchFolder folder;
  const auto [message, of_data] = failure(folder / "run", small_recipe(), [](Batch& all) {
    all.labels["displacement"][7] = 1e300;  // finite, but not its square
  });
  EXPECT_NE(message.find("loss and gradient must be finite, got inf"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_TRUE(of_data);
  EXPECT_NE(message.find(text("one sample is at fault: sample ", sample_of(7),
                              " alone gives a loss of inf, with displacement of up to 1e+300")),
            std::string::npos)
      << message;
  EXPECT_EQ(message.find("rate"), std::string::npos) << message;
  const auto resumed = read_checkpoint(folder / "run");
  EXPECT_LT(resumed.state.step, 5);
  for (const auto& [name, t] : resumed.weights) {
    EXPECT_TRUE(at::isfinite(t).all().item<bool>()) << name;
  }
}

TEST(Trainer, NamesAllSamplesThatOverflow) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.batch = 70;  // all in one step
  const auto [message, of_data] = failure(folder / "run", recipe, [](Batch& all) {
    all.labels["displacement"][7] = 1e300;
    all.labels["displacement"][100] = -1e300;
  });
  EXPECT_TRUE(of_data);
  EXPECT_NE(message.find("2 samples are at fault: sample "), std::string::npos) << message;
  for (const int64_t node : {7, 100}) {
    EXPECT_NE(message.find(text("sample ", sample_of(node), " alone")), std::string::npos) << message;
  }
}

TEST(Trainer, SpeaksOfTheRateWhereTheWeightsDiverge) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.optimiser.rate = 1e35;
  recipe.train.schedule.warmup = 0;
  recipe.train.average.reset();
  const auto [message, of_data] = failure(folder / "run", recipe, [](Batch&) {});
  EXPECT_FALSE(of_data);
  EXPECT_NE(message.find("loss and gradient must be finite"), std::string::npos) << message;
  EXPECT_NE(message.find("the weights have diverged: a smaller train.optimiser.rate"), std::string::npos)
      << message;
  EXPECT_EQ(message.find("sample"), std::string::npos) << message;
}

/// What is said of a step one of whose samples has a feature that is not a number, though its label is like the others'.
/// The weights are `wild` times normal numbers; 0: as they are drawn.
Overflow explained(bool learned, double wild) {
  const Recipe recipe = small_recipe();
  const Splits data = small_data();
  Batch all = dynamic_cast<const InMemory&>(*data.train).all();
  auto& points = std::get<Points>(all.input);
  points.vectors = points.vectors.clone();
  points.vectors[points.graphs.offsets[1]].fill_(NAN);  // of sample 1
  const InMemory spoilt(all, data.train->schema());
  const SavedModel saved = small_model(recipe, data);
  if (wild > 0) {
    const at::NoGradGuard no_grad;
    for (const Parameter& p : saved.model->parameters()) {
      p.tensor.copy_(at::randn_like(p.tensor) * wild);
    }
  }
  const std::vector<int64_t> samples{0, 1, 2, 3}, others{10, 20, 30, 40};
  const FailedStep step{.data = &spoilt,
                        .samples = samples,
                        .others = others,
                        .alone =
                            [&](int64_t sample) {
                              Batch batch = spoilt.batch({&sample, 1});
                              batch.input = to(batch.input, at::kCPU, at::kFloat);
                              return batch;
                            },
                        .learned = learned};
  return explain_overflow(*saved.model, *saved.task, step, recipe.train);
}

// A rate that is too high lets one sample overflow before the others.
TEST(Trainer, BlamesNoSampleThatWeightsFailFirst) {
  const Overflow at_first = explained(false, 0);
  EXPECT_TRUE(at_first.of_samples) << at_first.why;
  EXPECT_NE(at_first.why.find("one sample is at fault: sample 1 alone"), std::string::npos) << at_first.why;
  for (const Overflow& later : {explained(true, 0), explained(false, 30)}) {
    EXPECT_FALSE(later.of_samples) << later.why;
    EXPECT_NE(later.why.find("the weights have diverged"), std::string::npos) << later.why;
  }
}

TEST(Trainer, RefusesWhatCannotRun) {
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.precision = Precision::bf16;
  EXPECT_THROW(train_small(recipe, folder / "run"), ConfigError);
  recipe = small_recipe();
  recipe.train.epochs.reset();
  EXPECT_THROW(train_small(recipe, folder / "run"), ConfigError);
}

TEST(Trainer, TellsItsObserver) {
  struct Log : TrainObserver {
    int64_t steps = 0, validations = 0, bests = 0, saves = 0;
    double fraction = 0;
    void stepped(const TrainTick& t) override {
      ++steps;
      fraction = t.fraction;
      EXPECT_EQ(t.elapsed.step, steps);
    }
    void validated(const TrainTick&, const Metrics& m, bool best) override {
      ++validations;
      bests += best ? 1 : 0;
      EXPECT_EQ(m.count("mse"), 1u);
    }
    void saved(const std::string&, int64_t) override { ++saves; }
  } log;
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.save_every_steps = 5;
  train_small(recipe, folder / "run", small_data(), &log);
  EXPECT_EQ(log.steps, 20);
  EXPECT_EQ(log.fraction, 1);
  EXPECT_EQ(log.validations, 6);  // 0.7, 1.4, 2.1, 2.8, 3.5 and the end
  EXPECT_GE(log.bests, 1);
  EXPECT_EQ(log.saves, 5);  // before the first step, after 5, 10, 15 and 20
  const auto times = read_csv(folder / "run/timing.csv");
  EXPECT_GT(times.rows.back()[1], 0);
}

TEST(Evaluate, DoesNotDependOnBatching) {
  const Recipe recipe = small_recipe();
  const Splits data = small_data();
  const SavedModel saved = small_model(recipe, data);
  const auto one = evaluate(*saved.model, *saved.task, data.valid, {.batch = 1});
  const auto all = evaluate(*saved.model, *saved.task, data.valid, {.batch = 1000});
  EXPECT_EQ(one.samples, 20);
  EXPECT_NEAR(one.metrics.at("mse").value, all.metrics.at("mse").value, 1e-6);
  EXPECT_TRUE(saved.model->training());
  int64_t asked = 0;
  const auto part =
      evaluate(*saved.model, *saved.task, data.valid, {.batch = 4, .stop = [&] { return ++asked == 2; }});
  EXPECT_TRUE(part.stopped);
  EXPECT_EQ(part.samples, 8);
}

TEST(Evaluate, CountsLabelsAndRefusesAbsentOnes) {
  const Splits data = small_data();
  const auto task = make_task({});
  const auto& set = dynamic_cast<const InMemory&>(*data.train);
  const int64_t nodes = set.all().tokens();
  EXPECT_EQ(count_labels(*task, set).at(0).label.name, "displacement");
  EXPECT_EQ(count_labels(*task, set).at(0).known, nodes);
  Batch holes = set.all();
  holes.labels["displacement"] = holes.labels["displacement"].clone();
  holes.labels["displacement"][3][0][1] = NAN;
  EXPECT_EQ(count_labels(*task, InMemory(holes, set.schema())).at(0).known, nodes - 1);
  EXPECT_EQ(count_labels(*task, InMemory(holes, set.schema())).at(0).all, nodes);
  holes.labels["displacement"].fill_(NAN);
  EXPECT_THROW(count_labels(*task, InMemory(holes, set.schema())), ConfigError);
  Schema schema = set.schema();
  schema.labels.clear();
  holes.labels.clear();
  EXPECT_THROW(count_labels(*task, InMemory(holes, schema)), DataError);
}

}  // namespace trainer_test
}  // namespace weyl
