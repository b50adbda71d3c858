#include "weyl/ops/lie/attention.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include <ATen/Parallel.h>

#include "tests/gradients.h"
#include "tests/ops/lie/samples.h"
#include "weyl/core/check.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/lie/log.h"
#include "weyl/study/cost/allocation_peak.h"

namespace weyl::lie {
namespace attention_test {

constexpr ChartPolicy policies[] = {ChartPolicy::mask, ChartPolicy::frobenius, ChartPolicy::polar};

struct Case {
  LieGroup group;
  Segments graphs;
  Tensor elements, values, weights;  // float64
  Tensor linear;                     // float64, undefined: none
  bool causal = false;

  Case(LieGroup g, std::vector<int64_t> sizes, double scale, int64_t heads = 3, int64_t width = 5)
      : group(g), graphs(Segments::of_sizes(sizes)) {
    const int64_t n = graphs.rows(), blocks = static_cast<int64_t>(blocks_of(g).size());
    elements = random_elements(g, n, scale);
    values = normal_rows("values", n, heads * width, 1).view({n, heads, width});
    weights = normal_rows("weights", heads, blocks, 0.4).exp();
  }
  Attention run(const Tensors& x, ChartPolicy policy = ChartPolicy::mask) const {
    const Tensor straight = x.size() > 3 ? x[3] : linear.defined() ? linear.to(x[1].scalar_type()) : Tensor();
    return attention(x[0], x[1], x[2], graphs, group, policy, {straight, causal});
  }
  /// With numbers for all that may be linear.
  Case& directed() {
    linear = normal_rows("linear", values.size(1), degrees_of_freedom(group) + 2, 0.3);
    return *this;
  }
  Attention run(ChartPolicy policy = ChartPolicy::mask) const {
    return run({elements, values, weights}, policy);
  }
  /// {mixed, coordinates, outside, gradients by elements (when wanted), values, weights, linear (where defined)}
  Tensors all(at::ScalarType type, ChartPolicy policy, bool by_elements) const {
    Tensors x, wanted, given{elements, values, weights};
    if (linear.defined()) {
      given.push_back(linear);
    }
    for (const Tensor& t : given) {
      x.push_back(t.to(type).detach().requires_grad_(wanted.size() > 0 || x.size() > 0 || by_elements));
      if (x.back().requires_grad()) {
        wanted.push_back(x.back());
      }
    }
    const Attention y = run(x, policy);
    const auto weighted = [](const Tensor& t) {
      return (t * gradients_detail::weights_like(t).to(t.scalar_type())).sum();
    };
    Tensors found{y.mixed.detach(), y.coordinates.detach(), y.outside};
    for (const Tensor& g : torch::autograd::grad({weighted(y.mixed) + weighted(y.coordinates)}, wanted)) {
      found.push_back(g);
    }
    return found;
  }
};

void expect_same(const Tensors& found, const Tensors& wanted, double tolerance) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(found[i].sizes(), wanted[i].sizes()) << i;
    EXPECT_TRUE(at::isfinite(wanted[i]).all().item<bool>()) << i;
    EXPECT_LE(largest(found[i] - wanted[i]), tolerance * (1 + largest(wanted[i]))) << "result " << i;
  }
}

TEST(LieAttention, EqualsPlainLoops) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    const Case c(group, {4, 1, 0, 9}, 0.5);
    const Attention y = c.run();
    const Logs logs = pair_logs(c.elements, c.graphs, group);
    const Tensor w = to_orthonormal(logs.w, group);
    int64_t pair = 0, masked = 0;
    for (int64_t s = 0; s < c.graphs.count(); ++s) {
      const int64_t n = c.graphs.size(s), begin = c.graphs.offsets[s];
      for (int64_t i = 0; i < n; ++i, pair += n) {
        for (int64_t h = 0; h < c.values.size(1); ++h) {
          Tensor mixed = at::zeros({c.values.size(2)}, at::kDouble);
          Tensor mean = at::zeros({w.size(1)}, at::kDouble);
          double total = 0;
          for (int64_t j = 0; j < n; ++j) {
            if (j == i || (!is_rigid(group) && logs.margin[pair + j].item<double>() <= 0)) {
              masked += j != i;
              continue;
            }
            double score = 0;
            int64_t b = 0;
            for (const LieBlock& block : blocks_of(group)) {
              const Tensor part = w[pair + j].slice(0, block.begin, block.begin + block.size);
              score -= c.weights[h][b++].item<double>() * (part * part).sum().item<double>();
            }
            total += std::exp(score);
            mixed += std::exp(score) * c.values[begin + j][h];
            mean += std::exp(score) * w[pair + j];
          }
          const double over = total > 0 ? 1 / total : 0;
          EXPECT_LE(largest(y.mixed[begin + i][h] - mixed * over), 1e-11);
          EXPECT_LE(largest(y.coordinates[begin + i][h] - mean * over), 1e-11);
        }
      }
    }
    EXPECT_EQ(y.outside.sum().item<int64_t>() * c.values.size(1), masked);
  }
}

