// Lie-Algebra Attention: its symmetry, charts, streams and gradients.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/data/folder.h"
#include "tests/equivariance.h"
#include "tests/gradients.h"
#include "tests/lie_groups.h"
#include "tests/models/lie/models.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/check.h"
#include "weyl/ops/lie/elements.h"

namespace weyl::lie {
namespace {

TEST(LieEquivariance, OfEveryGroupWithItsControl) {
  for (const LieGroup group : lie_groups) {
    for (const Variant variant : {Variant::G, Variant::C}) {
      const auto interface = interface_of(group);
      const auto model = make(small(variant), interface);
      SCOPED_TRACE(std::string(name_of(group)) + (variant == Variant::G ? " G" : " C"));
      equivariance::expect_claims_hold(*model, {tokens(group), {}}, schema_of(interface));
    }
  }
}

TEST(LieEquivariance, RawNumbersDoNotHaveIt) {
  for (const LieGroup group : lie_groups) {
    const auto interface = interface_of(group);
    const auto model = make(small(Variant::A), interface);
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
      Options options = small(Variant::G);
      options.chart = chart;
      options.move_tokens = true;
      const auto model = make(options, interface);
      SCOPED_TRACE(std::string(name_of(group)) + " chart " + std::to_string(static_cast<int>(chart)));
      equivariance::expect_claims_hold(*model, {tokens(group), {}}, schema_of(interface));
    }
  }
}

// Half a turn, then a shear: the factor of both has no logarithm, so there is no correction; the element is
// g times the factor all the same.
TEST(Lie, ACorrectionBeyondTheChartIsRefusedAndAnElementIsNot) {
  const LieGroup group = LieGroup::aff2;
  Options options = small(Variant::G);
  options.move_tokens = true;
  options.blocks = 3;
  Interface interface = interface_of(group);
  const auto shove = [&](Transformer& model) {
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
  Options options = small(Variant::G);
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
  for (const Variant variant : {Variant::G, Variant::A}) {
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
  Block block(small(Variant::G), degrees_of_freedom(group));
  NormScore score(1, 2, 2);
  LayerNorm next(8);
  apply_weight_rule(block, 0.4);
  const Poses poses = tokens(group);
  const auto scores = score.layers();
  Relations relations = relate(group, compact_elements(poses.elements, group), poses.graphs,
                               ChartPolicy::mask, true, at::kDouble);
  ASSERT_TRUE(relations.pairs.has_value());
  const Tensor h = sine({10, 8});
  const Stream in{h, block.entry_norm()(h)};
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
  for (const Variant variant : {Variant::G, Variant::C, Variant::A}) {
    const auto model = make(small(variant), interface_of(group));
    const Tensor gap = (*model)(poses).at("gap").detach();
    EXPECT_TRUE(at::isfinite(gap).all().item<bool>());
    if (variant != Variant::A) {  // nobody to attend to: all three are alone
      EXPECT_LT((gap - gap[0]).abs().max().item<double>(), 1e-14);
    }
  }
  Options options = small(Variant::G);
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
      Options options = small(move ? Variant::C : Variant::G);
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
  auto model = make(small(Variant::G), interface_of(group));
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
}  // namespace weyl::lie
