#include "weyl/saved/predictor.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/predict/potentials.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/transformer/options.h"
#include "weyl/tasks/completion.h"

namespace weyl {
namespace predictor_test {

double difference(const Named& a, const Named& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (const auto& [name, value] : a) {
    const Tensor off = (value - b.at(name)).abs();
    worst = off.numel() == 0 || worst > 1e300 ? worst : worst_of(worst, off.max().item<double>());
  }
  return worst;
}

/// Every prediction for a set, gathered from the batches that the predictor makes.
Named gathered(const Predictor& predictor, const std::shared_ptr<const Dataset>& data,
               std::vector<Batch>* batches = nullptr) {
  std::map<std::string, std::vector<Tensor>> parts;
  predictor.each(data, "the data", [&](const Batch& batch) {
    for (const auto& [name, value] : predictor(batch.input)) {
      parts[name].push_back(value);
    }
    if (batches != nullptr) {
      batches->push_back(batch);
    }
  });
  Named all;
  for (const auto& [name, list] : parts) {
    all[name] = at::cat(list);
  }
  return all;
}

TEST(Predictor, GivesWhatTheTaskPredictsWhateverTheBatches) {
  const auto data = set();
  for (const char* system : {"geomformer", "painn", "platonic"}) {
    const SavedModel expected = potential(system, *data);
    const Named whole = expected.task->predict(*expected.model, all_of(*data));
    for (const PredictorOptions& options :
         {PredictorOptions{}, {.batch = 1}, {.batch = 3}, {.batch_tokens = 6}, {.batch_edges = 20}}) {
      const Predictor predictor(potential(system, *data), options);
      EXPECT_LT(difference(gathered(predictor, data), whole), 1e-9) << system;
      EXPECT_LT(difference(predictor(all_of(*data).input), whole), 1e-9) << system;
    }
  }
}

TEST(Predictor, KeepsBatchesWithinItsBounds) {
  const auto data = set();
  std::vector<Batch> batches;
  const auto sizes_with = [&](const PredictorOptions& options) {
    batches.clear();
    gathered(Predictor(potential("geomformer", *data), options), data, &batches);
    std::vector<std::vector<int64_t>> found;
    for (const Batch& batch : batches) {
      auto& sizes = found.emplace_back();
      const auto& graphs = std::get<Points>(batch.input).graphs;
      for (int64_t g = 0; g < graphs.count(); ++g) {
        sizes.push_back(graphs.size(g));
      }
    }
    return found;
  };
  using Sizes = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(sizes_with({}), (Sizes{{4, 1, 5, 3}}));
  EXPECT_EQ(sizes_with({.batch = 3}), (Sizes{{4, 1, 5}, {3}}));
  EXPECT_EQ(sizes_with({.batch_tokens = 5}), (Sizes{{4, 1}, {5}, {3}}));
  EXPECT_EQ(sizes_with({.batch_tokens = 1}), (Sizes{{4}, {1}, {5}, {3}}));
  const std::vector<int64_t> edges =
      potential("geomformer", *data).model->edges(std::get<Points>(all_of(*data).input));
  ASSERT_EQ(edges.size(), 4u);
  for (size_t g = 0; g < 4; ++g) {
    EXPECT_LE(edges[g], sizes[g] * sizes[g]);
  }
  EXPECT_GT(edges[0], 0);
  sizes_with({.batch_edges = edges[0] + edges[1]});
  EXPECT_GT(batches.size(), 1u);
  for (const Batch& batch : batches) {
    int64_t sum = 0;
    for (const int64_t e : potential("geomformer", *data).model->edges(std::get<Points>(batch.input))) {
      sum += e;
    }
    EXPECT_TRUE(sum <= edges[0] + edges[1] || batch.count() == 1);
  }
}

TEST(Predictor, TellsProgressAndStopsWhenAsked) {
  const auto data = set();
  const Predictor predictor(potential("painn", *data), {.batch = 1});
  std::vector<int64_t> done;
  const auto use = [](const Batch&) {};
  PredictorCalls calls{.progress = [&](int64_t samples) { done.push_back(samples); }};
  EXPECT_EQ(predictor.each(data, "data", use, calls), 4);
  EXPECT_EQ(done, (std::vector<int64_t>{1, 2, 3, 4}));
  calls.stop = [&] { return done.back() == 2; };
  EXPECT_EQ(predictor.each(data, "data", use, calls), 2);
}

/// A sample as it is, moved as a whole.
Input moved(const Batch& batch, double by) {
  const Motions motions{at::eye(3, at::kDouble).expand({batch.count(), 3, 3}),
                        at::tensor({by, -0.7 * by, 0.3 * by}, at::kDouble).expand({batch.count(), 3})};
  return transform(batch, motions, atoms()).input;
}

double largest(const Tensor& x) {
  return x.abs().max().item<double>();
}

TEST(Predictor, LosesNothingFarFromTheOrigin) {
  const auto data = set();
  for (const char* system : {"geomformer", "et", "painn", "platonic", "gatr"}) {
    const PredictorOptions options;
    SavedModel saved = potential(system, *data);
    saved.model->to(at::kFloat);
    const Predictor predictor(std::move(saved), options);
    const Tensor here = predictor(all_of(*data).input).at("forces"),
                 gradient = predictor.gradient(all_of(*data).input);
    for (const double by : {1e4, 1e8}) {
      const Input there = moved(all_of(*data), by);
      // At 1e8 float64 itself rounds positions to 1.5e-8.
      EXPECT_LT(largest(predictor(there).at("forces") - here), 5e-6 * largest(here))
          << system << " at " << by;
      EXPECT_LT(largest(predictor.gradient(there) - gradient), 5e-6 * largest(gradient))
          << system << " at " << by;
      // What rounding to float32 where they are would do: at 1e8 it moves atoms to one place.
      const Input rounded = to(there, at::kCPU, at::kFloat);
      if (by > 1e6) {
        EXPECT_THROW(predictor(rounded), ShapeError) << system;
      } else {
        EXPECT_GT(largest(predictor(rounded).at("forces") - here), 2e-5 * largest(here)) << system;
      }
    }
  }
}

TEST(Predictor, WrapsPeriodicSamplesThatAreFarFromTheirCell) {
  const auto data = set();
  const Batch batch = periodic(data);
  SavedModel saved = potential("painn", *data);
  saved.model->to(at::kFloat);
  const Predictor predictor(std::move(saved));
  const Asked stress{.stress = true};
  const Named here = predictor(batch.input, stress);
  Points far = std::get<Points>(batch.input);
  const Tensor cells = at::index_select(far.cell, 0, far.graphs.index);  // each atom in an image of its own
  const Tensor images = at::randint(-100000, 100000, {far.nodes(), 3, 1}, at::kLong).to(at::kDouble);
  far.positions = far.positions + (images * cells).sum(1);
  const Named there = predictor(far, stress);
  for (const char* name : {"forces", "stress"}) {
    EXPECT_LT(largest(there.at(name) - here.at(name)), 1e-5 * largest(here.at(name))) << name;
  }
}

TEST(Predictor, SaysThatAModelKnowsTheOrigin) {
  const auto data = set();
  SavedModel saved = potential("transformer", *data);
  saved.recipe.model.system.get_if<transformer::Options>()->centre = false;
  saved.model = build(saved.recipe.model, saved.task->interface(data->schema()));
  const auto notes = Predictor(std::move(saved)).notes();
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("not exact under translations") != std::string::npos;
  }));
  EXPECT_TRUE(Predictor(potential("transformer", *data)).notes().empty());
}

