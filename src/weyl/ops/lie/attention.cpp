#include "weyl/ops/lie/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/kthvalue.h>
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
#include <ATen/ops/zeros_like.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/quantile.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/lie/attention.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/edges/edges.h"
#include "weyl/ops/edges/neighbours.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/lie/log.h"
#include "weyl/ops/lie/neighbour_attention.h"
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
constexpr double as_near = 1 + 1e-4;      // squares of lengths that count as one

/// Pairs that are near, without derivatives, ordered by centre and neighbour.
struct Found {
  Tensor centre, neighbour;             // (P) int64
  Tensor coordinates, squares, margin;  // (P, dof), (P, K), (P)

  Tensor lengths() const { return squares.sum(1); }  // squared
  Found rows(const Tensor& taken) const {
    const auto of = [&](const Tensor& x) { return x.index_select(0, taken); };
    return {of(centre), of(neighbour), of(coordinates), of(squares), of(margin)};
  }
  static Found all_of(const std::vector<Found>& parts) {
    const auto joined = [&](auto member) {
      std::vector<Tensor> all;
      for (const Found& part : parts) {
        all.push_back(part.*member);
      }
      return at::cat(all);
    };
    return {joined(&Found::centre), joined(&Found::neighbour), joined(&Found::coordinates),
            joined(&Found::squares), joined(&Found::margin)};
  }
};

/// The search for the pairs of pairs_near.
class NearPairs {
 public:
  NearPairs(const Tensor& elements, const Segments& graphs, LieGroup group, ChartPolicy policy, bool causal)
      : elements_(elements), graphs_(graphs), group_(group), policy_(policy), causal_(causal) {
    if (is_rigid(group)) {
      places_ = translations_of(elements, group);
    }
    outside = at::zeros({graphs.rows()}, elements.options().dtype(at::kLong));
  }

  Found find(double radius, int64_t nearest) {
    Found found = radius > 0          ? within(radius)
                  : places_.defined() ? by_growing_cells(nearest)
                                      : of(all_pairs(graphs_), std::numeric_limits<double>::infinity());
    found = nearest > 0 ? nearest_of(found, nearest) : found;
    if (is_rigid(group_)) {
      outside.index_add_(0, found.centre, (found.margin <= 0).to(at::kLong));
    }
    return found;
  }

  Tensor
      outside;  // (N) int64: pairs without a logarithm; of affine groups among all candidates, which have no length either

 private:
  /// Those of listed pairs that are shorter than the radius.
  Found of(const Edges& maybe, double radius) {
    std::vector<Found> parts;
    for (int64_t first = 0; first < maybe.count() || first == 0; first += pairs_at_once) {
      parts.push_back(some(maybe.centre.slice(0, first, first + pairs_at_once),
                           maybe.neighbour.slice(0, first, first + pairs_at_once), radius));
    }
    return Found::all_of(parts);
  }

  Found some(const Tensor& centre, const Tensor& neighbour, double radius) {
    const Tensor others = causal_ ? neighbour < centre : neighbour != centre;
    const Listed all = listed(elements_, centre, neighbour, group_, policy_);
    const Tensor near =
        at::logical_and(at::logical_and(others, all.present), all.squares.sum(1) < radius * radius);
    if (!is_rigid(group_)) {
      outside.index_add_(0, centre, at::logical_and(all.margin <= 0, others).to(at::kLong));
    }
    return Found{centre, neighbour, all.coordinates, all.squares, all.margin}.rows(near.nonzero().squeeze(1));
  }

  Found within(double radius) {
    // A little more than the radius: lengths of logarithms and distances are not rounded alike.
    return of(places_.defined() ? neighbours(places_, graphs_, radius * (1 + 1e-6)) : all_pairs(graphs_),
              radius);
  }

  /// How many tokens each token needs: `nearest`, or all that it may see.
  Tensor needed(int64_t nearest) const {
    std::vector<int64_t> counts;
    for (int64_t s = 0; s < graphs_.count(); ++s) {
      for (int64_t i = 0; i < graphs_.size(s); ++i) {
        counts.push_back(std::min(nearest, causal_ ? i : graphs_.size(s) - 1));
      }
    }
    return at::tensor(counts, at::kLong).to(elements_.device());
  }

  /// All that one token may see of its graph.
  Found row(int64_t token) {
    const auto graph = std::ranges::upper_bound(graphs_.offsets, token) - graphs_.offsets.begin();
    const Tensor others =
        at::arange(graphs_.offsets[graph - 1], graphs_.offsets[graph], elements_.options().dtype(at::kLong));
    return some(at::full_like(others, token), others, std::numeric_limits<double>::infinity());
  }