TEST(LieAttention, StreamingEqualsTheListOfPairs) {
  for (const LieGroup group : lie_groups) {
    for (const ChartPolicy policy : policies) {
      for (const double scale : {0.3, is_rigid(group) ? 0.8 : 0.5}) {
        SCOPED_TRACE(testing::Message() << name_of(group) << " policy " << static_cast<int>(policy));
        const Case c(group, {0, 1, 2, 7, 70, 3}, scale);
        const bool by_elements = policy == ChartPolicy::mask;
        for (const auto type : {at::kDouble, at::kFloat}) {
          const Tensors kernel = c.all(type, policy, by_elements);
          const UseReferences scope;
          expect_same(kernel, c.all(type, policy, by_elements), type == at::kFloat ? 3e-4 : 1e-10);
        }
      }
    }
  }
}

// Scores that differ in the two directions of a pair, and tokens that see those before them: the kernel, the list of pairs,
// and plain loops.
TEST(LieAttention, DirectionsEqualTheListOfPairs) {
  for (const LieGroup group : lie_groups) {
    for (const bool causal : {false, true}) {
      for (const ChartPolicy policy : {ChartPolicy::mask, ChartPolicy::frobenius}) {
        for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{0, 1, 2, 7, 70, 3}, {200}}) {
          if (sizes.size() == 1 && group != LieGroup::se2) {
            continue;
          }
          Case c(group, sizes, is_rigid(group) ? 0.5 : 0.3);
          c.causal = causal;
          const bool by_elements = policy == ChartPolicy::mask;
          for (const bool linear : {false, true}) {
            SCOPED_TRACE(testing::Message() << name_of(group) << " causal " << causal << " linear " << linear
                                            << " policy " << static_cast<int>(policy));
            if (linear) {
              c.directed();
            }
            for (const auto type : {at::kDouble, at::kFloat}) {
              const Tensors kernel = c.all(type, policy, by_elements);
              ASSERT_EQ(kernel.size(), 5u + linear + by_elements);
              const UseReferences scope;
              expect_same(kernel, c.all(type, policy, by_elements), type == at::kFloat ? 6e-4 : 1e-10);
            }
          }
        }
      }
    }
  }
}

TEST(LieAttention, DirectionsEqualPlainLoops) {
  for (const bool causal : {false, true}) {
    Case c(LieGroup::se3, {4, 1, 9}, 0.5);
    c.causal = causal;
    c.directed();
    const Attention y = c.run();
    const Tensor w = to_orthonormal(pair_logs(c.elements, c.graphs, c.group).w, c.group);
    const auto number = [](const Tensor& x) { return x.item<double>(); };
    int64_t pair = 0;
    for (int64_t s = 0; s < c.graphs.count(); ++s) {
      const int64_t n = c.graphs.size(s), begin = c.graphs.offsets[s];
      for (int64_t i = 0; i < n; ++i, pair += n) {
        for (int64_t h = 0; h < c.values.size(1); ++h) {
          Tensor mixed = at::zeros({c.values.size(2)}, at::kDouble);
          double total = 0;
          for (int64_t j = 0; j < (causal ? i : n); ++j) {
            const Tensor at = w[pair + j], u = c.linear[h];
            const double score = -number(c.weights[h][0] * at.slice(0, 0, 3).square().sum()) -
                                 number(c.weights[h][1] * at.slice(0, 3, 6).square().sum()) +
                                 number((u.slice(0, 0, 6) * at).sum()) +
                                 number(u[6]) * static_cast<double>(j - i) +
                                 number(u[7]) * std::abs(static_cast<double>(j - i));
            total += j == i ? 0 : std::exp(score);
            mixed += j == i ? 0 * c.values[begin + j][h] : std::exp(score) * c.values[begin + j][h];
          }
          EXPECT_LE(largest(y.mixed[begin + i][h] - mixed / (total > 0 ? total : 1)), 1e-11) << causal << i;
        }
      }
    }
  }
}

// To the bit, in float32, over several tiles and blocks of rows, on any number of threads.
TEST(LieAttention, WhatIsLaterChangesNothingBefore) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::aff2}) {
    for (const int64_t kept : {1, 63, 64, 65, 130}) {
      Case c(group, {150, 3}, 0.3);
      c.directed();
      const auto first = [&](bool causal) {
        c.causal = causal;
        const Attention y = c.run({c.elements, c.values.to(at::kFloat), c.weights.to(at::kFloat)});
        return at::cat({y.mixed.flatten(1), y.coordinates.flatten(1), y.outside.to(at::kFloat).unsqueeze(1)},
                       1)
            .slice(0, 0, kept)
            .clone();
      };
      const Tensor before = first(true), seeing = first(false);
      c.elements = c.elements.clone();
      c.elements.slice(0, kept, 150).copy_(random_elements(group, 150 - kept, 0.7, "others"));
      c.values = c.values.clone();
      c.values.slice(0, kept, 150).mul_(-3);
      EXPECT_TRUE(at::equal(first(true), before)) << name_of(group) << kept;
      EXPECT_GT(largest(first(false) - seeing), 1e-3);  // control
      const int threads = at::get_num_threads();
      at::set_num_threads(3);
      EXPECT_TRUE(at::equal(first(true), before)) << name_of(group) << kept;
      at::set_num_threads(threads);
    }
  }
}

