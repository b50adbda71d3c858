#include "weyl/ops/lie/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/segment_reduce.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/lie/attention.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/edges/edges.h"
#include "weyl/ops/edges/neighbours.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/lie/log.h"
#include "weyl/ops/lie/number.h"
#include "weyl/ops/lie/planes.h"
#include "weyl/ops/segment.h"

namespace weyl::lie {
namespace {

constexpr double attention_nanoseconds = 12;  // of a pair of tokens: estimated, to be measured

/// What both ops share: the kernel over rows of ragged graphs.
class LieAttentionKernel : public Differentiable {
 public:
  explicit LieAttentionKernel(const Segments& graphs) : graphs_(graphs) {}

 protected:
  /// {mixed, coordinates, outside, logsum, least}, the last two float64
  template <class T>
  Tensors run(const kernels::LieAttentionInput<T>& in, const at::TensorOptions& options) const {
    const int64_t n = graphs_.rows();
    const auto wide = options.dtype(at::kDouble);
    Tensors y{at::empty({n, in.heads, in.width}, options), at::empty({n, in.heads, in.dof}, options),
              at::empty({n}, options), at::empty({n, in.heads}, wide), at::empty({n, in.blocks}, wide)};
    const bool streamed = in.elements.planes != nullptr;
    const kernels::LieAttentionOutput<T> out{
        mutable_numbers<T>(y[0]), mutable_numbers<T>(y[1]), mutable_numbers<double>(y[3]),
        streamed ? mutable_numbers<T>(y[2]) : nullptr, streamed ? mutable_numbers<double>(y[4]) : nullptr};
    const auto& kernel = kernels::best<kernels::LieAttention<T>>();
    each(in, [&](int64_t, T* scratch, int64_t first, int64_t last) {
      kernel.forward(in, out, scratch, first, last);
    });
    return y;
  }

  template <class T>
  struct Totals {
    Tensor values, weights, linear, left, right;  // a slice for each worker
    kernels::LieAttentionGradients<T> to;
  };
  template <class T>
  void run_backward(const kernels::LieAttentionInput<T>& in, const Tensors& y, const Tensors& gys,
                    const Totals<T>& totals) const {
    const Tensor mixed = y[0].contiguous(), coordinates = y[1].contiguous(), logsum = y[3].contiguous(),
                 least = y[4].contiguous();
    const Tensor g_mixed = gys[0].contiguous(), g_coordinates = gys[1].contiguous();
    const kernels::LieAttentionOutput<const T> out{numbers<T>(mixed), numbers<T>(coordinates),
                                                   numbers<double>(logsum), nullptr, numbers<double>(least)};
    const auto slice = [](const Tensor& x, auto zero, int64_t w) {
      using U = decltype(zero);
      return x.defined() ? mutable_numbers<U>(x) + w * (x.numel() / x.size(0)) : nullptr;
    };
    const auto& kernel = kernels::best<kernels::LieAttentionBackward<T>>();
    each(in, [&](int64_t w, T* scratch, int64_t first, int64_t last) {
      kernels::LieAttentionGradients<T> to = totals.to;
      to.values = slice(totals.values, T{}, w);
      to.weights = slice(totals.weights, double{}, w);
      to.linear = slice(totals.linear, double{}, w);
      to.left = slice(totals.left, double{}, w);
      to.right = slice(totals.right, double{}, w);
      kernel.backward(in, out, numbers<T>(g_mixed), numbers<T>(g_coordinates), to, scratch, first, last);
    });
  }

  template <class T>
  void begin(kernels::LieAttentionInput<T>& in, const Tensor& values) const {
    in.offsets = graphs_.offsets.data();
    in.graphs = graphs_.count();
    in.heads = values.size(1);
    in.width = values.size(2);
    in.values = numbers<T>(values);
  }

  /// Floating-point operations of a product over all pairs of so many numbers, a multiply-add counting two.
  double products(int64_t numbers) const {
    return 2 * static_cast<double>(graphs_.pairs()) * static_cast<double>(numbers);
  }

  int64_t workers() const {
    return std::min(workers_worth(graphs_.pairs(), attention_nanoseconds),
                    std::max<int64_t>(graphs_.rows(), 1));
  }

  static Tensor summed(const Tensor& x) { return x.size(0) == 1 ? x[0] : x.sum(0); }

  const Segments graphs_;