  /// What a sample of tokens needs to have the nearest within the radius. 0: none needs any.
  double radius_of_sample(const Tensor& counts) {
    constexpr int64_t sample = 64;
    const Tensor some_needing = counts.nonzero().squeeze(1);
    std::vector<double> lengths;
    const int64_t n = some_needing.size(0), step = std::max<int64_t>(1, n / sample);
    for (int64_t k = 0; k < n; k += step) {
      const int64_t token = some_needing[k].item<int64_t>();
      const Tensor all = row(token).lengths();
      lengths.push_back(std::get<0>(at::kthvalue(all, counts[token].item<int64_t>())).item<double>());
    }
    return lengths.empty() ? 0 : std::sqrt(quantile(lengths, 0.9));
  }

  /// Cells as wide as most tokens need, then twice as wide while many lack some; the few that then still do look at all.
  Found by_growing_cells(int64_t nearest) {
    const Tensor counts = needed(nearest);
    double radius = 1.1 * radius_of_sample(counts);
    if (!(radius > 0)) {
      radius = 1;  // all at one place, or nobody needs any
    }
    const int64_t few = std::max<int64_t>(16, graphs_.rows() / 64);
    const Tensor extent = places_.size(0) > 0 ? std::get<0>(places_.max(0)) - std::get<0>(places_.min(0))
                                              : places_.new_zeros({1});
    const double widest =
        10 + 2 * extent.norm().item<double>();  // no pair of these places and of any rotations is longer
    while (true) {
      const Found found = within(radius);
      const Tensor sure = found.lengths() * as_near < radius * radius;
      const Tensor have = at::zeros_like(counts).index_add_(0, found.centre, sure.to(at::kLong));
      const Tensor lacking = (have < counts).nonzero().squeeze(1);
      if (lacking.size(0) > few && radius < widest) {
        radius *= 2;
        continue;
      }
      const Tensor is_lacking = at::zeros_like(counts).index_fill_(0, lacking, 1);
      std::vector<Found> parts{
          found.rows((is_lacking.index_select(0, found.centre) == 0).nonzero().squeeze(1))};
      for (int64_t k = 0; k < lacking.size(0); ++k) {
        parts.push_back(nearest_of(row(lacking[k].item<int64_t>()), nearest));
      }
      const Found all = Found::all_of(parts);
      return all.rows(at::argsort(all.centre, /*stable=*/true, 0, false));
    }
  }

  /// Of the pairs of each centre the nearest, and those as near as the last of these.
  Found nearest_of(const Found& found, int64_t nearest) const {
    const Tensor lengths = found.lengths();
    const Tensor by_length = at::argsort(lengths, /*stable=*/true, 0, false);
    const Tensor order = by_length.index_select(
        0, at::argsort(found.centre.index_select(0, by_length), /*stable=*/true, 0, false));
    const Tensor sizes = at::zeros({graphs_.rows()}, found.centre.options())
                             .index_add_(0, found.centre, at::ones_like(found.centre));
    const Tensor last = (sizes.cumsum(0) - sizes + sizes.clamp_max(nearest) - 1).clamp_min(0);
    if (lengths.size(0) == 0) {
      return found;
    }
    const Tensor limits = lengths.index_select(0, order.index_select(0, last.clamp_max(lengths.size(0) - 1)));
    return found.rows((lengths <= as_near * limits.index_select(0, found.centre)).nonzero().squeeze(1));
  }

  const Tensor elements_;
  const Segments& graphs_;
  LieGroup group_;
  ChartPolicy policy_;
  bool causal_;
  Tensor places_;
};

}  // namespace

Pairs pairs_near(const Tensor& compact, const Segments& graphs, LieGroup group, ChartPolicy policy,
                 double radius, int64_t nearest, bool causal) {
  const char* where = "lie_pairs";
  require(compact.dim() == 2 && compact.size(0) == graphs.rows() && compact.size(1) == compact_size(group),
          where, ": elements of ", name_of(group), " must be (", graphs.rows(), ", ", compact_size(group),
          "), got ", compact.sizes());
  require(radius >= 0 && std::isfinite(radius) && nearest >= 0 && (radius > 0 || nearest > 0), where,
          ": the radius must be positive and finite, or the number of the nearest positive, got ", radius,
          " and ", nearest);
  require_rotations(where, compact, group);
  NearPairs search(compact.detach(), graphs, group, policy, causal);
  Found found;
  Edges list;
  {
    const at::NoGradGuard no_grad;
    found = search.find(radius, nearest);
    list = edges_of(found.centre, found.neighbour, {}, graphs);
  }
  if (policy == ChartPolicy::error) {
    require_inside(where, search.outside, graphs, group);
  }
  Listed near{found.coordinates, found.squares, {}, {}};
  if (compact.requires_grad() && at::GradMode::is_enabled()) {
    near = listed(compact, list.centre, list.neighbour, group, policy);
  }
  const Tensor present = at::ones({list.count()}, compact.options().dtype(at::kBool).requires_grad(false));
  return {near.coordinates, near.squares, present, search.outside, std::move(list)};
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
