#include "weyl/tasks/classification.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/data/folder.h"
#include "tests/toy_grid.h"
#include "weyl/carriers/dataset.h"
#include "weyl/core/check.h"
#include "weyl/saved/evaluate.h"
#include "weyl/tasks/classes.h"

namespace weyl {
namespace classification_test {

/// Says what it is told.
class Says : public GridModel {
 public:
  Says(Interface interface, Tensor logits) : GridModel(std::move(interface)), logits_(std::move(logits)) {
    const BuildOn wide(at::kCPU, at::kDouble);
    parameter("none", {1}, Init::zeros());
  }
  Named forward(const Grid&) override { return {{"logits", logits_}}; }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }

 private:
  Tensor logits_;
};

Tensor longs(std::vector<int64_t> values) {
  const auto n = static_cast<int64_t>(values.size());
  return at::tensor(values, at::kLong).view({n, 1});
}

Batch images(int64_t count, std::vector<int64_t> classes, int64_t size = 4) {
  at::manual_seed(3);
  return {Grid{at::randn({count, 1, size, size}, at::kDouble)}, {{"class", longs(std::move(classes))}}};
}

TEST(Classification, AsksForAsManyLogitsAsThereAreCategories) {
  const Interface interface = Classification({}).interface(toy_schema(2, 1, "class", 7));
  ASSERT_EQ(interface.outputs.size(), 1U);
  EXPECT_EQ(interface.outputs[0].name, "logits");
  EXPECT_EQ(interface.outputs[0].level, Level::graph);
  EXPECT_EQ(interface.outputs[0].channels, 7);
  EXPECT_THROW(Classification({}).interface(toy_schema(2, 1, "class", 1)), ConfigError);
  EXPECT_THROW(Classification({}).interface(toy_schema(2, 1, "mask", 4)), ConfigError);
}

/// Samples of `cells` tokens of two classes; remembers the largest batch asked for.
class Large : public Dataset {
 public:
  explicit Large(int64_t cells) : cells_(cells), schema_(toy_schema(3, 1, "class", 2)) {}
  int64_t size() const override { return 600; }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t) const override { return cells_; }
  std::string source(int64_t) const override { return {}; }
  Batch batch(std::span<const int64_t> indices) const override {
    const auto count = static_cast<int64_t>(indices.size());
    largest = std::max(largest, count);
    seen += count;
    const Tensor classes = at::tensor(std::vector<int64_t>(indices.begin(), indices.end()), at::kLong);
    return {Grid{at::zeros({count, 1, 1, 1, 1})}, {{"class", (classes < 150).to(at::kLong).view({-1, 1})}}};
  }
  mutable int64_t largest = 0, seen = 0;

 private:
  int64_t cells_;
  Schema schema_;
};

TEST(Classification, CountsClassesOfLargeSamplesFewAtATime) {
  for (const auto& [cells, most] : {std::pair<int64_t, int64_t>{1, 256}, {1 << 18, 4}, {1 << 24, 1}}) {
    const Large data(cells);
    Classification task({});
    task.fit(data);
    EXPECT_EQ(data.largest, most);
    EXPECT_EQ(data.seen, 600);
    EXPECT_NEAR(task.state().at("frequencies")[1].item<double>(), 0.25, 1e-12);
  }
}

