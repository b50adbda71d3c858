// Lie-Algebra Attention: against the paper's equations written out token by token, and its symmetry.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/data/folder.h"
#include "tests/equivariance.h"
#include "tests/gradients.h"
#include "tests/lie_groups.h"
#include "tests/models/rules.h"
#include "weyl/algebra/lie_group.h"
#include "weyl/core/check.h"
#include "weyl/data/pose_elements.h"
#include "weyl/models/lie/lie.h"
#include "weyl/ops/lie_elements.h"
#include "weyl/study/random_tokens.h"

namespace weyl {
namespace {

Interface interface_of(LieGroup group) {
  Interface interface;
  interface.group = group;
  interface.dimension = dimension_of(group);
  interface.typical_nodes = 5;
  interface.outputs = {{"gap"},
                       {.name = "correction", .channels = degrees_of_freedom(group), .role = Role::offset},
                       {.name = "moved", .kind = Kind::element}};
  return interface;
}

Schema schema_of(const Interface& interface) {
  Schema schema;
  schema.carrier = Carrier::poses;
  schema.interface = interface;
  schema.interface.outputs.clear();
  return schema;
}

LieOptions small(LieVariant variant) {
  LieOptions options;
  options.variant = variant;
  options.width = 8;
  options.heads = 2;
  options.blocks = 2;
  return options;
}

/// In float64, with weights far from where training starts.
std::shared_ptr<LieTransformer> make(const LieOptions& options, const Interface& interface) {
  const BuildOn wide(at::kCPU, at::kDouble);
  auto model = std::make_shared<LieTransformer>(options, interface);
  apply_weight_rule(*model, 0.4);
  return model;
}

Poses tokens(LieGroup group, int64_t graphs = 2, int64_t nodes = 5) {
  const Batch batch = random_tokens(schema_of(interface_of(group)), graphs, nodes, 3);
  return std::get<Poses>(batch.input);
}

// ---- the paper, token by token ----

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
Tensor scores_of(const Weights& weights, const LieOptions& o, LieGroup group, const Tensor& w, int64_t l,
                 int64_t h) {
  if (o.variant == LieVariant::C) {
    const Tensor first = weights.at("score.first.weight")[l].narrow(0, 32 * h, 32);
    const Tensor inner =
        at::gelu(at::linear(w, first, weights.at("score.first.bias")[l].narrow(0, 32 * h, 32)));
    return at::matmul(inner, weights.at("score.second.weight")[l][h]) + weights.at("score.second.bias")[l][h];
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
Named by_the_equations(const LieTransformer& model, LieGroup group, const Tensor& elements) {
  const Weights weights = weights_of(model);
  const LieOptions& o = model.options;
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
    for (const LieVariant variant : {LieVariant::G, LieVariant::C}) {
      const auto model = make(small(variant), interface_of(group));
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
  LieNormScore score(3, 4, 2);
  EXPECT_TRUE(at::equal(score.layers()[1].ratios.detach(), at::ones({4, 2}, at::kDouble)));
  const Tensor squares = sine({6, 2}).square();
  const LiePairs pairs{.squares = squares};
  EXPECT_LT((score.layers()[2](pairs).detach() + squares.sum(1, true)).abs().max().item<double>(), 1e-15);
}

// lambda, tau -> c lambda, c tau leaves the score as it is.
TEST(Lie, WeightsAndTemperatureShareAScale) {
  const BuildOn wide(at::kCPU, at::kDouble);
  LieNormScore score(1, 2, 3);
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
  const auto model = make(small(LieVariant::G), interface_of(LieGroup::se3));
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

TEST(LieEquivariance, OfEveryGroupWithItsControl) {
  for (const LieGroup group : lie_groups) {
    for (const LieVariant variant : {LieVariant::G, LieVariant::C}) {
      const auto interface = interface_of(group);
      const auto model = make(small(variant), interface);
      SCOPED_TRACE(std::string(name_of(group)) + (variant == LieVariant::G ? " G" : " C"));
      equivariance::expect_claims_hold(*model, {tokens(group), {}}, schema_of(interface));
    }
  }
}

TEST(LieEquivariance, RawNumbersDoNotHaveIt) {
  for (const LieGroup group : lie_groups) {
    const auto interface = interface_of(group);
    const auto model = make(small(LieVariant::A), interface);
    ASSERT_EQ(model->symmetry().exact.size(), 1u);
    EXPECT_EQ(model->symmetry().exact[0].of, Claim::Of::permutations);
    const Claim left{Claim::Of::left_motions, symbol_of(group), nullptr};
    EXPECT_GT(equivariance::claim_error(*model, left, {tokens(group), {}}, schema_of(interface)), 1e-2)
        << name_of(group);
  }
}

TEST(LieEquivariance, OfEveryChartPolicyAndOfTokensThatMove) {
  for (const LieGroup group : {LieGroup::se3, LieGroup::aff2}) {
    for (const ChartPolicy chart :
         {ChartPolicy::mask, ChartPolicy::frobenius, ChartPolicy::polar, ChartPolicy::error}) {
      // The polar factors of A_i^-1 A_j do not depend on a either.
      const auto interface = interface_of(group);
      LieOptions options = small(LieVariant::G);
      options.chart = chart;
      options.move_tokens = true;
      const auto model = make(options, interface);
      SCOPED_TRACE(std::string(name_of(group)) + " chart " + std::to_string(static_cast<int>(chart)));
      equivariance::expect_claims_hold(*model, {tokens(group), {}}, schema_of(interface));
    }
  }
}

// g exp(correction) is where the element output of the same weights goes, tokens that moved on the way
// included.
TEST(Lie, CorrectionsCountFromTheTokensGiven) {
  for (const LieGroup group : lie_groups) {
    LieOptions options = small(LieVariant::G);
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

// Half a turn, then a shear: the factor of both has no logarithm, so there is no correction; the element is
// g times the factor all the same.
TEST(Lie, ACorrectionBeyondTheChartIsRefusedAndAnElementIsNot) {
  const LieGroup group = LieGroup::aff2;
  LieOptions options = small(LieVariant::G);
  options.move_tokens = true;
  options.blocks = 3;
  Interface interface = interface_of(group);
  const auto shove = [&](LieTransformer& model) {
    const at::NoGradGuard quiet;
    for (const auto& p : model.parameters()) {
      if (p.name.starts_with("move.") || p.name.starts_with("head.moved.2")) {
        p.tensor.zero_();
      }
      if (p.name == "move.0.bias") {
        p.tensor[2] = 3 * std::sqrt(2.0);  // physical coordinates: the angle 3
      }
      if (p.name == "move.1.bias") {
        p.tensor[4] = std::sqrt(2.0);  // diag(e, 1/e)
      }
    }
  };
  const Poses poses = tokens(group);
  const auto both = make(options, interface);
  shove(*both);
  const std::string refused = message_of<ShapeError>([&] { (*both)(poses); });
  EXPECT_NE(refused.find("a correction must be inside the chart of the logarithm of aff2, but 10 tokens"),
            std::string::npos)
      << refused;
  interface.outputs.erase(interface.outputs.begin() + 1);
  const auto element = make(options, interface);
  shove(*element);
  const auto generated = [&](const std::vector<double>& w) {
    return exponentials(group, at::tensor(w, at::kDouble).view({1, 6}));
  };
  const Tensor factor = at::matmul(generated({0, 0, 3, 0, 0, 0}), generated({0, 0, 0, 0, 1, 0}));
  const Tensor moved = (*element)(poses).at("moved").detach();
  EXPECT_LT((moved - at::matmul(poses.elements, factor)).abs().max().item<double>(), 1e-12);
}

TEST(Lie, MovingTokensChangesWhatTheNextBlockSees) {
  LieOptions options = small(LieVariant::G);
  const Interface interface = interface_of(LieGroup::se3);
  const Poses poses = tokens(LieGroup::se3);
  options.move_tokens = true;
  const auto moving = make(options, interface);
  const Tensor with = (*moving)(poses).at("gap").detach();
  const at::NoGradGuard quiet;
  for (const auto& p : moving->parameters()) {
    if (p.name.starts_with("move.")) {
      p.tensor.zero_();
    }
  }
  EXPECT_GT(((*moving)(poses).at("gap") - with).abs().max().item<double>(), 1e-6);
}

TEST(Lie, ReadsScalarsOfTokens) {
  for (const LieVariant variant : {LieVariant::G, LieVariant::A}) {
    Interface interface = interface_of(LieGroup::se2);
    interface.features = {{"weight"}, {.name = "colour", .channels = 3}};
    const auto model = make(small(variant), interface);
    Poses poses = tokens(LieGroup::se2);
    poses.scalars = sine({10, 4});
    const Tensor one = (*model)(poses).at("gap").detach();
    poses.scalars = poses.scalars + 1;
    EXPECT_GT(((*model)(poses).at("gap") - one).abs().max().item<double>(), 1e-5);
  }
}

// Pairs at hand, or taken from the elements layer by layer: the same numbers.
TEST(Lie, StreamingEqualsStoredPairs) {
  const auto group = LieGroup::se3;
  const BuildOn wide(at::kCPU, at::kDouble);
  LieTransformerBlock block(small(LieVariant::G), degrees_of_freedom(group));
  LieNormScore score(1, 2, 2);
  LayerNorm next(8);
  apply_weight_rule(block, 0.4);
  const Poses poses = tokens(group);
  const auto scores = score.layers();
  Relations relations = relate(group, compact_elements(poses.elements, group), poses.graphs,
                               ChartPolicy::mask, true, at::kDouble);
  ASSERT_TRUE(relations.pairs.has_value());
  const Tensor h = sine({10, 8});
  const LieStream in{h, block.entry_norm()(h)};
  const Tensor stored = block(in, next, &scores[0], relations, poses.graphs).h;
  relations.pairs.reset();
  const Tensor streamed = block(in, next, &scores[0], relations, poses.graphs).h;
  EXPECT_LT((stored - streamed).abs().max().item<double>(), 1e-12);
  const Segments large = Segments::of_sizes(std::vector<int64_t>{400});
  const Tensor line = exponentials(group, sine({400, 6}));
  EXPECT_FALSE(
      relate(group, compact_elements(line, group), large, ChartPolicy::mask, true, at::kDouble).pairs);
  EXPECT_TRUE(
      relate(group, compact_elements(line, group), large, ChartPolicy::mask, false, at::kDouble).pairs);
}

TEST(Lie, AGraphOfOneTokenAndARowWithoutPairs) {
  const auto group = LieGroup::aff2;
  Poses poses;
  poses.group = group;
  poses.graphs = Segments::of_sizes(std::vector<int64_t>{1, 2});
  poses.elements = at::eye(3, at::kDouble).repeat({3, 1, 1});
  poses.elements[2][0][0] = -1;  // half a turn, scaled: outside the chart, seen from the identity
  poses.elements[2][1][1] = -2;
  for (const LieVariant variant : {LieVariant::G, LieVariant::C, LieVariant::A}) {
    const auto model = make(small(variant), interface_of(group));
    const Tensor gap = (*model)(poses).at("gap").detach();
    EXPECT_TRUE(at::isfinite(gap).all().item<bool>());
    if (variant != LieVariant::A) {  // nobody to attend to: all three are alone
      EXPECT_LT((gap - gap[0]).abs().max().item<double>(), 1e-14);
    }
  }
  LieOptions options = small(LieVariant::G);
  options.chart = ChartPolicy::error;
  EXPECT_NE(message_of<ShapeError>([&] { (*make(options, interface_of(group)))(poses); }), "");
  for (const ChartPolicy chart : {ChartPolicy::frobenius, ChartPolicy::polar}) {
    options.chart = chart;
    const auto model = make(options, interface_of(group));
    const Tensor gap = (*model)(poses).at("gap").detach();
    EXPECT_TRUE(at::isfinite(gap).all().item<bool>());
    EXPECT_GT((gap[1] - gap[0]).abs().max().item<double>(), 1e-6);
  }
}

// The gradient by all parameters, along one direction, against a finite difference.
TEST(Lie, GradientsByParameters) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::aff3}) {
    for (const bool move : {false, true}) {
      LieOptions options = small(move ? LieVariant::C : LieVariant::G);
      options.move_tokens = move;
      const auto model = make(options, interface_of(group));
      const Poses poses = tokens(group, 2, 4);
      const auto value = [&] {
        const Named out = (*model)(poses);
        Tensor sum = at::zeros({}, at::kDouble);
        for (const auto& [name, y] : out) {
          sum = sum + (y * sine(y.sizes().vec(), 1)).sum();
        }
        return sum;
      };
      value().backward();
      double expected = 0;
      std::vector<Tensor> directions;
      for (const auto& p : model->parameters()) {
        directions.push_back(sine(p.tensor.sizes().vec(), 2, 1.1));
        ASSERT_TRUE(p.tensor.grad().defined()) << p.name;
        expected += (p.tensor.grad() * directions.back()).sum().item<double>();
      }
      const at::NoGradGuard quiet;
      const auto shifted = [&](double by) {
        size_t i = 0;
        for (const auto& p : model->parameters()) {
          p.tensor.add_(directions[i++], by);
        }
        return value().item<double>();
      };
      const double step = 1e-6, up = shifted(step), down = shifted(-2 * step);
      EXPECT_NEAR(expected, (up - down) / (2 * step), 1e-5 * std::abs(expected) + 1e-6) << name_of(group);
    }
  }
}

TEST(Lie, WhatDecidesBetweenNeighboursSurvivesFloat32) {
  // Tokens at equal steps, and steep weights: a token's two neighbours score -6000 each,
  // and which of them is a little nearer shows only beyond the digits of -6000.
  const LieGroup group = LieGroup::se2;
  auto model = make(small(LieVariant::G), interface_of(group));
  for (const auto& p : model->parameters()) {
    if (p.name == "score.weight") {
      p.tensor.detach().fill_(1000);
    }
  }
  Poses poses = tokens(group, 1, 7);
  for (int64_t i = 0; i < 7; ++i) {
    const Tensor step = at::tensor({2.0, 0.3, 0.2}, at::kDouble).unsqueeze(0) * static_cast<double>(i);
    poses.elements[i].copy_(exponentials(group, step)[0]);
  }
  poses.elements = poses.elements.to(at::kFloat).to(at::kDouble);
  const Named wide = model->forward(poses);
  model->to(at::kFloat);
  poses.elements = poses.elements.to(at::kFloat);
  const Named narrow = model->forward(poses);
  for (const auto& [name, y] : wide) {
    const double limit = name == "moved" ? 5e-6 : 1e-6;  // of elements and of numbers near 1
    EXPECT_LT((narrow.at(name).to(at::kDouble) - y).abs().max().item<double>(), limit) << name;
  }
}

}  // namespace
}  // namespace weyl
