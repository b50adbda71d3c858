// Attentions over edges, several in one pass: kernels against the definition, in values and derivatives.
#include "weyl/ops/edges/edge_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "tests/gradients.h"
#include "tests/oracles/edge_forms.h"
#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/autograd/parallel.h"

namespace weyl {
namespace edge_attention_test {

/// Edges of two graphs and of one node alone, not all of their pairs.
Edges some_edges() {
  const auto rows = [](std::vector<int64_t> v) { return at::tensor(v, at::kLong); };
  return edges_of(rows({0, 0, 1, 1, 2, 2, 2, 3, 4, 5, 5}), rows({0, 1, 0, 2, 1, 2, 3, 2, 4, 4, 6}), {},
                  Segments::of_sizes(std::vector<int64_t>{4, 3}));
}

Tensors random_inputs(const Edges& edges, const EdgeAttention& form, bool bias_of_parts, bool weights) {
  const auto parts = static_cast<int64_t>(form.parts.size());
  Tensors in{at::randn({edges.nodes(), 6 * form.width}, at::kDouble),
             at::randn({edges.nodes(), 3, 10 * form.width}, at::kDouble),
             at::randn({edges.count(), (bias_of_parts ? parts : 1) * form.heads}, at::kDouble), Tensor()};
  if (weights) {
    in[3] = at::rand({edges.count()}, at::kDouble);
    in[3][2] = 0;  // at the cut-off
  }
  return in;
}

/// All results in one row, so that one number sees each.
Tensor joined(const Tensors& results) {
  Tensors flat;
  for (const Tensor& y : results) {
    flat.push_back(y.reshape({-1}));
  }
  return at::cat(flat);
}

const std::vector<std::vector<size_t>> choices{{0, 1, 2, 3}, {0}, {1}, {2}, {3}, {0, 2}, {1, 3}};

TEST(EdgeAttention, IsItsDefinition) {
  at::manual_seed(1);
  const Edges edges = some_edges();
  for (const auto& [heads, width] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {2, 6}, {4, 64}, {3, 51}}) {
    for (const auto& parts : choices) {
      for (const bool weights : {false, true}) {
        const EdgeAttention form = stream_attention(heads, width, parts);
        const Tensors in = random_inputs(edges, form, weights, weights);
        const auto right = [&] {
          const UseReferences plain;
          return joined(edge_attention(form, in, edges));
        }();
        EXPECT_LT((joined(edge_attention(form, in, edges)) - right).abs().max().item<double>(), 1e-13);
        Tensors single;
        for (const Tensor& x : in) {
          single.push_back(x.defined() ? x.to(at::kFloat) : x);
        }
        EXPECT_LT((joined(edge_attention(form, single, edges)) - right).abs().max().item<double>(), 2e-4);
      }
    }
  }
}

TEST(EdgeAttention, DerivativesAreRight) {
  at::manual_seed(2);
  const Edges edges = some_edges();
  for (const auto& parts : choices) {
    for (const bool weights : {false, true}) {
      const EdgeAttention form = stream_attention(2, 6, parts);
      Tensors in = random_inputs(edges, form, !weights, weights);
      if (weights) {  // differences need shares that are no stiff functions of the weights
        in[3] = in[3] * 0.7 + 0.3;
      }
      const auto of = [&](const Tensors& x) { return joined(edge_attention(form, x, edges)); };
      expect_second_gradients(of, in, {.step = 1e-5, .relative = 1e-5, .samples = 12});
      // Of one input alone, where the others have neither a gradient nor a tangent.
      for (size_t i = 0; i < in.size(); ++i) {
        if (in[i].defined()) {
          expect_second_gradients(
              [&](const Tensors& x) {
                Tensors all = in;
                all[i] = x[0];
                return of(all);
              },
              {in[i]}, {.step = 1e-5, .relative = 1e-5, .samples = 6});
        }
      }
    }
  }
}

/// First and second derivatives of the sum of squares of all results by all inputs.
Tensors derivatives(const EdgeAttention& form, const Tensors& given, const Edges& edges) {
  Tensors in, wanted;
  for (const Tensor& x : given) {
    in.push_back(x.defined() ? x.detach().clone().requires_grad_() : x);
    if (x.defined()) {
      wanted.push_back(in.back());
    }
  }
  const Tensor y = joined(edge_attention(form, in, edges));
  Tensors found = torch::autograd::grad({y.square().sum()}, wanted, {}, true, true);
  Tensor sum = at::zeros({}, y.options());
  for (const Tensor& g : found) {
    sum = sum + g.square().sum();
  }
  const Tensors second = torch::autograd::grad({sum}, wanted);
  found.insert(found.end(), second.begin(), second.end());
  return found;
}

TEST(EdgeAttention, KernelsAgreeWithTheDefinitionAndNumberOfThreads) {
  at::manual_seed(3);
  const Edges edges = all_pairs(Segments::of_sizes(std::vector<int64_t>{40, 3, 1}));
  const EdgeAttention form = stream_attention(4, 64, {0, 1, 2, 3});
  const Tensors in = random_inputs(edges, form, false, true);
  const Tensors found = derivatives(form, in, edges);
  const Tensors right = [&] {
    const UseReferences plain;
    return derivatives(form, in, edges);
  }();
  const ShareAll shared;
  const Tensors by_all = derivatives(form, in, edges);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_LT((found[i] - right[i]).abs().max().item<double>(), 1e-11 * right[i].abs().max().item<double>())
        << i;
    EXPECT_TRUE(found[i].equal(by_all[i])) << i;
  }
}

