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
#include "weyl/core/worst_of.h"
#include "weyl/ops/lie/elements.h"

namespace weyl::lie {
namespace lie_test {

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

/// Logits and a sum of each graph.
Interface of_graphs(LieGroup group) {
  Interface interface = interface_of(group);
  interface.outputs = {{.name = "logits", .level = Level::graph, .channels = 3},
                       {.name = "total", .level = Level::graph, .extensive = true}};
  return interface;
}

TEST(LieEquivariance, OfOutputsOfGraphs) {
  for (const LieGroup group : lie_groups) {
    const auto interface = of_graphs(group);
    SCOPED_TRACE(name_of(group));
    const auto model = make(small(Variant::G), interface);
    const Batch batch{tokens(group), {}};
    for (const Claim& claim : model->symmetry().exact) {
      EXPECT_LT(equivariance::claim_error(*model, claim, batch, schema_of(interface)), 1e-11) << claim.group;
    }
    // Means over tokens say little of single ones, but far more than rounding.
    weyl::Stream stream(12, "outputs of graphs");
    EXPECT_GT(equivariance::right_factors_error(*model, batch, schema_of(interface), stream), 1e-6);
    const auto raw = make(small(Variant::A), interface);
    const Claim left{Claim::Of::left_motions, symbol_of(group), nullptr};
    EXPECT_GT(equivariance::claim_error(*raw, left, batch, schema_of(interface)), 1e-3);
  }
}

// The answer of a graph does not depend on what else is in the batch, and a sum grows with what is summed.
TEST(Lie, OutputsOfGraphsAreOfEachGraphAlone) {
  const LieGroup group = LieGroup::se2;
  const auto model = make(small(Variant::G), of_graphs(group));
  const Poses both = tokens(group, 2, 4);
  Poses first = both;
  first.elements = both.elements.slice(0, 0, 4).contiguous();
  first.graphs = Segments::of_sizes(std::vector<int64_t>{4});
  const Named together = model->forward(both), alone = model->forward(first);
  EXPECT_EQ(together.at("logits").sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(together.at("total").sizes(), (std::vector<int64_t>{2, 1}));
  for (const char* name : {"logits", "total"}) {
    EXPECT_LT((together.at(name)[0] - alone.at(name)[0]).abs().max().item<double>(), 1e-13) << name;
    EXPECT_GT((together.at(name)[0] - together.at(name)[1]).abs().max().item<double>(), 1e-6) << name;
  }
  // Of one token, which sees nobody, twice the tokens have twice the sum and the same mean.
  Poses one = both;
  one.elements = both.elements.slice(0, 0, 1).contiguous();
  one.graphs = Segments::of_sizes(std::vector<int64_t>{1});
  const double single = model->forward(one).at("total").item<double>();
  EXPECT_TRUE(std::isfinite(single));
  EXPECT_NE(single, 0);
  Interface other = interface_of(group);
  other.outputs = {{.name = "place", .level = Level::graph, .kind = Kind::element}};
  EXPECT_NE(message_of<ConfigError>([&] {
              make(small(Variant::G), other);
            }).find("scalars and elements of nodes are, and scalars of graphs"),
            std::string::npos);
}

/// Translations times `factor`.
Poses stretched(const Poses& poses, double factor) {
  Poses result = poses;
  result.elements = poses.elements.clone();
  const int64_t n = dimension_of(poses.group);
  result.elements.slice(1, 0, n).slice(2, n).mul_(factor);
  return result;
}

// Lengths in another unit, with the scale in that unit: the same numbers, and lengths out in that unit.
TEST(Lie, LengthScaleIsAUnitOfLength) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::se3, LieGroup::aff2}) {
    for (const Variant variant : {Variant::G, Variant::C, Variant::A}) {
      SCOPED_TRACE(name_of(group));
      Options scaled = small(variant);
      scaled.length_scale = 2.5;
      scaled.move_tokens = variant != Variant::A;
      Options plain = scaled;
      plain.length_scale = 1;
      const auto a = make(plain, interface_of(group)), b = make(scaled, interface_of(group));
      const Poses poses = tokens(group);
      const Named x = a->forward(poses), y = b->forward(stretched(poses, 2.5)), z = b->forward(poses);
      EXPECT_LT((x.at("gap") - y.at("gap")).abs().max().item<double>(), 1e-11);
      EXPECT_GT((x.at("gap") - z.at("gap")).abs().max().item<double>(), 1e-6);
      const int64_t n = dimension_of(group);
      const Tensor from = x.at("moved"), to = y.at("moved");
      EXPECT_LT(
          (from.slice(1, 0, n).slice(2, n) * 2.5 - to.slice(1, 0, n).slice(2, n)).abs().max().item<double>(),
          1e-10);
      EXPECT_LT((from.slice(2, 0, n) - to.slice(2, 0, n)).abs().max().item<double>(), 1e-10);
      const Tensor w = x.at("correction"), v = y.at("correction");
      EXPECT_LT((w.slice(1, 0, n) * 2.5 - v.slice(1, 0, n)).abs().max().item<double>(), 1e-9);
      EXPECT_LT((w.slice(1, n) - v.slice(1, n)).abs().max().item<double>(), 1e-10);
      for (const Claim& claim : b->symmetry().exact) {
        EXPECT_LT(equivariance::claim_error(*b, claim, {poses, {}}, schema_of(interface_of(group))), 1e-11);
      }
    }
  }
}

