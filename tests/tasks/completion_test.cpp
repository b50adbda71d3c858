#include "weyl/tasks/completion.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/folder.h"
#include "tests/lie_groups.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/data/poses/pose_sequences.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/lie/log.h"

namespace weyl {
namespace completion_test {

/// g_0 exp(k w) without element `hole`, the others in order: tokens 0 .. hole - 1, hole + 1 .. 5.
Batch sequences(LieGroup group, int64_t count, int64_t hole = 2) {
  Stream stream(5, "completion test");
  const int64_t n = 6, dof = degrees_of_freedom(group);
  const Tensor first = random_elements(group, count, 1, stream);
  Tensor w = at::empty({count, dof}, at::kDouble);
  std::generate_n(w.mutable_data_ptr<double>(), w.numel(), [&] { return 0.2 * stream.normal(); });
  std::vector<Tensor> tokens, missing;
  for (int64_t b = 0; b < count; ++b) {
    for (int64_t k = 0; k < n; ++k) {
      const Tensor g = at::matmul(first[b], exponentials(group, w[b].unsqueeze(0) * k)[0]);
      (k == hole ? missing : tokens).push_back(g);
    }
  }
  Batch batch;
  Poses poses;
  poses.group = group;
  poses.elements = at::stack(tokens);
  poses.graphs = Segments::of_sizes(std::vector<int64_t>(count, n - 1));
  batch.input = poses;
  batch.labels["element"] = at::stack(missing);
  Tensor flank = at::zeros({n - 1, 1}, at::kLong);
  flank[hole - 1] = 1;
  flank[hole] = 1;
  batch.labels["flank"] = flank.repeat({count, 1});
  return batch;
}

Schema schema(LieGroup group) {
  PoseSequencesDataOptions options;
  options.group = group;
  return declared_schema(options);
}

/// Says what it is told.
class Says : public PosesModel {
 public:
  Says(const Completion& task, LieGroup group, Named outputs)
      : PosesModel(task.interface(schema(group))), outputs_(std::move(outputs)) {
    const BuildOn wide(at::kCPU, at::kDouble);
    parameter("none", {1}, Init::zeros());
  }
  Says(LieGroup group, const Tensor& gap, const Tensor& correction)
      : Says(Completion({}), group, {{"gap", gap}, {"correction", correction}}) {}
  Named forward(const Poses&) override { return outputs_; }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }

 private:
  Named outputs_;
};

/// log(g_i^-1 g), orthonormal: the right answer of every token.
Tensor right_corrections(const Batch& batch) {
  const auto& poses = std::get<Poses>(batch.input);
  const Tensor truth = batch.labels.at("element").index_select(0, poses.graphs.index);
  const lie::Logs logs = lie::logs(lie::compact_elements(poses.elements, poses.group),
                                   lie::compact_elements(truth, poses.group), poses.group);
  return lie::to_orthonormal(logs.w, poses.group);
}

Metrics metrics_of(const Completion& task, Model& model, const Batch& batch) {
  const auto meter = task.meter(model.interface);
  meter->add(batch, task.predict(model, batch));
  return meter->values();
}

TEST(Completion, TheRightCorrectionsHaveNoError) {
  const Completion task({});
  for (const LieGroup group : lie_groups) {
    const Batch batch = sequences(group, 4);
    const Tensor gap = batch.labels.at("flank").to(at::kDouble) * 1e3;
    Says model(group, gap, right_corrections(batch));
    model.train(false);
    const Step step = task.step(model, batch);
    EXPECT_LT(step.loss.item<double>(), 1e-24) << name_of(group);
    const Metrics found = metrics_of(task, model, batch);
    EXPECT_LT(found.at("pose_error").value, 1e-24) << name_of(group);
    EXPECT_LT(found.at("relative_error").value, 1e-20);
    EXPECT_EQ(found.at("flanking_accuracy").value, 1);
    EXPECT_EQ(found.at("outside_chart").value, 0);
    EXPECT_TRUE(at::allclose(step.predictions.at("element"), batch.labels.at("element"), 1e-9, 1e-11));
    model.train(true);
    EXPECT_TRUE(task.step(model, batch).predictions.empty());
  }
}

// What is made of a batch before it goes to a device changes nothing of the step.
TEST(Completion, APreparedBatchHasTheSameLoss) {
  for (const LieGroup group : {LieGroup::se3, LieGroup::aff3}) {
    const Batch batch = sequences(group, 4);
    Says model(group, at::arange(20, at::kDouble).unsqueeze(1).sin(), 0.5 * right_corrections(batch));
    Batch prepared = batch;
    Completion({}).prepare(prepared, model.interface);
    EXPECT_EQ(prepared.labels.size(), batch.labels.size() + 1);
    EXPECT_TRUE(at::equal(Completion({}).step(model, prepared).loss, Completion({}).step(model, batch).loss));
    prepared.labels["flank"] = at::zeros_like(batch.labels.at("flank"));
    EXPECT_THROW(Completion({}).prepare(prepared, model.interface), ShapeError);
  }
}

// -log sum_F p + mean_F |log|^2, by hand: without corrections both neighbours are one step away.
TEST(Completion, LossByHand) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::aff3}) {
    const Batch batch = sequences(group, 3);
    Tensor gap = at::arange(15, at::kDouble).unsqueeze(1).sin();
    Says model(group, gap, at::zeros({15, degrees_of_freedom(group)}, at::kDouble));
    double expected = 0, pose = 0;
    const Tensor w = right_corrections(batch) /
                     lie::to_orthonormal(at::ones({1, degrees_of_freedom(group)}, at::kDouble), group);
    for (int64_t b = 0; b < 3; ++b) {
      const Tensor p = at::softmax(gap.narrow(0, 5 * b, 5), 0);
      expected -= std::log((p[1] + p[2]).item<double>()) / 3;
      pose += (w[5 * b + 1].square().sum() + w[5 * b + 2].square().sum()).item<double>() / 6;
    }
    EXPECT_NEAR(Completion({}).step(model, batch).loss.item<double>(), expected + pose, 1e-12);
    CompletionOptions weighted;
    weighted.gap_weight = 2;
    weighted.pose_weight = 0.5;
    EXPECT_NEAR(Completion(weighted).step(model, batch).loss.item<double>(), 2 * expected + 0.5 * pose,
                1e-12);
  }
}

