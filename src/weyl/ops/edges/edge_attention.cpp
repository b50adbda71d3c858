#include "weyl/ops/edges/edge_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/edges/edge_attention.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/edges/edge_sums.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

constexpr double attention_nanoseconds = 0.3;  // of a product of two numbers: estimated, to be measured

enum Input : size_t { inv, equ, bias, edge_weights, inputs };

/// A key or value of one part: a map, or a product of two.
struct Operand {
  bool vectors = false, product = false;
  int64_t map = 0, factor = 0;
  Input of() const { return vectors || product ? equ : inv; }  // what `map` is a map of
  Input of_factor() const { return vectors ? inv : equ; }      // and `factor`
};
Operand key_of(const StreamPart& p) {
  return {p.vectors, p.key_factor >= 0, p.key, p.key_factor};
}
Operand value_of(const StreamPart& p) {
  return {p.vectors, p.value_factor >= 0, p.value, p.value_factor};
}

Tensor operand(const Operand& o, const Tensors& inv_maps, const Tensors& equ_maps) {
  const auto map = [&](Input of, int64_t index) -> const Tensor& {
    return (of == equ ? equ_maps : inv_maps)[static_cast<size_t>(index)];
  };
  const Tensor& x = map(o.of(), o.map);
  if (!o.product) {
    return x;
  }
  const Tensor& y = map(o.of_factor(), o.factor);
  return o.vectors ? x * y.unsqueeze(1) : (x * y).sum(1);
}

class EdgeAttentionOp : public Differentiable {
 public:
  EdgeAttentionOp(EdgeAttention form, Edges edges) : form_(std::move(form)), edges_(std::move(edges)) {
    for (const StreamPart& part : form_.parts) {
      ++given_[part.vectors ? 1 : 0];
    }
  }

  size_t results() const override { return (given_[0] > 0 ? 1 : 0) + (given_[1] > 0 ? 1 : 0); }
  bool has_forward(const Tensors& in) const override { return !form_.weigh && kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return has_forward(in); }
  bool has_second(const Tensors& in) const override { return has_forward(in); }

  Tensors reference(const Tensors& in) const override {
    const auto parts = static_cast<int64_t>(form_.parts.size());
    EdgeSums dots, mixture;
    dots.heads = mixture.heads = form_.heads;
    dots.channels = mixture.channels = form_.width;
    dots.outputs = {{EdgeRows::edge, EdgeWidth::heads, false, parts}};
    mixture.inputs = dots.outputs;
    const Tensors of_inv = split(in[inv]), of_equ = split(in[equ]);
    Tensors factors, mixed;
    std::array<int64_t, 2> given{0, 0};
    for (int64_t p = 0; p < parts; ++p) {
      const StreamPart& part = form_.parts[static_cast<size_t>(p)];
      const EdgeTensor of_neighbour{EdgeRows::neighbour, EdgeWidth::channels, part.vectors};
      dots.inputs.push_back({EdgeRows::centre, EdgeWidth::channels, part.vectors});
      dots.inputs.push_back(of_neighbour);
      dots.terms.push_back({{{2 * p}, {2 * p + 1}}, {0, p}});
      const PartOperands operands = operands_of(part, of_inv, of_equ);
      factors.push_back(operands.query * part.scale);
      factors.push_back(operands.key);
      mixture.inputs.push_back(of_neighbour);
      mixture.terms.push_back(
          {{{0, p}, {p + 1}}, {part.vectors && given_[0] > 0 ? 1 : 0, given[part.vectors]++}});
      mixed.push_back(operands.value);
    }
    for (const bool vectors : {false, true}) {
      if (given_[vectors] > 0) {
        mixture.outputs.push_back({EdgeRows::centre, EdgeWidth::channels, vectors, given_[vectors]});
      }
    }
    Tensor scores = edge_sums(dots, factors, edges_)[0];
    if (in[bias].defined()) {
      scores = scores + (bias_of_parts(in) ? in[bias] : in[bias].repeat({1, parts}));
    }
    const Tensor& w = in[edge_weights];
    const Tensor weights = form_.weigh   ? form_.weigh(scores, w, edges_)
                           : w.defined() ? segment_softmax(scores, edges_.of_centre, w, form_.least)
                                         : segment_softmax(scores, edges_.of_centre);
    mixed.insert(mixed.begin(), weights);
    return edge_sums(mixture, mixed, edges_);
  }