TEST(LieEquivariance, OfEveryMetric) {
  for (const LieGroup group : lie_groups) {
    for (const Metric metric : {Metric::isotropic, Metric::full}) {
      const auto interface = interface_of(group);
      Options options = small(Variant::G);
      options.metric = metric;
      const auto model = make(options, interface);
      SCOPED_TRACE(std::string(name_of(group)) + " " +
                   std::string(names_of(metric)[static_cast<size_t>(metric)]));
      equivariance::expect_claims_hold(*model, {tokens(group), {}}, schema_of(interface));
    }
  }
}

/// Gives the parameter `name` of a model the values of f(its shape).
template <class F>
void set(const Transformer& model, const std::string& name, const F& f) {
  const at::NoGradGuard quiet;
  int64_t found = 0;
  for (const auto& p : model.parameters()) {
    if (p.name == name) {
      p.tensor.copy_(f(p.tensor));
      ++found;
    }
  }
  ASSERT_EQ(found, 1) << name;
}

// The same function: one lambda, or equal ones for all blocks; a matrix, diagonal, with the block's ratio on each of its
// coordinates. Of graphs whose pairs are stored and, of the first two, of one that streams.
TEST(Lie, MetricsAgreeWhereTheyAreTheSame) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    const auto interface = interface_of(group);
    Options options = small(Variant::G);
    const auto blocks = make(options, interface);
    options.metric = Metric::isotropic;
    const auto isotropic = make(options, interface);
    options.metric = Metric::full;
    const auto full = make(options, interface);
    for (const auto& p : blocks->parameters()) {
      for (const auto& other : {isotropic, full}) {
        if (!p.name.starts_with("score.")) {
          set(*other, p.name, [&](const Tensor&) { return p.tensor; });
        }
      }
    }
    const Poses poses = tokens(group);
    // A diagonal factor for the block weights as they are, which differ.
    const int64_t E = degrees_of_freedom(group), K = static_cast<int64_t>(blocks_of(group).size());
    Tensor raw = at::zeros({2, 2, E * (E + 1) / 2}, at::kDouble);
    Tensor weight, temperature;
    for (const auto& p : blocks->parameters()) {
      weight = p.name == "score.weight" ? p.tensor.detach().clone() : weight;
      temperature = p.name == "score.temperature" ? p.tensor.detach().clone() : temperature;
    }
    const Tensor ratios =
        (at::softplus(weight) + 1e-3) / (at::softplus(temperature) + 1e-3).unsqueeze(2);  // (L, H, K)
    for (int64_t k = 0; k < K; ++k) {
      const LieBlock& block = blocks_of(group)[static_cast<size_t>(k)];
      for (int64_t r = block.begin; r < block.begin + block.size; ++r) {
        raw.select(2, r * (r + 1) / 2 + r).copy_(ratios.select(2, k).sqrt().log());
      }
    }
    set(*full, "score.factor", [&](const Tensor&) { return raw; });
    const auto apart = [](const Named& a, const Named& b) {
      double most = 0;
      for (const auto& [name, y] : a) {
        most = worst_of(most, (y - b.at(name)).abs().max().item<double>());
      }
      return most;
    };
    EXPECT_LT(apart((*blocks)(poses), (*full)(poses)), 1e-12);
    // Control: what lies below the diagonal matters.
    set(*full, "score.factor", [&](const Tensor&) { return raw + 0.3; });
    EXPECT_GT(apart((*blocks)(poses), (*full)(poses)), 1e-6);

    for (const int64_t count : {int64_t{5}, int64_t{140}}) {
      const Poses some = tokens(group, 1, count);
      set(*isotropic, "score.weight", [&](const Tensor& x) { return at::full_like(x, 0.7); });
      set(*isotropic, "score.temperature", [&](const Tensor&) { return temperature; });
      if (K > 1) {
        EXPECT_GT(apart((*blocks)(some), (*isotropic)(some)), 1e-6) << count;
      }
      set(*blocks, "score.weight", [&](const Tensor& x) { return at::full_like(x, 0.7); });
      EXPECT_LT(apart((*blocks)(some), (*isotropic)(some)), 1e-12) << count;
      set(*blocks, "score.weight", [&](const Tensor&) { return weight; });
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

TEST(LieEquivariance, OfElementsWithoutTheExponential) {
  for (const LieGroup group : lie_groups) {
    const auto interface = interface_of(group);
    Options options = small(Variant::G);
    options.factor = FactorForm::direct;
    options.chart = ChartPolicy::frobenius;
    SCOPED_TRACE(name_of(group));
    equivariance::expect_claims_hold(*make(options, interface), {tokens(group), {}}, schema_of(interface));
    options.variant = Variant::A;
    const Claim left{Claim::Of::left_motions, symbol_of(group), nullptr};
    EXPECT_GT(
        equivariance::claim_error(*make(options, interface), left, {tokens(group), {}}, schema_of(interface)),
        1e-2);
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
  NormScore score(small(Variant::G), group);
  LayerNorm next(8);
  apply_weight_rule(block, 0.4);
  const Poses poses = tokens(group);
  const auto scores = score.layers();
  Relations relations = relate({group}, compact_elements(poses.elements, group), poses.graphs, at::kDouble);
  ASSERT_EQ(relations.parts.size(), 1u);
  ASSERT_TRUE(relations.parts[0].pairs.has_value());
  const Tensor h = sine({10, 8});
  const Stream in{h, block.entry_norm()(h)};
  const Tensor stored = block(in, next, &scores[0], relations, poses.graphs).h;
  relations.parts[0].pairs.reset();
  const Tensor streamed = block(in, next, &scores[0], relations, poses.graphs).h;
  EXPECT_LT((stored - streamed).abs().max().item<double>(), 1e-12);
  const Segments large = Segments::of_sizes(std::vector<int64_t>{400});
  const Tensor line = exponentials(group, sine({400, 6}));
  EXPECT_FALSE(relate({group}, compact_elements(line, group), large, at::kDouble).parts.at(0).pairs);
  EXPECT_TRUE(
      relate({.group = group, .reads = Reads::coordinates}, compact_elements(line, group), large, at::kDouble)
          .parts.at(0)
          .pairs);
}

/// Results of attention inside graphs of these sizes, in float32, and gradients by values and elements: rows of the
/// tokens of `all` at `rows`, so that a graph is the same wherever it stands.
std::vector<Tensor> attended(LieGroup group, const Tensor& all, const Tensor& values, const Tensor& rows,
                             const std::vector<int64_t>& sizes) {
  const BuildOn narrow(at::kCPU, at::kFloat);
  NormScore score(small(Variant::G), group);
  apply_weight_rule(score, 0.4);
  const Tensor elements = all.index_select(0, rows).detach().requires_grad_(),
               v = values.index_select(0, rows).detach().requires_grad_();
  const Segments graphs = Segments::of_sizes(sizes);
  const Relations relations = relate({group}, elements, graphs, at::kFloat);
  const Attention y = score.layers()[0].attend(relations, v, graphs);
  // Each token's own weight in the sum, wherever it stands.
  const Tensor own = (rows.to(at::kFloat) * 1.7).sin().view({-1, 1, 1});
  std::vector<Tensor> found{y.mixed.detach(), y.coordinates.detach(), y.outside};
  for (const Tensor& g : torch::autograd::grad(
           {(y.mixed * own).sum() + (y.coordinates * own).sum().to(y.mixed.scalar_type())}, {v, elements})) {
    found.push_back(g);
  }
  return found;
}

// A graph of up to 128 tokens has its pairs stored, a longer one streams, whatever stands beside it.
TEST(Lie, AShortSampleBesideALongOneGivesTheBitsItGivesAlone) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::se3, LieGroup::aff2}) {
    SCOPED_TRACE(name_of(group));
    const Tensor line = exponentials(group, 0.3 * sine({307, degrees_of_freedom(group)}, 2));
    const Tensor all = compact_elements(line, group), values = sine({307, 2, 4}).to(at::kFloat);
    const Tensor first = at::arange(7), last = at::arange(7, 307), both = at::arange(307),
                 turned = at::cat({last, first});
    const auto alone = attended(group, all, values, first, {7}),
               long_alone = attended(group, all, values, last, {300}),
               before = attended(group, all, values, both, {7, 300}),
               after = attended(group, all, values, turned, {300, 7});
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_TRUE(at::equal(before[i].slice(0, 0, 7), alone[i])) << i;
      EXPECT_TRUE(at::equal(after[i].slice(0, 300, 307), alone[i])) << i;
      EXPECT_TRUE(at::equal(before[i].slice(0, 7, 307), long_alone[i])) << i;
      EXPECT_TRUE(at::equal(after[i].slice(0, 0, 300), long_alone[i])) << i;
    }
  }
}