 private:
  /// work(worker, scratch, first row, last row), so that each has the same number of pairs.
  template <class T, class F>
  void each(const kernels::LieAttentionInput<T>& in, const F& work) const {
    const int64_t count = workers(), pairs = graphs_.pairs();
    std::vector<int64_t> begins(static_cast<size_t>(count) + 1, graphs_.rows());
    begins[0] = 0;
    int64_t before = 0, w = 1;
    for (int64_t s = 0; s < graphs_.count(); ++s) {
      const int64_t n = graphs_.size(s);
      for (; w < count && n > 0 && before + n * n > pairs * w / count; ++w) {
        const int64_t wanted = pairs * w / count - before;
        // The first r rows have r n pairs, or, when each sees those before it, a share of (r / n)^2 of them.
        const auto rows = static_cast<int64_t>(std::sqrt(static_cast<double>(wanted)));
        begins[static_cast<size_t>(w)] = graphs_.offsets[s] + (in.causal ? rows : wanted / n);
      }
      before += n * n;
    }
    const int64_t size = kernels::best<kernels::LieAttention<T>>().scratch(in, graphs_.longest());
    const Tensor scratch = at::empty({count, size}, c10::CppTypeToScalarType<T>::value);
    for_workers(count, [&](int64_t index) {
      const auto i = static_cast<size_t>(index);
      if (begins[i] < begins[i + 1]) {
        work(index, mutable_numbers<T>(scratch) + index * size, begins[i], begins[i + 1]);
      }
    });
  }
};

/// Inputs elements (N, c) in float64, values (N, H, C), weights (H, K), linear (H, dof + 2) or undefined. Results mixed, coordinates, outside, in the
/// values' dtype; by-products logsum, least.
class StreamedAttention : public LieAttentionKernel {
 public:
  StreamedAttention(const Segments& graphs, LieGroup group, ChartPolicy policy, bool causal)
      : LieAttentionKernel(graphs), group_(group), policy_(policy), causal_(causal) {}
  size_t results() const override { return 3; }

  Tensors reference(const Tensors& in) const override {
    // All in float64, rounded at the end: what float32 would lose of scores a softmax amplifies.
    const auto type = in[1].scalar_type();
    const Pairs pairs = pairs_of(in[0], graphs_, group_, policy_, causal_);
    Tensor scores = block_scores(pairs.squares, in[2].to(at::kDouble));
    if (in[3].defined()) {
      scores = scores + linear_scores(pairs.coordinates, in[3].to(at::kDouble), all_pairs(graphs_));
    }
    Tensors y = attention_over_pairs(scores, pairs.coordinates, pairs.present, in[1].to(at::kDouble),
                                     all_pairs(graphs_));
    return {y[0].to(type), y[1].to(type), pairs.outside.to(type)};
  }

  bool has_forward(const Tensors& in) const override {
    const bool logarithm = policy_ == ChartPolicy::mask || policy_ == ChartPolicy::error;
    return kernels_take({in[0]}) && kernels_take({in[1], in[2], in[3]}) &&
           (logarithm || !in[0].requires_grad() || !at::GradMode::is_enabled());
  }
  bool has_backward(const Tensors& in) const override { return has_forward(in); }

  Tensors forward(const Tensors& in) const override {
    return with_type(in[1].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const Operands x(in, group_);
      const auto a = arguments<T>(x);
      count_operations(products(a.heads * (a.blocks + a.width + a.dof + linear_numbers(a))));
      return run<T>(a, x.values.options());
    });
  }

  Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    return with_type(in[1].scalar_type(), [&](auto zero) -> Tensors {
      using T = decltype(zero);
      const Operands x(in, group_);
      const auto arguments_of = arguments<T>(x);
      const int64_t count = workers(), n = graphs_.rows();
      const auto options = x.values.options();
      const int64_t heads = arguments_of.heads, blocks = arguments_of.blocks, width = arguments_of.width,
                    dof = arguments_of.dof;
      count_operations((needed[0] || needed[2] || needed[3] ? products(heads * (width + dof)) : 0) +
                       (needed[0] ? products(heads * (blocks + dof)) : 0) +
                       (needed[1] ? products(heads * width) : 0) +
                       (needed[2] ? products(heads * blocks) : 0) +
                       (needed[3] ? products(heads * linear_numbers(arguments_of)) : 0));
      Totals<T> totals;
      if (needed[1]) {
        totals.values = at::zeros({count, n, arguments_of.heads, arguments_of.width}, options);
      }
      if (needed[2]) {
        totals.weights =
            at::zeros({count, arguments_of.heads, arguments_of.blocks}, options.dtype(at::kDouble));
      }
      if (needed[3]) {
        totals.linear = at::zeros({count, heads, dof + 2}, options.dtype(at::kDouble));
      }
      if (needed[0]) {
        totals.left = at::zeros({count, arguments_of.dof, n}, options.dtype(at::kDouble));
        totals.right = at::zeros({count, arguments_of.dof, n}, options.dtype(at::kDouble));
      }
      run_backward<T>(arguments_of, out, gys, totals);
      Tensors g(4);
      if (needed[0]) {
        g[0] = compact_gradient(in[0], summed(totals.left) + summed(totals.right), group_);
      }
      if (needed[1]) {
        g[1] = summed(totals.values);
      }
      if (needed[2]) {
        g[2] = summed(totals.weights).to(options.dtype());
      }
      if (needed[3]) {
        g[3] = summed(totals.linear).to(options.dtype());
      }
      return g;
    });
  }

