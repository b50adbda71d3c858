#include "weyl/tasks/pose_correction.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/data/folder.h"
#include "tests/lie_groups.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/lie/log.h"

namespace weyl {
namespace pose_correction_test {

Schema windows(LieGroup group, bool with_features = true) {
  Schema schema;
  schema.interface.group = group;
  schema.interface.dimension = dimension_of(group);
  schema.interface.length_unit = "m";
  if (with_features) {
    schema.interface.features = {{.name = "time"}, {.name = "asked"}};
  }
  schema.labels = {{.name = "pose", .kind = Kind::element}};
  return schema;
}

Tensor normal(at::IntArrayRef shape, double size, uint64_t seed) {
  Stream stream(seed, "pose correction test");
  Tensor x = at::empty(shape, at::kDouble);
  std::generate_n(x.mutable_data_ptr<double>(), x.numel(), [&] { return size * stream.normal(); });
  return x;
}

/// Graphs of 5 tokens, of which the last two are asked for: off by exp(e), e ~ N(0, 0.1^2), the others not at all.
Batch two_ahead(LieGroup group, int64_t graphs = 3) {
  Stream stream(6, "pose correction test");
  const int64_t n = 5 * graphs;
  Batch batch;
  Poses poses;
  poses.group = group;
  poses.elements = random_elements(group, n, 1, stream);
  poses.graphs = Segments::of_sizes(std::vector<int64_t>(graphs, 5));
  const Tensor asked = at::tensor({0.0, 0.0, 0.0, 1.0, 1.0}, at::kDouble).repeat({graphs}),
               time = at::tensor({-2.0, -1.0, 0.0, 1.0, 2.0}, at::kDouble).repeat({graphs});
  poses.scalars = at::stack({time, asked}, 1);
  const Tensor e = normal({n, degrees_of_freedom(group)}, 0.1, 7) * asked.unsqueeze(1);
  batch.labels["pose"] = at::matmul(poses.elements, exponentials(group, e));
  batch.input = poses;
  return batch;
}

/// Says what it is told.
class SaysCorrection : public PosesModel {
 public:
  SaysCorrection(const Interface& interface, Tensor correction)
      : PosesModel(interface), correction_(std::move(correction)) {
    const BuildOn wide(at::kCPU, at::kDouble);
    parameter("none", {1}, Init::zeros());
  }
  Named forward(const Poses&) override { return {{"correction", correction_}}; }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }

 private:
  Tensor correction_;
};

/// log(g_i^-1 g*_i), physical.
Tensor errors_of(const Batch& batch) {
  const auto& poses = std::get<Poses>(batch.input);
  return lie::logs(lie::compact_elements(poses.elements, poses.group),
                   lie::compact_elements(batch.labels.at("pose"), poses.group), poses.group)
      .w;
}

/// The right answer in the units of the task.
Tensor right_answer(const PoseCorrection& task, const Batch& batch) {
  const LieGroup group = std::get<Poses>(batch.input).group;
  const Tensor scales = task.state().at("scales");
  Tensor w = lie::to_orthonormal(errors_of(batch), group);
  const LieBlock first = blocks_of(group).front();
  const int64_t lengths = first.part == LiePart::translation ? first.size : 0;
  return at::cat({w.slice(1, 0, lengths) / scales[0], w.slice(1, lengths) / scales[1]}, 1);
}

Metrics metrics_of(const PoseCorrection& task, Model& model, const Batch& batch) {
  const auto meter = task.meter(model.interface);
  meter->add(batch, task.predict(model, batch));
  return meter->values();
}

TEST(PoseCorrection, TheRightAnswerIsRightAndNoneIsAsGiven) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    const Batch batch = two_ahead(group);
    const Schema schema = windows(group);
    PoseCorrection task({});
    task.fit(InMemory(batch, schema));
    const Interface interface = task.interface(schema);
    SaysCorrection right(interface, right_answer(task, batch));
    EXPECT_LT(task.step(right, batch).loss.item<double>(), 1e-20);
    EXPECT_LT(metrics_of(task, right, batch).at("relative_error").value, 1e-7);
    SaysCorrection none(interface, at::zeros({batch.tokens(), degrees_of_freedom(group)}, at::kDouble));
    // Of the training set itself what is left as it is has 1 exactly, of each part.
    const bool moves = matrix_size(group) > dimension_of(group);
    EXPECT_NEAR(task.step(none, batch).loss.item<double>(), moves ? 2 : 1, 1e-9);
    const Metrics found = metrics_of(task, none, batch);
    EXPECT_NEAR(found.at("relative_error").value, 1, 1e-9);
    const Metrics given = task.baselines(InMemory(batch, schema)).at(0).second;
    EXPECT_NEAR(given.at("relative_error").value, 1, 1e-9);
    EXPECT_EQ(moves, found.contains("translation_rmse"));
    // By hand, over the asked tokens.
    const Tensor e = errors_of(batch), asked = std::get<Poses>(batch.input).scalars.select(1, 1);
    const LieBlock first = blocks_of(group).front();
    const int64_t lengths = first.part == LiePart::translation ? first.size : 0;
    const double angle = std::sqrt((e.slice(1, lengths).square().sum(1) * asked).sum().item<double>() /
                                   asked.sum().item<double>());
    const double turn = is_rigid(group) ? 180 / std::numbers::pi : 1;
    EXPECT_NEAR(found.at(is_rigid(group) ? "angle_rmse" : "linear_rmse").value, angle * turn, 1e-9);
  }
}

