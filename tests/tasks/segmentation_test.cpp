#include "weyl/tasks/segmentation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "tests/toy_grid.h"
#include "weyl/core/check.h"
#include "weyl/tasks/components.h"
#include "weyl/tasks/sliding_window.h"

namespace weyl {
namespace segmentation_test {

/// Logits are the features, cell by cell, times a factor; counts the cells it was shown at once.
class Pointwise : public GridModel {
 public:
  explicit Pointwise(Interface interface) : GridModel(std::move(interface)) {
    const BuildOn wide(at::kCPU, at::kDouble);
    parameter("none", {1}, Init::zeros());
  }
  Named forward(const Grid& grid) override {
    largest = std::max(largest, grid.values.numel());
    ++calls;
    return {{"logits", 2 * grid.values}};
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }

  int64_t largest = 0, calls = 0;
};

Tensor longs(std::vector<int64_t> values, std::vector<int64_t> shape) {
  return at::tensor(values, at::kLong).view(shape);
}

/// Predictions that are sure of a mask.
Named sure(const Tensor& mask, int64_t classes) {
  const Tensor p = at::one_hot(mask.select(1, 0), classes).movedim(-1, 1).to(at::kDouble);
  return {{"mask", mask}, {"probabilities", p}};
}

TEST(Segmentation, NeedsAGridAndAsksForLogitsOfEveryCell) {
  Schema schema = toy_schema(3, 2, "mask", 4);
  const Interface interface = Segmentation({}).interface(schema);
  EXPECT_EQ(interface.outputs[0].name, "logits");
  EXPECT_EQ(interface.outputs[0].level, Level::node);
  EXPECT_EQ(interface.outputs[0].channels, 4);
  SegmentationOptions window;
  window.window.size = {8, 8};
  EXPECT_THROW(Segmentation(window).interface(schema), ConfigError);
  SegmentationOptions regions;
  regions.regions = {{"whole", {1, 2, 4}}};
  EXPECT_THROW(Segmentation(regions).interface(schema), ConfigError);
  regions.regions = {{"whole", {1, 2, 3}}, {"whole", {1}}};
  EXPECT_THROW(Segmentation(regions).interface(schema), ConfigError);
  SegmentationOptions weights;
  weights.class_weights = {1, 2, 3};
  EXPECT_THROW(Segmentation(weights).interface(schema), ConfigError);
  EXPECT_THROW(Segmentation(SegmentationOptions{.cross_entropy = 0}).interface(schema), ConfigError);
  schema.interface.grid = false;
  EXPECT_EQ(Segmentation({}).interface(schema).outputs[0].channels, 4);  // points
  for (const auto& change : std::vector<std::function<void(SegmentationOptions&)>>{
           [](auto& o) { o.window.size = {8}; }, [](auto& o) { o.test_time_mirrors.emplace(); },
           [](auto& o) { o.largest_component.emplace(); }, [](auto& o) { o.tolerance = 2; },
           [](auto& o) { o.hd95 = Percentile95::pooled; }}) {
    SegmentationOptions of_grids;
    change(of_grids);
    EXPECT_THROW(Segmentation(of_grids).interface(schema), ConfigError);
  }
  schema.interface.group = LieGroup::se2;
  EXPECT_THROW(Segmentation({}).interface(schema), ConfigError);
}

/// Logits of points are their scalars.
class PointLogits : public PointsModel {
 public:
  explicit PointLogits(Interface interface) : PointsModel(std::move(interface)) {
    const BuildOn wide(at::kCPU, at::kDouble);
    parameter("none", {1}, Init::zeros());
  }
  Named forward(const Points& points) override { return {{"logits", points.scalars}}; }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }
};

/// Two clouds of 3 and 2 points, three classes, of which the first cloud has two and the second one.
Schema schema_of_clouds() {
  Schema schema;
  schema.interface.features = {{.name = "said", .channels = 3}};
  schema.labels = {{.name = "mask", .kind = Kind::category, .categories = 3}};
  return schema;
}

Batch two_clouds() {
  Points points;
  points.positions = at::zeros({5, 3}, at::kDouble);
  points.graphs = Segments::of_sizes(std::vector<int64_t>{3, 2});
  points.scalars =
      at::tensor({9., 0., 0., 9., 0., 0., 0., 9., 0., 0., 0., 9., 0., 9., 0.}).view({5, 3}).to(at::kDouble);
  return {points, {{"mask", longs({0, 1, 1, 2, 2}, {5, 1})}}};
}

TEST(Segmentation, OfPointsCountsEveryClassOnTheCloudsThatHaveIt) {
  const Segmentation task({});
  PointLogits model(task.interface(schema_of_clouds()));
  model.train(false);
  const Batch batch = two_clouds();
  const Step step = task.step(model, batch);
  EXPECT_EQ(step.predictions.at("mask").sizes(), at::IntArrayRef({5, 1}));
  EXPECT_TRUE(at::equal(step.predictions.at("mask").flatten(), longs({0, 0, 1, 2, 1}, {5})));
  const auto meter = task.meter(model.interface);
  meter->add(batch, step.predictions);
  const Metrics m = meter->values();
  // Cloud 1: class 0 TP 1 FP 1, class 1 TP 1 FN 1. Cloud 2: class 1 FP 1, class 2 TP 1 FN 1; class 0 is nowhere in it.
  EXPECT_NEAR(m.at("iou_0").value, 0.5, 1e-12);
  EXPECT_NEAR(m.at("iou_1").value, (0.5 + 0) / 2, 1e-12);
  EXPECT_NEAR(m.at("iou_2").value, 0.5, 1e-12);
  EXPECT_NEAR(m.at("iou").value, (0.5 + 0.25 + 0.5) / 3, 1e-12);
  EXPECT_NEAR(m.at("iou_pooled_1").value, 1.0 / 3, 1e-12);
  EXPECT_NEAR(m.at("accuracy").value, 3.0 / 5, 1e-12);
  for (const auto& [name, value] : m) {
    EXPECT_FALSE(name.starts_with("hd95") || name.starts_with("surface")) << name;
  }
  std::set<std::string> names;
  for (const MetricName& name : meter->names(schema_of_clouds())) {
    names.insert(name.name);
  }
  for (const auto& [name, value] : m) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  // Two meters that saw a cloud each say what one says that saw both.
  const auto first = task.meter(model.interface), second = task.meter(model.interface);
  for (const int64_t i : {0, 1}) {
    const Batch one = take(batch, {&i, 1}, schema_of_clouds());
    (i == 0 ? first : second)->add(one, task.predict(model, one));
  }
  first->merge(*second);
  for (const auto& [name, value] : m) {
    EXPECT_NEAR(first->values().at(name).value, value.value, 1e-12) << name;
  }
}

/// Of points class 0 is a class as the others are, also as a region, and counts once.
TEST(Segmentation, RegionsOfPointsMayBeClasses) {
  SegmentationOptions options;
  options.names = {"floor", "wall", "lamp"};
  options.regions = {{"floor", {0}}, {"inside", {1, 2}}};
  const Segmentation task(options);
  PointLogits model(task.interface(schema_of_clouds()));
  model.train(false);
  const Batch batch = two_clouds();
  const auto meter = task.meter(model.interface);
  meter->add(batch, task.step(model, batch).predictions);
  const Metrics m = meter->values();
  EXPECT_NEAR(m.at("iou").value, (m.at("iou_floor").value + m.at("iou_inside").value) / 2, 1e-12);
  std::vector<std::string> names;
  for (const MetricName& name : meter->names(schema_of_clouds())) {
    names.push_back(name.name);
  }
  EXPECT_EQ(std::ranges::count(names, "iou_floor"), 1);
  options.regions.push_back({"floor", {0}});
  EXPECT_THROW(Segmentation(options).interface(schema_of_clouds()), ConfigError);
}

TEST(Segmentation, LossOfPointsIsThatOfTheirGraphs) {
  SegmentationOptions options;
  options.dice = 0.5;
  const Segmentation task(options);
  PointLogits model(task.interface(schema_of_clouds()));
  const Batch batch = two_clouds();
  const auto p = at::softmax(std::get<Points>(batch.input).scalars, 1);
  const Tensor y = batch.labels.at("mask").flatten();
  double expected = -p.log().gather(1, y.unsqueeze(1)).mean().item<double>(), dice = 0;
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 3}, {3, 5}}) {
    const Tensor q = p.slice(0, begin, end), g = at::one_hot(y.slice(0, begin, end), 3).to(at::kDouble);
    dice += ((2 * (q * g).sum(0) + 1) / (q.sum(0) + g.sum(0) + 1)).mean().item<double>() / 2;
  }
  expected += 0.5 * (1 - dice);
  EXPECT_NEAR(task.step(model, batch).loss.item<double>(), expected, 1e-9);
  // A step that is cut in two has the loss of the whole; without the shares it has not.
  const std::vector<Tensor> whole = task.loss_weights(batch, model.interface);
  double sum = 0, without = 0;
  for (const int64_t i : {0, 1}) {
    const Batch one = take(batch, {&i, 1}, schema_of_clouds());
    const std::vector<Tensor> part = task.loss_weights(one, model.interface);
    LossShares shares;
    for (size_t t = 0; t < whole.size(); ++t) {
      shares.push_back(part[t] / whole[t]);
    }
    sum += task.step(model, one, shares).loss.item<double>();
    without += task.step(model, one).loss.item<double>();
  }
  EXPECT_NEAR(sum, expected, 1e-9);
  EXPECT_GT(std::abs(without - expected), 1e-2);
}