/// Rows of all pairs with |w| below a radius.
Tensor rows_near(const Pairs& all, double radius) {
  return at::logical_and(all.present, all.squares.sum(1) < radius * radius).nonzero().squeeze(1);
}

// The neighbours, whether a list of cells finds them or a search of all pairs: those of all pairs that are as near, with the
// same logarithms, in the same order, none of another graph.
TEST(LieNeighbours, AreThePairsWithinTheRadius) {
  for (const LieGroup group : lie_groups) {
    for (const ChartPolicy policy : policies) {
      for (const bool causal : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << name_of(group) << " policy " << static_cast<int>(policy) << causal);
        const Case c(group, {60, 1, 0, 200}, is_rigid(group) ? 1.0 : 0.4);
        const Pairs all = pairs_between(c.elements, c.graphs, group, policy, causal);
        const Tensor lengths = all.squares.sum(1).sqrt().masked_select(all.present);
        const double radius = at::quantile(lengths, 0.1).item<double>();
        const Pairs near = pairs_near(c.elements, c.graphs, group, policy, radius, 0, causal);
        const Tensor rows = rows_near(all, radius);
        const Edges every = all_pairs(c.graphs);
        ASSERT_GT(rows.size(0), 100);
        ASSERT_LT(rows.size(0), all.present.sum().item<int64_t>() / 2);
        EXPECT_TRUE(at::equal(near.near->centre, every.centre.index_select(0, rows)));
        EXPECT_TRUE(at::equal(near.near->neighbour, every.neighbour.index_select(0, rows)));
        EXPECT_LE(largest(near.coordinates - all.coordinates.index_select(0, rows)), 1e-12);
        EXPECT_LE(largest(near.squares - all.squares.index_select(0, rows)), 1e-12);
        EXPECT_TRUE(near.present.all().item<bool>());
      }
    }
  }
}

/// Rows of all pairs that belong to the k nearest of their centre, or are as near to 1e-4, one centre after another, by sorting.
Tensor rows_of_nearest(const Pairs& all, const Edges& every, double radius, int64_t k) {
  const Tensor squares = all.squares.sum(1).contiguous(), present = all.present.contiguous();
  const auto* s = squares.const_data_ptr<double>();
  const auto* here = present.const_data_ptr<bool>();
  std::vector<int64_t> rows;
  for (size_t i = 0; i + 1 < every.of_centre.offsets.size(); ++i) {
    std::vector<int64_t> own;
    for (int64_t p = every.of_centre.offsets[i]; p < every.of_centre.offsets[i + 1]; ++p) {
      if (here[p] && (radius == 0 || s[p] < radius * radius)) {
        own.push_back(p);
      }
    }
    std::ranges::stable_sort(own, {}, [&](int64_t p) { return s[p]; });
    if (own.size() > static_cast<size_t>(k)) {
      const double limit = s[own[static_cast<size_t>(k) - 1]] * (1 + 1e-4);
      std::erase_if(own, [&](int64_t p) { return s[p] > limit; });
    }
    std::ranges::sort(own);
    rows.insert(rows.end(), own.begin(), own.end());
  }
  return at::tensor(rows, at::kLong);
}

TEST(LieNeighbours, AreTheNearest) {
  for (const LieGroup group : lie_groups) {
    for (const ChartPolicy policy : policies) {
      for (const bool causal : {false, true}) {
        for (const bool within : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << name_of(group) << " policy " << static_cast<int>(policy) << causal << within);
          const Case c(group, {30, 1, 0, 4, 60}, is_rigid(group) ? 1.0 : 0.4);
          const Pairs all = pairs_between(c.elements, c.graphs, group, policy, causal);
          const Edges every = all_pairs(c.graphs);
          const double radius =
              within ? at::quantile(all.squares.sum(1).sqrt().masked_select(all.present), 0.1).item<double>()
                     : 0;
          const Pairs near = pairs_near(c.elements, c.graphs, group, policy, radius, 7, causal);
          const Tensor rows = rows_of_nearest(all, every, radius, 7);
          EXPECT_TRUE(at::equal(near.near->centre, every.centre.index_select(0, rows)));
          EXPECT_TRUE(at::equal(near.near->neighbour, every.neighbour.index_select(0, rows)));
          EXPECT_LE(largest(near.coordinates - all.coordinates.index_select(0, rows)), 1e-12);
        }
      }
    }
  }
}

