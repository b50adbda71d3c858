#include "weyl/ops/edges/edge_sums.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_add.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/edges/edge_sums.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/autograd/parallel.h"

namespace weyl {
namespace {

constexpr double edge_sum_nanoseconds = 0.3;  // of a product of two numbers: estimated, to be measured
constexpr int64_t padding = 16;               // numbers: the longest vector

using kernels::EdgeProgram;
using kernels::EdgeQuestion;

using kernels::edge_numbers;
using kernels::edge_row_size;

/// Where each worker begins: at the boundary of a group nearest to its even share.
std::vector<int64_t> shares(const std::vector<int64_t>& begins, int64_t workers) {
  std::vector<int64_t> at{0};
  for (int64_t w = 1; w < workers; ++w) {
    const int64_t ideal = begins.back() * w / workers;
    const auto above = std::lower_bound(begins.begin(), begins.end(), ideal);
    const int64_t up = *above, down = above == begins.begin() ? 0 : *(above - 1);
    at.push_back(std::max(at.back(), up - ideal < ideal - down ? up : down));
  }
  at.push_back(begins.back());
  return at;
}
int64_t largest_share(const std::vector<int64_t>& at) {
  int64_t largest = 0;
  for (size_t w = 0; w + 1 < at.size(); ++w) {
    largest = std::max(largest, at[w + 1] - at[w]);
  }
  return largest;
}

class EdgeSumsOp : public Differentiable {
 public:
  EdgeSumsOp(const EdgeSums& sums, const Edges& edges) : sums_(sums), edges_(edges) {}

  size_t results() const override { return sums_.outputs.size(); }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors reference(const Tensors& in) const override {
    Tensors out(sums_.outputs.size());
    for (const EdgeTerm& term : sums_.terms) {
      EdgeWidth widest = sums_.outputs[term.output.tensor].width;
      for (const EdgeFactor& f : term.factors) {
        widest = std::max(widest, sums_.inputs[f.tensor].width);
      }
      Tensor product;  // (E, 1 or D, 1 or H, 1 or F / H)
      for (const EdgeFactor& f : term.factors) {
        const Tensor x = of_edges(in[f.tensor], sums_.inputs[f.tensor], f.part);
        product = product.defined() ? product * x : x;
      }
      const EdgeTensor& output = sums_.outputs[term.output.tensor];
      std::vector<int64_t> summed;
      if (!output.vector) {
        summed.push_back(1);
      }
      if (output.width < EdgeWidth::heads) {
        summed.push_back(2);
      }
      if (output.width < EdgeWidth::channels) {
        summed.push_back(3);
      }
      if (!summed.empty()) {
        product = product.sum(summed, /*keepdim=*/true);
      }
      const int64_t width = edge_numbers(sums_, output.width);
      product = product.reshape({edges_.count(), output.vector ? sums_.dimension : 1, width});
      const Tensor row = rows_of(output.rows);
      const Tensor sum = row.defined()
                             ? at::zeros({rows(output.rows), product.size(1), width}, product.options())
                                   .index_add(0, row, product)
                             : product;
      Tensor& to = out[term.output.tensor];
      to = to.defined() ? to : at::zeros(shape_of(output, true), in[0].options());
      to = add_part(to, sum, term.output.part, output);
    }
    for (size_t o = 0; o < out.size(); ++o) {
      out[o] = (out[o].defined() ? out[o] : at::zeros(shape_of(sums_.outputs[o], true), in[0].options()))
                   .reshape(shape_of(sums_.outputs[o], false));
    }
    return out;
  }