TEST(Lie, BatchesOfShortAndLongSamplesGiveEachItsOwnOutputs) {
  const auto group = LieGroup::se2;
  const auto model = make(small(Variant::G), interface_of(group));
  const auto poses_of = [&](int64_t first, const std::vector<int64_t>& sizes) {
    Poses poses;
    poses.group = group;
    poses.graphs = Segments::of_sizes(sizes);
    poses.elements = exponentials(group, 0.5 * sine({200, 3}, 2)).slice(0, first, first + poses.nodes());
    return poses;
  };
  const Named all = (*model)(poses_of(0, {5, 140, 0, 9})), one = (*model)(poses_of(0, {5})),
              two = (*model)(poses_of(5, {140})), three = (*model)(poses_of(145, {9}));
  for (const auto& [name, y] : all) {
    const Tensor apart = at::cat({one.at(name), two.at(name), three.at(name)});
    EXPECT_LT((y - apart).abs().max().item<double>(), 1e-12) << name;
  }
}

// Under `error` a pair outside the chart is named by its graph in the batch, short or long.
TEST(Lie, PairsOutsideTheChartAreNamedInMixedBatches) {
  const auto group = LieGroup::aff2;
  Options options = small(Variant::G);
  options.chart = ChartPolicy::error;
  const auto model = make(options, interface_of(group));
  for (const int64_t bad : {int64_t{2}, int64_t{20}}) {  // a token of the short graph, and of the long one
    Poses poses;
    poses.group = group;
    poses.graphs = Segments::of_sizes(std::vector<int64_t>{3, 130});
    poses.elements = exponentials(group, 0.02 * sine({133, 6}, 2)).clone();
    EXPECT_NO_THROW((*model)(poses));
    poses.elements[bad].select(1, 0).slice(0, 0, 2).neg_();
    poses.elements[bad].select(1, 1).slice(0, 0, 2).mul_(-2);
    const std::string refused = message_of<ShapeError>([&] { (*model)(poses); });
    EXPECT_NE(refused.find(bad == 2 ? "the first of token 0 of graph 0" : "the first of token 0 of graph 1"),
              std::string::npos)
        << refused;
  }
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
void expect_gradients(const Options& options, LieGroup group) {
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

TEST(Lie, GradientsByParameters) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::aff3}) {
    for (const bool move : {false, true}) {
      Options options = small(move ? Variant::C : Variant::G);
      options.move_tokens = move;
      expect_gradients(options, group);
    }
    for (const Metric metric : {Metric::isotropic, Metric::full}) {
      Options options = small(Variant::G);
      options.metric = metric;
      options.move_tokens = true;
      expect_gradients(options, group);
    }
    for (const Order order : {Order::bias, Order::causal}) {
      Options options = small(Variant::G);
      options.neighbours = order == Order::bias ? 5 : 0;
      options.directed = true;
      options.order = order;
      options.move_tokens = true;
      expect_gradients(options, group);
    }
  }
}

