#include "weyl/tasks/relaxation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/all_samples.h"
#include "tests/equivariance.h"
#include "weyl/core/check.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/systems.h"
#include "weyl/study/audit/audit.h"
#include "weyl/tasks/relaxation_errors.h"

namespace weyl {
namespace relaxation_test {

/// Answers of every node, by its first coordinates: a model whose answers a test can work out.
class Fixed : public Model {
 public:
  explicit Fixed(Interface interface) : Model(std::move(interface)) {
    const BuildOn wide(at::kCPU, at::kDouble);
    k = parameter("k", at::full({1}, 0.5, at::kDouble));
  }
  Named operator()(const Input& input) override {
    const auto& p = std::get<Points>(input);
    Named out;
    for (const auto& q : interface.outputs) {
      if (q.kind == Kind::vector) {
        out[q.name] = (p.positions * k).unsqueeze(1);
      } else if (q.level == Level::node) {
        out[q.name] = p.positions.slice(1, 0, q.channels) * k;
      } else {
        out[q.name] = segment_means(p) * k;
      }
    }
    return out;
  }
  static Tensor segment_means(const Points& p) {
    std::vector<Tensor> means;
    for (int64_t g = 0; g < p.count(); ++g) {
      means.push_back(p.positions.slice(0, p.graphs.offsets[g], p.graphs.offsets[g + 1]).select(1, 0).mean());
    }
    return at::stack(means).view({-1, 1});
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }
  Tensor k;
};

Schema molecules() {
  Schema schema;
  schema.interface.types = 2;
  schema.interface.length_unit = "\u00c5";
  schema.labels = {{.name = "relaxed", .kind = Kind::vector, .role = Role::point, .unit = "\u00c5"},
                   {.name = "gap", .level = Level::graph, .unit = "eV"}};
  return schema;
}

/// Slabs: tags of three kinds, fixed nodes and images.
Schema slabs() {
  Schema schema = molecules();
  schema.interface.features = {{.name = "tag", .channels = 3}, {.name = "real"}, {.name = "free"}};
  schema.labels.push_back({.name = "cell", .level = Level::graph, .kind = Kind::vector, .channels = 3});
  return schema;
}

const std::vector<int64_t> sizes{3, 5, 2, 4};

std::shared_ptr<InMemory> molecule_set() {
  at::manual_seed(3);
  Points p;
  p.graphs = Segments::of_sizes(sizes);
  p.positions = at::randn({14, 3}, at::kDouble) * 2;
  p.types = at::randint(0, 2, {14}, at::kLong);
  const Tensor relaxed = p.positions + 0.3 * at::randn({14, 3}, at::kDouble);
  return std::make_shared<InMemory>(
      Batch{p, {{"relaxed", relaxed.unsqueeze(1)}, {"gap", at::randn({4, 1}, at::kDouble) + 7}}},
      molecules());
}

std::shared_ptr<InMemory> slab_set() {
  const auto plain = molecule_set();
  Batch batch = plain->all();
  auto& p = std::get<Points>(batch.input);
  at::manual_seed(9);
  const Tensor tag = at::tensor(std::vector<int64_t>{0, 1, 2, 0, 1, 1, 2, 1, 1, 2, 0, 1, 2, 1}, at::kLong);
  const Tensor real = at::ones({14, 1}, at::kDouble);
  for (const int64_t image : {7, 13}) {
    real[image].fill_(0);
  }
  const Tensor free = (tag > 0).to(at::kDouble).unsqueeze(1) * real;
  p.scalars = at::cat({at::one_hot(tag, 3).to(at::kDouble), real, free}, 1);
  batch.labels["cell"] = (at::eye(3, at::kDouble) * 5).unsqueeze(0) + 0.3 * at::randn({4, 3, 3}, at::kDouble);
  // A relaxed place in the next cell is the same place.
  batch.labels["relaxed"][2][0] += batch.labels["cell"][0][1];
  return std::make_shared<InMemory>(batch, slabs());
}

RelaxationOptions gap() {
  RelaxationOptions o;
  o.target = "gap";
  return o;
}

double number(const Tensor& t) {
  return t.item<double>();
}

TEST(Relaxation, AsksForANumberAndDisplacements) {
  const Relaxation task(gap());
  EXPECT_EQ(task.labels().size(), 2u);
  EXPECT_EQ(task.headline(), "mae");
  const Interface interface = task.interface(molecules());
  ASSERT_EQ(interface.outputs.size(), 2u);
  EXPECT_EQ(interface.outputs[0], (Quantity{.name = "gap", .level = Level::graph, .unit = "eV"}));
  EXPECT_EQ(interface.outputs[1],
            (Quantity{.name = "displacement", .kind = Kind::vector, .role = Role::offset, .unit = "\u00c5"}));
  // Each tag above 0 has a number of its own.
  const Interface tagged = task.interface(slabs());
  EXPECT_EQ(tagged.outputs[0], (Quantity{.name = "gap_of_tags", .channels = 2, .unit = "eV"}));
  const auto predictions = task.predictions(tagged);
  ASSERT_EQ(predictions.size(), 3u);
  EXPECT_EQ(predictions[0], interface.outputs[0]);
  EXPECT_EQ(predictions[2].role, Role::point);
  // Places alone, and a number alone.
  const Relaxation places(RelaxationOptions{});
  EXPECT_EQ(places.headline(), "displacement_mae");
  EXPECT_EQ(places.interface(slabs()).outputs.size(), 1u);
  RelaxationOptions alone = gap();
  alone.displacement_weight = {};
  EXPECT_EQ(Relaxation(alone).labels().size(), 1u);
  EXPECT_EQ(Relaxation(alone).interface(molecules()).outputs.size(), 1u);
  alone.target = "";
  EXPECT_THROW(Relaxation{alone}, ConfigError);
  alone.target = "relaxed";
  EXPECT_THROW(Relaxation{alone}, ConfigError);
}

TEST(Relaxation, LossIsTheSheets) {
  const auto data = molecule_set();
  RelaxationOptions o = gap();
  o.displacement_weight = {15, 1};
  o.distance_weight = {2, 4};
  Relaxation task(o);
  task.fit(*data);
  const Batch batch = all_of(*data);
  const auto& p = std::get<Points>(batch.input);
  const Tensor g = batch.labels.at("gap"), way = batch.labels.at("relaxed").squeeze(1) - p.positions;
  const double deviation = number(g.std(/*unbiased=*/false)), length = number(way.square().mean().sqrt());
  EXPECT_NEAR(number(task.state().at("number")[0]), number(g.mean()), 1e-12);
  EXPECT_NEAR(number(task.state().at("number")[1]), deviation, 1e-12);
  EXPECT_NEAR(number(task.state().at("displacement")), length, 1e-12);
  Fixed model(task.interface(data->schema()));
  const Named outputs = model(batch.input);
  const Tensor y = outputs.at("gap"), d = outputs.at("displacement").squeeze(1);
  const double of_number = number((y - (g - g.mean()) / deviation).abs().mean());
  const double of_ways = number((d - way).abs().mean()) / length;
  double of_pairs = 0, pairs = 0;
  for (size_t k = 0; k < sizes.size(); ++k) {
    for (int64_t i = p.graphs.offsets[k]; i < p.graphs.offsets[k + 1]; ++i) {
      for (int64_t j = i + 1; j < p.graphs.offsets[k + 1]; ++j, ++pairs) {
        const auto apart = [&](const Tensor& x) { return number((x[i] - x[j]).norm()); };
        of_pairs += std::abs(apart(p.positions + d) - apart(p.positions + way)) / length;
      }
    }
  }
  for (const double fraction : {0.0, 0.25, 1.0}) {
    task.progress(fraction);
    const double expected =
        of_number + (15 - 14 * fraction) * of_ways + (2 + 2 * fraction) * of_pairs / pairs;
    EXPECT_NEAR(number(task.step(model, batch).loss), expected, 1e-10) << fraction;
  }
  const Named said = task.predict(model, batch);
  EXPECT_TRUE(at::allclose(said.at("gap"), y * deviation + g.mean()));
  EXPECT_TRUE(at::allclose(said.at("relaxed").squeeze(1), p.positions + d));
  o.normalise = false;
  o.distance_weight = {};
  Relaxation plain(o);
  plain.fit(*data);
  EXPECT_NEAR(number(plain.step(model, batch).loss), of_number + 15 * of_ways * length, 1e-10);
}

TEST(Relaxation, OfSlabsIsAboutFreeNodesAndTheNumberAboutTags) {
  const auto data = slab_set();
  Relaxation task(gap());
  task.fit(*data);
  const Batch batch = all_of(*data);
  const auto& p = std::get<Points>(batch.input);
  const Tensor tags = p.scalars.slice(1, 0, 3), real = p.scalars.select(1, 3), free = p.scalars.select(1, 4);
  Fixed model(task.interface(data->schema()));
  const Named outputs = model(batch.input), said = task.predict(model, batch);
  const double n = number((tags.slice(1, 1).sum(1) * real).sum()) / 4;
  const Tensor g = batch.labels.at("gap");
  for (int64_t k = 0; k < 4; ++k) {
    double sum = 0;
    for (int64_t i = p.graphs.offsets[k]; i < p.graphs.offsets[k + 1]; ++i) {
      const int64_t tag = tags[i].argmax().item<int64_t>();
      if (tag > 0 && number(real[i]) == 1) {
        sum += number(outputs.at("gap_of_tags")[i][tag - 1]);
      }
    }
    EXPECT_NEAR(number(said.at("gap")[k]), number(g.mean()) + number(g.std(false)) * sum / n, 1e-12);
  }
  const Tensor d = said.at("displacement").squeeze(1);
  EXPECT_TRUE(at::equal(d.abs().sum(1) > 0, free > 0));
  // The relaxed place that is a cell away counts as near: the mean square of the displacements stays small.
  EXPECT_LT(number(task.state().at("displacement")), 0.5);
  // What is asked of nodes that are not free changes nothing.
  Batch other = batch;
  other.labels["relaxed"] = batch.labels.at("relaxed") + 0.4 * (1 - free).view({-1, 1, 1});
  EXPECT_EQ(number(task.step(model, batch).loss), number(task.step(model, other).loss));
}

TEST(Relaxation, LeavesOutWhatIsNotKnown) {
  const auto data = molecule_set();
  Batch holes = data->all();
  holes.labels["gap"] = holes.labels.at("gap").clone();
  holes.labels["relaxed"] = holes.labels.at("relaxed").clone();
  holes.labels["gap"][1].fill_(NAN);
  holes.labels["relaxed"].slice(0, 0, 3).fill_(NAN);
  const InMemory some(holes, data->schema());
  Relaxation task(gap());
  task.fit(some);
  Fixed model(task.interface(data->schema()));
  const Step step = task.step(model, holes);
  EXPECT_TRUE(std::isfinite(number(step.loss)));
  const auto weights = task.loss_weights(holes, model.interface);
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_EQ(number(weights[0]), 3);
  EXPECT_EQ(number(weights[1]), 11);
  const auto meter = task.meter(model.interface);
  meter->add(holes, step.predictions);
  for (const auto& [name, metric] : meter->values()) {
    EXPECT_TRUE(std::isfinite(metric.value)) << name;
  }
  // Samples that are only measured may lack the places altogether.
  Schema numbers = molecules();
  numbers.labels.erase(numbers.labels.begin());
  EXPECT_NO_THROW(require_labels(task, numbers, /*only_measured=*/true));
  EXPECT_THROW(require_labels(task, numbers), DataError);
  holes.labels.erase("relaxed");
  const auto without = task.meter(model.interface);
  without->add(holes, step.predictions);
  EXPECT_FALSE(without->values().contains("adwt"));
  EXPECT_EQ(without->names(numbers).size(), without->values().size());
}

// Two batches of a step have the loss of one that holds both.
TEST(Relaxation, SharesAddUpToTheWhole) {
  const auto data = slab_set();
  RelaxationOptions o = gap();
  o.distance_weight = {1, 1};
  Relaxation task(o);
  task.fit(*data);
  Fixed model(task.interface(data->schema()));
  const Batch whole = all_of(*data);
  const Tensor expected = task.step(model, whole).loss;
  const auto all = task.loss_weights(whole, model.interface);
  Tensor sum = at::zeros({}, at::kDouble);
  for (const auto& half : {std::vector<int64_t>{0, 1, 2}, std::vector<int64_t>{3}}) {
    const Batch part = data->batch(half);
    LossShares shares = task.loss_weights(part, model.interface);
    for (size_t t = 0; t < shares.size(); ++t) {
      shares[t] = shares[t] / all[t];
    }
    sum = sum + task.step(model, part, shares).loss;
  }
  EXPECT_NEAR(number(sum), number(expected), 1e-12);
}

TEST(Relaxation, KeepsItsStatistics) {
  const auto data = slab_set();
  Relaxation task(gap()), other(gap());
  task.fit(*data);
  other.load(task.state());
  Fixed model(task.interface(data->schema()));
  const Batch batch = all_of(*data);
  EXPECT_EQ(number(task.step(model, batch).loss), number(other.step(model, batch).loss));
  NamedTensors broken = task.state();
  broken["displacement"] = at::zeros({1}, at::kDouble);
  EXPECT_THROW(other.load(broken), DataError);
  broken.erase("number");
  EXPECT_THROW(other.load(broken), DataError);
  Relaxation same(gap());
  same.fit(*molecule_set());
  const Interface interface = task.interface(data->schema());
  EXPECT_TRUE(same.keep(task, interface, interface));
  EXPECT_TRUE(at::equal(same.state().at("number"), task.state().at("number")));
  EXPECT_FALSE(same.keep(Relaxation(RelaxationOptions{}), interface, interface));
}

TEST(Relaxation, RefusesLabelsThatSayNothing) {
  Batch flat = molecule_set()->all();
  flat.labels["gap"] = at::full({4, 1}, 3.0, at::kDouble);
  EXPECT_THROW(Relaxation(gap()).fit(InMemory(flat, molecules())), DataError);
  flat = molecule_set()->all();
  flat.labels["relaxed"] = std::get<Points>(flat.input).positions.unsqueeze(1).clone();
  EXPECT_THROW(Relaxation(gap()).fit(InMemory(flat, molecules())), DataError);
}

TEST(Relaxation, BaselinesAreMeanCompositionAndNoMotion) {
  const auto data = slab_set();
  Relaxation task(gap());
  EXPECT_TRUE(task.baselines(*data).empty());
  task.fit(*data);
  const auto rows = task.baselines(*data);
  ASSERT_EQ(rows.size(), 3u);
  const Tensor g = data->all().labels.at("gap");
  EXPECT_EQ(rows[0].first, "mean");
  EXPECT_NEAR(rows[0].second.at("mae").value, number((g - g.mean()).abs().mean()), 1e-12);
  EXPECT_EQ(rows[1].first, "linear in composition");
  EXPECT_LE(rows[1].second.at("rmse").value, rows[0].second.at("rmse").value);
  EXPECT_EQ(rows[2].first, "no motion");
  EXPECT_NEAR(rows[2].second.at("displacement_rmse").value, number(task.state().at("displacement")), 1e-12);
  EXPECT_FALSE(rows[2].second.contains("mae"));
}

Metrics metrics_of(const Batch& batch, const Named& predictions) {
  RelaxationErrors meter({.target = "gap", .unit = "eV", .inputs = slabs().interface});
  meter.add(batch, predictions);
  return meter.values();
}

// tools/goldens/relaxation_metrics.py: plain NumPy.
TEST(RelaxationErrors, AreNumPys) {
  std::ifstream file(WEYL_SOURCE_DIR "/tests/goldens/relaxation_metrics.txt");
  RelaxationErrors meter({.target = "gap", .unit = "eV", .inputs = slabs().interface});
  std::vector<double> expected;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::vector<double> x;
    for (double value = 0; words >> value;) {
      x.push_back(value);
    }
    if (x.size() == 6) {
      expected = x;
      break;
    }
    const auto n = static_cast<int64_t>(x[0]);
    const Tensor atoms = at::tensor(std::vector<double>(x.begin() + 12, x.end()), at::kDouble).view({n, 7});
    Points p;
    p.graphs = Segments::of_sizes(std::vector<int64_t>{n});
    p.positions = at::zeros({n, 3}, at::kDouble);  // the displacement is then the place
    p.types = at::zeros({n}, at::kLong);
    p.scalars = at::ones({n, 5}, at::kDouble);
    p.scalars.select(1, 4).copy_(atoms.select(1, 0));
    const Tensor cell =
        at::tensor(std::vector<double>(x.begin() + 3, x.begin() + 12), at::kDouble).view({1, 3, 3});
    meter.add(
        {p,
         {{"gap", at::full({1, 1}, x[2], at::kDouble)},
          {"cell", cell},
          {"relaxed", atoms.slice(1, 4, 7).unsqueeze(1)}}},
        {{"gap", at::full({1, 1}, x[1], at::kDouble)}, {"displacement", atoms.slice(1, 1, 4).unsqueeze(1)}});
  }
  ASSERT_EQ(expected.size(), 6u);
  const Metrics found = meter.values();
  size_t k = 0;
  for (const char* name : {"mae", "rmse", "ewt", "displacement_mae", "displacement_rmse", "adwt"}) {
    EXPECT_NEAR(found.at(name).value, expected[k++], 1e-12) << name;
  }
}

/// One free atom that is this far off, and a number that is that far off.
Metrics off_by(double distance, double energy) {
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{1});
  p.positions = at::zeros({1, 3}, at::kDouble);
  p.types = at::zeros({1}, at::kLong);
  p.scalars = at::ones({1, 5}, at::kDouble);
  const Tensor x = at::tensor({0.0, distance, 0.0}, at::kDouble).view({1, 1, 3});
  return metrics_of({p, {{"gap", at::zeros({1, 1}, at::kDouble)}, {"relaxed", at::zeros_like(x)}}},
                    {{"gap", at::full({1, 1}, energy, at::kDouble)}, {"displacement", x}});
}