TEST(Classification, LossAndMetricsAreThoseOfHandComputedProbabilities) {
  const Classification task({.names = {"a", "b", "c"}});
  const Tensor p = at::tensor({0.5, 0.25, 0.25, 0.1, 0.8, 0.1, 0.2, 0.7, 0.1, 0.1, 0.1, 0.8}, at::kDouble);
  Says model(task.interface(toy_schema(2, 1, "class", 3)), p.view({4, 3}).log() + 5);
  const Batch batch = images(4, {0, 1, 2, 2});
  model.train(true);
  const Step step = task.step(model, batch);
  EXPECT_TRUE(step.predictions.empty());
  const double expected = -(std::log(0.5) + std::log(0.8) + std::log(0.1) + std::log(0.8)) / 4;
  EXPECT_NEAR(step.loss.item<double>(), expected, 1e-12);
  const auto meter = task.meter(model.interface);
  const Named predictions = task.predict(model, batch);
  EXPECT_TRUE(predictions.at("class").equal(longs({0, 1, 1, 2})));
  EXPECT_LT((predictions.at("probabilities") - p.view({4, 3})).abs().max().item<double>(), 1e-12);
  meter->add(batch, predictions);
  const Metrics metrics = meter->values();
  EXPECT_DOUBLE_EQ(metrics.at("accuracy").value, 0.75);
  EXPECT_DOUBLE_EQ(metrics.at("accuracy_a").value, 1);
  EXPECT_DOUBLE_EQ(metrics.at("accuracy_c").value, 0.5);
  EXPECT_NEAR(metrics.at("balanced_accuracy").value, 2.5 / 3, 1e-12);
  EXPECT_NEAR(metrics.at("cross_entropy").value, expected, 1e-12);
  const Confusion confusion = meter->confusion().value();
  EXPECT_EQ(confusion.classes, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(confusion.counts, (std::vector<int64_t>{1, 0, 0, 0, 1, 0, 0, 1, 1}));
  EXPECT_FALSE(task.lower_is_better());
}

TEST(Classification, SmoothingAndWeightsEnterTheLoss) {
  const Tensor p = at::tensor({0.5, 0.3, 0.2, 0.2, 0.2, 0.6}, at::kDouble).view({2, 3});
  const Batch batch = images(2, {0, 1});
  const auto loss = [&](const ClassificationOptions& options) {
    const Classification task(options);
    Says model(task.interface(toy_schema(2, 1, "class", 3)), p.log());
    model.train(true);
    return task.step(model, batch).loss.item<double>();
  };
  const auto smooth = [](double right, double a, double b) {
    const double e = 0.3;
    return -(1 - e) * std::log(right) - e / 3 * (std::log(right) + std::log(a) + std::log(b));
  };
  EXPECT_NEAR(loss({.label_smoothing = 0.3}), (smooth(0.5, 0.3, 0.2) + smooth(0.2, 0.2, 0.6)) / 2, 1e-12);
  EXPECT_NEAR(loss({.class_weights = {1, 3, 1}}), -(std::log(0.5) + 3 * std::log(0.2)) / 4, 1e-12);
  EXPECT_THROW(loss({.class_weights = {1, 3}}), ConfigError);
  EXPECT_THROW(loss({.class_weights = {0, 0, 0}}), ConfigError);
  EXPECT_EQ(loss({.class_weights = {0, 0, 1}}), 0);  // no sample of a class that counts
  EXPECT_EQ(loss({.label_smoothing = 0.3, .class_weights = {0, 0, 1}}), 0);
  EXPECT_THROW(loss({.names = {"a", "a", "b"}}), ConfigError);
}

TEST(Classification, SharesOfClassesAndTheBinaryLossAreTheirDefinitions) {
  const Tensor logits = at::tensor({0.5, -0.3, 1.2, 0.2, 0.7, -0.6}, at::kDouble).view({2, 3});
  const Tensor log_p = logits.log_softmax(1),
               shares = at::tensor({0.7, 0.3, 0., 0., 0.1, 0.9}, at::kDouble).view({2, 3});
  Batch mixed = images(2, {0, 1});
  mixed.labels["class"] = shares;
  const auto loss = [&](const ClassificationOptions& options, const Batch& batch) {
    const Classification task(options);
    Says model(task.interface(toy_schema(2, 1, "class", 3)), logits);
    model.train(true);
    return task.step(model, batch).loss.item<double>();
  };
  EXPECT_NEAR(loss({}, mixed), -(shares * log_p).sum().item<double>() / 2, 1e-12);
  const Tensor weights = at::tensor({1., 3., 2.}, at::kDouble);
  EXPECT_NEAR(loss({.class_weights = {1, 3, 2}}, mixed),
              -((shares * weights * log_p).sum() / (shares * weights).sum()).item<double>(), 1e-12);
  const auto binary = [&](const Tensor& target) {
    return -(target * logits.sigmoid().log() + (1 - target) * (1 - logits.sigmoid()).log())
                .mean()
                .item<double>();
  };
  EXPECT_NEAR(loss({.loss = ClassLoss::binary}, mixed), binary(shares), 1e-12);
  const Tensor one_hot = at::tensor({1., 0., 0., 0., 1., 0.}, at::kDouble).view({2, 3});
  EXPECT_NEAR(loss({.loss = ClassLoss::binary}, images(2, {0, 1})), binary(one_hot), 1e-12);
  EXPECT_NEAR(loss({.loss = ClassLoss::binary, .label_smoothing = 0.3}, images(2, {0, 1})),
              binary(0.7 * one_hot + 0.1), 1e-12);
  EXPECT_GT(std::abs(loss({.loss = ClassLoss::binary}, mixed) - loss({}, mixed)), 0.1);
  mixed.labels["class"] = shares.slice(1, 0, 2);
  EXPECT_THROW(loss({}, mixed), ShapeError);
}

TEST(Classification, ALabelOutsideTheClassesIsRefused) {
  const Classification task({});
  Says model(task.interface(toy_schema(2, 1, "class", 3)), at::zeros({2, 3}, at::kDouble));
  EXPECT_THROW(task.step(model, images(2, {0, 3})), ShapeError);
  EXPECT_THROW(task.step(model, images(2, {-1, 0})), ShapeError);
  for (const auto& classes : {std::vector<int64_t>{0, 3}, {-1, 0}}) {
    Batch batch = images(2, classes);
    EXPECT_THROW(task.prepare(batch, model.interface), ShapeError);
  }
  Batch batch = images(2, {0, 2});
  EXPECT_NO_THROW(task.prepare(batch, model.interface));
}

// A tensor without values stands for one on a device: whoever looks at its values fails.
TEST(Classification, OnlyLabelsOfPreparedBatchesAreNotLookedAtOnADevice) {
  const auto meta = at::TensorOptions(at::kMeta);
  Batch batch{Grid{at::empty({2, 1, 4, 4}, meta)}, {{"class", at::empty({2, 1}, meta.dtype(at::kLong))}}};
  const Tensor like = at::empty({2, 3}, meta);
  EXPECT_NO_THROW(target_of(batch, "class", like, "classification", /*prepared=*/true));
  EXPECT_ANY_THROW(target_of(batch, "class", like, "classification"));
  batch.labels["class"] = longs({0, 3});
  EXPECT_THROW(target_of(batch, "class", like, "classification", /*prepared=*/true), ShapeError);
}

TEST(Classification, TestTimeTurnsMakeAnyModelInvariant) {
  for (const int64_t dimension : {2, 3}) {
    const Schema schema = toy_schema(dimension, 1, "class", 3);
    const GroupPtr group = named_group(dimension == 2 ? "cyclic_4" : "octahedron");
    const BuildOn wide(at::kCPU, at::kDouble);
    at::manual_seed(2);
    std::vector<int64_t> shape{4, 1};
    shape.insert(shape.end(), dimension, 6);
    const Batch batch{Grid{at::randn(shape, at::kDouble)}, {}};
    const auto error = [&](int64_t count) {
      const Classification task({.test_time_rotations = {.count = count}});
      ToyGrid model(task.interface(schema), group, true);
      Tensor matrices = at::empty({4, dimension, dimension}, at::kDouble);
      for (int64_t b = 0; b < 4; ++b) {
        const auto g = group->element((5 * b + 1) % group->order());
        std::copy(g.begin(), g.end(), matrices.data_ptr<double>() + b * dimension * dimension);
      }
      Schema inputs = schema;
      inputs.labels.clear();
      const Batch moved = transform(batch, {matrices, {}}, inputs);
      const Tensor p = task.predict(model, batch).at("probabilities");
      EXPECT_LT((p.sum(1) - 1).abs().max().item<double>(), 1e-12);
      return (task.predict(model, moved).at("probabilities") - p).abs().max().item<double>();
    };
    EXPECT_GT(error(1), 1e-4);
    EXPECT_LT(error(dimension == 2 ? 4 : 24), 1e-12);
  }
}

TEST(Classification, AGridTurnsByQuarterTurnsAlonePointsByAnyNumber) {
  const ClassificationOptions twelve{.test_time_rotations = {.count = 12}};
  Schema schema = toy_schema(3, 1, "class", 3);
  EXPECT_NO_THROW(
      Classification(twelve).interface(schema));  // where the set makes volumes anew: AveragesOverPlacements
  const ClassificationOptions drawn{.test_time_rotations = {.count = 12, .random = true}};
  EXPECT_THROW(Classification(drawn).interface(schema), ConfigError);
  EXPECT_THROW(Classification(twelve).interface(toy_schema(2, 1, "class", 3)), ConfigError);
  schema.interface.grid = false;
  EXPECT_NO_THROW(Classification(twelve).interface(schema));
  schema = toy_schema(2, 1, "class", 3);
  EXPECT_THROW(Classification({.test_time_rotations = {.count = 24}}).interface(schema), ConfigError);
}

TEST(Classification, TheBaselineIsTheMostFrequentClassOfTheTrainingSet) {
  const Schema schema = toy_schema(2, 1, "class", 3);
  const InMemory train(images(4, {0, 1, 1, 2}), schema), test(images(2, {1, 0}), schema);
  Classification task({});
  EXPECT_TRUE(task.baselines(test).empty());
  task.fit(train);
  Classification loaded({});
  loaded.load(task.state());
  const auto baselines = loaded.baselines(test);
  ASSERT_EQ(baselines.size(), 1U);
  EXPECT_DOUBLE_EQ(baselines[0].second.at("accuracy").value, 0.5);
  EXPECT_NEAR(baselines[0].second.at("cross_entropy").value, -(std::log(0.5) + std::log(0.25)) / 2, 1e-12);
}

/// Volumes of one cell that say how they were turned: the first number of the rotation.
class Turned : public Dataset {
 public:
  explicit Turned(bool anew) : anew_(anew), schema_(toy_schema(3, 1, "class", 2)) {}
  int64_t size() const override { return 5; }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t) const override { return 1; }
  Batch batch(std::span<const int64_t> indices) const override {
    return *made(indices, std::vector<Placement>(indices.size()));
  }
  std::optional<Batch> made_anew(std::span<const int64_t> indices,
                                 std::span<const Placement> by) const override {
    return anew_ ? made(indices, by) : std::nullopt;
  }

 private:
  std::optional<Batch> made(std::span<const int64_t> indices, std::span<const Placement> by) const {
    Tensor values = at::zeros({std::ssize(indices), 1, 1, 1, 1}, at::kDouble);
    for (size_t k = 0; k < by.size(); ++k) {
      values.data_ptr<double>()[k] = by[k].rotation[0];
    }
    return Batch{Grid{values}, {{"class", at::zeros({std::ssize(indices), 1}, at::kLong)}}};
  }
  bool anew_;
  Schema schema_;
};

