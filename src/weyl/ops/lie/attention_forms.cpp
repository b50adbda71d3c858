#include "weyl/ops/lie/attention_forms.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/segment_reduce.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include <limits>
#include <vector>

#include "weyl/ops/edges/edges.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/lie/log.h"
#include "weyl/ops/lie/number.h"
#include "weyl/ops/segment.h"

namespace weyl::lie {
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

Stand stand_for(const Tensor& compact, const Edges& pairs, LieGroup group, ChartPolicy policy) {
  return lie_number::visit(group, compact.scalar_type(), [&]<class G, class S>(G, S) {
    const auto g = formulas::admitted<G, Number<S>>(lie_number::columns_of<S, G::compact>(compact));
    auto a = G::anchor(g), b = g;
    for (int c = 0; c < G::compact; ++c) {
      a[c].column = a[c].column.index_select(0, pairs.centre);
      b[c].column = b[c].column.index_select(0, pairs.neighbour);
    }
    const auto relative = G::from_anchor(a, b);
    const int64_t rows = pairs.centre.size(0);
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

Pairs pairs_of(const Tensor& compact, const Segments& graphs, LieGroup group, ChartPolicy policy) {
  const Edges pairs = all_pairs(graphs);
  const Tensor others = pairs.centre != pairs.neighbour;
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
    const Stand s = stand_for(compact, pairs, group, policy);
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

Tensors attention_over_pairs(const Tensor& scores, const Tensor& coordinates, const Tensor& present,
                             const Tensor& values, const Segments& graphs) {
  const Edges pairs = all_pairs(graphs);
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