// Dense places beside thin ones, and tokens far from all: cells as wide as most need do not serve these.
TEST(LieNeighbours, TheNearestOfUnevenPlaces) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::se3}) {
    Case c(group, {900, 5}, 1.0);
    Tensor matrices = element_matrices(c.elements, group).clone();
    const int64_t n = dimension_of(group);
    Tensor places = matrices.slice(1, 0, n).select(2, n);
    places.slice(0, 0, 500).mul_(0.05);
    places.slice(0, 600, 900).mul_(40);
    places[3].mul_(1e4);
    c.elements = compact_elements(matrices, group);
    const Pairs all = pairs_between(c.elements, c.graphs, group, ChartPolicy::mask);
    const Edges every = all_pairs(c.graphs);
    const Pairs near = pairs_near(c.elements, c.graphs, group, ChartPolicy::mask, 0, 5);
    const Tensor rows = rows_of_nearest(all, every, 0, 5);
    EXPECT_TRUE(at::equal(near.near->centre, every.centre.index_select(0, rows))) << name_of(group);
    EXPECT_TRUE(at::equal(near.near->neighbour, every.neighbour.index_select(0, rows))) << name_of(group);
  }
}

// Steps of one length: both sides are as near, and neither their order nor rounding chooses between them.
TEST(LieNeighbours, TiesCountOnBothSides) {
  const Tensor steps = at::arange(40, at::kDouble).unsqueeze(1) * at::tensor({0.7, 0.1, 0.05}, at::kDouble);
  const Tensor path = exp(steps, LieGroup::se2);
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{40});
  const Pairs near = pairs_near(path, graphs, LieGroup::se2, ChartPolicy::mask, 0, 1);
  for (int64_t i = 1; i < 39; ++i) {
    ASSERT_EQ(near.near->of_centre.size(i), 2);
    const int64_t first = near.near->of_centre.offsets[static_cast<size_t>(i)];
    EXPECT_EQ(near.near->neighbour[first].item<int64_t>(), i - 1);
    EXPECT_EQ(near.near->neighbour[first + 1].item<int64_t>(), i + 1);
  }
  EXPECT_EQ(near.near->of_centre.size(0), 1);
}

// Attention over neighbours is attention with all other pairs masked; 1,500 tokens are more than are taken at once.
TEST(LieNeighbours, AttentionIsThatWithTheOthersMasked) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::aff2}) {
    const bool many = group == LieGroup::se2;
    Case c(group, many ? std::vector<int64_t>{1500, 3} : std::vector<int64_t>{70, 3}, many ? 2 : 0.3, 2, 3);
    const double radius = 0.8;
    const auto all = [&](bool listed) {
      const Tensor elements = c.elements.detach().requires_grad_(),
                   values = c.values.detach().requires_grad_(), weights = c.weights.detach().requires_grad_();
      Pairs pairs = listed ? pairs_near(elements, c.graphs, group, ChartPolicy::mask, radius)
                           : pairs_between(elements, c.graphs, group, ChartPolicy::mask);
      if (!listed) {
        pairs.present = at::logical_and(pairs.present, pairs.squares.detach().sum(1) < radius * radius);
      }
      const Attention y = attention(pairs, values, weights, c.graphs);
      Tensors found{y.mixed.detach(), y.coordinates.detach()};
      const Tensor sum = (y.mixed * gradients_detail::weights_like(y.mixed)).sum() +
                         (y.coordinates * gradients_detail::weights_like(y.coordinates)).sum();
      for (const Tensor& g : torch::autograd::grad({sum}, {elements, values, weights})) {
        found.push_back(g);
      }
      return found;
    };
    expect_same(all(true), all(false), 1e-10);
    EXPECT_GT(largest(all(true)[0] - c.run().mixed), 1e-3);  // control: the others matter
  }
}

TEST(LieNeighbours, AttentionHasTheDerivativesOfItsExpression) {
  Case c(LieGroup::se3, {6, 1, 3}, 0.6, 2, 2);
  const Pairs pairs = pairs_near(c.elements, c.graphs, c.group, ChartPolicy::mask, 0, 2);
  const Expression f = [&](const Tensors& x) {
    Pairs with = pairs;
    with.coordinates = x[1];
    const Attention y = attention_scored(x[0], with, x[2], c.graphs);
    return at::cat({y.mixed.flatten(), y.coordinates.flatten()});
  };
  const Tensor scores = pairs.coordinates.slice(1, 0, 2).sin().contiguous();
  expect_gradients(f, {scores, pairs.coordinates, c.values});
  expect_second_gradients(f, {scores, pairs.coordinates, c.values}, {1e-5, 3e-5, 1e-6, 6});
}

