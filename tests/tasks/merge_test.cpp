// Two meters that saw the halves of a data set, merged, say what one meter says that saw all of it.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "tests/tasks/rigid_scenes.h"
#include "weyl/core/check.h"
#include "weyl/tasks/classification.h"
#include "weyl/tasks/completion.h"
#include "weyl/tasks/force_errors.h"
#include "weyl/tasks/pose_correction.h"
#include "weyl/tasks/property.h"
#include "weyl/tasks/registration.h"
#include "weyl/tasks/relaxation_errors.h"
#include "weyl/tasks/rigid_motion.h"
#include "weyl/tasks/segmentation.h"
#include "weyl/tasks/trajectory.h"

namespace weyl {
namespace merge_test {

constexpr int64_t kParts = 6;

/// What a meter is shown at once.
struct Seen {
  Batch batch;
  Named predictions;
};

/// A task's meter and what it is shown; `exact` are the metrics whose order of summation does not matter.
struct Case {
  std::string task;
  std::function<std::unique_ptr<Meter>()> make;
  std::vector<Seen> parts;
  std::set<std::string> exact;
};

Tensor random(at::IntArrayRef shape) {
  return at::randn(shape, at::kDouble);
}

/// Numbers whose sums and squares are exact in any order.
Tensor eighths(at::IntArrayRef shape) {
  return at::randint(-40, 40, shape, at::kLong).to(at::kDouble) / 8;
}

Interface with_outputs(std::vector<Quantity> outputs) {
  Interface interface;
  interface.outputs = std::move(outputs);
  return interface;
}

/// Three classes, of which the last two parts alone have the third.
Case classification() {
  const Interface model = with_outputs({{.name = "logits", .level = Level::graph, .channels = 3}});
  Case c{.task = "classification",
         .make = [=] { return Classification({}).meter(model); },
         .exact = {"accuracy", "balanced_accuracy", "accuracy_0", "accuracy_1", "accuracy_2"}};
  for (int64_t i = 0; i < kParts; ++i) {
    const int64_t n = 1 + 2 * i;
    const Tensor classes = at::randint(0, i < kParts - 2 ? 2 : 3, {n, 1}, at::kLong);
    c.parts.push_back({{Grid{at::zeros({n, 1, 2, 2})}, {{"class", classes}}},
                       {{"probabilities", at::softmax(random({n, 3}), 1)}}});
  }
  return c;
}

Case segmentation() {
  const Interface model = with_outputs({{.name = "logits", .channels = 3}});
  const SegmentationOptions options{.regions = {{"whole", {1, 2}}}};
  Case c{.task = "segmentation",
         .make = [=] { return Segmentation(options).meter(model); },
         .exact = {"accuracy", "dice_pooled", "iou_pooled", "dice_pooled_2", "iou_pooled_whole"}};
  for (int64_t i = 0; i < kParts; ++i) {
    const int64_t n = 1 + i % 3;
    const Tensor mask = at::randint(0, i < kParts - 2 ? 2 : 3, {n, 1, 4, 5}, at::kLong),
                 p = at::softmax(random({n, 3, 4, 5}), 1);
    c.parts.push_back({{Grid{at::zeros({n, 1, 4, 5})}, {{"mask", mask}}},
                       {{"probabilities", p}, {"mask", at::argmax(p, 1, true)}}});
  }
  return c;
}

/// Two targets; the first three parts have no label of the second, and others miss some.
Case property() {
  const Interface model = with_outputs({{.name = "a", .level = Level::graph, .unit = "eV"},
                                        {.name = "b", .level = Level::graph, .unit = "D"}});
  PropertyOptions options;
  options.targets = {"a", "b"};
  Case c{.task = "property",
         .make = [=] { return Property(options).meter(model); },
         .exact = {"mae_a", "mae_b", "rmse_a", "rmse_b", "standardised_mae"}};
  for (int64_t i = 0; i < kParts; ++i) {
    const int64_t n = 2 + i;
    Tensor a = eighths({n, 1}), b = eighths({n, 1});
    a[i % n].fill_(NAN);
    (i < 3 ? b : b[0]).fill_(NAN);
    c.parts.push_back({{Grid{at::zeros({n, 1, 2, 2})}, {{"a", a}, {"b", b}}},
                       {{"a", eighths({n, 1})}, {"b", eighths({n, 1})}}});
  }
  return c;
}

Case trajectory() {
  const Interface model = with_outputs({{.name = "displacement", .kind = Kind::vector, .unit = "nm"}});
  Case c{.task = "trajectory", .make = [=] { return Trajectory({}).meter(model); }, .exact = {"mse", "rmse"}};
  for (int64_t i = 0; i < kParts; ++i) {
    c.parts.push_back(
        {{Points{}, {{"displacement", eighths({1 + i, 1, 3})}}}, {{"displacement", eighths({1 + i, 1, 3})}}});
  }
  return c;
}

/// Elements (n, 3, 3) of SE(2), which are affine maps too.
Tensor poses_of_plane(int64_t n) {
  const Tensor angle = random({n}) / 3, place = random({n, 2});
  Tensor g = at::zeros({n, 3, 3}, at::kDouble);
  for (int64_t i = 0; i < n; ++i) {
    const double c = std::cos(angle[i].item<double>()), s = std::sin(angle[i].item<double>());
    g[i].copy_(
        at::tensor({c, -s, place[i][0].item<double>(), s, c, place[i][1].item<double>(), 0.0, 0.0, 1.0},
                   at::kDouble)
            .view({3, 3}));
  }
  return g;
}

Case completion(bool whole) {
  Case c{.task = "completion",
         .make =
             [whole] {
               CompletionOptions options;
               options.whole = whole;
               return Completion(options).meter({});
             },
         .exact = {"pose_error", "pose_error_median", "flanking_accuracy", "outside_chart"}};
  if (whole) {
    c.exact.insert("missing_accuracy");
  }
  for (int64_t i = 0; i < kParts; ++i) {
    const int64_t n = 1 + i % 4;
    Poses poses{LieGroup::aff2, poses_of_plane(4 * n), {}, Segments::of_sizes(std::vector<int64_t>(n, 4))};
    const Tensor flank = at::tensor(std::vector<int64_t>{0, 1, 1, 0}, at::kLong).unsqueeze(1).repeat({n, 1});
    flank.narrow(0, 4 * (n - 1), whole && n > 1 ? 4 : 0).zero_();  // the last of several is whole
    const Tensor said = poses_of_plane(n);
    Tensor element = poses_of_plane(n);
    if (i % 2 == 0) {  // half a turn away: outside the chart
      element[0].copy_(at::matmul(said[0], at::diag(at::tensor({-1.0, -1.0, 1.0}, at::kDouble))));
    }
    c.parts.push_back({{poses, {{"element", element}, {"flank", flank}}},
                       {{"element", said}, {"gap", random({4 * n, 1})}, {"missing", random({n, 1})}}});
  }
  return c;
}

/// Some tokens ahead of others.
Case pose_correction() {
  Interface model = with_outputs({});
  model.group = LieGroup::se2;
  model.dimension = 2;
  model.length_unit = "m";
  model.features = {{.name = "time"}, {.name = "asked"}};
  Case c{.task = "pose_correction", .make = [=] { return PoseCorrection({}).meter(model); }, .exact = {}};
  for (int64_t i = 0; i < kParts; ++i) {
    const int64_t n = 1 + i % 4;
    const auto rigid = [&] {
      const Tensor angle = random({4 * n}), t = random({4 * n, 2});
      Tensor g = at::eye(3, at::kDouble).repeat({4 * n, 1, 1});
      g.select(1, 0).copy_(at::stack({at::cos(angle), -at::sin(angle), t.select(1, 0)}, 1));
      g.select(1, 1).copy_(at::stack({at::sin(angle), at::cos(angle), t.select(1, 1)}, 1));
      return g;
    };
    const Tensor scalars = at::tensor({-1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 1.0}, at::kDouble).view({4, 2});
    c.parts.push_back({{Poses{LieGroup::se2, rigid(), scalars.repeat({n, 1}),
                              Segments::of_sizes(std::vector<int64_t>(n, 4))},
                        {{"pose", rigid()}}},
                       {{"pose", rigid()}}});
  }
  return c;
}

Case registration() {
  Interface model = with_outputs({});
  model.group = LieGroup::se2;
  model.dimension = 2;
  model.length_unit = "m";
  model.features = {{.name = "copy"}};
  Case c{.task = "registration",
         .make = [=] { return Registration({}).meter(model); },
         .exact = {"angle_median", "place_median", "match_accuracy"}};
  for (int64_t i = 0; i < kParts; ++i) {
    const int64_t n = 1 + i % 4;
    const Tensor copy = at::tensor({0.0, 0.0, 1.0, 1.0}, at::kDouble).view({4, 1}).repeat({n, 1});
    const Poses poses{LieGroup::se2, poses_of_plane(4 * n), copy,
                      Segments::of_sizes(std::vector<int64_t>(n, 4))};
    c.parts.push_back({{poses, {{"pose", poses_of_plane(4 * n)}}},
                       {{"pose", poses_of_plane(4 * n)}, {"descriptor", random({4 * n, 8})}}});
  }
  return c;
}

ForceErrors::Options of_atoms() {
  ForceErrors::Options o;
  o.energy_unit = "eV";
  o.length_unit = "\u00c5";
  o.report = "meV";
  o.elements = {"H", "C", "O"};
  return o;
}

/// Atoms of which oxygen, kinds of frames and labels of stress stand in the last parts alone; labels that are
/// NaN or absent.
Case force_field() {
  Case c{.task = "force_field", .make = [] { return std::make_unique<ForceErrors>(of_atoms()); }};
  for (int64_t i = 0; i < kParts; ++i) {
    const std::vector<int64_t> sizes{2, 1 + i};
    Points p;
    p.graphs = Segments::of_sizes(sizes);
    const int64_t n = p.graphs.rows();
    p.positions = random({n, 3});
    p.types = at::randint(0, i < 4 ? 2 : 3, {n}, at::kLong);
    Seen seen{{p, {}},
              {{"energy", random({2, 1})}, {"forces", random({n, 1, 3})}, {"stress", random({2, 1, 3, 3})}}};
    Named& labels = seen.batch.labels;
    labels = {{"energy", random({2, 1})}, {"forces", random({n, 1, 3})}};
    labels["energy"][i % 2].fill_(NAN);
    labels["forces"][0].fill_(NAN);
    if (i == 1) {
      labels.erase("forces");
    }
    if (i > 3) {
      labels["stress"] = random({2, 1, 3, 3});
      labels["config_type"] = at::tensor(std::vector<int64_t>{i - 3, 0}, at::kLong).unsqueeze(1);
    }
    c.parts.push_back(std::move(seen));
  }
  return c;
}

/// Scenes of one to three bodies, some of which touch something; of one the turn is not known.
Case rigid_motion() {
  Case c{.task = "rigid_motion", .make = [] { return std::make_unique<MotionErrors>("m"); }};
  for (int64_t i = 0; i < kParts; ++i) {
    Batch batch = rigid::batch_of(rigid::random_scenes(1 + i, static_cast<uint64_t>(i)), i < 2 ? 2 : 1);
    batch.labels.at("turn")[0].fill_(i == 2 ? NAN : 0.1);
    const auto sizes = batch.labels.at("turn").sizes();
    c.parts.push_back({batch, {{"displacement", random(sizes)}, {"turn", random(sizes)}}});
  }
  return c;
}

/// Structures of which some places and numbers are not known, and some parts have no labels of places.
Case relaxation() {
  Interface inputs;
  inputs.features = {{"free"}};
  inputs.length_unit = "\u00c5";
  Case c{.task = "relaxation",
         .make =
             [=] {
               return std::make_unique<RelaxationErrors>(
                   RelaxationErrors::Options{.target = "energy", .unit = "eV", .inputs = inputs});
             },
         .exact = {"ewt", "adwt"}};
  for (int64_t i = 0; i < kParts; ++i) {
    Points p;
    p.graphs = Segments::of_sizes(std::vector<int64_t>{2, 1 + i});
    const int64_t n = p.graphs.rows();
    p.positions = random({n, 3});
    p.scalars = at::randint(0, 2, {n, 1}, at::kLong).to(at::kDouble);
    p.scalars[0].fill_(1);
    Seen seen{{p, {{"energy", random({2, 1})}}}, {}};
    Named& labels = seen.batch.labels;
    seen.predictions = {{"energy", labels["energy"] + 0.03 * random({2, 1})},
                        {"displacement", 0.1 * random({n, 1, 3})}};
    labels["energy"][i % 2].fill_(i == 3 ? NAN : 0.5);
    if (i != 2) {
      labels["relaxed"] = p.positions.unsqueeze(1) + 0.1 * random({n, 1, 3});
      labels["relaxed"][n - 1].fill_(NAN);
    }
    c.parts.push_back(std::move(seen));
  }
  return c;
}

std::vector<Case> cases() {
  at::manual_seed(11);
  return {classification(), segmentation(),    property(),    trajectory(),
          completion(true), completion(false), force_field(), rigid_motion(),
          relaxation(),     pose_correction(), registration()};
}

std::unique_ptr<Meter> metered(const Case& c, int64_t begin, int64_t end) {
  auto meter = c.make();
  for (int64_t i = begin; i < end; ++i) {
    meter->add(c.parts[i].batch, c.parts[i].predictions);
  }
  return meter;
}

/// Units and names are equal; values to the bit where `exact` names them, else to rounding. A value that is
/// NaN in one must be so in both.
void expect_equal(const Metrics& found, const Metrics& expected, const std::set<std::string>& exact,
                  const std::string& where) {
  ASSERT_EQ(found.size(), expected.size()) << where;
  for (const auto& [name, metric] : expected) {
    ASSERT_TRUE(found.contains(name)) << where << name;
    const MetricValue& other = found.at(name);
    EXPECT_EQ(other.unit, metric.unit) << where << name;
    if (std::isnan(metric.value)) {
      EXPECT_TRUE(std::isnan(other.value)) << where << name;
    } else if (exact.contains(name)) {
      EXPECT_EQ(other.value, metric.value) << where << name;
    } else {
      EXPECT_NEAR(other.value, metric.value, 1e-13 * std::max(1.0, std::abs(metric.value))) << where << name;
    }
  }
}

void expect_equal(const Meter& found, const Meter& expected, const std::set<std::string>& exact,
                  const std::string& where) {
  expect_equal(found.values(), expected.values(), exact, where);
  const auto a = found.confusion(), b = expected.confusion();
  ASSERT_EQ(a.has_value(), b.has_value()) << where;
  if (a) {
    EXPECT_EQ(a->classes, b->classes) << where;
    EXPECT_EQ(a->counts, b->counts) << where;
  }
  Schema schema;
  schema.category_names["config_type"] = {"gas", "liquid", "ice"};
  const auto tables = found.breakdowns(schema), expected_tables = expected.breakdowns(schema);
  ASSERT_EQ(tables.size(), expected_tables.size()) << where;
  for (size_t t = 0; t < tables.size(); ++t) {
    EXPECT_EQ(tables[t].by, expected_tables[t].by) << where;
    ASSERT_EQ(tables[t].rows.size(), expected_tables[t].rows.size()) << where;
    for (size_t r = 0; r < tables[t].rows.size(); ++r) {
      EXPECT_EQ(tables[t].rows[r].first, expected_tables[t].rows[r].first) << where;
      expect_equal(tables[t].rows[r].second, expected_tables[t].rows[r].second, exact, where);
    }
  }
}

// The columns of a run's metrics.csv, and what train.best may name, are known before a sample is measured.
TEST(Meters, NameAllThatTheyMayMeasure) {
  for (const Case& c : cases()) {
    Schema data;  // labels as the batches have them
    for (const Seen& part : c.parts) {
      for (const auto& [name, label] : part.batch.labels) {
        data.labels.push_back({.name = name, .channels = label.dim() > 1 ? label.size(1) : 1});
      }
    }
    std::map<std::string, bool> named;
    for (const MetricName& metric : c.make()->names(data)) {
      EXPECT_TRUE(named.emplace(metric.name, metric.lower_is_better).second) << c.task << " " << metric.name;
    }
    std::set<std::string> measured;
    for (int64_t end = 1; end <= kParts; ++end) {
      for (const auto& [name, metric] : metered(c, 0, end)->values()) {
        EXPECT_TRUE(named.contains(name)) << c.task << " " << name;
        measured.insert(name);
        const bool error = name.find("mae") != std::string::npos || name.find("mse") != std::string::npos ||
                           name.find("error") != std::string::npos || name == "cross_entropy" ||
                           name.find("hd95") != std::string::npos || name.ends_with("_median") ||
                           name == "outside_chart";
        EXPECT_EQ(named[name], error) << c.task << " " << name;
      }
    }
    EXPECT_EQ(measured.size(), named.size()) << c.task;  // and no other
  }
}

// A class that the first samples lack is named all the same.
TEST(Meters, NameClassesThatDoNotOccur) {
  const Case c = classification();
  EXPECT_FALSE(metered(c, 0, 1)->values().contains("accuracy_2"));
  const auto names = c.make()->names({});
  EXPECT_TRUE(std::ranges::any_of(names, [](const MetricName& m) { return m.name == "accuracy_2"; }));
}

TEST(Merge, OfHalvesIsTheWhole) {
  for (const Case& c : cases()) {
    const auto whole = metered(c, 0, kParts);
    ASSERT_FALSE(whole->values().empty()) << c.task;
    for (const std::string& name : c.exact) {
      EXPECT_NE(whole->values().at(name).value, 0) << c.task << " " << name;
    }
    for (int64_t cut = 0; cut <= kParts; ++cut) {  // at the ends one half is empty
      const auto first = metered(c, 0, cut), second = metered(c, cut, kParts);
      first->merge(*second);
      expect_equal(*first, *whole, c.exact, text(c.task, " cut at ", cut, ": "));
    }
  }
}

TEST(Merge, OfThreePartsIsTheWholeAndLeavesTheOthersAsTheyWere) {
  for (const Case& c : cases()) {
    const auto first = metered(c, 0, 1), second = metered(c, 1, 4), third = metered(c, 4, kParts);
    first->merge(*second);
    first->merge(*third);
    expect_equal(*first, *metered(c, 0, kParts), c.exact, c.task + ": ");
    expect_equal(*second, *metered(c, 1, 4), c.exact, c.task + ", the second: ");
    // What is measured afterwards is the merged meter's alone.
    first->add(c.parts[0].batch, c.parts[0].predictions);
    expect_equal(*third, *metered(c, 4, kParts), c.exact, c.task + ", the third: ");
  }
}

TEST(Merge, IsSeenByTheTest) {
  // Without it, no half says what the whole does: the comparison above can fail.
  for (const Case& c : cases()) {
    const Metrics whole = metered(c, 0, kParts)->values();
    for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 3}, {3, kParts}}) {
      const Metrics half = metered(c, begin, end)->values();
      int64_t different = 0;
      for (const auto& [name, metric] : whole) {
        different += !half.contains(name) || half.at(name).value != metric.value ? 1 : 0;
      }
      EXPECT_GT(different, 0) << c.task;
    }
  }
}