TEST(PoseCorrection, WhatIsNotAskedForStaysAndDoesNotCount) {
  const LieGroup group = LieGroup::se3;
  Batch batch = two_ahead(group);
  const Schema schema = windows(group);
  PoseCorrection task({});
  task.fit(InMemory(batch, schema));
  const Interface interface = task.interface(schema);
  const auto& poses = std::get<Poses>(batch.input);
  const Tensor asked = poses.scalars.select(1, 1).unsqueeze(1);
  const Tensor right = right_answer(task, batch), wrong = right + 5 * (1 - asked);
  SaysCorrection model(interface, wrong);
  EXPECT_LT(task.step(model, batch).loss.item<double>(), 1e-20);
  const Tensor said = task.predict(model, batch).at("pose");
  EXPECT_TRUE(at::equal(said[0], poses.elements[0]));
  SaysCorrection off(interface, right + 5 * asked);
  EXPECT_GT(task.step(off, batch).loss.item<double>(), 1);
  // Without the feature all are asked for.
  Schema plain = windows(group, false);
  Batch whole = batch;
  std::get<Poses>(whole.input).scalars = Tensor();
  SaysCorrection everywhere(task.interface(plain), wrong);
  EXPECT_GT(task.step(everywhere, whole).loss.item<double>(), 1);
}

// The prediction moves with its tokens from the left, whatever the model says; from the right it does not.
TEST(PoseCorrection, PredictionsMoveWithTheTokens) {
  for (const LieGroup group : lie_groups) {
    const Batch batch = two_ahead(group);
    const Schema schema = windows(group);
    const PoseCorrection task({});
    SaysCorrection model(task.interface(schema), normal({batch.tokens(), degrees_of_freedom(group)}, 0.3, 8));
    Stream stream(9, "pose correction test");
    const Tensor a = random_elements(group, batch.count(), 1, stream);
    const Batch moved = transform(batch, motions_of(group, a), schema);
    const Tensor of_tokens = at::index_select(a, 0, std::get<Poses>(batch.input).graphs.index);
    const Tensor said = task.predict(model, batch).at("pose"), then = task.predict(model, moved).at("pose");
    EXPECT_LT((then - at::matmul(of_tokens, said)).abs().max().item<double>(), 1e-11) << name_of(group);
    Batch right = batch;
    auto& poses = std::get<Poses>(right.input);
    poses.elements = at::matmul(poses.elements, of_tokens);
    if (group != LieGroup::so2) {  // which is abelian
      EXPECT_GT(
          (task.predict(model, right).at("pose") - at::matmul(said, of_tokens)).abs().max().item<double>(),
          1e-3)
          << name_of(group);
    }
  }
}

TEST(PoseCorrection, MeasuresEachPoseAheadByItsTime) {
  const LieGroup group = LieGroup::se2;
  Batch batch = two_ahead(group, 1);
  const Schema schema = windows(group);
  PoseCorrection task({});
  auto& poses = std::get<Poses>(batch.input);
  batch.labels["pose"] = poses.elements.clone();
  batch.labels["pose"][3][0][2] += 1.0;  // 1 m, two ahead by the times below
  batch.labels["pose"][4][0][2] += 0.25;
  poses.scalars[3][0] = 9.0;
  const auto meter = task.meter(task.interface(schema));
  meter->add(batch, {{"pose", poses.elements}});
  const auto rows = meter->breakdowns(schema).at(0).rows;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_NEAR(rows[0].second.at("translation_rmse").value, 0.25, 1e-12);
  EXPECT_NEAR(rows[1].second.at("translation_rmse").value, 1, 1e-12);
  EXPECT_EQ(rows[1].second.at("translation_rmse").unit, "m");
  // "last pose" is the given one of the greatest time, whatever the order of the rows.
  const auto baselines = task.baselines(InMemory(batch, schema));
  ASSERT_EQ(baselines.size(), 2u);
  EXPECT_EQ(baselines[1].first, "last pose");
  Batch from_last = batch;  // token 2 in place of those ahead
  auto& tokens = std::get<Poses>(from_last.input).elements;
  tokens = at::index_select(poses.elements, 0, at::tensor({0, 1, 2, 2, 2}, at::kLong));
  const Tensor t = errors_of(from_last).slice(0, 3, 5).slice(1, 0, 2);
  EXPECT_NEAR(baselines[1].second.at("translation_rmse").value,
              std::sqrt(t.square().sum().item<double>() / 2), 1e-12);
}

TEST(PoseCorrection, RefusesWhatHasNothingToCorrect) {
  Batch batch = two_ahead(LieGroup::se3);
  batch.labels["pose"] = std::get<Poses>(batch.input).elements.clone();
  PoseCorrection task({});
  EXPECT_NE(message_of<DataError>([&] {
              task.fit(InMemory(batch, windows(LieGroup::se3)));
            }).find("must differ from those that are asked for"),
            std::string::npos);
  Schema points;
  EXPECT_THROW(task.interface(points), ConfigError);
  EXPECT_THROW(task.load({{"scales", at::tensor({1.0, 0.0}, at::kDouble)}}), DataError);
}

}  // namespace pose_correction_test
}  // namespace weyl