TEST(LieNeighbours, ErrorsAndCorners) {
  const Case c(LieGroup::se3, {5}, 0.4, 1, 1);
  for (const double radius : {0.0, -1.0, std::nan("")}) {
    EXPECT_THROW(pairs_near(c.elements, c.graphs, c.group, ChartPolicy::mask, radius), ShapeError);
  }
  EXPECT_THROW(pairs_near(c.elements, c.graphs, c.group, ChartPolicy::mask, 0, -1), ShapeError);
  EXPECT_THROW(pairs_near(c.elements.slice(1, 0, 6), c.graphs, c.group, ChartPolicy::mask, 1), ShapeError);
  const Case none(LieGroup::se3, {0}, 0.4, 1, 1);
  EXPECT_EQ(pairs_near(none.elements, none.graphs, none.group, ChartPolicy::mask, 1).coordinates.size(0), 0);
  EXPECT_EQ(pairs_near(none.elements, none.graphs, none.group, ChartPolicy::mask, 0, 3).coordinates.size(0),
            0);
  // Nobody near: zeros, and finite gradients.
  const Pairs alone = pairs_near(c.elements, c.graphs, c.group, ChartPolicy::mask, 1e-9);
  EXPECT_EQ(alone.near->count(), 0);
  const Tensor values = c.values.detach().requires_grad_();
  const Attention y = attention(alone, values, c.weights, c.graphs);
  EXPECT_EQ(largest(y.mixed), 0);
  EXPECT_EQ(largest(torch::autograd::grad({y.mixed.sum() + y.coordinates.sum()}, {values})[0]), 0);
  // A pair of affine maps without a logarithm is an error under `error`, near or not.
  Case outside(LieGroup::aff2, {3}, 0.1);
  outside.elements = outside.elements.clone();
  outside.elements[1][0] = -1 * outside.elements[1][0];
  outside.elements[1][2] = -1 * outside.elements[1][2];
  EXPECT_THROW(pairs_near(outside.elements, outside.graphs, outside.group, ChartPolicy::error, 1),
               ShapeError);
  EXPECT_NO_THROW(pairs_near(outside.elements, outside.graphs, outside.group, ChartPolicy::mask, 1));
}

TEST(LieAttention, SecondDerivativesOfDirections) {
  Case c(LieGroup::se2, {1, 2, 4}, 0.35, 2, 2);
  c.causal = true;
  c.directed();
  const Expression f = [&](const Tensors& x) {
    const Attention y = c.run(x);
    return at::cat({y.mixed.flatten(), y.coordinates.flatten()});
  };
  expect_second_gradients(f, {c.elements, c.values, c.weights, c.linear}, {1e-5, 3e-5, 1e-6, 6});
}

TEST(LieAttention, StreamingEqualsTheListOfPairsOverManyTiles) {
  const Case c(LieGroup::se3, {300, 7}, 0.5, 2, 16);
  for (const auto type : {at::kDouble, at::kFloat}) {
    const Tensors kernel = c.all(type, ChartPolicy::mask, true);
    const UseReferences scope;
    expect_same(kernel, c.all(type, ChartPolicy::mask, true), type == at::kFloat ? 3e-4 : 1e-11);
  }
}

/// 300 tokens of SE(2) at nearly equal steps, and weights so steep that a token's neighbours score about -6000: which
/// of them is a little nearer shows only beyond float32's digits of -6000.
Case steep_steps() {
  Case c(LieGroup::se2, {300}, 0.5, 2, 5);
  const Tensor steps = at::arange(300, at::kDouble).unsqueeze(1) * at::tensor({2.0, 0.3, 0.02}, at::kDouble);
  c.elements = exp(steps, LieGroup::se2);
  c.elements = compose(c.elements, random_elements(LieGroup::se2, 300, 2e-4, "jitter"), LieGroup::se2);
  c.weights = at::full({2, 2}, 1460.0, at::kDouble);
  c.weights.select(0, 1).fill_(1250);
  return c;
}

TEST(LieAttention, WhatDecidesBetweenNeighboursSurvivesFloat32OverManyTiles) {
  const Case c = steep_steps();
  const Pairs pairs = pairs_between(c.elements, c.graphs, c.group, ChartPolicy::mask);
  const Tensor scores =
      block_scores(pairs.squares, c.weights).masked_fill(pairs.present.unsqueeze(1).logical_not(), -1e30);
  const Tensor best = std::get<0>(scores.view({300, 300, 2}).max(1));
  ASSERT_LT(best.max().item<double>(), -5000);
  ASSERT_GT(best.min().item<double>(), -7000);
  // {mixed, coordinates, gradients by elements, values, weights}
  const auto all = [&](const Tensor& values, const Tensor& weights) {
    Tensors x{c.elements.detach().requires_grad_(), values.detach().requires_grad_(),
              weights.detach().requires_grad_()};
    const Attention y = c.run(x);
    const auto weighted = [](const Tensor& t) {
      return (t * gradients_detail::weights_like(t).to(t.scalar_type())).sum();
    };
    Tensors found{y.mixed.detach(), y.coordinates.detach()};
    for (const Tensor& g : torch::autograd::grad({weighted(y.mixed) + weighted(y.coordinates)}, x)) {
      found.push_back(g);
    }
    return found;
  };
  const Tensors wide = all(c.values, c.weights);
  {
    const UseReferences scope;  // the torch expression in float64
    expect_same(wide, all(c.values, c.weights), 1e-9);
  }
  const Tensors narrow = all(c.values.to(at::kFloat), c.weights.to(at::kFloat));
  for (const size_t i : {size_t{0}, size_t{1}}) {
    EXPECT_LT(largest(narrow[i].to(at::kDouble) - wide[i]), 5e-6) << i;
  }
  for (const size_t i : {size_t{2}, size_t{3}, size_t{4}}) {
    EXPECT_LT(largest(narrow[i].to(at::kDouble) - wide[i]), 2e-3 * largest(wide[i])) << i;
  }
  // Control: scores made in float32 are off by what decides.
  const Pairs rounded = pairs_between(c.elements.to(at::kFloat), c.graphs, c.group, ChartPolicy::mask);
  const Attention lost = attention(rounded, c.values.to(at::kFloat), c.weights.to(at::kFloat), c.graphs);
  EXPECT_GT(largest(lost.mixed.to(at::kDouble) - wide[0]), 1e-3);
}