/// Class 0 wherever the cell is above -0.1.
class Reads : public GridModel {
 public:
  explicit Reads(Interface interface) : GridModel(std::move(interface)) {
    const BuildOn wide(at::kCPU, at::kDouble);
    parameter("none", {1}, Init::zeros());
  }
  Named forward(const Grid& grid) override {
    const Tensor x = grid.values.view({-1, 1}) + 0.1;
    return {{"logits", at::cat({x, at::zeros_like(x)}, 1)}};
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }
};

TEST(Classification, AveragesOverPlacements) {
  const auto data = std::make_shared<Turned>(true);
  Classification task({.test_time_rotations = {.count = 12}});
  Reads model(task.interface(data->schema()));
  task.fit(*data);
  double p = 0;
  for (int k = 0; k < 12; ++k) {
    p += 1 / (1 + std::exp(-std::cos(k * std::numbers::pi / 6) - 0.1)) / 12;
  }
  std::vector<int64_t> done;
  const Evaluation found =
      evaluate(model, task, data, {.batch = 2, .progress = [&](int64_t n) { done.push_back(n); }});
  EXPECT_EQ(found.samples, 5);
  EXPECT_NEAR(found.metrics.at("cross_entropy").value, -std::log(p), 1e-12);
  EXPECT_EQ(found.metrics.at("accuracy").value, 1);
  EXPECT_NEAR(found.metrics.at("accuracy_one_rotation").value, 7.0 / 12, 1e-12);
  EXPECT_TRUE(std::ranges::is_sorted(done));
  EXPECT_EQ(done.back(), 5);
  // A set of volumes as they are is refused before training and in evaluation; exact turns need no set.
  EXPECT_THROW(task.fit(Turned(false)), ConfigError);
  EXPECT_THROW(evaluate(model, task, std::make_shared<Turned>(false)), DataError);
  Classification exact({.test_time_rotations = {.count = 4}});
  exact.fit(Turned(false));
  EXPECT_FALSE(evaluate(model, exact, data).metrics.contains("accuracy_one_rotation"));
  EXPECT_THROW(Classification({.test_time_rotations = {.count = 3}}).interface(toy_schema(2, 1, "class", 2)),
               ConfigError);
}

