// Lie-Algebra Attention: against the paper's equations written out token by token.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "tests/lie_groups.h"
#include "tests/models/lie/models.h"
#include "weyl/algebra/lie/group.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/ops/lie/elements.h"

namespace weyl::lie {
namespace equations_test {

using Weights = std::map<std::string, Tensor>;

Weights weights_of(const Module& module) {
  Weights weights;
  for (const auto& p : module.parameters()) {
    weights[p.name] = p.tensor.detach();
  }
  return weights;
}

Tensor affine(const Weights& w, const std::string& name, const Tensor& x) {
  return at::linear(x, w.at(name + ".weight"), w.at(name + ".bias"));
}

Tensor norm(const Weights& w, const std::string& name, const Tensor& x) {
  return at::layer_norm(x, {x.size(-1)}, w.at(name + ".weight"), w.at(name + ".bias"));
}

Tensor network(const Weights& w, const std::string& name, const Tensor& x) {
  return affine(w, name + ".2", at::gelu(affine(w, name + ".0", x)));
}

double soft(double raw) {
  return std::log1p(std::exp(raw)) + 1e-3;
}

/// w_ij of one graph, (n, n, E), orthonormal, by the scalar group law.
Tensor logarithms(LieGroup group, const Tensor& elements) {
  const Lie<double> lie(group);
  const int64_t n = elements.size(0), m = matrix_size(group), dof = degrees_of_freedom(group);
  std::vector<std::vector<double>> g(n, std::vector<double>(compact_size(group)));
  const Tensor e = elements.contiguous();
  for (int64_t i = 0; i < n; ++i) {
    lie.from_matrix(std::span<const double>(e.const_data_ptr<double>() + i * m * m, m * m), g[i]);
  }
  Tensor result = at::zeros({n, n, dof}, at::kDouble);
  std::vector<double> relative(compact_size(group));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const std::span<double> w(result.mutable_data_ptr<double>() + (i * n + j) * dof, dof);
      if (i != j) {
        lie.between(g[i], g[j], relative);
        lie.log(relative, w);
        lie.to_orthonormal(w);
      }
    }
  }
  return result;
}

/// Scores (n, n) of one layer and head.
Tensor scores_of(const Weights& weights, const Options& o, LieGroup group, const Tensor& w, int64_t l,
                 int64_t h) {
  if (o.variant == Variant::C) {
    const Tensor first = weights.at("score.first.weight")[l].narrow(0, 32 * h, 32);
    const Tensor before = at::linear(w, first, weights.at("score.first.bias")[l].narrow(0, 32 * h, 32));
    return at::matmul(at::relu(before), weights.at("score.second.weight")[l][h]) +
           weights.at("score.second.bias")[l][h];
  }
  Tensor score = at::zeros({w.size(0), w.size(0)}, at::kDouble);
  const double tau = soft(weights.at("score.temperature")[l][h].item<double>());
  int64_t b = 0;
  for (const LieBlock& block : blocks_of(group)) {
    const double lambda = soft(weights.at("score.weight")[l][h][b++].item<double>());
    score = score - w.narrow(2, block.begin, block.size).square().sum(2) * (lambda / tau);
  }
  return score;
}

/// One graph, values V_ij = W_V [x_j; w_ij] made pair by pair.
Named by_the_equations(const Transformer& model, LieGroup group, const Tensor& elements) {
  const Weights weights = weights_of(model);
  const Options& o = model.options;
  const int64_t n = elements.size(0), d = o.width, H = o.heads, C = d / H;
  const Tensor w = logarithms(group, elements);
  Tensor h = weights.at("start").repeat({n, 1});
  for (int64_t l = 0; l < o.blocks; ++l) {
    const std::string at = "blocks." + std::to_string(l) + ".";
    const Tensor x = norm(weights, at + "norm1", h);
    const Tensor pairs = at::cat({x.unsqueeze(0).repeat({n, 1, 1}), w}, 2);
    const Tensor V = affine(weights, at + "value", pairs);  // (i, j, d)
    Tensor mixed = at::zeros({n, d}, at::kDouble);
    for (int64_t k = 0; k < H; ++k) {
      const Tensor s = scores_of(weights, o, group, w, l, k)
                           .masked_fill(at::eye(n, at::kBool), -std::numeric_limits<double>::infinity());
      mixed.narrow(1, k * C, C).copy_((at::softmax(s, 1).unsqueeze(2) * V.narrow(2, k * C, C)).sum(1));
    }
    h = h + affine(weights, at + "out", mixed);
    h = h + network(weights, at + "ffn", norm(weights, at + "norm2", h));
  }
  const Tensor x = norm(weights, "norm", h);
  const Tensor delta = network(weights, "head.moved", x);
  return {{"gap", affine(weights, "head.gap", x)},
          {"correction", network(weights, "head.correction", x)},
          {"moved", at::matmul(elements, exponentials(group, from_orthonormal(delta, group)))}};
}