TEST(LieAttention, ElementsInFloat64GoWithValuesInFloat32) {
  const Case c(LieGroup::aff2, {70, 3}, 0.3);
  const Tensor values = c.values.to(at::kFloat), weights = c.weights.to(at::kFloat);
  const Tensor elements = c.elements.detach().requires_grad_();
  const Attention y = c.run({elements, values, weights});
  EXPECT_EQ(y.mixed.scalar_type(), at::kFloat);
  EXPECT_EQ(y.coordinates.scalar_type(), at::kFloat);
  const Tensor g = torch::autograd::grad({y.mixed.sum() + y.coordinates.sum()}, {elements})[0];
  EXPECT_EQ(g.scalar_type(), at::kDouble);
  EXPECT_LT(largest(y.mixed.to(at::kDouble) - c.run().mixed), 1e-5);
}

TEST(LieAttention, PairsAtHandGiveTheSame) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    const Case c(group, {0, 1, 2, 7, 66}, 0.6);
    const Attention streamed = c.run();
    const Pairs pairs = pairs_between(c.elements, c.graphs, group, ChartPolicy::mask);
    const Attention y = attention(pairs, c.values, c.weights, c.graphs);
    expect_same({y.mixed, y.coordinates, y.outside}, {streamed.mixed, streamed.coordinates, streamed.outside},
                1e-12);
    const Tensor scores = block_scores(pairs.squares, c.weights);
    const auto through = [&](bool plain) {
      Tensors x{scores.detach().requires_grad_(), pairs.coordinates.detach().requires_grad_(),
                c.values.detach().requires_grad_()};
      const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
      const Attention z =
          attention_scored(x[0], {x[1], pairs.squares, pairs.present, pairs.outside}, x[2], c.graphs);
      return torch::autograd::grad({(z.mixed * gradients_detail::weights_like(z.mixed)).sum() +
                                    (z.coordinates * gradients_detail::weights_like(z.coordinates)).sum()},
                                   x);
    };
    expect_same(through(false), through(true), 1e-11);
  }
}

TEST(LieAttention, DerivativesAreRightUnderEveryPolicy) {
  for (const LieGroup group : lie_groups) {
    for (const ChartPolicy policy : policies) {
      SCOPED_TRACE(testing::Message() << name_of(group) << " policy " << static_cast<int>(policy));
      const Case c(group, {1, 2, 4}, 0.35, 2, 2);
      const Expression f = [&](const Tensors& x) {
        const Attention y = c.run(x, policy);
        return at::cat({y.mixed.flatten(), y.coordinates.flatten()});
      };
      expect_second_gradients(f, {c.elements, c.values, c.weights}, {1e-5, 3e-5, 1e-6, 6});
      Tensor x = c.elements.detach().requires_grad_();
      EXPECT_TRUE(pairs_between(x, c.graphs, group, policy).coordinates.requires_grad());
      const at::NoGradGuard off;  // a caller's guard holds
      EXPECT_FALSE(pairs_between(x, c.graphs, group, policy).coordinates.requires_grad());
      EXPECT_FALSE(c.run({x, c.values, c.weights}, policy).coordinates.requires_grad());
    }
  }
}

TEST(LieAttention, PermutedTokensGivePermutedResults) {
  for (const LieGroup group : lie_groups) {
    const Case c(group, {90}, 0.4);
    const Tensor p = at::arange(89, -1, -1, at::kLong);
    const Attention y = c.run();
    const Attention z = c.run({c.elements.index_select(0, p), c.values.index_select(0, p), c.weights});
    EXPECT_LE(largest(z.mixed - y.mixed.index_select(0, p)), 1e-11);
    EXPECT_LE(largest(z.coordinates - y.coordinates.index_select(0, p)), 1e-11);
    EXPECT_GT(largest(z.mixed - y.mixed), 1e-3);  // control
  }
}

TEST(LieAttention, AMotionFromTheLeftChangesNothing) {
  for (const LieGroup group : lie_groups) {
    for (const ChartPolicy policy : policies) {
      SCOPED_TRACE(name_of(group));
      const Case c(group, {12, 5}, 0.4);
      const Tensor a = random_elements(group, 1, 0.8, "motion").expand_as(c.elements);
      const Attention y = c.run(policy);
      const Attention z = c.run({compose(a, c.elements, group), c.values, c.weights}, policy);
      EXPECT_LE(largest(z.mixed - y.mixed), 1e-10);
      EXPECT_LE(largest(z.coordinates - y.coordinates), 1e-10);
      if (group != LieGroup::so2) {  // control: a motion from the right, of one side of which nothing is left
        const Attention right = c.run({compose(c.elements, a, group), c.values, c.weights}, policy);
        EXPECT_GT(largest(right.coordinates - y.coordinates), 1e-3);
      }
    }
  }
}