CompletionOptions with_whole() {
  CompletionOptions options;
  options.whole = true;
  return options;
}

/// Four sequences, of the second and the last of which nothing is missing. What stands as their missing pose must not matter.
Batch some_whole(LieGroup group) {
  Batch batch = sequences(group, 4);
  for (const int64_t s : {1, 3}) {
    batch.labels["flank"].narrow(0, 5 * s, 5).zero_();
    batch.labels["element"][s] = batch.labels["element"][0];
  }
  return batch;
}

// "Nothing" is one more choice, of logit 0: by hand, with and without a gap.
TEST(Completion, NothingMissingIsAChoiceOfTheLoss) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::aff3}) {
    const Batch batch = some_whole(group);
    const Tensor gap = at::arange(20, at::kDouble).unsqueeze(1).sin();
    Says model(group, gap, at::zeros({20, degrees_of_freedom(group)}, at::kDouble));
    double expected = 0;
    const Tensor w = lie::from_orthonormal(right_corrections(batch), group);
    for (int64_t s = 0; s < 4; ++s) {
      const Tensor e = gap.narrow(0, 5 * s, 5).exp();
      const double all = 1 + e.sum().item<double>();
      if (s % 2 == 1) {
        expected += std::log(all);
      } else {
        expected += std::log(all) - std::log((e[1] + e[2]).item<double>());
        expected += (w[5 * s + 1].square().sum() + w[5 * s + 2].square().sum()).item<double>() / 2;
      }
    }
    const Completion task(with_whole());
    const double loss = task.step(model, batch).loss.item<double>();
    EXPECT_NEAR(loss, expected / 4, 1e-12) << name_of(group);
    Batch other = batch;  // what is left out at the end of a whole sequence is not asked for
    other.labels["element"] = other.labels["element"].clone();
    other.labels["element"][3] = other.labels["element"][2];
    EXPECT_EQ(task.step(model, other).loss.item<double>(), loss);
    other.labels["element"][0] = other.labels["element"][2];  // the control
    EXPECT_NE(task.step(model, other).loss.item<double>(), loss);
    Batch prepared = batch;
    task.prepare(prepared, model.interface);
    EXPECT_EQ(task.step(model, prepared).loss.item<double>(), loss);
    EXPECT_THROW(Completion({}).step(model, batch), ShapeError);
  }
}

// Finite derivatives, also where all sequences of a batch are whole and where logits are large.
TEST(Completion, DerivativesWithWholeSequencesAreFinite) {
  const Completion task(with_whole());
  for (const double size : {1.0, 500.0}) {
    for (const bool all : {false, true}) {
      Batch batch = some_whole(LieGroup::se3);
      if (all) {
        batch.labels["flank"].zero_();
      }
      const Tensor gap = (size * at::arange(20, at::kDouble).unsqueeze(1).sin()).requires_grad_(),
                   correction = at::zeros({20, 6}, at::kDouble).requires_grad_();
      Says model(LieGroup::se3, gap, correction);
      model.train(true);
      const Tensor loss = task.step(model, batch).loss;
      loss.backward();
      EXPECT_TRUE(at::isfinite(loss).item<bool>() && at::isfinite(gap.grad()).all().item<bool>());
      EXPECT_GT(gap.grad().abs().sum().item<double>(), 0.1);
      EXPECT_TRUE(!correction.grad().defined() || at::isfinite(correction.grad()).all().item<bool>());
      EXPECT_EQ(correction.grad().defined() && correction.grad().abs().sum().item<double>() > 0, !all);
    }
  }
}