 private:
  struct Operands {
    Operands(const Tensors& in, LieGroup group)
        : planes(normalised_planes(in[0], group)),
          values(in[1].contiguous()),
          weights(in[2].contiguous()),
          linear(in[3].defined() ? in[3].contiguous() : Tensor()) {}
    Tensor planes, values, weights, linear;
  };
  template <class T>
  static int64_t linear_numbers(const kernels::LieAttentionInput<T>& in) {
    return in.linear != nullptr ? in.dof + 2 : 0;
  }
  template <class T>
  kernels::LieAttentionInput<T> arguments(const Operands& x) const {
    kernels::LieAttentionInput<T> a;
    begin(a, x.values);
    a.dof = degrees_of_freedom(group_);
    a.blocks = static_cast<int64_t>(blocks_of(group_).size());
    a.elements = elements_of<double>(x.planes, group_);
    a.policy = policy_;
    a.weights = numbers<T>(x.weights);
    a.linear = numbers<T>(x.linear);
    a.causal = causal_;
    return a;
  }

  LieGroup group_;
  ChartPolicy policy_;
  bool causal_;
};

/// Inputs scores (P, H), coordinates (P, dof), values (N, H, C). By-products: nothing, logsum, nothing.
class PairAttention : public LieAttentionKernel {
 public:
  PairAttention(const Segments& graphs, const Tensor& present)
      : LieAttentionKernel(graphs), present_(present.contiguous()) {}
  size_t results() const override { return 2; }

  Tensors reference(const Tensors& in) const override {
    return attention_over_pairs(in[0], in[1], present_, in[2], all_pairs(graphs_));
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    return with_type(in[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const Operands x(in);
      const auto a = arguments<T>(x);
      count_operations(products(a.heads * (a.width + a.dof)));
      return run<T>(a, x.values.options());
    });
  }

  Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    return with_type(in[0].scalar_type(), [&](auto zero) -> Tensors {
      using T = decltype(zero);
      const Operands x(in);
      const int64_t heads = x.values.size(1), width = x.values.size(2), dof = x.coordinates.size(0);
      count_operations((needed[0] ? products(heads * (width + dof)) : 0) +
                       (needed[1] ? products(heads * dof) : 0) + (needed[2] ? products(heads * width) : 0));
      Totals<T> totals;
      Tensors g(3);
      for (size_t i = 0; i < 2; ++i) {
        g[i] = needed[i] ? at::empty({in[i].size(1), in[i].size(0)}, in[i].options()).t() : Tensor();
      }
      totals.to.scores = mutable_numbers<T>(g[0]);
      totals.to.pairs = mutable_numbers<T>(g[1]);
      if (needed[2]) {
        totals.values = at::zeros({workers(), in[2].size(0), in[2].size(1), in[2].size(2)}, in[2].options());
      }
      run_backward<T>(arguments<T>(x), out, gys, totals);
      if (needed[2]) {
        g[2] = summed(totals.values);
      }
      return g;
    });
  }

 private:
  struct Operands {
    explicit Operands(const Tensors& in)
        : scores(planes_of(in[0])), coordinates(planes_of(in[1])), values(in[2].contiguous()) {}
    Tensor scores, coordinates, values;
  };
  template <class T>
  kernels::LieAttentionInput<T> arguments(const Operands& x) const {
    kernels::LieAttentionInput<T> a;
    begin(a, x.values);
    a.dof = x.coordinates.size(0);
    a.pairs = x.scores.size(1);
    a.scores = numbers<T>(x.scores);
    a.coordinates = numbers<T>(x.coordinates);
    a.present = present_.const_data_ptr<bool>();
    return a;
  }

  Tensor present_;
};

