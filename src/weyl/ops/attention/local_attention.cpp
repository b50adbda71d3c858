#include "weyl/ops/attention/local_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/index_select.h>
#include <algorithm>
#include <tuple>

#include "weyl/core/check.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/edges/edge_attention.h"

namespace weyl {

namespace {

/// `near`: in whose order the edges are; null: in that of the nodes.
Tensor attended(const Tensor& given_q, const Tensor& given_k, const Tensor& given_v, const Edges& edges,
                const NearestNodes* near, double scale) {
  const char* where = "local_attention";
  const Tensor q = widened(given_q), k = widened(given_k),
               v = widened(given_v);  // under autocast of several types
  require(q.dim() == 3 && q.size(0) == edges.nodes(), where, ": q must be (", edges.nodes(), ", H, K), got ",
          q.sizes());
  const int64_t n = q.size(0), heads = q.size(1);
  for (const auto& [name, x, width] : {std::tuple("k", &k, q.size(2)), std::tuple("v", &v, v.size(-1))}) {
    require(x->dim() == 3 && x->size(0) == n && (x->size(1) == heads || x->size(1) == 1) &&
                x->size(2) == width && x->scalar_type() == q.scalar_type(),
            where, ": ", name, " must fit q ", q.sizes(), " ", q.scalar_type(), ", got ", x->sizes(), " ",
            x->scalar_type());
  }
  // One op for all three, whose rows are of one width: zeros behind the shorter ones change nothing.
  const int64_t wide = std::max(q.size(2), v.size(2));
  const auto row = [&](const Tensor& x) {
    const Tensor each = x.expand({n, heads, x.size(2)});
    return (x.size(2) < wide ? at::constant_pad_nd(each, {0, wide - x.size(2)}) : each)
        .reshape({n, heads * wide});
  };
  EdgeAttention form;
  form.heads = heads;
  form.width = heads * wide;
  form.parts = {{.vectors = false, .query = 0, .key = 1, .value = 2, .scale = scale}};
  const Tensor rows = at::cat({row(q), row(k), row(v)}, 1);
  const Tensor found =
      edge_attention(form, {near ? rows.index_select(0, near->order) : rows, {}, {}, {}}, edges)[0];
  const Tensor y = near ? found.index_select(0, near->back) : found;
  return y.view({n, heads, wide}).narrow(2, 0, v.size(2));
}

}  // namespace

Tensor local_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Edges& edges, double scale) {
  return attended(q, k, v, edges, nullptr, scale);
}

Tensor local_attention(const Tensor& q, const Tensor& k, const Tensor& v, const NearestNodes& near,
                       double scale) {
  return attended(q, k, v, near.edges, &near, scale);
}

}  // namespace weyl