  Tensors forward(const Tensors& in) const override {
    EdgeQuestion question;
    question.inputs.assign(in.size(), false);
    question.outputs.assign(results(), true);
    for (const EdgeTerm& term : sums_.terms) {
      count_operations(products_of(term));
    }
    Tensors given = in;
    given.resize(2 * in.size() + results());
    const Tensors found = answers(question, std::move(given), in[0].options());
    return {found.begin() + static_cast<std::ptrdiff_t>(in.size()), found.end()};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    EdgeQuestion question;
    question.inputs = needed;
    question.outputs.assign(results(), false);
    for (const EdgeTerm& term : sums_.terms) {
      for (const EdgeFactor& factor : term.factors) {
        count_operations(needed[static_cast<size_t>(factor.tensor)] ? products_of(term) : 0);
      }
    }
    Tensors given = in;
    given.insert(given.end(), gys.begin(), gys.end());
    given.resize(2 * in.size() + results());
    Tensors found = answers(question, std::move(given), in[0].options());
    found.resize(in.size());
    return found;
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gys, const Tensors& tangents,
                 const std::vector<bool>& needed) const override {
    EdgeQuestion question;
    for (const Tensor& t : tangents) {
      question.tangents.push_back(t.defined());
    }
    question.inputs.assign(needed.begin(), needed.begin() + static_cast<std::ptrdiff_t>(in.size()));
    question.outputs.assign(needed.begin() + static_cast<std::ptrdiff_t>(in.size()), needed.end());
    Tensors given = in;
    given.insert(given.end(), gys.begin(), gys.end());
    given.insert(given.end(), tangents.begin(), tangents.end());
    return answers(question, std::move(given), in[0].options());
  }

 private:
  /// Floating-point operations of a term's sum, a multiply-add of each channel and axis counting two. Factors beyond two
  /// multiply number by number.
  double products_of(const EdgeTerm& term) const {
    EdgeWidth widest = sums_.outputs[static_cast<size_t>(term.output.tensor)].width;
    bool vectors = false;
    for (const EdgeFactor& factor : term.factors) {
      const EdgeTensor& tensor = sums_.inputs[static_cast<size_t>(factor.tensor)];
      widest = std::max(widest, tensor.width);
      vectors = vectors || tensor.vector;
    }
    return 2 * static_cast<double>(edges_.count() * edge_numbers(sums_, widest) *
                                   (vectors ? sums_.dimension : 1));
  }

  int64_t rows(EdgeRows of) const {
    switch (of) {
      case EdgeRows::edge:
        return edges_.count();
      case EdgeRows::bond:
        return edges_.bonds();
      default:
        return edges_.nodes();
    }
  }
  Tensor rows_of(EdgeRows of) const {
    switch (of) {
      case EdgeRows::centre:
        return edges_.centre;
      case EdgeRows::neighbour:
        return edges_.neighbour;
      case EdgeRows::bond:
        return edges_.bond;
      case EdgeRows::edge:
        break;
    }
    return {};
  }
  /// Always (rows, components, numbers), or without axes that say nothing.
  std::vector<int64_t> shape_of(const EdgeTensor& t, bool components) const {
    const int64_t width = edge_numbers(sums_, t.width) * t.parts;
    if (components) {
      return {rows(t.rows), t.vector ? sums_.dimension : 1, width};
    }
    std::vector<int64_t> shape{rows(t.rows)};
    if (t.vector) {
      shape.push_back(sums_.dimension);
    }
    if (t.width != EdgeWidth::one || t.parts > 1) {
      shape.push_back(width);
    }
    return shape;
  }

  /// A part of a factor for every edge: (E, 1 or D, 1 or H, 1 or F / H).
  Tensor of_edges(const Tensor& x, const EdgeTensor& t, int64_t part) const {
    const int64_t width = edge_numbers(sums_, t.width), heads = t.width == EdgeWidth::one ? 1 : sums_.heads;
    const Tensor taken = x.reshape(shape_of(t, true)).narrow(2, part * width, width);
    const Tensor row = rows_of(t.rows);
    const Tensor gathered = row.defined() ? taken.index_select(0, row) : taken;
    return gathered.reshape({edges_.count(), t.vector ? sums_.dimension : 1, heads, width / heads});
  }
  Tensor add_part(const Tensor& to, const Tensor& sum, int64_t part, const EdgeTensor& t) const {
    if (t.parts == 1) {
      return to + sum;
    }
    const int64_t width = edge_numbers(sums_, t.width);
    const int64_t after = (t.parts - part - 1) * width;
    return to + at::constant_pad_nd(sum, {part * width, after});
  }

