// Which pairs of tokens score one another, and by what: directions, order, neighbours.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/equivariance.h"
#include "tests/lie_groups.h"
#include "tests/models/lie/models.h"
#include "weyl/core/worst_of.h"
#include "weyl/ops/lie/elements.h"

namespace weyl::lie {
namespace pairs_test {

/// Variants of what tells the directions of a pair apart.
std::vector<Options> with_directions() {
  std::vector<Options> all;
  for (const Order order : {Order::none, Order::bias, Order::causal}) {
    Options options = small(Variant::G);
    options.directed = true;
    options.order = order;
    all.push_back(options);
    options.metric = Metric::full;
    all.push_back(options);
    options.metric = Metric::blocks;
    options.directed = false;
    if (order != Order::none) {
      all.push_back(options);
      options.variant = Variant::C;
      all.push_back(options);
    }
  }
  return all;
}

std::string text_of(const Options& o) {
  return std::string(names_of(o.variant)[static_cast<size_t>(o.variant)]) + " metric " +
         std::string(names_of(o.metric)[static_cast<size_t>(o.metric)]) + (o.directed ? " directed" : "") +
         " order " + std::string(names_of(o.order)[static_cast<size_t>(o.order)]);
}

// Order is claimed by those alone that do not read it, and the others do not have it.
TEST(LieEquivariance, OfDirectedScoresAndOrder) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::so3, LieGroup::aff2}) {
    for (const Options& options : with_directions()) {
      SCOPED_TRACE(std::string(name_of(group)) + " " + text_of(options));
      const auto interface = interface_of(group);
      const auto model = make(options, interface);
      const Claim permutations{Claim::Of::permutations, "permutations", nullptr};
      const Batch batch{tokens(group), {}};
      const bool unordered = options.order == Order::none;
      EXPECT_EQ(model->symmetry().exact.size(), unordered ? 2u : 1u);
      if (!unordered) {
        EXPECT_GT(equivariance::claim_error(*model, permutations, batch, schema_of(interface)), 1e-6);
      }
      equivariance::expect_claims_hold(*model, batch, schema_of(interface));
    }
  }
}

// Forward, in float32, to the bit: in batches, for short samples and for those that stream.
TEST(Lie, UnderACausalMaskALaterTokenChangesNothingBeforeIt) {
  const auto group = LieGroup::se2;
  for (const Options& given : with_directions()) {
    for (const int64_t count : {int64_t{9}, int64_t{150}}) {
      Options options = given;
      options.move_tokens = true;
      SCOPED_TRACE(text_of(options) + " tokens " + std::to_string(count));
      const auto model = make(options, interface_of(group));
      model->to(at::kFloat);
      const int64_t kept = count - 2;
      Poses poses;
      poses.group = group;
      poses.graphs = Segments::of_sizes(std::vector<int64_t>{3, count, 4});
      poses.elements = exponentials(group, 0.5 * sine({count + 7, 3}, 2)).to(at::kFloat);
      const auto first = [&] {
        Named outputs = (*model)(poses);
        for (auto& [name, y] : outputs) {
          y = y.detach().slice(0, 0, 3 + kept).clone();
        }
        return outputs;
      };
      const at::NoGradGuard quiet;
      const Named before = first();
      poses.elements = poses.elements.clone();
      poses.elements.slice(0, 3 + kept, 3 + count)
          .copy_(exponentials(group, sine({2, 3}, 5) * 3).to(at::kFloat));
      const Named after = first();
      for (const auto& [name, y] : before) {
        const bool same = at::equal(after.at(name), y);
        EXPECT_EQ(same, options.order == Order::causal) << name;
      }
    }
  }
}

// Numbers that start at zero: until they have learned, the model is the one without them.
TEST(Lie, DirectionsStartAtNothing) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const bool with : {false, true}) {
    Options options;
    options.directed = with;
    options.order = with ? Order::bias : Order::none;
    const NormScore score(options, LieGroup::se2);
    EXPECT_EQ(score.parameter_count(), 3 * 4 * (2 + 1 + (with ? 3 + 2 : 0)));
    const LayerScore layer = score.layers()[0];
    EXPECT_EQ(layer.linear.defined(), with);
    if (with) {
      EXPECT_EQ(layer.linear.abs().max().item<double>(), 0);
    }
  }
  // <u, w_ij> is odd: a pair's two scores differ by twice that.
  Options options = small(Variant::G);
  options.directed = true;
  NormScore score(options, LieGroup::se2);
  apply_weight_rule(score, 0.4);
  const Poses poses = tokens(LieGroup::se2, 1, 4);
  const Relations relations =
      relate({LieGroup::se2}, compact_elements(poses.elements, LieGroup::se2), poses.graphs, at::kDouble);
  const Part& part = relations.parts.at(0);
  const LayerScore layer = score.layers()[1];
  LayerScore symmetric = layer;
  symmetric.linear = Tensor();
  const Tensor s = (layer(part) - symmetric(part)).view({4, 4, 2});
  EXPECT_LT((s + s.transpose(0, 1)).abs().max().item<double>(), 1e-12);
  EXPECT_GT(s.abs().max().item<double>(), 1e-3);
}

