// What is so in training alone: dropout, the regulariser of points, autocast.
#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "tests/models/gatr/small.h"

namespace weyl::gatr {
namespace training_test {

TEST(Gatr, DropsInTrainingAlone) {
  Interface i;
  i.outputs = {{.name = "push", .kind = Kind::vector}};
  Options o = small();
  o.dropout = 0.3;
  const auto model = make(o, i, 0.1);
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{4});
  at::manual_seed(3);
  points.positions = at::randn({4, 3}, at::kDouble);
  const auto push = [&] { return (*model)(points).at("push"); };
  EXPECT_TRUE(at::equal(push(), push()));
  model->train(true);
  EXPECT_FALSE(at::equal(push(), push()));
}

/// 0.01 sum over a graph of (|weight| - 1)^2, the mean over graphs, in training alone.
TEST(Gatr, AsksForWeightsOfPointsNearOne) {
  Interface i;
  i.outputs = {{.name = "displacement", .kind = Kind::vector, .role = Role::offset}};
  Options o = small();
  o.point_regulariser = 0.01;
  const auto model = make(o, i);
  const at::NoGradGuard quiet;
  for (const Parameter& p : model->parameters()) {  // all points of weight 1 + 0
    if (p.name.starts_with("linear_out")) {
      p.tensor.zero_();
    }
  }
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{4, 2});
  at::manual_seed(3);
  points.positions = at::randn({6, 3}, at::kDouble);
  EXPECT_FALSE((*model)(points).contains(term_of_loss)) << "it is no output";
  model->train(true);
  EXPECT_EQ((*model)(points).at(term_of_loss).item<double>(), 0);

  const auto worn = make(o, i, 0.3);
  worn->train(true);
  Options twice = o;
  twice.point_regulariser = 0.02;
  const auto other = make(twice, i, 0.3);
  other->train(true);
  const double term = (*worn)(points).at(term_of_loss).item<double>();
  EXPECT_GT(term, 1e-6);
  EXPECT_NEAR((*other)(points).at(term_of_loss).item<double>(), 2 * term, 1e-12);
  // The mean over graphs of what each has alone.
  double sum = 0;
  for (const auto& [first, count] : {std::pair{0, 4}, std::pair{4, 2}}) {
    Points one;
    one.graphs = Segments::of_sizes(std::vector<int64_t>{count});
    one.positions = points.positions.narrow(0, first, count);
    sum += (*worn)(one).at(term_of_loss).item<double>();
  }
  EXPECT_NEAR(term, sum / 2, 1e-12);
}

// `train.precision = "bf16"` on a GPU; autocast of the CPU has the same casts. A small
// vector output is a difference of larger numbers, of which half precision leaves a digit.
TEST(Gatr, RunsAndLearnsUnderAutocast) {
  Interface i;
  i.outputs = {{.name = "push", .kind = Kind::vector}};
  const BuildOn float32(at::kCPU, at::kFloat);
  Gatr model(small(), i);
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{4});
  at::manual_seed(3);
  points.positions = at::randn({4, 3});
  {  // far from where training starts, which gives next to nothing
    const at::NoGradGuard quiet;
    for (const Parameter& p : model.parameters()) {
      p.tensor.add_(at::randn_like(p.tensor) * 0.1);
    }
  }
  const Tensor exact = model(points).at("push");
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const Tensor rough = model(points).at("push");
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  EXPECT_EQ(rough.scalar_type(), at::kFloat);
  EXPECT_LT((rough - exact).abs().max().item<double>(), 0.5 * exact.abs().max().item<double>());
  rough.square().sum().backward();
  for (const Parameter& p : model.parameters()) {
    if (p.tensor.grad().defined()) {
      EXPECT_TRUE(p.tensor.grad().isfinite().all().item<bool>()) << p.name;
    }
  }
}

}  // namespace training_test
}  // namespace weyl::gatr