/// Volumes of one cell whose number follows from the sample and from all of the rotation, not of the first column alone; notes
/// the order in which it makes them. A sample `without` a class is refused by the meter.
class Solids : public Dataset {
 public:
  explicit Solids(int64_t without = -1) : without_(without), schema_(toy_schema(3, 1, "class", 2)) {}
  int64_t size() const override { return 5; }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t) const override { return 1; }
  Batch batch(std::span<const int64_t> indices) const override {
    return *made_anew(indices, std::vector<Placement>(indices.size()));
  }
  std::optional<Batch> made_anew(std::span<const int64_t> indices,
                                 std::span<const Placement> by) const override {
    Tensor values = at::zeros({std::ssize(indices), 1, 1, 1, 1}, at::kDouble);
    Tensor classes = at::zeros({std::ssize(indices), 1}, at::kLong);
    for (size_t k = 0; k < by.size(); ++k) {
      const auto i = static_cast<double>(indices[k]);
      values.data_ptr<double>()[k] = 0.3 * i - 0.7 + by[k].rotation[0] + i * by[k].rotation[1];
      classes.data_ptr<int64_t>()[k] = indices[k] == without_ ? 2 : indices[k] % 2;
      order.push_back(indices[k]);
    }
    return Batch{Grid{values}, {{"class", classes}}};
  }
  mutable std::vector<int64_t> order;

 private:
  int64_t without_;
  Schema schema_;
};