  /// By-product: the shares u (E, P, H) of the kernel, of which a = w u.
  Tensors forward(const Tensors& in) const override {
    count_operations(2 * operations());
    Tensors out = zeros_of_results(in);
    const Tensor shares = of_parts(in);
    with_type(dtype(in), [&](auto zero) {
      using T = decltype(zero);
      Run<T> run(*this, in, {});
      run.outputs(out, false);
      run.form.shares = shares.mutable_data_ptr<T>();
      run.products();
      run.each_node(run.kernel.forward);
    });
    out.push_back(shares);
    return out;
  }

  Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    count_operations(4 * operations());
    Tensors found = gradients_of(in, needed);
    with_type(dtype(in), [&](auto zero) {
      using T = decltype(zero);
      Run<T> run(*this, in, {});
      run.cotangents(gys);
      run.form.shares = out.back().mutable_data_ptr<T>();
      run.gradients(found, false);
      run.products();
      run.each_node(run.kernel.centres);
      run.each_node(run.kernel.neighbours);
      run.products_backward();
    });
    return found;
  }

  Tensors second(const Tensors& in, const Tensors& out, const Tensors& gys, const Tensors& tangents,
                 const std::vector<bool>& needed) const override {
    Tensors found = gradients_of(in, needed);
    const Tensors slopes = zeros_of_results(in);
    with_type(dtype(in), [&](auto zero) {
      using T = decltype(zero);
      Run<T> run(*this, in, tangents);
      run.cotangents(gys);
      run.outputs(slopes, true);
      run.form.shares = out.back().mutable_data_ptr<T>();
      run.gradients(found, true);
      run.products();
      run.each_node(run.kernel.second_centres);
      run.each_node(run.kernel.neighbours);
      run.products_backward();
    });
    found.insert(found.end(), slopes.begin(), slopes.end());
    return found;
  }

 private:
  Tensors split(const Tensor& maps) const { return maps.defined() ? maps.split(form_.width, -1) : Tensors{}; }
  bool bias_of_parts(const Tensors& in) const {
    return in[bias].defined() && in[bias].size(1) != form_.heads;
  }
  static at::ScalarType dtype(const Tensors& in) { return of_nodes(in).scalar_type(); }
  static const Tensor& of_nodes(const Tensors& in) { return in[inv].defined() ? in[inv] : in[equ]; }
  Tensor of_parts(const Tensors& in) const {
    return at::empty({edges_.count(), static_cast<int64_t>(form_.parts.size()), form_.heads},
                     of_nodes(in).options());
  }
  /// What is added to (nodes), and what is set (edges).
  static Tensors gradients_of(const Tensors& in, const std::vector<bool>& needed) {
    Tensors found(inputs);
    for (const Input i : {inv, equ, bias, edge_weights}) {
      if (needed[i]) {
        found[i] = i == inv || i == equ ? at::zeros(in[i].sizes(), in[i].options())
                                        : at::empty(in[i].sizes(), in[i].options());
      }
    }
    return found;
  }
  /// Floating-point operations of the scores, or of the sums.
  double operations() const {
    return 2 * static_cast<double>(edges_.count() * form_.width * (given_[0] + 3 * given_[1]));
  }
  Tensors zeros_of_results(const Tensors& in) const {
    Tensors out;
    if (given_[0] > 0) {
      out.push_back(at::zeros({edges_.nodes(), given_[0] * form_.width}, of_nodes(in).options()));
    }
    if (given_[1] > 0) {
      out.push_back(at::zeros({edges_.nodes(), 3, given_[1] * form_.width}, of_nodes(in).options()));
    }
    return out;
  }

  /// The arrays that kernels work on, and what they leave for one another.
  template <class T>
  struct Run {
    using Part = kernels::AttentionPart<T>;

    /// `tangents`: of the inputs, undefined ones zero; or none.
    Run(const EdgeAttentionOp& op, const Tensors& in, const Tensors& tangents)
        : op(op), nodes(op.edges_.nodes()) {
      for (size_t i = 0; i < inputs; ++i) {
        x.push_back(contiguous_of(in[i]));
        dx.push_back(tangents.empty() ? Tensor() : contiguous_of(tangents[i]));
      }
      const Edges& edges = op.edges_;
      form.heads = op.form_.heads;
      form.channels = op.form_.width / op.form_.heads;
      form.part_count = static_cast<int64_t>(op.form_.parts.size());
      form.centre = edges.centre.const_data_ptr<int64_t>();
      form.neighbour = edges.neighbour.const_data_ptr<int64_t>();
      form.begins = edges.of_centre.offsets.data();
      form.bias = numbers<T>(x[bias]);
      form.bias_slope = numbers<T>(dx[bias]);
      form.bias_of_parts = op.bias_of_parts(in);
      form.edge_weights = numbers<T>(x[edge_weights]);
      form.weight_slopes = numbers<T>(dx[edge_weights]);
      form.least = static_cast<T>(op.form_.least);
      for (const StreamPart& p : op.form_.parts) {
        Part part;
        part.components = p.vectors ? 3 : 1;
        part.scale = static_cast<T>(p.scale);
        part.q = rows(p.vectors ? equ : inv, p.query);
        part.k = operand(key_of(p));
        part.v = operand(value_of(p));
        parts.push_back(part);
      }
      form.parts = parts.data();
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run() = default;

    /// Where the results go, or their derivatives.
    void outputs(const Tensors& out, bool slopes) {
      each_result(out, [&](Part& part, T* at, int64_t row, int64_t component) {
        part.out = {slopes ? nullptr : at, slopes ? at : nullptr, row, component};
      });
    }
    void cotangents(const Tensors& gys) {
      for (const Tensor& g : gys) {
        held.push_back(g.contiguous());
      }
      each_result(
          {held.end() - static_cast<std::ptrdiff_t>(gys.size()), held.end()},
          [&](Part& part, T* at, int64_t row, int64_t component) { part.g = {at, nullptr, row, component}; });
    }
    /// Where the gradients of inputs go, or their derivatives: `found`, undefined where nobody asks. Those of products lie
    /// between.
    void gradients(const Tensors& found, bool slopes) {
      order = edges_by(op.edges_.neighbour, nodes);
      form.incoming = order.edges.data();
      form.incoming_begins = order.begins.data();
      form.passed = left(op.of_parts(x));
      form.by_score = left(op.of_parts(x));
      if (slopes) {
        form.passed_slopes = left(op.of_parts(x));
        form.by_score_slopes = left(op.of_parts(x));
      }
      form.by_bias = mutable_numbers<T>(found[bias]);
      form.by_weight = mutable_numbers<T>(found[edge_weights]);
      results = found;
      second = slopes;
      for (size_t p = 0; p < parts.size(); ++p) {
        const StreamPart& part = op.form_.parts[p];
        parts[p].gq = sums(part.vectors ? equ : inv, part.query);
        parts[p].gk = gradient(key_of(part));
        parts[p].gv = gradient(value_of(part));
      }
    }
    /// Works out keys and values that are products.
    void products() {
      for (const kernels::NodeProduct<T>& p : forward_products) {
        each_row([&](int64_t first, int64_t last) { kernel.product(p, first, last); });
      }
    }
    void products_backward() {
      for (const kernels::NodeProduct<T>& p : backward_products) {
        each_row([&](int64_t first, int64_t last) { kernel.product(p, first, last); });
      }
    }
    void each_node(void (*work)(const kernels::EdgeAttention<T>&, int64_t, int64_t)) {
      const auto cost = static_cast<int64_t>(op.operations());
      share_out(nodes, std::min(workers_worth(cost, attention_nanoseconds), std::max<int64_t>(nodes, 1)),
                [&](int64_t, int64_t first, int64_t last) { work(form, first, last); });
    }

    kernels::EdgeAttention<T> form;
    const kernels::EdgeAttentions<T>& kernel = kernels::best<kernels::EdgeAttentions<T>>();

   private:
    template <class F>
    void each_row(const F& f) {
      share_out(nodes, workers_worth(nodes * op.form_.width * 3, attention_nanoseconds),
                [&](int64_t, int64_t first, int64_t last) { f(first, last); });
    }
    template <class F>
    void each_result(const Tensors& of, const F& f) {
      std::array<int64_t, 2> taken{0, 0};
      for (size_t p = 0; p < parts.size(); ++p) {
        const bool vectors = op.form_.parts[p].vectors;
        const Tensor& y = of[vectors && op.given_[0] > 0 ? 1 : 0];
        const int64_t all = op.given_[vectors] * op.form_.width;
        f(parts[p], const_cast<T*>(y.const_data_ptr<T>()) + taken[vectors]++ * op.form_.width,
          vectors ? 3 * all : all, all);
      }
    }
    T* left(const Tensor& y) {
      held.push_back(y);
      return y.mutable_data_ptr<T>();
    }
    kernels::NodeRows<T> rows(Input of, int64_t map) const {
      const int64_t all = x[of].size(-1), begin = map * op.form_.width;
      return {x[of].const_data_ptr<T>() + begin,
              dx[of].defined() ? dx[of].const_data_ptr<T>() + begin : nullptr, of == equ ? 3 * all : all,
              all};
    }
    kernels::NodeSums<T> sums(Input of, int64_t map) const {
      if (!results[of].defined()) {
        return {};
      }
      const int64_t all = x[of].size(-1);
      T* at = results[of].mutable_data_ptr<T>() + map * op.form_.width;
      return {second ? nullptr : at, second ? at : nullptr, of == equ ? 3 * all : all, all};
    }
    /// Rows of zeros, and of their slopes where there are any.
    kernels::NodeSums<T> between(bool vectors, bool with_slope) {
      const int64_t width = op.form_.width;
      const auto zeros = [&] {
        return left(at::zeros({nodes, vectors ? 3 : 1, width}, of_nodes(x).options()));
      };
      T* at = zeros();
      return {at, with_slope ? zeros() : nullptr, vectors ? 3 * width : width, width};
    }
    static kernels::NodeRows<T> read(const kernels::NodeSums<T>& s) {
      return {s.at, s.slope, s.row_apart, s.component_apart};
    }
    kernels::NodeRows<T> operand(const Operand& o) {
      if (!o.product) {
        return rows(o.of(), o.map);
      }
      kernels::NodeProduct<T> product;
      product.width = op.form_.width;
      product.y_components = o.vectors ? 1 : 3;
      product.x = rows(equ, o.map);
      product.y = rows(o.of_factor(), o.factor);
      product.to = between(o.vectors, product.x.slope || product.y.slope);
      forward_products.push_back(product);
      return read(product.to);
    }
    /// Of a product k = x y: gx = gk y and gy = gk x, of which the first factor of a NodeProduct is a vector.
    kernels::NodeSums<T> gradient(const Operand& o) {
      if (!o.product) {
        return sums(o.of(), o.map);
      }
      const kernels::NodeSums<T> by_x = sums(equ, o.map), by_y = sums(o.of_factor(), o.factor);
      if (!(by_x.at || by_x.slope || by_y.at || by_y.slope)) {
        return {};
      }
      const kernels::NodeSums<T> g = between(o.vectors, second);
      const kernels::NodeRows<T> x = rows(equ, o.map), y = rows(o.of_factor(), o.factor);
      const int64_t width = op.form_.width;
      backward_products.push_back(o.vectors ? kernels::NodeProduct<T>{width, 1, read(g), y, by_x}
                                            : kernels::NodeProduct<T>{width, 1, y, read(g), by_x});
      backward_products.push_back(o.vectors ? kernels::NodeProduct<T>{width, 3, read(g), x, by_y}
                                            : kernels::NodeProduct<T>{width, 1, x, read(g), by_y});
      return g;
    }

    const EdgeAttentionOp& op;
    int64_t nodes;
    Tensors x, dx, results;  // inputs, their tangents, and where the gradients go
    Tensors held;            // what pointers point to
    bool second = false;
    EdgeOrder order;
    std::vector<Part> parts;
    std::vector<kernels::NodeProduct<T>> forward_products, backward_products;
  };

  EdgeAttention form_;
  Edges edges_;
  std::array<int64_t, 2> given_{0, 0};  // parts that give numbers, and vectors
};

