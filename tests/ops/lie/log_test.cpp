#include "weyl/ops/lie/log.h"

#include "tests/gradients.h"
#include "tests/ops/lie/samples.h"
#include "weyl/algebra/lie/group.h"
#include "weyl/core/check.h"
#include "weyl/ops/edges/edges.h"

namespace weyl::lie {
namespace log_test {

const std::vector<int64_t> sizes{3, 0, 1, 7, 2, 20};

TEST(LieLog, PairsAreThoseOfTheAlgebra) {
  const Segments graphs = Segments::of_sizes(sizes);
  const Edges pairs = all_pairs(graphs);
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    const Lie<double> lie(group);
    const Tensor g = random_elements(group, graphs.rows(), 0.5);
    const Logs logs = pair_logs(g, graphs, group);
    const Logs rows = lie::logs(g.index_select(0, pairs.centre), g.index_select(0, pairs.neighbour), group);
    ASSERT_EQ(logs.w.sizes(), (std::vector<int64_t>{graphs.pairs(), degrees_of_freedom(group)}));
    std::vector<double> relative(compact_size(group)), w(degrees_of_freedom(group));
    const Tensor first = pairs.centre, second = pairs.neighbour;
    int64_t outside = 0;
    for (int64_t p = 0; p < graphs.pairs(); ++p) {
      const int64_t i = first[p].item<int64_t>(), j = second[p].item<int64_t>();
      const auto element = [&](int64_t k) {
        return std::span<const double>(g.const_data_ptr<double>() + k * g.size(1), g.size(1));
      };
      lie.between(element(i), element(j), relative);
      const double margin = lie.log(relative, w);
      EXPECT_NEAR(logs.margin[p].item<double>(), margin, 1e-12);
      EXPECT_NEAR(rows.margin[p].item<double>(), margin, 1e-12);
      outside += margin <= 0;
      for (size_t k = 0; k < w.size(); ++k) {
        const double found = logs.w[p][static_cast<int64_t>(k)].item<double>();
        EXPECT_NEAR(found, i == j ? 0 : w[k], 1e-11 * (1 + std::abs(w[k])));
        EXPECT_TRUE(i != j || found == 0);
        EXPECT_NEAR(rows.w[p][static_cast<int64_t>(k)].item<double>(), w[k], 1e-11 * (1 + std::abs(w[k])));
      }
    }
    EXPECT_LT(outside, graphs.pairs() / 2);
  }
}

/// Values and, with weights on them, gradients and second derivatives, by kernel or by torch expression.
Tensors everything(const Tensor& g, const Segments& graphs, LieGroup group) {
  const Tensor x = g.detach().requires_grad_();
  const Logs logs = pair_logs(x, graphs, group);
  const Tensor weights = gradients_detail::weights_like(logs.w).to(g.scalar_type()).requires_grad_();
  const Tensor gx = torch::autograd::grad({(logs.w * weights).sum()}, {x}, {}, true, true)[0];
  const Tensor along = gradients_detail::weights_like(gx).to(g.scalar_type());
  const Tensors second = torch::autograd::grad({(gx * along).sum()}, {x, weights}, {}, false, false, true);
  return {logs.w.detach(), logs.margin, gx.detach(), second[0], second[1]};
}

TEST(LieLog, KernelsAndTorchExpressionsAgreeToSecondOrder) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3, 0, 1, 7});
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    for (const double scale : {0.4, 1e-3}) {
      const Tensor g = random_elements(group, graphs.rows(), scale);
      for (const auto type : {at::kDouble, at::kFloat}) {
        const Tensors kernel = everything(g.to(type), graphs, group);
        const UseReferences scope;
        const Tensors plain = everything(g.to(type), graphs, group);
        for (size_t i = 0; i < plain.size(); ++i) {
          const double tolerance = type == at::kFloat ? (i < 2 ? 1e-5 : 2e-4) : 1e-10;
          EXPECT_TRUE(at::isfinite(plain[i]).all().item<bool>()) << i;
          EXPECT_LE(largest(kernel[i] - plain[i]), tolerance * (1 + largest(plain[i]))) << i << " " << scale;
        }
      }
    }
  }
}

TEST(LieLog, DerivativesAreRightAlsoAtTheIdentity) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    const Segments graphs = Segments::of_sizes(std::vector<int64_t>{1, 3});
    Tensor g = random_elements(group, 4, 0.4);
    g[2] = g[1];  // a pair that is the identity, beside i = j
    const Expression f = [&](const Tensors& x) { return pair_logs(x[0], graphs, group).w; };
    expect_second_gradients(f, {g}, {1e-5, 2e-5, 1e-6, 10});
    const Expression rows = [&](const Tensors& x) { return logs(x[0], x[1], group).w; };
    expect_second_gradients(rows, {g, random_elements(group, 4, 0.3, "b")}, {1e-5, 2e-5, 1e-6, 8});
    const UseReferences scope;
    expect_second_gradients(f, {g}, {1e-5, 2e-5, 1e-6, 6});
    expect_finite_gradients(rows, {g, g});
  }
}

TEST(LieLog, NothingIsKeptWithoutGradients) {
  const Segments graphs = Segments::of_sizes(sizes);
  const Tensor g = random_elements(LieGroup::se3, graphs.rows(), 0.4);
  EXPECT_FALSE(pair_logs(g, graphs, LieGroup::se3).w.requires_grad());
  const Tensor tracked = g.detach().requires_grad_();
  EXPECT_TRUE(pair_logs(tracked, graphs, LieGroup::se3).w.requires_grad());
  EXPECT_FALSE(pair_logs(tracked, graphs, LieGroup::se3).margin.requires_grad());
}

TEST(LieLog, OutsideAnAffineChartIsZeroWithAZeroGradient) {
  for (const LieGroup group : {LieGroup::aff2, LieGroup::aff3}) {
    const int64_t n = dimension_of(group);
    Tensor m = at::eye(n + 1, at::kDouble).unsqueeze(0).repeat({2, 1, 1});
    m[1][0][0] = -1;
    m[1][1][1] = -2;
    const Segments graphs = Segments::of_sizes(std::vector<int64_t>{2});
    for (const bool plain : {false, true}) {
      const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
      const Tensor g = compact_elements(m, group).detach().requires_grad_();
      const Logs logs = pair_logs(g, graphs, group);
      EXPECT_EQ(largest(logs.w.detach()), 0);
      EXPECT_LE(logs.margin[1].item<double>(), 0);
      EXPECT_GT(logs.margin[0].item<double>(), 0);
      EXPECT_EQ(largest(torch::autograd::grad({logs.w.sum()}, {g})[0]), 0);
    }
  }
}

TEST(LieLog, WrongShapesAreRefused) {
  EXPECT_THROW(logs(at::zeros({2, 7}), at::zeros({3, 7}), LieGroup::se3), ShapeError);
  EXPECT_THROW(logs(at::zeros({2, 6}), at::zeros({2, 6}), LieGroup::se3), ShapeError);
  EXPECT_THROW(pair_logs(at::zeros({2, 7}), Segments::of_sizes(sizes), LieGroup::se3), ShapeError);
  EXPECT_THROW(logs(at::zeros({2, 7}), at::zeros({2, 7}, at::kDouble), LieGroup::se3), ShapeError);
}

}  // namespace log_test
}  // namespace weyl::lie