  /// `given`: inputs, cotangents of outputs, tangents (undefined: not there). Returns the gradients of inputs
  /// and of outputs, undefined where not wanted.
  Tensors answers(const EdgeQuestion& question, Tensors given, const at::TensorOptions& options) const {
    const size_t inputs = sums_.inputs.size(), outputs = sums_.outputs.size();
    for (Tensor& x : given) {
      x = contiguous_of(x);
    }
    const EdgeProgram whole = kernels::edge_program(sums_, question, padding);
    Tensors found(inputs + outputs);
    for (size_t a = 0; a < found.size(); ++a) {
      const bool wanted = a < inputs ? question.inputs[a] : question.outputs[a - inputs];
      if (wanted) {
        const auto shape = a < inputs ? given[a].sizes().vec() : shape_of(sums_.outputs[a - inputs], false);
        found[a] = whole.whole[given.size() + a] ? at::empty(shape, options) : at::zeros(shape, options);
      }
    }
    if (edges_.count() == 0) {
      return found;
    }
    const int64_t cost = edges_.count() * sums_.channels * static_cast<int64_t>(whole.steps.size());
    const int64_t workers = workers_worth(cost, edge_sum_nanoseconds);
    const std::vector<int64_t> by_graph = shares(edges_.of_graph.offsets, workers);
    // Rows of a graph are added to by its own edges alone: a worker takes whole graphs, unless too few of
    // them are there. Then there is a pass for what belongs to centres and edges, one for neighbours and one
    // for bonds, each in an order in which the edges of one row follow one another. Either way the terms of
    // a sum come in the order of the edges.
    if (largest_share(by_graph) * workers <= edges_.count() * 5 / 4) {
      run(whole, given, found, {}, by_graph);
      return found;
    }
    for (const EdgeRows of : {EdgeRows::centre, EdgeRows::neighbour, EdgeRows::bond}) {
      EdgeQuestion part = question;
      const auto keep = [&](std::vector<bool>& wanted, const std::vector<EdgeTensor>& tensors) {
        bool any = false;
        for (size_t t = 0; t < tensors.size(); ++t) {
          wanted[t] =
              wanted[t] && (tensors[t].rows == EdgeRows::edge ? EdgeRows::centre : tensors[t].rows) == of;
          any = any || wanted[t];
        }
        return any;
      };
      const bool some_inputs = keep(part.inputs, sums_.inputs),
                 some_outputs = keep(part.outputs, sums_.outputs);
      if (!some_inputs && !some_outputs) {
        continue;
      }
      const EdgeProgram program = kernels::edge_program(sums_, part, padding);
      const EdgeOrder order =
          of == EdgeRows::centre ? EdgeOrder{{}, edges_.of_centre.offsets} : edges_by(rows_of(of), rows(of));
      run(program, given, found, order.edges, shares(order.begins, workers));
    }
    return found;
  }

  void run(const EdgeProgram& program, const Tensors& given, const Tensors& found,
           const std::vector<int64_t>& order, const std::vector<int64_t>& at) const {
    const bool bonds = std::any_of(program.arrays.begin(), program.arrays.end(),
                                   [](const EdgeTensor& t) { return t.rows == EdgeRows::bond; });
    with_type(given[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      std::vector<T*> arrays;
      std::vector<int64_t> sizes;
      for (const Tensor& x : given) {
        arrays.push_back(const_cast<T*>(numbers<T>(x)));
      }
      for (const Tensor& x : found) {
        arrays.push_back(mutable_numbers<T>(x));
      }
      for (const EdgeTensor& t : program.arrays) {
        sizes.push_back(kernels::edge_row_size(sums_, t));
      }
      kernels::EdgeRun<T> run;
      run.registers = program.registers.data();
      run.register_count = static_cast<int64_t>(program.registers.size());
      run.steps = program.steps.data();
      run.step_count = static_cast<int64_t>(program.steps.size());
      run.tensors = program.arrays.data();
      run.tensor_count = static_cast<int64_t>(program.arrays.size());
      run.arrays = arrays.data();
      run.row_sizes = sizes.data();
      run.centre = edges_.centre.const_data_ptr<int64_t>();
      run.neighbour = edges_.neighbour.const_data_ptr<int64_t>();
      run.bond = bonds ? edges_.bond.const_data_ptr<int64_t>() : nullptr;
      run.edge_of_bond = bonds ? edges_.edge_of_bond.const_data_ptr<int64_t>() : nullptr;
      run.order = order.empty() ? nullptr : order.data();
      const auto& kernel = kernels::best<kernels::EdgeRunner<T>>();
      for_workers(static_cast<int64_t>(at.size()) - 1, [&](int64_t w) {
        std::vector<T> scratch(static_cast<size_t>(program.scratch));
        for (const auto& [begin, end] : program.ones) {
          std::fill(scratch.begin() + begin, scratch.begin() + end, T(1));
        }
        std::vector<T*> pointers(program.registers.size() + program.arrays.size());
        kernel.run(run, {scratch.data(), pointers.data()}, at[w], at[w + 1]);
      });
    });
  }

