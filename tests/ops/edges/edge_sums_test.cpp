#include "weyl/ops/edges/edge_sums.h"

#include <ATen/Parallel.h>

#include "tests/gradients.h"
#include "tests/oracles/edge_forms.h"
#include "weyl/core/check.h"
#include "weyl/core/instruction_set.h"
#include "weyl/core/worst_of.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/edges/neighbours.h"

namespace weyl {
namespace edge_sums_test {

constexpr kernels::InstructionSet sets[] = {kernels::InstructionSet::baseline, kernels::InstructionSet::v3,
                                            kernels::InstructionSet::v4};

/// Edges of random atoms, in graphs of these sizes, with self edges; not symmetric when `halved`.
Edges some_edges(const std::vector<int64_t>& sizes, double cutoff, bool halved = false) {
  const Segments graphs = Segments::of_sizes(sizes);
  const Tensor positions =
      ((at::arange(3 * graphs.rows(), at::kDouble) + 1) * 12.9898).sin().view({-1, 3}) * 3;
  const Edges edges = neighbours(positions, graphs, cutoff, {}, {}, true);
  if (!halved) {
    return edges;
  }
  const Tensor kept = (at::arange(edges.count(), at::kLong) % 3 != 1).nonzero().flatten();
  return edges_of(edges.centre.index_select(0, kept), edges.neighbour.index_select(0, kept), {}, graphs);
}

/// The definition, number by number.
Tensors written_out(const EdgeSums& sums, const Tensors& inputs, const Edges& edges) {
  const auto row = [&](EdgeRows rows, int64_t e) {
    return rows == EdgeRows::centre      ? edges.centre[e].item<int64_t>()
           : rows == EdgeRows::neighbour ? edges.neighbour[e].item<int64_t>()
           : rows == EdgeRows::bond      ? edges.bond[e].item<int64_t>()
                                         : e;
  };
  const auto place = [&](const EdgeTensor& t, int64_t part, int64_t x, int64_t number, int64_t of) {
    const int64_t width = kernels::edge_numbers(sums, t.width);
    return ((t.vector ? x * t.parts : 0) + part) * width + number * width / of;
  };
  Tensors out;
  for (const EdgeTensor& t : sums.outputs) {
    const int64_t rows = t.rows == EdgeRows::edge   ? edges.count()
                         : t.rows == EdgeRows::bond ? edges.bonds()
                                                    : edges.nodes();
    out.push_back(at::zeros({rows, kernels::edge_row_size(sums, t)}, at::kDouble));
  }
  for (const EdgeTerm& term : sums.terms) {
    const EdgeTensor& output = sums.outputs[term.output.tensor];
    int64_t widest = kernels::edge_numbers(sums, output.width);
    bool vector = output.vector;
    for (const EdgeFactor& f : term.factors) {
      widest = std::max(widest, kernels::edge_numbers(sums, sums.inputs[f.tensor].width));
      vector = vector || sums.inputs[f.tensor].vector;
    }
    for (int64_t e = 0; e < edges.count(); ++e) {
      for (int64_t x = 0; x < (vector ? sums.dimension : 1); ++x) {
        for (int64_t c = 0; c < widest; ++c) {
          double product = 1;
          for (const EdgeFactor& f : term.factors) {
            const EdgeTensor& t = sums.inputs[f.tensor];
            product *=
                inputs[f.tensor].const_data_ptr<double>()[row(t.rows, e) * kernels::edge_row_size(sums, t) +
                                                          place(t, f.part, x, c, widest)];
          }
          const Tensor& to = out[term.output.tensor];
          to.mutable_data_ptr<double>()[row(output.rows, e) * to.size(1) +
                                        place(output, term.output.part, x, c, widest)] += product;
        }
      }
    }
  }
  return out;
}

TEST(EdgeSums, AreThoseOfTheirDefinition) {
  const Edges edges = some_edges({3, 0, 7, 1}, 4, true);
  ASSERT_GT(edges.count(), 20);
  for (const EdgeForm& form : edge_forms(2, 10)) {
    const Tensors in = edge_inputs(form.sums, edges), want = written_out(form.sums, in, edges);
    const Tensors found = edge_sums(form.sums, in, edges), plain = [&] {
      const UseReferences scope;
      return edge_sums(form.sums, in, edges);
    }();
    for (size_t o = 0; o < want.size(); ++o) {
      EXPECT_EQ(found[o].sizes(), plain[o].sizes()) << form.name;
      EXPECT_TRUE(at::allclose(found[o].reshape(want[o].sizes()), want[o], 1e-13, 1e-13)) << form.name;
      EXPECT_TRUE(at::allclose(plain[o].reshape(want[o].sizes()), want[o], 1e-13, 1e-13)) << form.name;
    }
  }
  // Shapes: vectors and single numbers have an axis of their own or none.
  const Tensors y = edge_sums(et_message(2, 10), edge_inputs(et_message(2, 10), edges), edges);
  EXPECT_EQ(y[0].sizes(), at::IntArrayRef({11, 10}));
  EXPECT_EQ(y[1].sizes(), at::IntArrayRef({11, 3, 10}));
  const EdgeSums numbers = odd_forms()[2].sums;
  EXPECT_EQ(edge_sums(numbers, edge_inputs(numbers, edges), edges)[1].sizes(), at::IntArrayRef({11}));
}

/// Values, first and second derivatives, all with fixed weights.
Tensors to_second_order(const EdgeSums& sums, const Tensors& inputs, const Edges& edges,
                        at::ScalarType type) {
  Tensors in;
  for (const Tensor& x : inputs) {
    in.push_back(x.to(type).detach().clone().requires_grad_());
  }
  const auto weighted = [&](const Tensors& ys) {
    Tensor sum = at::zeros({}, type);
    for (const Tensor& y : ys) {
      if (y.defined()) {
        sum = sum + (y * gradients_detail::weights_like(y).to(type)).sum();
      }
    }
    return sum;
  };
  Tensors all = edge_sums(sums, in, edges), gys, wanted = in;
  for (const Tensor& y : all) {
    gys.push_back(gradients_detail::weights_like(y).to(type).requires_grad_());
  }
  const Tensors first = torch::autograd::grad(all, in, gys, true, true, true);
  wanted.insert(wanted.end(), gys.begin(), gys.end());
  const Tensors second = torch::autograd::grad({weighted(first)}, wanted, {}, false, false, true);
  all.insert(all.end(), first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

void expect_near(const Tensors& found, const Tensors& want, double tolerance, const std::string& name) {
  ASSERT_EQ(found.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (!want[i].defined() || want[i].numel() == 0) {
      continue;
    }
    ASSERT_TRUE(found[i].defined()) << name << ", tensor " << i;
    const double scale = worst_of(1, want[i].abs().max().item<double>());
    EXPECT_LT((found[i].to(at::kDouble) - want[i]).abs().max().item<double>(), tolerance * scale)
        << name << ", tensor " << i;
  }
}

TEST(EdgeSums, KernelsAgreeWithTheTorchExpressionToSecondOrder) {
  const Edges edges = some_edges({5, 1, 9, 0, 12}, 4.5);
  for (const auto& [heads, channels] : {std::pair{1, 1}, {2, 10}, {4, 64}, {3, 51}}) {
    for (const EdgeForm& form : edge_forms(heads, channels)) {
      const Tensors in = edge_inputs(form.sums, edges);
      const Tensors want = [&] {
        const UseReferences scope;
        return to_second_order(form.sums, in, edges, at::kDouble);
      }();
      for (const auto set : sets) {
        const kernels::UseInstructionSet use(set);
        const std::string name = form.name + ", " + std::to_string(channels) + " channels, set " +
                                 std::to_string(static_cast<int>(set));
        expect_near(to_second_order(form.sums, in, edges, at::kDouble), want, 1e-12, name);
        expect_near(to_second_order(form.sums, in, edges, at::kFloat), want, 2e-4, name + ", float32");
      }
    }
  }
}

TEST(EdgeSums, DerivativesAreRight) {
  const Edges edges = some_edges({3, 1, 4}, 5);
  for (const EdgeForm& form : edge_forms(2, 4)) {
    SCOPED_TRACE(form.name);
    const Tensors in = edge_inputs(form.sums, edges);
    const auto all = [&](const Tensors& x) {
      Tensor sum;
      for (const Tensor& y : edge_sums(form.sums, x, edges)) {
        sum = sum.defined() ? at::cat({sum, y.flatten()}) : y.flatten();
      }
      return sum;
    };
    GradientCheck check;
    check.samples = 6;
    expect_second_gradients(all, in, check);
    // One input alone, the others constant.
    for (size_t i = 0; i < in.size(); ++i) {
      const auto one = [&](const Tensors& x) {
        Tensors moved = in;
        moved[i] = x[0];
        return all(moved);
      };
      expect_second_gradients(one, {in[i]}, check);
    }
  }
}

TEST(EdgeSums, HaveThirdDerivatives) {
  const Edges edges = some_edges({4, 2}, 5);
  const EdgeSums sums = et_message(2, 4);
  Tensors in = edge_inputs(sums, edges);
  const auto third = [&] {
    Tensors x;
    for (const Tensor& t : in) {
      x.push_back(t.detach().clone().requires_grad_());
    }
    Tensor y = at::zeros({}, at::kDouble);
    for (const Tensor& t : edge_sums(sums, x, edges)) {
      y = y + t.pow(2).sum();
    }
    for (int order = 0; order < 2; ++order) {
      const Tensors g = torch::autograd::grad({y}, x, {}, true, true);
      y = at::zeros({}, at::kDouble);
      for (const Tensor& t : g) {
        y = y + (t * gradients_detail::weights_like(t)).sum();
      }
    }
    return torch::autograd::grad({y}, x);
  };
  const Tensors found = third();
  const UseReferences scope;
  expect_near(found, third(), 1e-11, "third");
}

TEST(EdgeSums, AreTheSameBitsForAnyNumberOfThreadsAndInAnyBatch) {
  const ShareAll however_little;
  const int threads = at::get_num_threads();
  const std::vector<std::vector<int64_t>> batches{{40}, {3, 45, 2}, {20, 21, 19}};
  for (const std::vector<int64_t>& sizes : batches) {
    const Edges edges = some_edges(sizes, 4);
    for (const EdgeForm& form : edge_forms(4, 64)) {
      const Tensors in = edge_inputs(form.sums, edges);
      at::set_num_threads(1);
      const Tensors one = to_second_order(form.sums, in, edges, at::kFloat);
      at::set_num_threads(sizes.size() == 1 ? 2 : 3);
      const Tensors found = to_second_order(form.sums, in, edges, at::kFloat);
      for (size_t i = 0; i < one.size(); ++i) {
        EXPECT_TRUE(!one[i].defined() || at::equal(found[i], one[i])) << form.name << ", tensor " << i;
      }
      at::set_num_threads(threads);
    }
  }
  // A graph alone and in a batch.
  const EdgeSums sums = attention_mixture(4, 64, true);
  const Edges batch = some_edges({7, 9}, 4), alone = some_edges({7}, 4);
  const Tensors in = edge_inputs(sums, batch);
  EXPECT_TRUE(at::equal(edge_sums(sums, in, batch)[0].slice(0, 0, 7),
                        edge_sums(sums, {in[0].slice(0, 0, alone.count()), in[1].slice(0, 0, 7)}, alone)[0]));
}

TEST(EdgeSums, OfNoEdgesAreZeros) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{}, {0}, {1}, {1, 0, 1}}) {
    const Segments graphs = Segments::of_sizes(sizes);
    const Edges edges = neighbours(at::zeros({graphs.rows(), 3}, at::kDouble), graphs, 1);
    for (const EdgeForm& form : edge_forms(2, 4)) {
      for (const Tensor& y : to_second_order(form.sums, edge_inputs(form.sums, edges), edges, at::kDouble)) {
        EXPECT_TRUE(!y.defined() || y.abs().sum().item<double>() == 0) << form.name;
      }
    }
  }
  // An output that no term adds to.
  EdgeSums sums = et_message(2, 4);
  sums.terms.resize(1);
  const Edges edges = some_edges({3}, 5);
  EXPECT_EQ(edge_sums(sums, edge_inputs(sums, edges), edges)[1].abs().max().item<double>(), 0);
}

TEST(EdgeSums, TakeRowsAsTheyLie) {
  const Edges edges = some_edges({6}, 5);
  const EdgeSums sums = attention_score(2, 4, true);
  const Tensors in = edge_inputs(sums, edges);
  const Tensors strided{in[0].t().contiguous().t(),
                        in[1].view({6, 3, 4}).transpose(1, 2).contiguous().transpose(1, 2)};
  EXPECT_TRUE(at::equal(edge_sums(sums, strided, edges)[0], edge_sums(sums, in, edges)[0]));
}

TEST(EdgeSums, WrongFormsAndShapesAreRefused) {
  const Edges edges = some_edges({6}, 5);
  const EdgeSums good = et_message(2, 4);
  const Tensors in = edge_inputs(good, edges);
  const auto refused = [&](const auto& change) {
    EdgeSums sums = good;
    Tensors inputs = in;
    change(sums, inputs);
    EXPECT_THROW(edge_sums(sums, inputs, edges), ShapeError);
  };
  EXPECT_NO_THROW(edge_sums(good, in, edges));
  refused([](EdgeSums& s, Tensors&) { s.heads = 3; });
  refused([](EdgeSums& s, Tensors&) { s.terms[0].factors[0].tensor = 6; });
  refused([](EdgeSums& s, Tensors&) { s.terms[0].factors[1].part = 3; });
  refused([](EdgeSums& s, Tensors&) { s.terms[0].output.tensor = 2; });
  refused([](EdgeSums& s, Tensors&) { s.terms[0].output.tensor = 1; });       // a vector of no vectors
  refused([](EdgeSums& s, Tensors&) { s.terms[1].factors.push_back({4}); });  // three vectors
  refused([](EdgeSums& s, Tensors&) { s.terms[0].factors = {{0}}; });         // channels of none
  refused([](EdgeSums&, Tensors& x) { x.pop_back(); });
  refused([](EdgeSums&, Tensors& x) { x[0] = x[0].slice(0, 1); });
  refused([](EdgeSums&, Tensors& x) { x[2] = x[2].slice(1, 1); });
  refused([](EdgeSums&, Tensors& x) { x[3] = x[3].to(at::kFloat); });
  refused([](EdgeSums&, Tensors& x) { x[3] = Tensor(); });
}

}  // namespace edge_sums_test
}  // namespace weyl