void require_values(const char* where, const Tensor& values, const Segments& graphs) {
  require(values.defined() && values.dim() == 3 && values.size(0) == graphs.rows(), where,
          ": values must be (", graphs.rows(), ", H, C), got ",
          values.defined() ? values.sizes() : at::IntArrayRef{});
}

void require_matrix(const char* where, const char* name, const Tensor& x, int64_t rows, int64_t columns,
                    const Tensor& values) {
  require(x.defined() && x.dim() == 2 && x.size(0) == rows && x.size(1) == columns, where, ": ", name,
          " must be (", rows, ", ", columns, "), got ", x.defined() ? x.sizes() : at::IntArrayRef{});
  require(x.scalar_type() == values.scalar_type(), where, ": ", name, " must have the values' dtype ",
          values.scalar_type(), ", got ", x.scalar_type());
}

}  // namespace

void require_inside(const char* where, const Tensor& outside, const Segments& graphs, LieGroup group) {
  const Tensor rows = outside.nonzero();
  if (rows.size(0) > 0) {
    const int64_t row = rows[0][0].item<int64_t>(), graph = graphs.index[row].item<int64_t>();
    require(false, where, ": every relative pose of ", name_of(group),
            " must be inside the chart of the logarithm (chart policy error), got ",
            outside.sum().item<int64_t>(), " pairs outside, the first of token ", row - graphs.offsets[graph],
            " of graph ", graph);
  }
}

Pairs pairs_between(const Tensor& compact, const Segments& graphs, LieGroup group, ChartPolicy policy,
                    bool causal) {
  require(compact.dim() == 2 && compact.size(0) == graphs.rows() && compact.size(1) == compact_size(group),
          "lie_pairs: elements of ", name_of(group), " must be (", graphs.rows(), ", ", compact_size(group),
          "), got ", compact.sizes());
  require_rotations("lie_pairs", compact, group);
  Pairs pairs = pairs_of(compact, graphs, group, policy, causal);
  if (policy == ChartPolicy::error) {
    require_inside("lie_pairs", pairs.outside, graphs, group);
  }
  return pairs;
}

namespace {

constexpr int64_t rows_at_once = 1024;  // of tokens whose neighbours' values are gathered at a time

/// attention_over_pairs of neighbours, all of them present, so many tokens at a time that what is made of their pairs
/// stays in the cache.
Tensors attention_over_neighbours(const Tensor& scores, const Tensor& coordinates, const Tensor& values,
                                  const Edges& list) {
  std::vector<Tensor> mixed, means;
  const std::vector<int64_t>& offsets = list.of_centre.offsets;
  for (int64_t first = 0; first < list.nodes() || first == 0; first += rows_at_once) {
    const int64_t last = std::min(first + rows_at_once, list.nodes());
    const int64_t begin = offsets[static_cast<size_t>(first)], end = offsets[static_cast<size_t>(last)];
    std::vector<int64_t> sizes;
    for (int64_t i = first; i < last; ++i) {
      sizes.push_back(offsets[static_cast<size_t>(i) + 1] - offsets[static_cast<size_t>(i)]);
    }
    const Segments of_centre = Segments::of_sizes(sizes, scores.device());
    const Tensor a = segment_softmax(scores.slice(0, begin, end), of_centre).unsqueeze(2);  // (E, H, 1)
    const Tensor seen = values.index_select(0, list.neighbour.slice(0, begin, end));
    mixed.push_back(segment_sum(a * seen, of_centre));
    means.push_back(segment_sum(a * coordinates.slice(0, begin, end).unsqueeze(1), of_centre));
  }
  return {at::cat(mixed), at::cat(means)};
}

}  // namespace