TEST(Segmentation, ALabelOutsideTheClassesIsRefusedBeforeItGoesToADevice) {
  const Segmentation task({});
  const Interface interface = task.interface(toy_schema(2, 1, "mask", 2));
  Batch batch{Grid{at::zeros({1, 1, 2, 2})}, {{"mask", longs({0, 1, 1, 0}, {1, 1, 2, 2})}}};
  EXPECT_NO_THROW(task.prepare(batch, interface));
  batch.labels["mask"] = longs({0, 1, 2, 0}, {1, 1, 2, 2});
  EXPECT_THROW(task.prepare(batch, interface), ShapeError);
}

TEST(Segmentation, DiceAndIouAreThoseCountedByHand) {
  // two samples of 2 x 3 pixels, classes 0 1 2
  const Tensor truth = longs({0, 1, 1, 2, 2, 0, /**/ 0, 0, 0, 1, 1, 1}, {2, 1, 2, 3});
  const Tensor said = longs({0, 1, 2, 2, 2, 1, /**/ 0, 0, 1, 1, 1, 0}, {2, 1, 2, 3});
  SegmentationOptions options;
  const auto measured = [&] {
    const Segmentation task(options);
    Pointwise model(task.interface(toy_schema(2, 3, "mask", 3)));
    const auto meter = task.meter(model.interface);
    const Batch batch{Grid{at::zeros({2, 3, 2, 3}, at::kDouble)}, {{"mask", truth}}};
    meter->add(batch, sure(said, 3));
    return meter->values();
  };
  Metrics m = measured();
  // class 1: TP 1 FP 1 FN 1, then TP 2 FP 1 FN 1; class 2: TP 2 FP 1 FN 0, then absent from both
  EXPECT_NEAR(m.at("dice_1").value, (2.0 / 4 + 4.0 / 6) / 2, 1e-12);
  EXPECT_NEAR(m.at("iou_1").value, (1.0 / 3 + 2.0 / 4) / 2, 1e-12);
  EXPECT_NEAR(m.at("dice_2").value, (4.0 / 5 + 1) / 2, 1e-12);
  EXPECT_NEAR(m.at("dice_pooled_1").value, 6.0 / 10, 1e-12);
  EXPECT_NEAR(m.at("iou_pooled_2").value, 2.0 / 3, 1e-12);
  EXPECT_NEAR(m.at("dice").value, (m.at("dice_1").value + m.at("dice_2").value) / 2, 1e-12);
  EXPECT_NEAR(m.at("accuracy").value, 8.0 / 12, 1e-12);
  // the region 1 + 2: TP 4 FP 1 FN 0, then TP 2 FP 1 FN 1
  options.regions = {{"whole", {1, 2}}};
  options.names = {"background", "edge", "core"};
  m = measured();
  EXPECT_NEAR(m.at("dice_whole").value, (8.0 / 9 + 4.0 / 6) / 2, 1e-12);
  EXPECT_NEAR(m.at("dice_core").value, 0.9, 1e-12);
  EXPECT_NEAR(m.at("dice").value, m.at("dice_whole").value, 1e-12);
  // A region that is a class counts in the mean, and is there once.
  options.regions.push_back({"core", {2}});
  m = measured();
  EXPECT_NEAR(m.at("dice_core").value, 0.9, 1e-12);
  EXPECT_NEAR(m.at("dice").value, (m.at("dice_whole").value + 0.9) / 2, 1e-12);
  for (const auto& [name, labels] :
       {std::pair<std::string, std::vector<int64_t>>{"core", {1}}, {"whole", {2}}}) {
    options.regions.back() = {name, labels};  // another class's name, another region's
    EXPECT_NE(message_of<ConfigError>([&] { measured(); }).find("must be a name of its own"),
              std::string::npos);
  }
}

