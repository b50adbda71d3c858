#include "weyl/ops/attention/hierarchical_attention.h"

#include <ATen/ops/cat.h>

#include <utility>

#include "weyl/core/check.h"
#include "weyl/ops/attention/attention.h"

namespace weyl {
namespace {

/// The two halves of the heads, as views; a shared head belongs to both. The derivative of a split is one
/// concatenation, where that of two slices would be two tensors of zeros and a sum.
std::pair<Tensor, Tensor> halves(const Tensor& x) {
  if (x.size(-2) == 1) {
    return {x, x};
  }
  const auto both = x.split(x.size(-2) / 2, -2);
  return {both[0], both[1]};
}

}  // namespace

Tensor hierarchical_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                              const Segments& objects, double scale) {
  const char* where = "hierarchical_attention";
  require((q.dim() == 3 || q.dim() == 4) && q.size(0) == graphs.rows(), where, ": q must be (", graphs.rows(),
          ", H, K), got ", q.sizes());
  const int64_t heads = q.size(-2);
  require(heads > 0 && heads % 2 == 0, where, ": the number of heads must be even, got ", heads);
  require(objects.rows() == graphs.rows(), where, ": objects must hold all ", graphs.rows(), " nodes, got ",
          objects.rows());
  for (const auto& [name, x] : {std::pair("k", &k), {"v", &v}}) {
    require(x->dim() == q.dim() && (x->size(-2) == heads || x->size(-2) == 1), where, ": ", name,
            " must have as many heads as q ", q.sizes(), " or one, got ", x->sizes());
  }
  const auto [q_inside, q_global] = halves(q);
  const auto [k_inside, k_global] = halves(k);
  const auto [v_inside, v_global] = halves(v);
  // An input without nodes may be without objects.
  const Segments& inside = objects.count() > 0 ? objects : graphs;
  return at::cat({ragged_attention(q_inside, k_inside, v_inside, inside, scale),
                  ragged_attention(q_global, k_global, v_global, graphs, scale)},
                 -2);
}

}  // namespace weyl