Attention attention_scored(const Tensor& scores, const Pairs& pairs, const Tensor& values,
                           const Segments& graphs) {
  const char* where = "lie_attention_scored";
  require_values(where, values, graphs);
  const int64_t rows = pairs.near ? pairs.near->count() : graphs.pairs();
  require_matrix(where, "scores", scores, rows, values.size(1), values);
  require_matrix(where, "coordinates", pairs.coordinates, rows, pairs.coordinates.size(1), values);
  if (pairs.near) {
    const Tensors y = attention_over_neighbours(scores, pairs.coordinates, values, *pairs.near);
    return {y[0], y[1], pairs.outside};
  }
  const Tensors y =
      call(std::make_shared<PairAttention>(graphs, pairs.present), {scores, pairs.coordinates, values});
  return {y[0], y[1], pairs.outside};
}

Attention attention(const Pairs& pairs, const Tensor& values, const Tensor& weights, const Segments& graphs) {
  require_values("lie_attention", values, graphs);
  require_matrix("lie_attention", "weights", weights, values.size(1), pairs.squares.size(1), values);
  return attention_scored(block_scores(pairs.squares, weights), pairs, values, graphs);
}

Attention attention(const Tensor& compact, const Tensor& values, const Tensor& weights,
                    const Segments& graphs, LieGroup group, ChartPolicy policy,
                    const Directions& directions) {
  const char* where = "lie_attention";
  require_values(where, values, graphs);
  const bool wide = compact.defined() && compact.scalar_type() == at::kDouble;
  require_matrix(where, "elements", compact, graphs.rows(), compact_size(group), wide ? compact : values);
  require_rotations(where, compact, group);
  require_matrix(where, "weights", weights, values.size(1), static_cast<int64_t>(blocks_of(group).size()),
                 values);
  if (directions.linear.defined()) {
    require_matrix(where, "linear", directions.linear, values.size(1), degrees_of_freedom(group) + 2, values);
  }
  const Tensors y = call(std::make_shared<StreamedAttention>(graphs, group, policy, directions.causal),
                         {compact.to(at::kDouble), values, weights, directions.linear});
  const Tensor outside = y[2].detach().to(at::kLong);
  if (policy == ChartPolicy::error) {
    require_inside(where, outside, graphs, group);
  }
  return {y[0], y[1], outside};
}

namespace {

using lie_number::Number;
namespace formulas = lie_number::formulas;

/// Coordinates (physical) of what stands for the logarithm, squares where they are not its own, the
/// logarithm's margin, and the pairs without either (undefined: none).
struct Stand {
  Tensor coordinates, squares, margin, closed;
};

/// The margin of the logarithm's chart, without gradient.
template <class G, class S>
Tensor margin_of(const typename G::template Element<Number<S>>& relative) {
  const at::NoGradGuard off;
  return G::margin(relative).column;
}

template <class G, class S>
Stand frobenius(const typename G::template Element<Number<S>>& relative, int64_t rows,
                const at::TensorOptions& options) {
  constexpr int K = blocks_of(G::group).size();
  Tensor closed;
  const typename G::template Element<Number<S>> regular = [&] {
    if constexpr (is_rigid(G::group)) {
      return relative;
    } else {
      const auto singular = G::singular(G::linear(relative));
      closed = singular.column;
      return select(singular, G::template identity<Number<S>>(), relative);
    }
  }();
  return {lie_number::rows_of(formulas::frobenius_log<G, Number<S>>(regular), rows, options),
          lie_number::rows_of(formulas::frobenius_squares<G, Number<S>, K>(regular), rows, options),
          margin_of<G, S>(relative), closed};
}

template <class G, class S>
Stand polar(const typename G::template Element<Number<S>>& relative, int64_t rows,
            const at::TensorOptions& options) {
  Number<S> angle;
  const auto w = formulas::polar_log(G{}, relative, angle);
  // Masked are the pairs without a polar logarithm; outside are those without a logarithm.
  return {lie_number::rows_of(w, rows, options),
          {},
          margin_of<G, S>(relative),
          is_rigid(G::group) ? Tensor() : angle.column.detach() < 0};
}

Stand stand_for(const Tensor& compact, const Tensor& centre, const Tensor& neighbour, LieGroup group,
                ChartPolicy policy) {
  return lie_number::visit(group, compact.scalar_type(), [&]<class G, class S>(G, S) {
    const auto g = formulas::admitted<G, Number<S>>(lie_number::columns_of<S, G::compact>(compact));
    auto a = G::anchor(g), b = g;
    for (int c = 0; c < G::compact; ++c) {
      a[c].column = a[c].column.index_select(0, centre);
      b[c].column = b[c].column.index_select(0, neighbour);
    }
    const auto relative = G::from_anchor(a, b);
    const int64_t rows = centre.size(0);
    return policy == ChartPolicy::polar ? polar<G, S>(relative, rows, compact.options())
                                        : frobenius<G, S>(relative, rows, compact.options());
  });
}

}  // namespace

