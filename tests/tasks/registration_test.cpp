#include "weyl/tasks/registration.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/data/folder.h"
#include "tests/lie_groups.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/systems.h"

namespace weyl {
namespace registration_test {

constexpr LieGroup rigid_groups[] = {LieGroup::so2, LieGroup::se2, LieGroup::so3, LieGroup::se3};

Schema copies_schema(LieGroup group) {
  Schema schema;
  schema.interface.group = group;
  schema.interface.dimension = dimension_of(group);
  schema.interface.length_unit = "m";
  schema.interface.features = {{.name = "copy"}};
  schema.labels = {{.name = "pose", .kind = Kind::element}};
  return schema;
}

Tensor normal(at::IntArrayRef shape, double size, uint64_t seed) {
  Stream stream(seed, "registration test");
  Tensor x = at::empty(shape, at::kDouble);
  std::generate_n(x.mutable_data_ptr<double>(), x.numel(), [&] { return size * stream.normal(); });
  return x;
}

/// Copies of sets of n poses with noise of a size in each coordinate: token k of B is that of n - 1 - k of A. The
/// motions (B, m, m) stand in `motion`.
struct Copies {
  Batch batch;
  Tensor motion;
};

Copies copies(LieGroup group, std::vector<int64_t> sizes, double noise) {
  Stream stream(6, "registration test");
  Copies made;
  std::vector<Tensor> tokens, carried, copy, motions;
  uint64_t seed = 20;
  std::vector<int64_t> both;
  for (const int64_t n : sizes) {
    const Tensor set = random_elements(group, n, 1, stream), a = random_elements(group, 1, 1, stream),
                 b = random_elements(group, 1, 1, stream), x = at::matmul(b, at::linalg_inv(a));
    const auto noisy = [&](const Tensor& g) {
      return at::matmul(g, exponentials(group, normal({n, degrees_of_freedom(group)}, noise, ++seed)));
    };
    const Tensor of_a = noisy(at::matmul(a, set)), of_b = noisy(at::matmul(b, set.flip(0)));
    tokens.insert(tokens.end(), {of_a, of_b});
    carried.insert(carried.end(), {at::matmul(x, of_a), at::matmul(at::linalg_inv(x), of_b)});
    copy.insert(copy.end(), {at::zeros({n, 1}, at::kDouble), at::ones({n, 1}, at::kDouble)});
    motions.push_back(x);
    both.push_back(2 * n);
  }
  made.batch.input = Poses{group, at::cat(tokens), at::cat(copy), Segments::of_sizes(both)};
  made.batch.labels["pose"] = at::cat(carried);
  made.motion = at::cat(motions);
  return made;
}

/// Says the descriptor of each token that it is told, whatever it sees.
class SaysDescriptors : public PosesModel {
 public:
  SaysDescriptors(const Registration& task, LieGroup group, Tensor descriptors)
      : PosesModel(task.interface(copies_schema(group))), descriptors_(std::move(descriptors)) {
    const BuildOn wide(at::kCPU, at::kDouble);
    parameter("none", {1}, Init::zeros());
  }
  Named forward(const Poses& poses) override {
    seen = poses;
    return {{"descriptor", descriptors_}};
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {}; }

  Poses seen;