// The fact sheet's hand cases: 399 of the 490 thresholds are above 0.1005, and both comparisons are strict.
TEST(RelaxationErrors, CountThresholds) {
  EXPECT_DOUBLE_EQ(off_by(0.1005, 0).at("adwt").value, 399.0 / 490);
  EXPECT_EQ(off_by(0.0099, 0).at("adwt").value, 1);
  EXPECT_DOUBLE_EQ(off_by(0.01, 0).at("adwt").value, 489.0 / 490);
  EXPECT_EQ(off_by(0.6, 0).at("adwt").value, 0);
  EXPECT_EQ(off_by(0, 0.02).at("ewt").value, 0);
  EXPECT_EQ(off_by(0, -0.0199).at("ewt").value, 1);
}

TEST(RelaxationErrors, OfOtherUnitsHaveNoThresholds) {
  RelaxationErrors meter({.target = "gap", .unit = "Debye", .inputs = Interface{}});
  const auto names = meter.names(molecules());
  for (const MetricName& metric : names) {
    EXPECT_NE(metric.name, "ewt");
    EXPECT_NE(metric.name, "adwt");
  }
  // Of meV it is the same 0.02 eV.
  RelaxationErrors milli({.target = "gap", .unit = "meV", .displacements = false, .inputs = Interface{}});
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{1});
  p.positions = at::zeros({1, 3}, at::kDouble);
  milli.add({p, {{"gap", at::zeros({1, 1}, at::kDouble)}}}, {{"gap", at::full({1, 1}, 19.0, at::kDouble)}});
  EXPECT_EQ(milli.values().at("ewt").value, 1);
}