TEST(Lie, EqualsThePapersEquationsWithValuesOfEveryPair) {
  for (const LieGroup group : lie_groups) {
    for (const Variant variant : {Variant::G, Variant::C}) {
      const Options options = small(variant);
      const auto model = make(options, interface_of(group));
      const Poses poses = tokens(group);
      const Named all = (*model)(poses);
      for (int64_t b = 0; b < 2; ++b) {
        const Named expected = by_the_equations(*model, group, poses.elements.narrow(0, 5 * b, 5));
        for (const auto& [name, value] : expected) {
          EXPECT_LT((all.at(name).detach().narrow(0, 5 * b, 5) - value).abs().max().item<double>(), 1e-11)
              << name_of(group) << " " << name << " variant " << static_cast<int>(variant);
        }
      }
    }
  }
}

TEST(Lie, ScoresStartAsMinusTheSquaredNorm) {
  const BuildOn wide(at::kCPU, at::kDouble);
  Options options;
  options.blocks = 3;
  NormScore score(options, LieGroup::se2);
  EXPECT_TRUE(at::equal(score.layers()[1].ratios.detach(), at::ones({4, 2}, at::kDouble)));
  const Tensor squares = sine({6, 2}).square();
  const Part pairs{.pairs = Pairs{.squares = squares}};
  EXPECT_LT((score.layers()[2](pairs).detach() + squares.sum(1, true)).abs().max().item<double>(), 1e-15);
}

// lambda, tau -> c lambda, c tau leaves the score as it is.
TEST(Lie, WeightsAndTemperatureShareAScale) {
  const BuildOn wide(at::kCPU, at::kDouble);
  NormScore score(small(Variant::G), LieGroup::aff2);
  apply_weight_rule(score, 0.5);
  const Tensor before = score.layers()[0].ratios.detach().clone();
  const at::NoGradGuard quiet;
  for (const auto& p : score.parameters()) {
    const Tensor value = (at::softplus(p.tensor) + 1e-3) * 3 - 1e-3;
    p.tensor.copy_((value.exp() - 1).log());
  }
  EXPECT_LT((score.layers()[0].ratios - before).abs().max().item<double>(), 1e-12);
}

// Tokens differ by nothing but w: without its way into the values they never part.
TEST(Lie, WithoutCoordinatesInTheValuesAllTokensStayEqual) {
  const auto model = make(small(Variant::G), interface_of(LieGroup::se3));
  const Poses poses = tokens(LieGroup::se3);
  const auto spread = [&] {
    const Tensor gap = (*model)(poses).at("gap").detach();
    return (gap - gap[0]).abs().max().item<double>();
  };
  EXPECT_GT(spread(), 1e-4);
  const at::NoGradGuard quiet;
  for (const auto& p : model->parameters()) {
    if (p.name.ends_with("value.weight")) {
      p.tensor.narrow(1, 8, 6).zero_();
    }
  }
  EXPECT_LT(spread(), 1e-14);
}

// g exp(correction) is where the element output of the same weights goes, tokens that moved on the way
// included.
TEST(Lie, CorrectionsCountFromTheTokensGiven) {
  for (const LieGroup group : lie_groups) {
    Options options = small(Variant::G);
    options.move_tokens = true;
    const auto model = make(options, interface_of(group));
    const at::NoGradGuard quiet;
    const Weights weights = weights_of(*model);
    for (const char* part : {".0.weight", ".0.bias", ".2.weight", ".2.bias"}) {
      Tensor target = weights.at(std::string("head.moved") + part);
      target.copy_(weights.at(std::string("head.correction") + part));
    }
    const Poses poses = tokens(group);
    const Named out = (*model)(poses);
    const Tensor expected =
        at::matmul(poses.elements, exponentials(group, from_orthonormal(out.at("correction"), group)));
    EXPECT_LT((out.at("moved") - expected).abs().max().item<double>(), 1e-10) << name_of(group);
  }
}

}  // namespace equations_test
}  // namespace weyl::lie