  EdgeSums sums_;
  Edges edges_;
};

void require_form(const char* where, const EdgeSums& sums) {
  require(sums.heads >= 1 && sums.channels >= 1 && sums.channels % sums.heads == 0 && sums.dimension >= 1,
          where, ": heads must divide the channels, got ", sums.heads, " and ", sums.channels);
  const auto require_part = [&](const EdgeFactor& f, const std::vector<EdgeTensor>& tensors, const char* what,
                                size_t term) {
    require(f.tensor >= 0 && f.tensor < static_cast<int64_t>(tensors.size()) && f.part >= 0 &&
                f.part < tensors[f.tensor].parts,
            where, ": ", what, " of term ", term, " must be a part of a tensor, got tensor ", f.tensor,
            ", part ", f.part);
  };
  for (size_t t = 0; t < sums.terms.size(); ++t) {
    const EdgeTerm& term = sums.terms[t];
    require_part(term.output, sums.outputs, "the output", t);
    std::vector<EdgeTensor> tensors{sums.outputs[term.output.tensor]};
    for (const EdgeFactor& f : term.factors) {
      require_part(f, sums.inputs, "a factor", t);
      tensors.push_back(sums.inputs[f.tensor]);
    }
    const auto vectors =
        std::count_if(tensors.begin(), tensors.end(), [](const auto& x) { return x.vector; });
    require(vectors == 0 || vectors == 2, where, ": term ", t, " must have no vectors or two, got ", vectors);
    const EdgeWidth widest =
        std::max_element(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
          return a.width < b.width;
        })->width;
    require(
        std::count_if(tensors.begin(), tensors.end(), [&](const auto& x) { return x.width == widest; }) >= 2,
        where, ": two of the factors and output of term ", t, " must have its largest width");
  }
}

}  // namespace

Tensors edge_sums(const EdgeSums& sums, const Tensors& given, const Edges& edges) {
  const char* where = "edge_sums";
  require_form(where, sums);
  require(!given.empty() && given.size() == sums.inputs.size(), where, ": ", sums.inputs.size(),
          " inputs must be given, got ", given.size());
  Tensors inputs;
  std::ranges::transform(given, std::back_inserter(inputs), widened);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const EdgeTensor& t = sums.inputs[i];
    const Tensor& x = inputs[i];
    const int64_t rows =
        t.rows == EdgeRows::edge ? edges.count() : (t.rows == EdgeRows::bond ? edges.bonds() : edges.nodes());
    require(x.defined() && x.dim() >= 1 && x.size(0) == rows && x.numel() == rows * edge_row_size(sums, t),
            where, ": input ", i, " must have ", rows, " rows of ", edge_row_size(sums, t), " numbers, got ",
            x.defined() ? x.sizes() : at::IntArrayRef{});
    require(x.is_floating_point() && x.scalar_type() == inputs[0].scalar_type(), where, ": input ", i,
            " must have the dtype of input 0, ", inputs[0].scalar_type(), ", got ", x.scalar_type());
  }
  return call(std::make_shared<EdgeSumsOp>(sums, edges), inputs);
}

}  // namespace weyl