// Tokens at equal steps, and steep weights: a token's two neighbours score -6000 each, and which of them is a little
// nearer shows only beyond the digits of -6000. Stored pairs (7 tokens) and the streaming kernel (150) alike.
void expect_neighbours_decided(int64_t count, Metric metric = Metric::blocks) {
  const LieGroup group = LieGroup::se2;
  Options options = small(Variant::G);
  options.metric = metric;
  auto model = make(options, interface_of(group));
  for (const auto& p : model->parameters()) {
    if (p.name == "score.weight") {
      p.tensor.detach().fill_(1000);
    }
    if (p.name == "score.factor") {
      p.tensor.detach().mul_(0.1);
      for (const int64_t diagonal : {0, 2, 5}) {
        p.tensor.detach().select(2, diagonal).fill_(std::log(1460.0) / 2);
      }
    }
  }
  Poses poses = tokens(group, 1, count);
  for (int64_t i = 0; i < count; ++i) {
    const double turn = 1.4 / static_cast<double>(count);  // so that the last is not near the first again
    const Tensor step = at::tensor({2.0, 0.3, turn}, at::kDouble).unsqueeze(0) * static_cast<double>(i);
    poses.elements[i].copy_(exponentials(group, step)[0]);
  }
  poses.elements = poses.elements.to(at::kFloat).to(at::kDouble);
  const Named wide = model->forward(poses);
  model->to(at::kFloat);
  poses.elements = poses.elements.to(at::kFloat);
  const Named narrow = model->forward(poses);
  for (const auto& [name, y] : wide) {
    const double largest = y.abs().max().item<double>();
    const double limit = name == "moved" ? 5e-7 * (1 + largest) : count == 7 ? 1e-6 : 3e-6;  // numbers near 1
    EXPECT_LT((narrow.at(name).to(at::kDouble) - y).abs().max().item<double>(), limit) << name;
  }
}

TEST(Lie, WhatDecidesBetweenNeighboursSurvivesFloat32) {
  expect_neighbours_decided(7);
  expect_neighbours_decided(7, Metric::full);
}
TEST(Lie, WhatDecidesBetweenNeighboursSurvivesFloat32OfManyTokens) {
  expect_neighbours_decided(150);
  expect_neighbours_decided(150, Metric::full);
}

}  // namespace lie_test
}  // namespace weyl::lie