/// Graphs of two hydrogens, each with its place and its extent.
Points pairs(const std::vector<std::pair<double, double>>& places_and_extents) {
  std::vector<double> positions;
  for (const auto& [place, extent] : places_and_extents) {
    positions.insert(positions.end(), {place, 0, 0, place, extent, 0});
  }
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>(places_and_extents.size(), 2));
  points.positions = at::tensor(positions, at::kDouble).view({-1, 3});
  points.types = at::zeros({points.nodes()}, at::kLong);
  return points;
}

TEST(Predictor, DoubtsEachSampleByItsOwnExtent) {
  const auto data = set();
  SavedModel saved = potential("transformer", *data);
  saved.recipe.model.system.get_if<transformer::Options>()->centre = false;
  const ModelOptions options = saved.recipe.model;
  saved.model = build(options, saved.task->interface(data->schema()));
  ASSERT_EQ(saved.model->dtype(), at::kFloat);
  const Predictor predictor(std::move(saved));
  EXPECT_EQ(predictor.data_warning(pairs({{0, 2}, {1000, 2}, {0, 1e4}})), "");
  for (const Points& input : {pairs({{1e5, 2}}), pairs({{1e5, 2}, {0, 1e4}}), pairs({{0, 1e4}, {-1e5, 2}}),
                              pairs({{20, 0.01}, {0, 2}})}) {
    EXPECT_NE(predictor.data_warning(input).find("not exact under translations"), std::string::npos);
  }
  // In float64 nothing is lost, and nothing by a model that is exact.
  SavedModel wide = potential("transformer", *data);
  {
    const BuildOn float64(at::kCPU, at::kDouble);
    wide.model = build(options, wide.task->interface(data->schema()));
  }
  EXPECT_EQ(Predictor(std::move(wide)).data_warning(pairs({{1e5, 2}})), "");
  SavedModel exact = potential("transformer", *data);
  exact.model->to(at::kFloat);
  EXPECT_EQ(Predictor(std::move(exact)).data_warning(pairs({{1e5, 2}})), "");
}