TEST(EdgeAttention, RunsByKernelsWhereTheyAre) {
  if (std::getenv("WEYL_TEST_EXPRESSIONS") != nullptr) {
    GTEST_SKIP() << "without kernels";
  }
  static bool ran = false;
  ran = false;
  const kernels::KernelWatcher before =
      kernels::watch_kernels([](const char* kernel, kernels::InstructionSet) {
        ran = ran || std::string_view(kernel).find("EdgeAttentions") != std::string_view::npos;
      });
  const Edges edges = some_edges();
  EdgeAttention form = stream_attention(2, 6, {0, 3});
  const Tensors in = random_inputs(edges, form, false, true);
  edge_attention(form, in, edges);
  EXPECT_TRUE(ran);
  ran = false;
  form.weigh = [](const Tensor& scores, const Tensor& w, const Edges&) { return scores * w.unsqueeze(1); };
  edge_attention(form, in, edges);
  kernels::watch_kernels(before);
  EXPECT_FALSE(ran);
}

TEST(EdgeAttention, NodesWithoutEdgesAndLargeScores) {
  at::manual_seed(4);
  const Edges edges = edges_of(at::tensor({0, 0}, at::kLong), at::tensor({0, 1}, at::kLong), {},
                               Segments::of_sizes(std::vector<int64_t>{2}));
  const EdgeAttention form = stream_attention(2, 6, {0, 1, 2, 3});
  for (const double size : {1.0, 1e3}) {
    Tensors in = random_inputs(edges, form, false, false);
    in[0] = in[0] * size;
    in[3] = at::tensor({1.0, 0.25}, at::kDouble);
    const Tensors y = edge_attention(form, in, edges);
    EXPECT_TRUE(at::isfinite(joined(y)).all().item<bool>());
    EXPECT_EQ(y[0][1].abs().max().item<double>(), 0);
    for (const Tensor& g : derivatives(form, in, edges)) {
      EXPECT_TRUE(at::isfinite(g).all().item<bool>());
    }
  }
  const Edges none = edges_of(at::zeros({0}, at::kLong), at::zeros({0}, at::kLong), {},
                              Segments::of_sizes(std::vector<int64_t>{2}));
  const Tensors y = edge_attention(form, random_inputs(none, form, false, false), none);
  EXPECT_EQ(y[1].sizes(), at::IntArrayRef({2, 3, 12}));
  EXPECT_EQ(joined(y).abs().max().item<double>(), 0);
}

/// What an edge at the cut-off says is not heard, and does not silence the others, however loud it is.
TEST(EdgeAttention, AnEdgeWithoutWeightPassesNothingOn) {
  at::manual_seed(5);
  const Edges edges = some_edges();
  const EdgeAttention form = stream_attention(2, 6, {0, 1, 2, 3});
  Tensors in = random_inputs(edges, form, true, true);
  const Tensor quiet = joined(edge_attention(form, in, edges));
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    for (const double louder : {1.0, 50.0, 1e4}) {
      Tensors loud;
      for (const Tensor& x : in) {
        loud.push_back(x.to(dtype));
      }
      loud[2][2] += louder;
      const double limit = dtype == at::kDouble ? 1e-13 : 1e-4;
      EXPECT_LT((joined(edge_attention(form, loud, edges)) - quiet).abs().max().item<double>(), limit);
      for (const Tensor& g : derivatives(form, loud, edges)) {
        EXPECT_TRUE(at::isfinite(g).all().item<bool>());
      }
    }
  }
}

TEST(EdgeAttention, OtherShapesAreErrors) {
  const Edges edges = some_edges();
  const EdgeAttention form = stream_attention(2, 6, {0, 1, 2, 3});
  const Tensors in = random_inputs(edges, form, false, true);
  const auto with = [&](size_t i, const Tensor& x) {
    Tensors other = in;
    other[i] = x;
    return other;
  };
  EXPECT_THROW(edge_attention(form, with(0, Tensor()), edges), ShapeError);
  EXPECT_THROW(edge_attention(form, with(0, in[0].narrow(1, 0, 30)), edges), ShapeError);
  EXPECT_THROW(edge_attention(form, with(1, in[1].select(1, 0)), edges), ShapeError);
  EXPECT_THROW(edge_attention(form, with(1, in[1].to(at::kFloat)), edges), ShapeError);
  EXPECT_THROW(edge_attention(form, with(2, in[2].narrow(1, 0, 1)), edges), ShapeError);
  EXPECT_THROW(edge_attention(form, with(3, in[3].narrow(0, 0, 4)), edges), ShapeError);
  EdgeAttention odd = form;
  odd.heads = 4;
  EXPECT_THROW(edge_attention(odd, in, edges), ShapeError);
}

}  // namespace edge_attention_test
}  // namespace weyl