// Of four sequences the model is right about three, and what it says of the whole ones is no pose error.
TEST(Completion, SaysThatNothingIsMissing) {
  const Completion task(with_whole());
  const Batch batch = some_whole(LieGroup::se2);
  Tensor gap = at::full({20, 1}, -40.0, at::kDouble);
  gap[1] = gap[12] = 3;  // beside the gaps of the first and the third
  gap[15] = 0.5;         // of the last, which is whole
  Says model(LieGroup::se2, gap, right_corrections(batch));
  const Named said = task.predict(model, batch);
  EXPECT_TRUE(at::allclose(said.at("missing").flatten(),
                           at::tensor({3.0, -40 + std::log(5.0), 3.0, 0.5}, at::kDouble)));
  EXPECT_TRUE(find_quantity(task.predictions(model.interface), "missing") != nullptr);
  EXPECT_FALSE(find_quantity(Completion({}).predictions(model.interface), "missing") != nullptr);
  EXPECT_FALSE(Completion({}).predict(model, batch).contains("missing"));
  const Metrics found = metrics_of(task, model, batch);
  EXPECT_EQ(found.at("missing_accuracy").value, 0.75);
  EXPECT_EQ(found.at("flanking_accuracy").value, 1);
  EXPECT_LT(found.at("pose_error").value, 1e-24);
  EXPECT_THROW(metrics_of(Completion({}), model, batch), ShapeError);
  EXPECT_EQ(Completion({}).meter(model.interface)->names({}).size() + 1,
            task.meter(model.interface)->names({}).size());

  const InMemory set(batch, schema(LieGroup::se2));
  for (const auto& [name, metrics] : task.baselines(set)) {
    EXPECT_EQ(metrics.at("missing_accuracy").value, 0.5) << name;  // always missing
  }
  Completion fitted(with_whole());
  fitted.fit(set);
  Batch one = batch;
  one.labels["flank"] = at::zeros_like(batch.labels.at("flank"));
  const InMemory whole(one, schema(LieGroup::se2)),
      lacking(sequences(LieGroup::se2, 4), schema(LieGroup::se2));
  EXPECT_NE(message_of<DataError>([&] { fitted.fit(whole); }).find("got 0 with one of 4"), std::string::npos);
  EXPECT_NE(message_of<DataError>([&] { fitted.fit(lacking); }).find("got 4 with one of 4"),
            std::string::npos);
}