 private:
  Tensor descriptors_;
};

/// Token k of A and n - 1 - k of B are the k-th unit vector, times `size`.
Tensor right_descriptors(const std::vector<int64_t>& sizes, int64_t channels, double size) {
  std::vector<Tensor> all;
  for (const int64_t n : sizes) {
    const Tensor units = size * at::eye(n, channels, at::kDouble);
    all.insert(all.end(), {units, units.flip(0)});
  }
  return at::cat(all);
}

Metrics metrics_of(const Registration& task, const Batch& batch, const Named& said) {
  const auto meter = task.meter(copies_schema(std::get<Poses>(batch.input).group).interface);
  meter->add(batch, said);
  return meter->values();
}

TEST(Registration, CopiesWithoutNoiseAreBroughtTogetherExactly) {
  const std::vector<int64_t> sizes{5, 3, 7};
  const Registration task({});
  for (const LieGroup group : rigid_groups) {
    const Copies made = copies(group, sizes, 0);
    SaysDescriptors model(task, group, right_descriptors(sizes, 32, 20));
    model.train(false);
    const Step step = task.step(model, made.batch);
    EXPECT_EQ(model.seen.graphs.sizes(), (std::vector<int64_t>{5, 5, 3, 3, 7, 7}));  // each copy by itself
    EXPECT_LT(step.loss.item<double>(), 1e-12);
    EXPECT_LT((step.predictions.at("pose") - made.batch.labels.at("pose")).abs().max().item<double>(), 1e-10)
        << name_of(group);
    const Metrics found = metrics_of(task, made.batch, step.predictions);
    EXPECT_LT(found.at("angle_rmse").value, 1e-6);
    EXPECT_EQ(found.at("match_accuracy").value, 1);
    EXPECT_EQ(found.contains("place_rmse"), matrix_size(group) > dimension_of(group));
    // Descriptors that say nothing match all with all.
    SaysDescriptors nothing(task, group, at::zeros({30, 32}, at::kDouble));
    nothing.train(false);
    const Step none = task.step(nothing, made.batch);
    EXPECT_NEAR(none.loss.item<double>(), (std::log(5.0) + std::log(3.0) + std::log(7.0)) / 3, 1e-12);
    // Those that match token k with k, which is another: the control.
    Tensor others = right_descriptors(sizes, 32, 20);
    int64_t row = 0;
    for (const int64_t n : sizes) {
      others.narrow(0, row + n, n).copy_(others.narrow(0, row, n).clone());
      row += 2 * n;
    }
    SaysDescriptors mistaken(task, group, others);
    mistaken.train(false);
    const Metrics off = metrics_of(task, made.batch, task.step(mistaken, made.batch).predictions);
    EXPECT_GT(off.at("angle_rmse").value, 1);
    EXPECT_LT(off.at("match_accuracy").value, 0.5);
    model.train(true);
    EXPECT_TRUE(task.step(model, made.batch).predictions.empty());
  }
}

// sum W (|t_j - x t_i|^2 + rho |R_j - R R_i|_F^2) is least at x, and a step away in any direction more.
TEST(Registration, TheMotionIsTheBestOfItsWeights) {
  for (const LieGroup group : rigid_groups) {
    const Copies made = copies(group, {6, 6}, 0.2);
    const auto& poses = std::get<Poses>(made.batch.input);
    Registration task({});
    for (const double rho : {0.3, 5.0}) {
      task.load({{"rotations", at::full({1}, rho, at::kDouble)}});
      const Tensor f = normal({24, 32}, 1.5, 4);
      SaysDescriptors model(task, group, f);
      const Tensor said = task.predict(model, made.batch).at("pose");
      const int64_t n = dimension_of(group);
      const bool moves = matrix_size(group) > n;
      for (int64_t s = 0; s < 2; ++s) {
        const auto rows = [&](const Tensor& x, int64_t copy) { return x.narrow(0, 12 * s + 6 * copy, 6); };
        const Tensor l = at::matmul(rows(f, 0), rows(f, 1).t()) / std::sqrt(32.0);
        const Tensor W = at::softmax(l, 1) * at::softmax(l, 0);
        const Tensor a = rows(poses.elements, 0), b = rows(poses.elements, 1);
        const auto cost = [&](const Tensor& x) {
          const Tensor off = (b.unsqueeze(0) - at::matmul(x, a).unsqueeze(1)).square();  // (i, j, m, m)
          Tensor of_pairs = (moves ? rho : 1.0) * off.narrow(2, 0, n).narrow(3, 0, n).sum({2, 3});
          if (moves) {
            of_pairs = of_pairs + off.narrow(2, 0, n).select(3, n).sum(2);
          }
          return (W * of_pairs).sum().item<double>();
        };
        const Tensor x = at::matmul(rows(said, 0)[0], at::linalg_inv(a[0]));
        const double least = cost(x);
        for (uint64_t k = 0; k < 20; ++k) {
          const Tensor step = exponentials(group, normal({1, degrees_of_freedom(group)}, 1e-3, 50 + k))[0];
          EXPECT_GT(cost(at::matmul(x, step)), least) << name_of(group);
        }
        EXPECT_LT((at::matmul(x, rows(said, 1)) - b).abs().max().item<double>(), 1e-10);  // x^-1 of B
      }
    }
  }
}

/// Motions (N, m, m): the first of `by` for copy 0 of each sample, the second for copy 1.
Tensor of_copies(const Tensor& a, const Tensor& b, const Poses& poses) {
  const Tensor second = (poses.scalars.select(1, 0) > 0.5).view({-1, 1, 1});
  return at::where(second, b.index_select(0, poses.graphs.index), a.index_select(0, poses.graphs.index));
}

// A -> p A and B -> q B: x -> q x p^-1, in float64 to rounding. A model that sees both copies at once is not so: the control.
TEST(Registration, TheAnswerMovesWithEachCopyByItself) {
  for (const LieGroup group : rigid_groups) {
    const Copies made = copies(group, {6, 4, 5}, 0.1);
    const Registration task({});
    const BuildOn wide(at::kCPU, at::kDouble);
    at::manual_seed(2);
    lie::Options o;
    o.width = 16;
    o.blocks = 2;
    const auto model = build({o}, task.interface(copies_schema(group)));
    model->train(false);
    const Named still = task.predict(*model, made.batch);
    Stream stream(9, "moved");
    const Tensor p = random_elements(group, 3, 2, stream), q = random_elements(group, 3, 2, stream);
    Batch moved = made.batch;
    auto& poses = std::get<Poses>(moved.input);
    poses.elements = at::matmul(of_copies(p, q, poses), poses.elements);
    const Named after = task.predict(*model, moved);
    const Tensor expected = at::matmul(of_copies(q, p, poses), still.at("pose"));
    EXPECT_LT((after.at("pose") - expected).abs().max().item<double>(), 1e-9) << name_of(group);
    EXPECT_LT((after.at("descriptor") - still.at("descriptor")).abs().max().item<double>(), 1e-10);
    EXPECT_GT((after.at("pose") - still.at("pose")).abs().max().item<double>(), 0.1);
    const Tensor together = (*model)(made.batch.input).at("descriptor"),
                 again = (*model)(moved.input).at("descriptor");
    EXPECT_GT((again - together).abs().max().item<double>(), 1e-3) << name_of(group);
  }
}

TEST(Registration, TokensStandInAnyOrderAndSamplesDoNotSeeEachOther) {
  const LieGroup group = LieGroup::se3;
  const Copies made = copies(group, {5, 3}, 0.1);
  const Registration task({});
  const BuildOn wide(at::kCPU, at::kDouble);
  at::manual_seed(2);
  const auto model = build({lie::Options{}}, task.interface(copies_schema(group)));
  model->train(false);
  const Tensor said = task.predict(*model, made.batch).at("pose");
  const Tensor order = at::tensor({7, 2, 0, 9, 4, 1, 3, 8, 6, 5, 10, 15, 11, 14, 13, 12}, at::kLong);
  Batch other = made.batch;
  auto& poses = std::get<Poses>(other.input);
  poses.elements = poses.elements.index_select(0, order);
  poses.scalars = poses.scalars.index_select(0, order);
  other.labels["pose"] = other.labels["pose"].index_select(0, order);
  EXPECT_LT((task.predict(*model, other).at("pose") - said.index_select(0, order)).abs().max().item<double>(),
            1e-10);
  EXPECT_NEAR(task.step(*model, other).loss.item<double>(), task.step(*model, made.batch).loss.item<double>(),
              1e-12);
  Batch alone{Poses{group, std::get<Poses>(made.batch.input).elements.slice(0, 10),
                    std::get<Poses>(made.batch.input).scalars.slice(0, 10),
                    Segments::of_sizes(std::vector<int64_t>{6})},
              {{"pose", made.batch.labels.at("pose").slice(0, 10)}}};
  EXPECT_LT((task.predict(*model, alone).at("pose") - said.slice(0, 10)).abs().max().item<double>(), 1e-11);
}

// Of exact pairs noise leaves what the mean of n of them leaves; what is fitted is the noise that was drawn.
TEST(Registration, TruePairsLeaveWhatNoiseLeaves) {
  const LieGroup group = LieGroup::so3;
  constexpr double noise = 0.02;  // of each coordinate of a rotation vector
  const Copies made = copies(group, std::vector<int64_t>(200, 12), noise);
  const InMemory set(made.batch, copies_schema(group));
  Registration task({});
  task.fit(set);
  const auto lines = task.baselines(set);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].first, "true pairs");
  // Two copies of 12, three axes.
  const double expected = noise * std::sqrt(3 * 2 / 12.0) * 180 / std::numbers::pi;
  EXPECT_NEAR(lines[1].second.at("angle_rmse").value, expected, 0.1 * expected);
  EXPECT_GT(lines[1].second.at("match_accuracy").value, 0.99);
  EXPECT_GT(lines[0].second.at("angle_rmse").value, 60);