Tensor block_squares(const Tensor& coordinates, LieGroup group) {
  std::vector<Tensor> squares;
  for (const LieBlock& block : blocks_of(group)) {
    const Tensor part = coordinates.slice(1, block.begin, block.begin + block.size);
    squares.push_back((part * part).sum(1));
  }
  return at::stack(squares, 0).t();
}

Pairs pairs_of(const Tensor& compact, const Segments& graphs, LieGroup group, ChartPolicy policy,
               bool causal) {
  const Edges pairs = all_pairs(graphs);
  const Tensor others = causal ? pairs.neighbour < pairs.centre : pairs.centre != pairs.neighbour;
  Pairs found;
  Tensor margin;
  found.present = others;
  if (policy == ChartPolicy::mask || policy == ChartPolicy::error) {
    const Logs logs = pair_logs(compact, graphs, group);
    margin = logs.margin;
    found.coordinates = to_orthonormal(logs.w, group);
    found.squares = block_squares(found.coordinates, group);
    if (!is_rigid(group)) {
      found.present = at::logical_and(others, at::logical_not(margin <= 0));
    }
  } else {
    const Stand s = stand_for(compact, pairs.centre, pairs.neighbour, group, policy);
    margin = s.margin;
    found.coordinates =
        to_orthonormal(s.coordinates.masked_fill(at::logical_not(others).unsqueeze(1), 0), group);
    found.squares = s.squares.defined() ? s.squares : block_squares(found.coordinates, group);
    if (s.closed.defined()) {
      found.present = at::logical_and(others, at::logical_not(s.closed));
    }
  }
  found.outside = segment_sum(at::logical_and(others, margin <= 0).to(at::kLong), pairs.of_centre);
  return found;
}

Tensor block_scores(const Tensor& squares, const Tensor& weights) {
  return at::matmul(-weights, squares.t()).t();
}

namespace {

/// The translations (N, n) of elements (N, c); undefined for groups without.
Tensor translations_of(const Tensor& compact, LieGroup group) {
  const int64_t n = dimension_of(group);
  return matrix_size(group) == n ? Tensor() : element_matrices(compact, group).slice(1, 0, n).select(2, n);
}

/// What attention takes from listed pairs, none of a token with itself.
struct Listed {
  Tensor coordinates, squares, margin, present;
};

Listed listed(const Tensor& compact, const Tensor& centre, const Tensor& neighbour, LieGroup group,
              ChartPolicy policy) {
  Listed found;
  if (policy == ChartPolicy::mask || policy == ChartPolicy::error) {
    const Logs of_pairs = logs(compact.index_select(0, centre), compact.index_select(0, neighbour), group);
    found.margin = of_pairs.margin;
    found.coordinates = to_orthonormal(of_pairs.w, group);
    found.squares = block_squares(found.coordinates, group);
    found.present = is_rigid(group) ? at::ones_like(found.margin, at::kBool) : found.margin > 0;
  } else {
    const Stand s = stand_for(compact, centre, neighbour, group, policy);
    found.margin = s.margin;
    found.coordinates = to_orthonormal(s.coordinates, group);
    found.squares = s.squares.defined() ? s.squares : block_squares(found.coordinates, group);
    found.present = s.closed.defined() ? at::logical_not(s.closed) : at::ones_like(s.margin, at::kBool);
  }
  return found;
}

constexpr int64_t pairs_at_once = 16384;  // of candidates, whose numbers then stay in the cache

/// The pairs that may be near: of a list of cells, or all pairs, tokens with themselves and those behind included.
Edges candidates(const Tensor& compact, const Segments& graphs, LieGroup group, double radius) {
  const Tensor places = is_rigid(group) ? translations_of(compact, group) : Tensor();
  // A little more than the radius: lengths of logarithms and distances are not rounded alike.
  return places.defined() ? neighbours(places, graphs, radius * (1 + 1e-6)) : all_pairs(graphs);
}

}  // namespace