/// One pixel three to the left of another; a mask alone; two that are empty.
TEST(Segmentation, SurfacesAreAsFarApartAsTheGridSays) {
  const Tensor truth = longs({0, 0, 0, 0, 1, 0, /**/ 0, 1, 0, 0, 0, 0, /**/ 0, 0, 0, 0, 0, 0}, {3, 1, 1, 6});
  const Tensor said = longs({0, 1, 0, 0, 0, 0, /**/ 0, 0, 0, 0, 0, 0, /**/ 0, 0, 0, 0, 0, 0}, {3, 1, 1, 6});
  SegmentationOptions options;
  options.tolerance = 5.9;
  const auto measured = [&] {
    const Segmentation task(options);
    Schema schema = toy_schema(2, 3, "mask", 2);
    schema.interface.length_unit = "mm";
    Pointwise model(task.interface(schema));
    const auto meter = task.meter(model.interface);
    meter->add({Grid{at::zeros({3, 3, 1, 6}, at::kDouble), {1, 2, 1}}, {{"mask", truth}}}, sure(said, 2));
    return meter->values();
  };
  Metrics m = measured();
  EXPECT_NEAR(m.at("hd95_1").value, 6, 1e-12);
  EXPECT_EQ(m.at("hd95_1").unit, "mm");
  EXPECT_EQ(m.at("hd95_infinite_1").value, 1);
  EXPECT_EQ(m.at("surface_dice_1").value, 0);
  EXPECT_NEAR(m.at("volume_error_1").value, (0.0 + 2.0 + 0.0) / 3, 1e-12);
  EXPECT_EQ(m.at("volume_error_1").unit, "mm^2");
  EXPECT_NEAR(m.at("dice_1").value, 1.0 / 3, 1e-12);  // of which the empty masks are one
  options.tolerance = 6;
  m = measured();
  EXPECT_EQ(m.at("surface_dice_1").value, 0.5);
  EXPECT_EQ(m.at("surface_dice").value, 0.5);
}