  // Translations and rotations with the same noise: rho = s^2 / (2 s^2).
  const Copies moving = copies(LieGroup::se3, std::vector<int64_t>(100, 8), 0.05);
  Registration fitted({});
  fitted.fit(InMemory(moving.batch, copies_schema(LieGroup::se3)));
  EXPECT_NEAR(fitted.state().at("rotations").item<double>(), 0.5, 0.05);
  Registration loaded({});
  loaded.load(fitted.state());
  EXPECT_EQ(loaded.state().at("rotations").item<double>(), fitted.state().at("rotations").item<double>());
  EXPECT_THROW(loaded.load({{"rotations", at::zeros({1}, at::kDouble)}}), DataError);
}

TEST(Registration, DerivativesAreThoseOfDifferences) {
  const LieGroup group = LieGroup::se2;
  const Copies made = copies(group, {4, 3}, 0.1);
  const Registration task({});
  const Tensor f = normal({14, 32}, 1, 3).requires_grad_();
  SaysDescriptors model(task, group, f);
  model.train(true);
  task.step(model, made.batch).loss.backward();
  const Tensor direction = normal({14, 32}, 1, 5);
  constexpr double h = 1e-5;
  const auto loss_at = [&](double t) {
    SaysDescriptors moved(task, group, f.detach() + t * direction);
    return task.step(moved, made.batch).loss.item<double>();
  };
  EXPECT_NEAR((f.grad() * direction).sum().item<double>(), (loss_at(h) - loss_at(-h)) / (2 * h), 1e-7);
}

TEST(Registration, AsksForTwoCopiesOfRigidPoses) {
  const Registration task({});
  const auto refused = [&](const Schema& schema) {
    return message_of<ConfigError>([&] { task.interface(schema); });
  };
  EXPECT_NE(refused(Schema{}).find("needs poses"), std::string::npos);
  EXPECT_NE(refused(copies_schema(LieGroup::aff2)).find("must be so2, se2, so3 or se3, got aff2"),
            std::string::npos);
  Schema without = copies_schema(LieGroup::se2);
  without.interface.features[0].name = "time";
  EXPECT_NE(refused(without).find("feature 'copy'"), std::string::npos);
  Copies made = copies(LieGroup::se2, {3, 3}, 0);
  SaysDescriptors model(task, LieGroup::se2, at::zeros({12, 32}, at::kDouble));
  std::get<Poses>(made.batch.input).scalars.slice(0, 6).zero_();
  EXPECT_NE(message_of<ShapeError>([&] {
              task.step(model, made.batch);
            }).find("sample 1 must have tokens of both copies"),
            std::string::npos);
}

}  // namespace registration_test
}  // namespace weyl