/// As told to another process, and taken there by a meter that has seen something else.
std::unique_ptr<Meter> told(const Case& c, Meter& meter, int64_t before) {
  Message out;
  meter.tell(out);
  auto other = metered(c, 0, before);
  Message in(out.bytes());
  other->tell(in);
  return other;
}

std::string bits(Meter& meter) {
  Message message;
  meter.tell(message);
  return message.bytes();
}

TEST(Merge, AToldMeterIsTheSameToTheBitAndGoesOn) {
  for (const Case& c : cases()) {
    const auto meter = metered(c, 1, 4), whole = metered(c, 0, kParts);
    for (const int64_t before : {int64_t{0}, kParts}) {
      const auto other = told(c, *meter, before);
      EXPECT_EQ(bits(*other), bits(*meter)) << c.task;
      EXPECT_NE(bits(*other), bits(*whole)) << c.task;
      const Metrics here = meter->values(), there = other->values();
      ASSERT_EQ(here.size(), there.size()) << c.task;
      for (const auto& [name, metric] : here) {
        const double value = there.at(name).value;
        EXPECT_TRUE(value == metric.value || (std::isnan(value) && std::isnan(metric.value)))
            << c.task << name;
      }
      const auto first = metered(c, 0, 1), same = metered(c, 0, 1);
      first->merge(*meter);
      same->merge(*other);
      EXPECT_EQ(bits(*first), bits(*same)) << c.task;
    }
  }
}