TEST(ShortestDifference, IsByTheRuleOfTheMetric) {
  const Tensor cell = at::eye(3, at::kDouble).unsqueeze(0) * 4;
  const Segments one = Segments::of_sizes(std::vector<int64_t>{4});
  const Tensor x = at::tensor({3.9, -0.1, 2.0, -3.9, 8.1, 1.0, 0.0, 4.0, -4.0, 2.5, -2.5, 6.5}, at::kDouble);
  const Tensor found = shortest_difference(x.view({4, 3}), cell, one);
  const Tensor expected =
      at::tensor({-0.1, -0.1, 2.0, 0.1, 0.1, 1.0, 0.0, 0.0, 0.0, -1.5, 1.5, -1.5}, at::kDouble);
  EXPECT_TRUE(at::allclose(found.view({-1}), expected, 0, 1e-12)) << found;
  EXPECT_THROW(shortest_difference(x.view({4, 3}), cell.repeat({2, 1, 1}), one), ShapeError);
}

// Places that a model predicts turn with the structure, cell and all. The control says one direction of space.
TEST(Relaxation, PredictionsAreEquivariant) {
  const auto data = slab_set();
  Relaxation task(gap());
  task.fit(*data);
  geomformer::Options o;
  o.width = 8;
  o.heads = 2;
  o.blocks = 1;
  o.kernels = 4;
  const BuildOn wide(at::kCPU, at::kDouble);
  at::manual_seed(1);
  const auto model = build({o}, task.interface(data->schema()));
  const Batch batch = all_of(*data);
  Stream stream(5, "relaxation");
  const Motions motions = random_rotations(4, 3, /*reflections=*/true, stream);
  const Batch moved = transform(batch, motions, data->schema());
  const auto quantities = task.predictions(model->interface);
  const auto error_of = [&](Model& m) {
    return equivariance::relative_error(task.predict(m, moved),
                                        transform(task.predict(m, batch), quantities, motions, batch.input));
  };
  EXPECT_LT(error_of(*model), 1e-10);
  // Distances are those of the structure, not of its place in space. (Means over components are not: L1 knows axes.)
  const auto measured = [&](const Batch& b) {
    const auto meter = task.meter(model->interface);
    meter->add(b, task.predict(*model, b));
    return meter->values();
  };
  for (const char* metric : {"mae", "displacement_rmse", "adwt"}) {
    EXPECT_NEAR(measured(batch).at(metric).value, measured(moved).at(metric).value, 1e-10) << metric;
  }
  class Upwards : public Fixed {
   public:
    using Fixed::Fixed;
    Named operator()(const Input& input) override {
      Named out = Fixed::operator()(input);
      out["displacement"] = at::ones_like(out.at("displacement"));
      return out;
    }
  };
  Upwards control(task.interface(data->schema()));
  EXPECT_GT(error_of(control), 0.1);
}

}  // namespace relaxation_test
}  // namespace weyl