TEST(Segmentation, DistancesSayWhatCountsTheirEmptyMasks) {
  const Schema schema = toy_schema(2, 3, "mask", 2);
  const Segmentation task(SegmentationOptions{});
  std::map<std::string, std::string> left_out;
  for (const MetricName& metric : task.meter(task.interface(schema))->names(schema)) {
    if (!metric.left_out.empty()) {
      left_out[metric.name] = metric.left_out;
    }
  }
  EXPECT_EQ(left_out,
            (std::map<std::string, std::string>{{"hd95", "hd95_infinite"}, {"hd95_1", "hd95_infinite_1"}}));
}

TEST(Segmentation, LossesAreThoseOfHandComputedProbabilities) {
  const Tensor p = at::tensor({0.8, 0.4, /**/ 0.2, 0.6}, at::kDouble).view({1, 2, 1, 2});
  const Tensor target = longs({0, 1}, {1, 1, 2});
  const auto loss = [&](const SegmentationOptions& options) {
    return segmentation_loss(p.log() - 3, target, options).item<double>();
  };
  const double a = -std::log(0.8), b = -std::log(0.6);
  EXPECT_NEAR(loss({}), (a + b) / 2, 1e-12);
  SegmentationOptions o{.cross_entropy = 0, .focal = 1};
  EXPECT_NEAR(loss(o), (0.04 * a + 0.16 * b) / 2, 1e-12);
  o.focal_alpha = 0.25;
  o.focal_gamma = 1;
  o.class_weights = {1, 3};
  EXPECT_NEAR(loss(o), 0.25 * (0.2 * a + 3 * 0.4 * b) / 4, 1e-12);
  o = {.cross_entropy = 0, .dice = 1};  // of class 1
  EXPECT_NEAR(loss(o), 1 - 2.2 / 2.8, 1e-12);
  o.cross_entropy = 0.5;
  EXPECT_NEAR(loss(o), 1 - 2.2 / 2.8 + 0.25 * (a + b), 1e-12);
  EXPECT_THROW(loss({.cross_entropy = 0}), ConfigError);
  const Tensor first = longs({0, 0}, {1, 1, 2});
  const Tensor nothing = segmentation_loss(p.log(), first, {.focal = 1, .class_weights = {0, 1}});
  EXPECT_EQ(nothing.item<double>(), 0);  // no pixel of a class that counts
}

/// What is said of cells without a label changes nothing: neither loss, nor its slope, nor metrics.
TEST(Segmentation, CellsWithoutALabelCountNowhere) {
  const Tensor p = at::tensor({0.8, 0.4, 0.3, /**/ 0.2, 0.6, 0.7}, at::kDouble).view({1, 2, 1, 3});
  const Tensor partly = longs({0, 1, -1}, {1, 1, 3}), none = longs({-1, -1, -1}, {1, 1, 3});
  const Tensor known = p.narrow(3, 0, 2), labels = partly.narrow(2, 0, 2);
  for (const SegmentationOptions& o : {SegmentationOptions{},
                                       {.cross_entropy = 0, .focal = 1},
                                       {.cross_entropy = 0, .dice = 1},
                                       {.focal = 0.5, .dice = 2, .class_weights = {1, 3}}}) {
    const Tensor logits = p.log().requires_grad_(true);
    const Tensor loss = segmentation_loss(logits, partly, o);
    EXPECT_NEAR(loss.item<double>(), segmentation_loss(known.log(), labels, o).item<double>(), 1e-12);
    loss.backward();
    EXPECT_EQ(logits.grad().select(3, 2).abs().max().item<double>(), 0);
    EXPECT_GT(logits.grad().select(3, 1).abs().max().item<double>(), 0);
    EXPECT_EQ(segmentation_loss(p.log(), none, o).item<double>(), 0);
  }
  SegmentationOptions options;
  const Segmentation task(options);
  const Schema schema = toy_schema(2, 3, "mask", 2);
  const Interface interface = task.interface(schema);
  const auto measured = [&](const Tensor& truth, const Tensor& said) {
    const auto meter = task.meter(interface);
    const std::vector<int64_t> sizes{truth.size(0), 3, truth.size(2), truth.size(3)};
    Named predictions = sure(said, 2);
    predictions["probabilities"] = predictions["probabilities"] * 0.8 + 0.1;
    meter->add({Grid{at::zeros(sizes, at::kDouble), {1, 1, 1}}, {{"mask", truth}}}, predictions);
    return meter->values();
  };
  // The row that nobody has labelled is as if it were not there.
  const Tensor truth = longs({0, 1, 1, 0, /**/ -1, -1, -1, -1}, {1, 1, 2, 4}),
               said = longs({0, 0, 1, 0, /**/ 1, 1, 0, 1}, {1, 1, 2, 4});
  const Metrics all = measured(truth, said), row = measured(truth.narrow(2, 0, 1), said.narrow(2, 0, 1));
  ASSERT_EQ(all.size(), row.size());
  for (const auto& [name, metric] : row) {
    EXPECT_NEAR(all.at(name).value, metric.value, 1e-12) << name;
  }
  EXPECT_TRUE(measured(at::full_like(truth, -1), said).empty());
  EXPECT_EQ(task.loss_weights({Grid{}, {{"mask", truth}}}, interface)[0].item<double>(), 4);
  Batch wrong{Grid{}, {{"mask", truth - 1}}};
  EXPECT_THROW(task.prepare(wrong, interface), ShapeError);
}

