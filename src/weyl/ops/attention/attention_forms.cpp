#include "weyl/ops/attention/attention_forms.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "weyl/ops/attention/padding.h"

namespace weyl {

Tensor attention_by_pairs(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                          double scale, const Tensor& bias) {
  const int64_t n = q.size(0), heads = q.size(1), width = v.size(2);
  // Two nodes of the batch are a pair when they are of one graph: found among all of them, in the order i, j.
  const Tensor pairs = graphs.index.unsqueeze(1).eq(graphs.index.unsqueeze(0)).nonzero();
  const Tensor query = pairs.select(1, 0), key = pairs.select(1, 1);
  Tensor scores = (q.index_select(0, query) * k.index_select(0, key)).sum(-1) * scale;  // (pairs, H)
  scores = (bias.defined() ? scores + bias : scores).flatten();

  // Every (i, h) has its softmax: the place in a list of N H where the pair (i, j) of head h is gathered.
  const Tensor places = (query.unsqueeze(1) * heads + at::arange(heads, query.options())).flatten();
  const Tensor zeros = at::zeros({n * heads}, q.options());
  // Subtracting a constant of a place changes nothing, so the largest score needs no derivative.
  const Tensor highest = zeros.scatter_reduce(0, places, scores.detach(), "amax", /*include_self=*/false);
  const Tensor weights = (scores - highest.index_select(0, places)).exp();
  const Tensor shares = weights / zeros.scatter_add(0, places, weights).index_select(0, places);

  const Tensor terms = shares.view({pairs.size(0), heads, 1}) * v.index_select(0, key);
  return at::zeros({n * heads, width}, q.options())
      .scatter_add(0, places.unsqueeze(1).expand({-1, width}), terms.view({pairs.size(0) * heads, width}))
      .view({n, heads, width});
}

namespace {

Tensor padded_weights(const Padding& padding, const Tensor& q, const Tensor& k, const Segments& graphs,
                      double scale, const Tensor& bias) {
  Tensor scores = at::matmul(padding.pad(q) * scale, padding.pad(k).transpose(-1, -2));
  if (bias.defined()) {
    scores = scores + padding.pad_pairs(bias, graphs);
  }
  if (!padding.full) {
    scores = scores.masked_fill(padding.empty_keys, -std::numeric_limits<double>::infinity());
  }
  return scores.softmax(-1);
}

}  // namespace

Tensor attention_padded(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                        double scale, const Tensor& bias) {
  const Padding padding(graphs);
  return padding.unpad(at::matmul(padded_weights(padding, q, k, graphs, scale, bias), padding.pad(v)));
}

Tensor attention_dropped(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                         double scale, double dropout) {
  const Padding padding(graphs);
  const Tensor weights = padded_weights(padding, q, k, graphs, scale, {});
  return padding.unpad(at::matmul(at::dropout(weights, dropout, /*train=*/true), padding.pad(v)));
}

}  // namespace weyl