/// Cross-entropy over the samples, each turned by itself by the first `count` placements of twelve.
double cross_entropy_by_hand(Model& model, const Dataset& data, size_t count, int64_t beside = 0) {
  double sum = 0;
  for (int64_t i = 0; i < data.size(); ++i) {
    double p = 0;
    for (size_t k = 0; k < count; ++k) {
      Placement by;
      const double angle = static_cast<double>(k) * std::numbers::pi / 6;
      by.rotation = {std::cos(angle), -std::sin(angle), 0, std::sin(angle), std::cos(angle), 0, 0, 0, 1};
      const int64_t from = k == 0 ? i : (i + beside) % data.size();
      const Batch turned = *data.made_anew({&from, 1}, {&by, 1});
      p += at::softmax(model(turned.input).at("logits"), 1)[0][i % 2].item<double>() /
           static_cast<double>(count);
    }
    sum -= std::log(p) / static_cast<double>(data.size());
  }
  return sum;
}

TEST(Classification, MeasuresTheMeanOverTheRotationsOfEachSample) {
  const auto data = std::make_shared<Solids>();
  Classification task({.test_time_rotations = {.count = 12}});
  Reads model(task.interface(data->schema()));
  const double wanted = cross_entropy_by_hand(model, *data, 12);
  for (const int64_t batch : {1, 5, 7, 12, 64}) {  // the rows of a sample may be those of several batches
    data->order.clear();
    const Evaluation found = evaluate(model, task, data, {.batch = batch, .by_sample = batch == 5});
    EXPECT_EQ(found.samples, 5);
    EXPECT_NEAR(found.metrics.at("cross_entropy").value, wanted, 1e-12) << batch;
    // Sample by sample: no prediction waits for another sample.
    EXPECT_TRUE(std::ranges::is_sorted(data->order)) << batch;
    EXPECT_EQ(data->order.size(), 60U);
    ASSERT_EQ(found.by_sample.size(), batch == 5 ? 5U : 0U);
  }
  // Controls: one rotation, eleven, and the rotations of another sample give another number.
  EXPECT_GT(std::abs(cross_entropy_by_hand(model, *data, 1) - wanted), 1e-3);
  EXPECT_GT(std::abs(cross_entropy_by_hand(model, *data, 11) - wanted), 1e-3);
  EXPECT_GT(std::abs(cross_entropy_by_hand(model, *data, 12, 1) - wanted), 1e-3);
  // Stopped, the samples whose rotations are all predicted count.
  const Evaluation some = evaluate(model, task, data, {.batch = 30, .stop = [] { return true; }});
  EXPECT_TRUE(some.stopped);
  EXPECT_EQ(some.samples, 1);  // no two share a batch
  EXPECT_NE(message_of<DataError>([&] {
              evaluate(model, task, std::make_shared<Solids>(3), {.batch = 7, .where = "solids"});
            }).find("solids: sample 3: "),
            std::string::npos);
}

}  // namespace classification_test
}  // namespace weyl