/// Eight cells in a row, of which each of two coarser ones covers four: their labels are those of cells 2 and 6.
TEST(Segmentation, CoarserLogitsMeetTheLabelsInTheMiddleOfTheirCells) {
  const Tensor p = at::tensor({0.8, 0.4, /**/ 0.2, 0.6}, at::kDouble).view({1, 2, 1, 2});
  const Tensor target = longs({1, 1, 0, 1, 0, 0, 1, 0}, {1, 1, 8});
  const double a = -std::log(0.8), b = -std::log(0.6);
  SegmentationOptions o;
  EXPECT_NEAR(segmentation_loss(p.log(), target, o).item<double>(), (a + b) / 2, 1e-12);
  o.class_weights = {1, 3};  // four cells of each class
  EXPECT_NEAR(segmentation_loss(p.log(), target, o).item<double>(), 4 * (a + 3 * b) / (4 * 1 + 4 * 3), 1e-12);
  o = {.cross_entropy = 0, .dice = 1};
  EXPECT_NEAR(segmentation_loss(p.log(), target, o).item<double>(), 1 - 2.2 / 2.8, 1e-12);
}

/// Says the features, and in training their means over blocks of two cells, and of four, as well.
class Supervised : public Pointwise {
 public:
  using Pointwise::Pointwise;
  Named forward(const Grid& grid) override {
    Named outputs = Pointwise::forward(grid);
    for (int64_t step = 1; training() && step <= 2; ++step) {
      outputs[coarser_output("logits", step)] = at::avg_pool2d(outputs.at("logits"), 1 << step);
    }
    return outputs;
  }
};

TEST(Segmentation, ItsLossInTrainingIsTheWeightedMeanOfAllResolutions) {
  for (const SegmentationOptions& options :
       {SegmentationOptions{.dice = 0.5}, SegmentationOptions{.focal = 1, .class_weights = {1, 2, 4}}}) {
    const Segmentation task(options);
    const Interface interface = task.interface(toy_schema(2, 3, "mask", 3));
    at::manual_seed(2);
    const Tensor values = at::randn({4, 3, 8, 8}, at::kDouble),
                 mask = at::randint(3, {4, 1, 8, 8}, at::kLong);
    const Batch batch{Grid{values}, {{"mask", mask}}};
    Supervised model(interface);
    const Named outputs = model(batch.input);
    double expected = 0;
    for (const auto& [name, weight] : {std::pair<std::string, double>{"logits", 4.0 / 7},
                                       {coarser_output("logits", 1), 2.0 / 7},
                                       {coarser_output("logits", 2), 1.0 / 7}}) {
      expected += weight * segmentation_loss(outputs.at(name), mask.select(1, 0), options).item<double>();
    }
    EXPECT_NEAR(task.step(model, batch).loss.item<double>(), expected, 1e-12);
    // A step that is cut in two has the loss of the whole.
    const auto whole = task.loss_weights(batch, interface);
    double cut = 0;
    for (const int64_t begin : {0, 1}) {
      const int64_t count = begin == 0 ? 1 : 3;
      const Batch part{Grid{values.narrow(0, begin, count)}, {{"mask", mask.narrow(0, begin, count)}}};
      LossShares shares;
      for (size_t i = 0; i < whole.size(); ++i) {
        shares.push_back(task.loss_weights(part, interface)[i] / whole[i]);
      }
      cut += task.step(model, part, shares).loss.item<double>();
    }
    EXPECT_NEAR(cut, expected, 1e-12);
    model.train(false);
    EXPECT_NE(task.step(model, batch).loss.item<double>(), expected);  // of the full resolution alone
    EXPECT_NEAR(task.step(model, batch).loss.item<double>(),
                segmentation_loss(outputs.at("logits"), mask.select(1, 0), options).item<double>(), 1e-9);
  }
}