TEST(Completion, MetricsOfWrongAnswers) {
  const Completion task({});
  const Batch batch = sequences(LieGroup::se2, 4);
  // Graphs 0 and 1 choose a neighbour, 2 and 3 the far end; nobody corrects.
  Tensor gap = at::zeros({20, 1}, at::kDouble);
  for (const int64_t row : {1, 5 + 2, 10 + 4, 15 + 4}) {
    gap[row] = 1;
  }
  Says model(LieGroup::se2, gap, at::zeros({20, 3}, at::kDouble));
  const Metrics found = metrics_of(task, model, batch);
  EXPECT_EQ(found.at("flanking_accuracy").value, 0.5);
  // In steps: 1, 1 (from the other side), 3 and 3, squared, over one step squared.
  EXPECT_NEAR(found.at("relative_error").value, (1 + 1 + 9 + 9) / 4.0, 1e-9);
  const Tensor step =
      right_corrections(batch) / lie::to_orthonormal(at::ones({1, 3}, at::kDouble), LieGroup::se2);
  std::vector<double> errors;
  for (int64_t b = 0; b < 4; ++b) {
    errors.push_back((b < 2 ? 1 : 9) * step[5 * b + 1].square().sum().item<double>());
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_NEAR(found.at("pose_error_median").value, (errors[1] + errors[2]) / 2, 1e-12);
}

// diag(-1, -2) has no logarithm: the Frobenius norm of the difference takes over, and is counted.
TEST(Completion, OutsideTheChartTheFrobeniusNormTakesOver) {
  Batch batch = sequences(LieGroup::aff2, 1);
  auto& poses = std::get<Poses>(batch.input);
  const Tensor odd = at::eye(3, at::kDouble);
  odd[0][0] = -1;
  odd[1][1] = -2;
  poses.elements = at::matmul(batch.labels.at("element"), at::linalg_inv(odd)).repeat({5, 1, 1});
  Says model(LieGroup::aff2, at::zeros({5, 1}, at::kDouble), at::zeros({5, 6}, at::kDouble).requires_grad_());
  const Completion task({});
  const Metrics found = metrics_of(task, model, batch);
  EXPECT_EQ(found.at("outside_chart").value, 1);
  EXPECT_NEAR(found.at("pose_error").value, 4 + 9, 1e-9);
  EXPECT_NEAR(task.step(model, batch).loss.item<double>(), std::log(5 / 2.0) + 13, 1e-9);
}

// Where the missing pose lies as the first pose beside the gap sees it does not depend on where both are.
TEST(Completion, ElementsAreLearnedByTheFrobeniusNorm) {
  CompletionOptions options;
  options.answer = CompletionAnswer::element;
  const Completion task(options);
  for (const LieGroup group : lie_groups) {
    const Batch batch = sequences(group, 3);
    const auto& poses = std::get<Poses>(batch.input);
    const Tensor gap = batch.labels.at("flank").to(at::kDouble) * 1e3;
    const Tensor truth = batch.labels.at("element").index_select(0, poses.graphs.index);
    Says right(task, group, {{"gap", gap}, {"candidate", truth}});
    EXPECT_LT(task.step(right, batch).loss.item<double>(), 1e-24) << name_of(group);
    EXPECT_LT(metrics_of(task, right, batch).at("pose_error").value, 1e-24);
    // A token that answers with itself is a step away: |g_i^-1 g - 1|_F^2, which is no squared logarithm.
    Says still(task, group, {{"gap", gap}, {"candidate", poses.elements}});
    const Tensor off =
        at::matmul(at::linalg_inv(poses.elements), truth) - at::eye(matrix_size(group), at::kDouble);
    const Tensor flank = batch.labels.at("flank").select(1, 0) == 1;
    const double expected = off.square().sum({1, 2}).masked_select(flank).mean().item<double>();
    EXPECT_NEAR(task.step(still, batch).loss.item<double>(), expected, 1e-10 * expected) << name_of(group);
    const double logarithm =
        right_corrections(batch).square().sum(1).masked_select(flank).mean().item<double>();
    EXPECT_GT(std::abs(expected - logarithm), 1e-4 * expected);
  }
}

TEST(Completion, SeenFromTheFlankMovesWithNothing) {
  for (const LieGroup group : {LieGroup::se3, LieGroup::so3, LieGroup::aff2}) {
    const Batch batch = sequences(group, 4);
    const Poses& poses = std::get<Poses>(batch.input);
    const Tensor &flank = batch.labels.at("flank"), &missing = batch.labels.at("element");
    const Tensor seen = seen_from_flank(poses, flank, missing);
    const Tensor beside = poses.elements.view({4, 5, missing.size(1), missing.size(1)}).select(1, 1);
    EXPECT_LT((at::matmul(beside, seen) - missing).abs().max().item<double>(), 1e-10);
    Stream stream(7, "moved");
    const Tensor motion = random_elements(group, 1, 1, stream);
    Poses moved = poses;
    moved.elements = at::matmul(motion, poses.elements);
    const Tensor again = seen_from_flank(moved, flank, at::matmul(motion, missing));
    EXPECT_LT((again - seen).abs().max().item<double>(), 1e-9);
    EXPECT_GT((at::matmul(motion, missing) - missing).abs().max().item<double>(), 1e-2);
    const Tensor of_some = seen_from_flank(poses, some_whole(group).labels.at("flank"), missing);
    EXPECT_TRUE(at::equal(of_some, at::stack({seen[0], seen[2]})));
  }
}

TEST(Completion, AsksForPosesAndTheirLabels) {
  const Completion task({});
  Schema points;
  EXPECT_NE(message_of<ConfigError>([&] { task.interface(points); }).find("needs poses"), std::string::npos);
  Batch batch = sequences(LieGroup::so3, 2);
  Says model(LieGroup::so3, at::zeros({10, 1}, at::kDouble), at::zeros({10, 3}, at::kDouble));
  batch.labels["flank"].narrow(0, 0, 5).zero_();
  EXPECT_NE(message_of<ShapeError>([&] { task.step(model, batch); }).find("flank 1"), std::string::npos);
  batch.labels["flank"].fill_(1);
  batch.labels.erase("element");
  EXPECT_NE(message_of<ShapeError>([&] { task.step(model, batch); }).find("'element'"), std::string::npos);
}

TEST(Completion, BaselinesAreATokenBesideTheGapAndAnyToken) {
  const Batch batch = sequences(LieGroup::se3, 5, 3);
  Schema data = schema(LieGroup::se3);
  const InMemory set(batch, data);
  const auto lines = Completion({}).baselines(set);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NEAR(lines[0].second.at("relative_error").value, 1, 1e-9);
  EXPECT_NEAR(lines[1].second.at("relative_error").value, 9, 1e-8);  // the first token, three steps away
}

}  // namespace completion_test
}  // namespace weyl