TEST(LieAttention, NothingToAttendToGivesZeros) {
  const Case alone(LieGroup::se3, {1, 1}, 0.4);
  EXPECT_EQ(largest(alone.run().mixed), 0);
  EXPECT_EQ(largest(alone.run().coordinates), 0);
  for (const LieGroup group : {LieGroup::aff2, LieGroup::aff3}) {
    Case c(group, {2, 3}, 0.1);
    const int64_t n = dimension_of(group);
    c.elements = c.elements.clone();
    c.elements[1] = c.elements[0];
    c.elements[1][0] = -1 * c.elements[0][0];  // a reflection of the first column: det < 0
    for (int64_t i = 0; i < n; ++i) {
      c.elements[1][n * i] = -1 * c.elements[0][n * i];
    }
    const Attention y = c.run();
    EXPECT_EQ(largest(y.mixed.slice(0, 0, 2)), 0);
    EXPECT_GT(largest(y.mixed.slice(0, 2, 5)), 0);
    EXPECT_EQ(y.outside.sum().item<int64_t>(), 2);
    for (const bool plain : {false, true}) {
      const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
      for (const Tensor& t : c.all(at::kDouble, ChartPolicy::mask, true)) {
        EXPECT_TRUE(at::isfinite(t).all().item<bool>());
      }
    }
    EXPECT_GT(largest(c.run(ChartPolicy::frobenius).mixed.slice(0, 0, 2)), 0);
    EXPECT_EQ(largest(c.run(ChartPolicy::polar).mixed.slice(0, 0, 2)), 0);
    EXPECT_THROW(c.run(ChartPolicy::error), ShapeError);
    EXPECT_THROW(pairs_between(c.elements, c.graphs, group, ChartPolicy::error), ShapeError);
  }
  EXPECT_NO_THROW(Case(LieGroup::aff3, {5}, 0.1).run(ChartPolicy::error));
}

TEST(LieAttention, HalfTurnsAreScoredAndReported) {
  for (const LieGroup group : {LieGroup::so2, LieGroup::se2, LieGroup::so3, LieGroup::se3}) {
    Case c(group, {2}, 0.5);
    Tensor turn = at::zeros({1, degrees_of_freedom(group)}, at::kDouble);
    Tensor g = exp(turn, group);
    const int64_t last = compact_size(group) - 1;
    if (dimension_of(group) == 2) {
      g[0][last - 1] = -1;
    } else {
      g[0][last] = 0;
      g[0][last - 1] = 1;
    }
    c.elements = at::cat({exp(turn, group), g});
    for (const bool plain : {false, true}) {
      const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
      const Attention y = c.run();
      EXPECT_LE(largest(y.mixed[0] - c.values[1]), 1e-15);
      EXPECT_EQ(y.outside.sum().item<int64_t>(), 2);
      EXPECT_THROW(c.run(ChartPolicy::error), ShapeError);
    }
  }
}

TEST(LieAttention, AGraphNeverSeesAnother) {
  for (const LieGroup group : lie_groups) {
    for (const ChartPolicy policy : policies) {
      Case c(group, {5, 6}, 0.3);
      const Tensors before = c.all(at::kFloat, policy, true);
      c.elements = c.elements.clone();
      c.elements.slice(0, 5, 11).fill_(NAN);
      const Tensors after = c.all(at::kFloat, policy, true);
      for (const size_t i : {size_t{0}, size_t{1}, size_t{3}, size_t{4}}) {
        EXPECT_TRUE(at::equal(before[i].slice(0, 0, 5), after[i].slice(0, 0, 5))) << name_of(group) << i;
      }
      // Nor is what is not a number hidden, by the torch expression or by the kernel.
      EXPECT_TRUE(at::isnan(after[1].slice(0, 5, 11)).all().item<bool>()) << name_of(group);
      EXPECT_TRUE(at::isnan(c.run(policy).coordinates.slice(0, 5, 11)).all().item<bool>()) << name_of(group);
    }
  }
}