TEST(Segmentation, TheLossHasAFiniteGradientWhereItIsRight) {
  const Tensor logits = at::tensor({200.0, -200.0}, at::kDouble).view({1, 2, 1, 1}).requires_grad_(true);
  SegmentationOptions o{.cross_entropy = 1, .focal = 1, .dice = 1, .focal_gamma = 0.5};
  segmentation_loss(logits, longs({0}, {1, 1, 1}), o).backward();
  EXPECT_TRUE(logits.grad().isfinite().all().item<bool>());
}

TEST(SlidingWindow, StartsCoverEveryCellSymmetricallyAndOverlap) {
  for (int64_t length = 1; length <= 60; ++length) {
    for (int64_t size = 1; size <= length; ++size) {
      for (const double overlap : {0.0, 0.25, 0.5, 0.8}) {
        const auto starts = window_starts(length, size, overlap);
        const auto step = std::max<int64_t>(1, static_cast<int64_t>(size * (1 - overlap)));
        ASSERT_EQ(starts.front(), 0);
        ASSERT_EQ(starts.back(), length - size);
        for (size_t i = 0; i < starts.size(); ++i) {
          ASSERT_EQ(starts[i] + starts[starts.size() - 1 - i], length - size) << length << " " << size;
          if (i > 0) {
            ASSERT_LE(starts[i] - starts[i - 1], step) << length << " " << size << " " << overlap;
          }
        }
      }
    }
  }
}

TEST(SlidingWindow, OfAPointwiseModelIsThatOfTheWholeGrid) {
  at::manual_seed(1);
  const Grid grid{at::randn({2, 3, 11, 5, 9}, at::kDouble)};
  const auto f = [](const Grid& g) { return g.values.square(); };
  for (const double overlap : {0.0, 0.5}) {
    int64_t windows = 0;
    const Tensor whole = over_windows(grid, {{4, 8, 3}, overlap}, [&](const Grid& g) {
      EXPECT_EQ(g.values.sizes(), (at::IntArrayRef{2, 3, 4, 8, 3}));
      ++windows;
      return f(g);
    });
    EXPECT_GT(windows, 3);
    EXPECT_EQ(whole.sizes(), grid.values.sizes());
    EXPECT_LT((whole - f(grid)).abs().max().item<double>(), 1e-12);
  }
}

TEST(SlidingWindow, BlendsByThePlaceInTheWindow) {
  const Tensor gaussian = window_weights({8, 8}, at::kDouble);
  EXPECT_TRUE(at::allclose(gaussian, gaussian.flip({0})));
  EXPECT_NEAR(gaussian[3][3].item<double>(), std::exp(-0.25), 1e-12);
  EXPECT_NEAR(gaussian[0][0].item<double>(), 1e-3, 1e-12);
  // two windows of 4 on 6 cells that say 0 and 1: cells 2 and 3 are blended
  int64_t call = 0;
  const Tensor said = over_windows({at::zeros({1, 1, 6}, at::kDouble)}, {{4}, 0.5},
                                   [&](const Grid& g) { return g.values + static_cast<double>(call++); });
  const double inner = std::exp(-0.5), outer = std::exp(-4.5);  // half a cell and 1 1/2 from the middle
  const double share = outer / (inner + outer);
  EXPECT_TRUE(at::allclose(said.flatten(), at::tensor({0.0, 0.0, share, 1 - share, 1.0, 1.0}, at::kDouble)));
}

TEST(Segmentation, WindowsNeverShowTheModelMoreThanTheirSizeAndChangeNothingPointwise) {
  at::manual_seed(4);
  const Batch batch{Grid{at::randn({1, 3, 20, 14}, at::kDouble)}, {}};
  SegmentationOptions options;
  Pointwise model(Segmentation(options).interface(toy_schema(2, 3, "mask", 3)));
  const Named whole = Segmentation(options).predict(model, batch);
  options.window.size = {6};
  model.largest = 0;
  const Named windows = Segmentation(options).predict(model, batch);
  EXPECT_EQ(model.largest, 3 * 6 * 6);
  EXPECT_TRUE(windows.at("mask").equal(whole.at("mask")));
  EXPECT_LT((windows.at("probabilities") - whole.at("probabilities")).abs().max().item<double>(), 1e-12);
}

TEST(Segmentation, TheLossOfEvaluationIsThatOfTheWindowsAndRunsTheModelOnce) {
  at::manual_seed(5);
  const Tensor mask = at::randint(0, 3, {1, 1, 20, 14}, at::kLong);
  const Batch batch{Grid{at::randn({1, 3, 20, 14}, at::kDouble)}, {{"mask", mask}}};
  SegmentationOptions options{.dice = 0.5};
  Pointwise model(Segmentation(options).interface(toy_schema(2, 3, "mask", 3)));
  const double trained = Segmentation(options).step(model, batch).loss.item<double>();
  model.train(false);
  model.calls = 0;
  EXPECT_NEAR(Segmentation(options).step(model, batch).loss.item<double>(), trained, 1e-12);
  EXPECT_EQ(model.calls, 1);
  EXPECT_FALSE(Segmentation(options).moves_inputs());
  options.window.size = {6};
  model.largest = model.calls = 0;
  const Step step = Segmentation(options).step(model, batch);
  EXPECT_NEAR(step.loss.item<double>(), trained, 1e-12);
  EXPECT_EQ(model.largest, 3 * 6 * 6);
  EXPECT_EQ(model.calls,
            static_cast<int64_t>(window_starts(20, 6, 0.5).size() * window_starts(14, 6, 0.5).size()));
  EXPECT_EQ(step.predictions.at("mask").sizes(), mask.sizes());
  EXPECT_TRUE(Segmentation(options).moves_inputs());
}

