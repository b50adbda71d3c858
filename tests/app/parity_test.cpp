// What parity plots are drawn from: a random share of the pairs, and what all of them come to.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/app/program.h"
#include "weyl/app/draw/picture_data.h"
#include "weyl/core/json.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"
#include "weyl/train/run/journal.h"

namespace weyl {
namespace parity_test {

/// Pairs of points, and how far each moves: 1000 k + row along axis k, so that each number says which it is.
InMemory moving_points(int64_t graphs) {
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>(static_cast<size_t>(graphs), 2));
  at::manual_seed(2);
  p.positions = at::randn({2 * graphs, 3}, at::kDouble);
  Schema schema;
  schema.labels = {{.name = "displacement", .kind = Kind::vector, .role = Role::offset, .unit = "Å"}};
  const Tensor rows = at::arange(2 * graphs, at::kDouble).view({-1, 1, 1}) / 10'000;
  const Tensor axes = 1000.0 * at::arange(3, at::kDouble).view({1, 1, 3});
  return {{p, {{"displacement", axes + rows}}}, schema};
}

Predictor predictor_of(const Dataset& data) {
  SavedModel saved;
  saved.recipe.task = TaskOptions{TrajectoryOptions{}};
  saved.task = make_task(saved.recipe.task);
  saved.task->fit(data);
  transformer::Options o;
  o.width = 8;
  o.heads = 2;
  o.blocks = 1;
  at::manual_seed(1);
  saved.model = build({o}, saved.task->interface(data.schema()));
  return Predictor(std::move(saved));
}

struct Written {
  CsvTable pairs;
  Json json;
};
Written written(int64_t graphs, const std::string& name) {
  const std::string folder = scratch(name);
  const auto data = std::make_shared<const InMemory>(moving_points(graphs));
  const Predictor predictor = predictor_of(*data);
  write_parity(predictor, data, folder);
  Written all{read_csv(folder + "/parity_displacement.csv"),
              Json::parse(contents(folder + "/parity_displacement.json"), "json")};
  // The error of all of them, by the model's own answers.
  double error = 0, count = 0;
  predictor.each(data, "test data", [&](const Batch& batch) {
    const Tensor off = predictor(batch.input).at("displacement").to(at::kDouble).flatten() -
                       batch.labels.at("displacement").flatten();
    error += off.abs().sum().item<double>();
    count += static_cast<double>(off.numel());
  });
  EXPECT_NEAR(all.json.find("mae")->find("value")->number_or(0), error / count, 1e-9 * error / count);
  EXPECT_EQ(all.json.find("mae")->find("unit")->string_or(""), "Å");
  EXPECT_EQ(all.json.find("pairs")->number_or(0), count);
  EXPECT_EQ(all.json.find("of")->number_or(0), count);
  return all;
}

// Every k-th number was the first component of each vector where k is 3.
TEST(Parity, ManyPairsAreDrawnAtRandom) {
  const Written all = written(2000, "parity-many");
  ASSERT_EQ(all.pairs.rows.size(), 4000u);
  EXPECT_EQ(all.json.find("drawn")->number_or(0), 4000);
  std::set<double> labels;
  int64_t axes[3] = {};
  double rows = 0;
  for (const auto& row : all.pairs.rows) {
    labels.insert(row[0]);
    const auto axis = static_cast<int64_t>(row[0] / 1000 + 0.25);
    ++axes[axis];
    rows += 10'000 * (row[0] - 1000.0 * static_cast<double>(axis)) / 4000;
  }
  EXPECT_EQ(labels.size(), 4000u);
  for (const int64_t count : axes) {
    EXPECT_NEAR(static_cast<double>(count), 4000.0 / 3,
                100);  // three standard deviations, without replacement: 52
  }
  EXPECT_NEAR(rows, 1999.5, 60);  // from the first to the last row; the mean of a sample has 11
  EXPECT_EQ(written(2000, "parity-again").pairs.rows, all.pairs.rows);
}

TEST(Parity, FewPairsAreAllDrawn) {
  const Written all = written(7, "parity-few");
  EXPECT_EQ(all.pairs.rows.size(), 42u);
  EXPECT_EQ(all.json.find("drawn")->number_or(0), 42);
}

}  // namespace parity_test
}  // namespace weyl