// Token 1 is singular, token 2 a half-turn from token 0, which no logarithm reaches.
TEST(LieAttention, SingularMapsAndAffineHalfTurnsAreMaskedAndNeverNotANumber) {
  for (const LieGroup group : {LieGroup::aff2, LieGroup::aff3}) {
    const int64_t n = dimension_of(group);
    for (const bool whole : {false, true}) {
      Case c(group, {4}, 0.3);
      c.elements = c.elements.clone();
      Tensor A = c.elements[1].slice(0, 0, n * n).view({n, n}),
             B = c.elements[2].slice(0, 0, n * n).view({n, n});
      A[1] = 2 * A[0];
      if (whole) {
        A.zero_();
      }
      B.copy_(c.elements[0].slice(0, 0, n * n).view({n, n}));
      B.slice(1, 0, 2).neg_();
      for (const ChartPolicy policy : policies) {
        for (const bool plain : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << name_of(group) << " policy " << static_cast<int>(policy) << plain);
          const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
          const Attention y = c.run(policy);
          EXPECT_EQ(largest(y.mixed[1]), 0);
          EXPECT_EQ(y.outside[1].item<int64_t>(), 3);
          EXPECT_GT(largest(y.mixed[0]), 0);
          Tensors found = c.all(at::kDouble, policy, true);
          for (size_t i = 0; i < found.size(); ++i) {
            EXPECT_TRUE(at::isfinite(found[i]).all().item<bool>()) << i;
          }
          const Pairs pairs = pairs_between(c.elements, c.graphs, group, policy);
          EXPECT_TRUE(at::isfinite(pairs.coordinates).all().item<bool>());
          EXPECT_FALSE(pairs.present.view({4, 4})[1].any().item<bool>());
          EXPECT_FALSE(pairs.present.view({4, 4}).select(1, 1).any().item<bool>());
          EXPECT_TRUE(at::equal(pairs.outside, y.outside));
          const Tensor x = c.elements.detach().requires_grad_();
          const Logs logs = pair_logs(x, c.graphs, group);
          EXPECT_EQ(logs.margin[1].item<double>(), -1);
          EXPECT_EQ(logs.margin[4].item<double>(), -1);
          const Tensor gx = torch::autograd::grad({logs.w.sin().sum()}, {x}, {}, true, true)[0];
          EXPECT_TRUE(at::isfinite(gx).all().item<bool>());
          EXPECT_TRUE(at::isfinite(torch::autograd::grad({gx.sin().sum()}, {x})[0]).all().item<bool>());
          EXPECT_THROW(c.run(ChartPolicy::error), ShapeError);
        }
      }
    }
  }
}

TEST(LieAttention, AffineHalfTurnsFireUnderError) {
  for (const LieGroup group : {LieGroup::aff2, LieGroup::aff3}) {
    const int64_t n = dimension_of(group);
    Case c(group, {2}, 0.3);
    c.elements = at::zeros_like(c.elements);
    for (int64_t i = 0; i < n; ++i) {
      c.elements.select(1, i * (n + 1)).fill_(1);
    }
    c.elements[1][0] = -1 - std::ldexp(1.0, -52);
    c.elements[1][n + 1] = -1;
    for (const bool plain : {false, true}) {
      const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
      EXPECT_THROW(c.run(ChartPolicy::error), ShapeError);
      EXPECT_EQ(largest(c.run().mixed), 0);
    }
  }
}

TEST(LieAttention, ARotationOfNormZeroIsRefusedByRow) {
  Case c(LieGroup::se3, {2, 3}, 0.3);
  c.elements = c.elements.clone();
  c.elements[3].slice(0, 3, 7).zero_();
  for (const bool plain : {false, true}) {
    const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
    try {
      c.run();
      ADD_FAILURE() << "accepted";
    } catch (const ShapeError& e) {
      EXPECT_NE(std::string(e.what()).find("got a quaternion of norm 0 in row 3"), std::string::npos)
          << e.what();
    }
    EXPECT_THROW(pairs_between(c.elements, c.graphs, c.group, ChartPolicy::mask), ShapeError);
    EXPECT_THROW(pair_logs(c.elements, c.graphs, c.group), ShapeError);
  }
}

TEST(LieAttention, TheSameBitsEachTimeAndOtherThreadsToRounding) {
  const ShareAll however_little;
  const Case c(LieGroup::se3, {150, 3, 90}, 0.4);
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  const Tensors a = c.all(at::kFloat, ChartPolicy::mask, true),
                b = c.all(at::kFloat, ChartPolicy::mask, true);
  at::set_num_threads(before);
  const Tensors one = c.all(at::kFloat, ChartPolicy::mask, true);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(at::equal(a[i], b[i])) << i;
  }
  expect_same(a, one, 1e-5);
}

TEST(LieAttention, MemoryIsThatOfTheTokensNotOfThePairs) {
  const auto bytes = [](int64_t n, bool plain) {
    const Case c(LieGroup::se3, {n}, 0.4, 2, 16);
    const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
    const AllocationPeak peak;
    c.all(at::kFloat, ChartPolicy::mask, true);
    return static_cast<double>(peak.bytes());
  };
  EXPECT_LT(bytes(1600, false), 5 * bytes(400, false));
  EXPECT_LT(bytes(1600, false), 0.25 * 1600 * 1600 * 4);  // of one number for each pair
  EXPECT_GT(bytes(200, true), 12 * bytes(50, true));      // control
}

TEST(LieAttention, WrongShapesAreRefused) {
  const Case c(LieGroup::se3, {3}, 0.4);
  EXPECT_THROW(c.run({c.elements, c.values, c.weights.slice(1, 0, 1)}), ShapeError);
  EXPECT_THROW(c.run({c.elements.slice(1, 0, 6), c.values, c.weights}), ShapeError);
  EXPECT_THROW(c.run({c.elements, c.values.slice(0, 0, 2), c.weights}), ShapeError);
  EXPECT_THROW(c.run({c.elements.to(at::kFloat), c.values, c.weights}), ShapeError);
  EXPECT_THROW(c.run({c.elements, c.values, c.weights, at::zeros({3, 6}, at::kDouble)}), ShapeError);
}

}  // namespace attention_test
}  // namespace weyl::lie