TEST(SlidingWindow, ShowsTheGridItselfUncopied) {
  const Grid grid{at::zeros({1, 2, 9, 8}, at::kDouble)};
  over_windows(grid, {{4}, 0.5}, [&](const Grid& window) {
    EXPECT_TRUE(window.values.is_alias_of(grid.values));
    return window.values.clone();
  });
}

TEST(Segmentation, TurnsAndWindowsKeepAMaskTurningWithItsImage) {
  const Schema schema = toy_schema(2, 1, "mask", 3);
  const BuildOn wide(at::kCPU, at::kDouble);
  at::manual_seed(2);
  const Tensor x = at::randn({1, 1, 9, 9}, at::kDouble);
  const auto error = [&](int64_t count) {
    SegmentationOptions options;
    options.test_time_rotations.count = count;
    options.window.size = {5};
    const Segmentation task(options);
    ToyGrid model(task.interface(schema), named_group("cyclic_4"), true);
    const auto p = [&](const Tensor& values) {
      return task.predict(model, {Grid{values}, {}}).at("probabilities");
    };
    return (p(at::rot90(x, 1, {2, 3})) - at::rot90(p(x), 1, {2, 3})).abs().max().item<double>();
  };
  EXPECT_GT(error(1), 1e-4);
  EXPECT_LT(error(4), 1e-12);
}

TEST(Segmentation, TurnsAndWindowsOfAnyShapeKeepAMaskTurningWithItsVolume) {
  const BuildOn wide(at::kCPU, at::kDouble);
  at::manual_seed(3);
  const Tensor x = at::randn({1, 3, 5, 6, 7}, at::kDouble);
  // What is said of a cell depends on its place in the window, along each axis in another way.
  class Placed : public Pointwise {
   public:
    using Pointwise::Pointwise;
    Named forward(const Grid& grid) override {
      Tensor scale = at::ones({}, at::kDouble);
      for (int64_t a = 0; a < 3; ++a) {
        std::vector<int64_t> shape(3, 1);
        shape[a] = grid.values.size(2 + a);
        scale = scale + at::arange(shape[a], at::kDouble).view(shape) * (0.1 + 0.2 * static_cast<double>(a));
      }
      return {{"logits", grid.values * scale}};
    }
  };
  const auto error = [&](int64_t count, Axis axis, int64_t from, int64_t to) {
    SegmentationOptions options;
    options.test_time_rotations = {count, axis};
    options.window.size = {3, 8, 4};
    const Segmentation task(options);
    Placed model(task.interface(toy_schema(3, 3, "mask", 3)));
    const auto p = [&](const Tensor& values) {
      return task.predict(model, {Grid{values}, {}}).at("probabilities");
    };
    return (p(at::rot90(x, 1, {from, to})) - at::rot90(p(x), 1, {from, to})).abs().max().item<double>();
  };
  EXPECT_GT(error(1, Axis::z, 2, 3), 1e-3);
  EXPECT_LT(error(4, Axis::z, 2, 3), 1e-12);
  EXPECT_GT(error(4, Axis::x, 2, 3), 1e-3);
  EXPECT_LT(error(4, Axis::x, 3, 4), 1e-12);
  EXPECT_LT(error(4, Axis::y, 2, 4), 1e-12);
  EXPECT_LT(error(24, Axis::z, 2, 3), 1e-12);
  EXPECT_LT(error(24, Axis::z, 3, 4), 1e-12);
}