Pairs pairs_near(const Tensor& compact, const Segments& graphs, LieGroup group, ChartPolicy policy,
                 double radius, bool causal) {
  const char* where = "lie_pairs";
  require(compact.dim() == 2 && compact.size(0) == graphs.rows() && compact.size(1) == compact_size(group),
          where, ": elements of ", name_of(group), " must be (", graphs.rows(), ", ", compact_size(group),
          "), got ", compact.sizes());
  require(radius > 0 && std::isfinite(radius), where, ": the radius must be positive and finite, got ",
          radius);
  require_rotations(where, compact, group);
  Listed near;
  Tensor outside = at::zeros({graphs.rows()}, compact.options().dtype(at::kLong).requires_grad(false));
  Edges list;
  {
    const at::NoGradGuard no_grad;
    const Tensor here = compact.detach();
    const Edges maybe = candidates(here, graphs, group, radius);
    std::vector<Tensor> centres, neighbours_of, coordinates, squares;
    for (int64_t first = 0; first < maybe.count() || first == 0; first += pairs_at_once) {
      const Tensor centre = maybe.centre.slice(0, first, first + pairs_at_once),
                   neighbour = maybe.neighbour.slice(0, first, first + pairs_at_once);
      const Tensor others = causal ? neighbour < centre : neighbour != centre;
      const Listed all = listed(here, centre, neighbour, group, policy);
      const Tensor within =
          at::logical_and(at::logical_and(others, all.present), all.squares.sum(1) < radius * radius);
      // Of affine groups a pair without a logarithm has no length either, and may be near.
      const Tensor beyond = at::logical_and(all.margin <= 0, is_rigid(group) ? within : others);
      outside.index_add_(0, centre, beyond.to(at::kLong));
      const Tensor rows = within.nonzero().squeeze(1);
      centres.push_back(centre.index_select(0, rows));
      neighbours_of.push_back(neighbour.index_select(0, rows));
      coordinates.push_back(all.coordinates.index_select(0, rows));
      squares.push_back(all.squares.index_select(0, rows));
    }
    list = edges_of(at::cat(centres), at::cat(neighbours_of), {}, graphs);
    near = {at::cat(coordinates), at::cat(squares), {}, {}};
  }
  if (policy == ChartPolicy::error) {
    require_inside(where, outside, graphs, group);
  }
  if (compact.requires_grad() && at::GradMode::is_enabled()) {
    near = listed(compact, list.centre, list.neighbour, group, policy);
  }
  const Tensor present = at::ones({list.count()}, compact.options().dtype(at::kBool).requires_grad(false));
  return {near.coordinates, near.squares, present, outside, std::move(list)};
}

Tensor linear_scores(const Tensor& coordinates, const Tensor& linear, const Edges& pairs) {
  const Tensor steps = (pairs.neighbour - pairs.centre).to(coordinates.scalar_type());
  const Tensor order = at::stack({steps, steps.abs()}, 0);  // (2, P)
  const auto parts = linear.split_with_sizes({coordinates.size(1), 2}, 1);
  return (at::matmul(parts[0], coordinates.t()) + at::matmul(parts[1], order)).t();
}

Tensors attention_over_pairs(const Tensor& scores, const Tensor& coordinates, const Tensor& present,
                             const Tensor& values, const Edges& pairs) {
  const Tensor here = present.unsqueeze(1), nothing = at::scalar_tensor(0, scores.options());
  // Subtracting a constant of the row changes nothing, so the largest score needs no derivative.
  const Tensor lengths = pairs.of_centre.sizes_on_device();
  const double lowest = scores.scalar_type() == at::kFloat ? std::numeric_limits<float>::lowest()
                                                           : std::numeric_limits<double>::lowest();
  const Tensor seen = scores.detach().masked_fill(at::logical_not(here), lowest);
  const Tensor highest = at::segment_reduce(seen, "max", lengths, {}, {}, 0, /*unsafe=*/true);
  const Tensor shifted = at::where(here, scores - highest.index_select(0, pairs.centre), nothing);
  const Tensor weight = at::where(here, shifted.exp(), nothing);
  const Tensor total = segment_sum(weight, pairs.of_centre);
  const Tensor safe = total.masked_fill(total.detach() == 0, 1);
  const Tensor a = (weight / safe.index_select(0, pairs.centre)).unsqueeze(2);
  return {segment_sum(a * values.index_select(0, pairs.neighbour), pairs.of_centre),
          segment_sum(a * coordinates.unsqueeze(1), pairs.of_centre)};
}

}  // namespace weyl::lie