// All tokens within the radius: the same model; within a small one, tokens far away do not matter.
TEST(Lie, NeighboursWithinALargeRadiusAreAllTokens) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::so3, LieGroup::aff2}) {
    for (Options options : with_directions()) {
      for (const int64_t count : {int64_t{6}, int64_t{140}}) {
        SCOPED_TRACE(std::string(name_of(group)) + " " + text_of(options) + " tokens " +
                     std::to_string(count));
        Poses poses;
        poses.group = group;
        poses.graphs = Segments::of_sizes(std::vector<int64_t>{count, 2});
        poses.elements = exponentials(group, 0.5 * sine({count + 2, degrees_of_freedom(group)}, 2));
        const auto with = [&](double radius) {
          options.neighbours = radius;
          return (*make(options, interface_of(group)))(poses);
        };
        const Named all = with(0), within = with(100), near = with(0.6);
        double apart = 0;
        for (const auto& [name, y] : all) {
          EXPECT_LT((within.at(name) - y).abs().max().item<double>(), 1e-9) << name;
          apart = worst_of(apart, (near.at(name) - y).abs().max().item<double>());
        }
        EXPECT_GT(apart, 1e-6);
      }
    }
  }
}

// As many nearest as there are tokens: the same model; few: another, as with a causal mask.
TEST(Lie, AsManyNearestAsThereAreAreAllTokens) {
  for (const LieGroup group : {LieGroup::se3, LieGroup::so3}) {
    for (Options options : with_directions()) {
      SCOPED_TRACE(std::string(name_of(group)) + " " + text_of(options));
      Poses poses;
      poses.group = group;
      poses.graphs = Segments::of_sizes(std::vector<int64_t>{140, 2});
      poses.elements = exponentials(group, 0.5 * sine({142, degrees_of_freedom(group)}, 2));
      const auto with = [&](int64_t nearest) {
        options.nearest = nearest;
        return (*make(options, interface_of(group)))(poses);
      };
      const Named all = with(0), many = with(139), few = with(4);
      double apart = 0;
      for (const auto& [name, y] : all) {
        EXPECT_LT((many.at(name) - y).abs().max().item<double>(), 1e-9) << name;
        apart = worst_of(apart, (few.at(name) - y).abs().max().item<double>());
      }
      EXPECT_GT(apart, 1e-6);
    }
  }
}

// What is counted is what is done: half of the pairs under a causal mask, of the nearest so many.
TEST(Lie, CountsThePairsThatAreScored) {
  Interface interface = interface_of(LieGroup::se3);
  interface.typical_nodes = 100;
  const auto forward = [&](Order order, int64_t nearest) {
    Options options = small(Variant::G);
    options.order = order;
    options.nearest = nearest;
    return make(options, interface)->work_of_token().forward;
  };
  const double all = forward(Order::none, 0), none = 2 * forward(Order::none, 50) - all,
               pair = (all - none) / 100;
  EXPECT_GT(pair, 0);
  EXPECT_NEAR(forward(Order::none, 10), none + 10 * pair, 1e-6 * all);
  EXPECT_NEAR(forward(Order::none, 1000), all, 1e-6 * all);
  EXPECT_NEAR(forward(Order::causal, 0), none + 49.5 * pair, 1e-6 * all);
  double pairs = 0;
  for (int i = 0; i < 100; ++i) {
    pairs += std::min(i, 10) / 100.0;
  }
  EXPECT_NEAR(forward(Order::causal, 10), none + pairs * pair, 1e-6 * all);
}

TEST(LieEquivariance, OfNeighbours) {
  for (const LieGroup group : lie_groups) {
    const auto interface = interface_of(group);
    Options options = small(Variant::G);
    options.neighbours = 1.5;
    SCOPED_TRACE(name_of(group));
    equivariance::expect_claims_hold(*make(options, interface), {tokens(group, 2, 12), {}},
                                     schema_of(interface));
    options.neighbours = 0;
    options.nearest = 4;
    equivariance::expect_claims_hold(*make(options, interface), {tokens(group, 2, 12), {}},
                                     schema_of(interface));
  }
}

TEST(Lie, SaysWhatPairsTakeWhereTheyAreStored) {
  const auto group = LieGroup::se3;
  Interface interface = interface_of(group);
  const auto note = [&](const Options& options, int64_t count, bool training = false) {
    const auto model = make(options, interface);
    model->train(training);
    Poses poses;
    poses.group = group;
    poses.graphs = Segments::of_sizes(std::vector<int64_t>{2, count});
    return model->memory_note(poses);
  };
  Options c = small(Variant::C), full = small(Variant::G), polar = small(Variant::G);
  full.metric = Metric::full;
  polar.chart = ChartPolicy::polar;
  polar.move_tokens = true;
  EXPECT_EQ(note(small(Variant::G), 5000), "");
  EXPECT_EQ(note(small(Variant::A), 5000), "");
  EXPECT_EQ(note(c, 128), "");
  // 10^6 pairs of (6 + 2) numbers of 8 bytes and (6 + 2) of 8.
  EXPECT_EQ(note(c, 1000),
            "model.lie: the scores of variant = \"C\" are made of all pairs of tokens in memory: at "
            "least 128 MB for a sample of 1000 tokens");
  EXPECT_NE(note(full, 1000).find("metric = \"full\""), std::string::npos);
  EXPECT_EQ(note(polar, 1000), "");
  EXPECT_NE(note(polar, 1000, true).find("gradients by tokens that move"), std::string::npos);
  EXPECT_TRUE(make(c, interface)->warnings("").empty());
  interface.typical_nodes = 1000;
  EXPECT_EQ(make(c, interface)->warnings("").size(), 1u);
  EXPECT_EQ(make(polar, interface)->warnings("").size(), 1u);
  EXPECT_TRUE(make(small(Variant::G), interface)->warnings("").empty());
  c.neighbours = 1;  // found by cells, and not so in SO(3)
  EXPECT_TRUE(make(c, interface)->warnings("").empty());
  interface.group = LieGroup::so3;
  interface.outputs = interface_of(LieGroup::so3).outputs;
  EXPECT_EQ(make(c, interface)->warnings("").size(), 1u);
}

}  // namespace pairs_test
}  // namespace weyl::lie