TEST(Segmentation, MirrorImagesOfEachWindowKeepAMaskMirroredWithItsVolume) {
  const BuildOn wide(at::kCPU, at::kDouble);
  at::manual_seed(3);
  const Tensor x = at::randn({1, 3, 5, 6, 7}, at::kDouble);
  // What is said of a cell depends on its place in the window.
  class Placed : public Pointwise {
   public:
    using Pointwise::Pointwise;
    Named forward(const Grid& grid) override {
      ++calls;
      const Tensor places = at::arange(grid.values.numel(), at::kDouble).view(grid.values.sizes());
      return {{"logits", grid.values * (1 + places / 50)}};
    }
  };
  const auto predicted = [&](const std::optional<TestTimeMirrors>& mirrors, const Tensor& values,
                             int64_t& calls) {
    SegmentationOptions options;
    options.test_time_mirrors = mirrors;
    options.window.size = {3, 6, 4};
    const Segmentation task(options);
    Placed model(task.interface(toy_schema(3, 3, "mask", 3)));
    const Tensor p = task.predict(model, {Grid{values}, {}}).at("probabilities");
    calls = model.calls;
    return p;
  };
  int64_t plain = 0, all = 0, two = 0;
  const auto error = [&](const std::optional<TestTimeMirrors>& mirrors, int64_t axis, int64_t& calls) {
    return (predicted(mirrors, x.flip({axis}), calls) - predicted(mirrors, x, calls).flip({axis}))
        .abs()
        .max()
        .item<double>();
  };
  EXPECT_GT(error(std::nullopt, 2, plain), 1e-3);
  for (const int64_t axis : {2, 3, 4}) {
    EXPECT_LT(error(TestTimeMirrors{}, axis, all), 1e-12);
  }
  EXPECT_LT(error(TestTimeMirrors{{1, 2}}, 3, two), 1e-12);
  EXPECT_GT(error(TestTimeMirrors{{1, 2}}, 2, two), 1e-3);
  EXPECT_EQ(all, 8 * plain);
  EXPECT_EQ(two, 4 * plain);
  const Tensor p = predicted(TestTimeMirrors{}, x, all);
  EXPECT_LT((p.sum(1) - 1).abs().max().item<double>(), 1e-12);
  EXPECT_THROW(
      Segmentation({.test_time_mirrors = TestTimeMirrors{{2}}}).interface(toy_schema(2, 3, "mask", 3)),
      ConfigError);
  EXPECT_THROW(
      Segmentation({.test_time_mirrors = TestTimeMirrors{{1, 1}}}).interface(toy_schema(3, 3, "mask", 3)),
      ConfigError);
}

TEST(Segmentation, KeepsTheLargestPartOfEachClass) {
  // Parts of 1: three cells, and two that touch them at a corner alone; of 2: two and one.
  const std::vector<int64_t> cells{1, 1, 0, 2,  //
                                   1, 0, 0, 0,  //
                                   0, 1, 1, 0,  //
                                   2, 2, 0, 1};
  Tensor mask = longs(cells, {1, 1, 4, 4});
  const std::vector<int64_t> both{1, 2}, second{2};
  keep_largest_components(mask, both);
  EXPECT_TRUE(mask.equal(longs({1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0}, {1, 1, 4, 4})));
  mask = longs(cells, {1, 1, 4, 4});
  keep_largest_components(mask, second);
  EXPECT_TRUE(mask.equal(longs({1, 1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 2, 2, 0, 1}, {1, 1, 4, 4})));
  // In space, and each sample by itself; of equal parts the first.
  Tensor volumes = at::zeros({2, 1, 3, 3, 3}, at::kLong);
  volumes[0][0].select(2, 0).fill_(1);
  volumes[0][0][2][2][2].fill_(1);
  volumes[1][0][0][0][0].fill_(1);
  volumes[1][0][1][1][1].fill_(1);
  Tensor kept = volumes.clone();
  keep_largest_components(kept, both);
  EXPECT_EQ(kept[0].sum().item<int64_t>(), 9);
  EXPECT_EQ(kept[1].sum().item<int64_t>(), 1);
  EXPECT_EQ(kept[1][0][0][0][0].item<int64_t>(), 1);
}

TEST(Segmentation, PredictsAndMeasuresTheLargestPartWhereItIsAsked) {
  // A row of cells whose features are logits of two classes: parts of 3 and of 1.
  const Tensor sure = at::tensor({1., 1., 1., 0., 1., 0.}).view({1, 1, 1, 6});
  const Batch batch{Grid{at::cat({1 - sure, sure}, 1).to(at::kDouble)},
                    {{"mask", longs({1, 1, 1, 0, 0, 0}, {1, 1, 1, 6})}}};
  const auto mask_of = [&](const SegmentationOptions& options) {
    const Segmentation task(options);
    Pointwise model(task.interface(toy_schema(2, 2, "mask", 2)));
    model.train(false);
    const Step step = task.step(model, batch);
    const Tensor& p = step.predictions.at("probabilities");
    EXPECT_GT(p[0][1][0][4].item<double>(), 0.5);  // stays as it is
    EXPECT_TRUE(task.likeliest(p).equal(step.predictions.at("mask")));
    return step.predictions.at("mask").sum().item<int64_t>();
  };
  EXPECT_EQ(mask_of({}), 4);
  EXPECT_EQ(mask_of({.largest_component = LargestComponent{}}), 3);
  EXPECT_EQ(mask_of({.largest_component = LargestComponent{{1}}}), 3);
  EXPECT_THROW(
      Segmentation({.largest_component = LargestComponent{{2}}}).interface(toy_schema(2, 2, "mask", 2)),
      ConfigError);
}

}  // namespace segmentation_test
}  // namespace weyl