// A pose far away in a chain of small steps: its rotations do not make it large.
TEST(Predictor, DoubtsPosesByTheirTranslationsAlone) {
  lie::Options options;
  options.variant = lie::Variant::A;
  Schema schema;
  schema.interface.group = LieGroup::se3;
  schema.interface.dimension = 3;
  schema.interface.typical_nodes = 2;
  SavedModel saved;
  saved.recipe.model.system = options;
  saved.model = build(saved.recipe.model, Completion({}).interface(schema));
  const Predictor predictor(std::move(saved));
  Poses poses;
  poses.group = LieGroup::se3;
  poses.graphs = Segments::of_sizes(std::vector<int64_t>{2, 2});
  poses.elements = at::eye(4, at::kDouble).repeat({4, 1, 1});
  poses.elements[1][0][3] = 0.01;
  poses.elements[3][0][3] = 5.0;
  EXPECT_EQ(predictor.data_warning(poses), "");
  poses.elements.slice(0, 0, 2).select(1, 1).select(1, 3).add_(50);
  EXPECT_NE(predictor.data_warning(poses).find("not exact under translations"), std::string::npos);
  poses.elements.slice(0, 0, 2).select(1, 1).select(1, 3).fill_(1);
  EXPECT_EQ(predictor.data_warning(poses), "");
}

TEST(Predictor, NamesTheSampleThatIsRefused) {
  const auto data = set();
  const Predictor predictor(potential("painn", *data));
  try {
    predictor.each(data, "atoms.xyz", [](const Batch& batch) {
      for (int64_t g = 0; g < batch.count(); ++g) {
        require(std::get<Points>(batch.input).graphs.size(g) != 5, "too many");
      }
    });
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "atoms.xyz: sample 2: too many");
  }
}

TEST(Predictor, ItsGradientIsMinusTheForces) {
  const auto data = set();
  for (const char* system : {"geomformer", "platonic"}) {
    const Predictor predictor(potential(system, *data));
    const Input input = all_of(*data).input;
    // The model's own energies, before the task's scale.
    const double scale = predictor.task()->state().at("scale").item<double>();
    const Tensor gradient = predictor.gradient(input) * scale,
                 forces = predictor(input).at("forces").squeeze(1);
    EXPECT_LT((gradient + forces).abs().max().item<double>(), 1e-9) << system;
  }
}

TEST(Predictor, GivesStressWhereForcesAreGradients) {
  const auto data = set();
  const Input input = periodic(data).input;
  const Predictor predictor(potential("painn", *data));
  const Asked stress{.stress = true};
  EXPECT_EQ(predictor.outputs().size(), 2u);
  const Named before = predictor(input);
  EXPECT_FALSE(before.contains("stress"));
  EXPECT_EQ(predictor.outputs(stress).size(), 3u);
  Named after = predictor(input, stress);
  EXPECT_EQ(after.at("stress").sizes(), (std::vector<int64_t>{4, 1, 3, 3}));
  after.erase("stress");
  EXPECT_LT(difference(before, after), 1e-12);
  EXPECT_LT(difference(before, predictor(input)), 1e-300);
  const Predictor direct(potential("painn", *data, {.forces = ForceSource::direct}));
  EXPECT_EQ(direct.outputs(stress).size(), 2u);
  EXPECT_FALSE(direct(input, stress).contains("stress"));
}

TEST(Predictor, MeasuresWhatEvaluateMeasures) {
  const auto data = set();
  const SavedModel saved = potential("painn", *data);
  const Metrics expected = evaluate(*saved.model, *saved.task, data).metrics;
  const Predictor predictor(potential("painn", *data), {.batch = 2, .batch_edges = 5});
  const Evaluation found = predictor.evaluate(data, "data");
  EXPECT_EQ(found.samples, 4);
  EXPECT_FALSE(found.stopped);
  ASSERT_EQ(found.metrics.size(), expected.size());
  for (const auto& [name, metric] : expected) {
    EXPECT_NEAR(found.metrics.at(name).value, metric.value, 1e-9 * std::abs(metric.value)) << name;
  }
}

TEST(Predictor, GivesAnUntrainedModelsOwnOutputs) {
  const auto data = set();
  SavedModel saved = potential("platonic", *data);
  saved.task = nullptr;
  const Named expected = (*saved.model)(all_of(*data).input);
  const Predictor predictor(std::move(saved));
  EXPECT_EQ(predictor.task(), nullptr);
  EXPECT_EQ(predictor.outputs(), predictor.interface().outputs);
  EXPECT_EQ(difference(predictor(all_of(*data).input), expected), 0);
  EXPECT_THROW(predictor.evaluate(data, "data"), ConfigError);
}

TEST(Predictor, AnswersSeveralThreadsAtOnce) {
  const auto data = set();
  const Predictor predictor(potential("painn", *data));
  const Input input = all_of(*data).input;
  const Named expected = predictor(input);
  std::vector<double> off(4, INFINITY);
  std::vector<std::thread> threads;
  for (double& worst : off) {
    threads.emplace_back([&] { worst = difference(predictor(input), expected); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(off, std::vector<double>(4, 0.0));
}

TEST(Predictor, RefusesAnInputThatTheModelDoesNotTake) {
  const auto data = set();
  const Predictor predictor(potential("painn", *data));
  EXPECT_THROW(predictor(Grid{at::zeros({1, 1, 2, 2})}), ShapeError);
  EXPECT_THROW(predictor.gradient(Grid{at::zeros({1, 1, 2, 2})}), ConfigError);
  EXPECT_THROW(Predictor("/no/such/model.safetensors"), DataError);
}

}  // namespace predictor_test
}  // namespace weyl