TEST(Merge, OfNothingIsNothing) {
  for (const Case& c : cases()) {
    const auto meter = c.make();
    meter->merge(*c.make());
    EXPECT_TRUE(meter->values().empty()) << c.task;
  }
}

TEST(Merge, WithItselfCountsEverythingTwice) {
  for (const Case& c : cases()) {
    const auto meter = metered(c, 0, 3), twice = metered(c, 0, 3);
    for (int64_t i = 0; i < 3; ++i) {
      twice->add(c.parts[i].batch, c.parts[i].predictions);
    }
    meter->merge(*meter);
    expect_equal(*meter, *twice, c.exact, c.task + ": ");
  }
}

std::string refusal(Meter& meter, const Meter& other) {
  try {
    meter.merge(other);
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "";
}

TEST(Merge, RefusesMetersOfAnotherKind) {
  const auto all = cases();
  for (const Case& c : all) {
    for (const Case& other : all) {
      if (c.task != other.task) {
        const auto meter = metered(c, 0, 2);
        EXPECT_EQ(refusal(*meter, *metered(other, 0, 2)),
                  c.task + ": a meter must be merged with one of its own kind, got another");
        expect_equal(*meter, *metered(c, 0, 2), c.exact, c.task + ": ");
      }
    }
  }
}

TEST(Merge, RefusesOtherClassesTargetsAndUnits) {
  const auto refused = [](std::unique_ptr<Meter> a, std::unique_ptr<Meter> b) {
    const std::string said = refusal(*a, *b);
    EXPECT_NE(said.find("must be merged with one of the same"), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  };
  const auto logits = [](int64_t classes, Level level) {
    return with_outputs({{.name = "logits", .level = level, .channels = classes}});
  };
  refused(Classification({}).meter(logits(3, Level::graph)),
          Classification({}).meter(logits(4, Level::graph)));
  refused(Classification({.names = {"a", "b"}}).meter(logits(2, Level::graph)),
          Classification({}).meter(logits(2, Level::graph)));
  refused(Segmentation({}).meter(logits(3, Level::node)), Segmentation({}).meter(logits(2, Level::node)));
  const auto regions = [&](std::vector<Region> all) {
    return Segmentation({.regions = std::move(all)}).meter(logits(3, Level::node));
  };
  refused(regions({{"whole", {1, 2}}}), regions({}));
  refused(regions({{"whole", {1, 2}}}), regions({{"whole", {2}}}));
  const auto target = [](const char* name, const char* unit) {
    PropertyOptions options;
    options.targets = {name};
    return Property(options).meter(with_outputs({{.name = name, .level = Level::graph, .unit = unit}}));
  };
  refused(target("gap", "eV"), target("mu", "eV"));
  refused(target("gap", "eV"), target("gap", "Hartree"));
  const auto displacement = [](const char* unit) {
    return Trajectory({}).meter(with_outputs({{.name = "displacement", .kind = Kind::vector, .unit = unit}}));
  };
  refused(displacement("nm"), displacement("m"));
  auto other = of_atoms();
  other.report = "kcal/mol";
  refused(std::make_unique<ForceErrors>(of_atoms()), std::make_unique<ForceErrors>(other));
  other = of_atoms();
  other.elements = {"H", "O", "C"};
  refused(std::make_unique<ForceErrors>(of_atoms()), std::make_unique<ForceErrors>(other));
}

}  // namespace merge_test
}  // namespace weyl
