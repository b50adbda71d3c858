#include "weyl/ops/lie_attention.h"

#include "weyl/core/check.h"
#include "weyl/ops/lie_attention_forms.h"

namespace weyl {
namespace {

void require_values(const char* where, const Tensor& values, const Segments& graphs) {
  require(values.defined() && values.dim() == 3 && values.size(0) == graphs.rows(), where,
          ": values must be (", graphs.rows(), ", H, C), got ",
          values.defined() ? values.sizes() : at::IntArrayRef{});
}

void require_weights(const char* where, const Tensor& weights, int64_t heads, int64_t blocks) {
  require(weights.defined() && weights.dim() == 2 && weights.size(0) == heads && weights.size(1) == blocks,
          where, ": weights must be (", heads, ", ", blocks, "), got ",
          weights.defined() ? weights.sizes() : at::IntArrayRef{});
}

void require_inside(const char* where, const Tensor& outside, const Segments& graphs, LieGroup group) {
  const Tensor rows = outside.nonzero();
  if (rows.size(0) > 0) {
    const int64_t row = rows[0][0].item<int64_t>();
    const int64_t graph = graphs.index[row].item<int64_t>();
    require(false, where, ": every relative pose of ", name_of(group),
            " must be inside the chart of the logarithm (chart policy error), got ",
            outside.sum().item<int64_t>(), " pairs outside, the first of token ", row - graphs.offsets[graph],
            " of graph ", graph);
  }
}

}  // namespace

LiePairs lie_pairs(const Tensor& compact, const Segments& graphs, LieGroup group, ChartPolicy policy) {
  LiePairs pairs = lie_pairs_of(compact, graphs, group, policy);
  if (policy == ChartPolicy::error) {
    require_inside("lie_pairs", pairs.outside, graphs, group);
  }
  return pairs;
}

LieAttention lie_attention_scored(const Tensor& scores, const LiePairs& pairs, const Tensor& values,
                                  const Segments& graphs) {
  require_values("lie_attention_scored", values, graphs);
  const Tensors y = attention_over_pairs(scores, pairs.coordinates, pairs.present, values, graphs);
  return {y[0], y[1], pairs.outside};
}

LieAttention lie_attention(const LiePairs& pairs, const Tensor& values, const Tensor& weights,
                           const Segments& graphs) {
  require_weights("lie_attention", weights, values.size(1), pairs.squares.size(1));
  return lie_attention_scored(block_scores(pairs.squares, weights), pairs, values, graphs);
}

LieAttention lie_attention(const Tensor& compact, const Tensor& values, const Tensor& weights,
                           const Segments& graphs, LieGroup group, ChartPolicy policy) {
  return lie_attention(lie_pairs(compact, graphs, group, policy), values, weights, graphs);
}

}  // namespace weyl