void require_parts(const char* where, const EdgeAttention& form, const Tensors& in, const Edges& edges) {
  require(form.heads >= 1 && form.width >= 1 && form.width % form.heads == 0 && !form.parts.empty(), where,
          ": heads must divide the width and there must be parts, got ", form.heads, ", ", form.width,
          " and ", form.parts.size());
  require(in.size() == inputs, where, ": takes ", int64_t{inputs}, " inputs, got ", in.size());
  std::array<int64_t, 2> maps{0, 0};
  for (const Input i : {inv, equ}) {
    const Tensor& x = in[i];
    require(!x.defined() || (x.dim() == (i == equ ? 3 : 2) && x.size(0) == edges.nodes() &&
                             (i == inv || x.size(1) == 3) && x.size(-1) % form.width == 0),
            where, ": ", i == equ ? "equ must be (" : "inv must be (", edges.nodes(),
            i == equ ? ", 3, maps of " : ", maps of ", form.width, "), got ",
            x.defined() ? x.sizes() : at::IntArrayRef{});
    maps[i] = x.defined() ? x.size(-1) / form.width : 0;
  }
  for (const StreamPart& p : form.parts) {
    const auto there = [&](Input of, int64_t map) { return map >= 0 && map < maps[of]; };
    const auto takes = [&](const Operand& o) {
      return there(o.of(), o.map) && (!o.product || there(o.of_factor(), o.factor));
    };
    require(there(p.vectors ? equ : inv, p.query) && takes(key_of(p)) && takes(value_of(p)), where,
            ": a part reads a map beyond the ", maps[inv], " of inv and ", maps[equ], " of equ");
  }
  const auto parts = static_cast<int64_t>(form.parts.size());
  const Tensor &b = in[bias], &w = in[edge_weights];
  require(!b.defined() || (b.dim() == 2 && b.size(0) == edges.count() &&
                           (b.size(1) == form.heads || b.size(1) == parts * form.heads)),
          where, ": bias must be (", edges.count(), ", ", form.heads, ") or (", edges.count(), ", ",
          parts * form.heads, "), got ", b.defined() ? b.sizes() : at::IntArrayRef{});
  require(!w.defined() || (w.dim() == 1 && w.size(0) == edges.count()), where, ": edge_weights must be (",
          edges.count(), "), got ", w.defined() ? w.sizes() : at::IntArrayRef{});
}

}  // namespace

PartOperands operands_of(const StreamPart& part, const Tensors& of_inv, const Tensors& of_equ) {
  return {operand({part.vectors, false, part.query}, of_inv, of_equ), operand(key_of(part), of_inv, of_equ),
          operand(value_of(part), of_inv, of_equ)};
}

Tensors edge_attention(const EdgeAttention& form, const Tensors& given, const Edges& edges) {
  const char* where = "edge_attention";
  Tensors in;
  for (const Tensor& x : given) {
    in.push_back(x.defined() ? widened(x) : x);
  }
  require_parts(where, form, in, edges);
  for (const Tensor& x : in) {
    require(!x.defined() || x.scalar_type() == (in[inv].defined() ? in[inv] : in[equ]).scalar_type(), where,
            ": inputs must have one dtype");
  }
  return call(std::make_shared<EdgeAttentionOp>(form, edges), in);
}

}  // namespace weyl
