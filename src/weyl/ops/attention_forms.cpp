#include "weyl/ops/attention_forms.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <vector>

#include "weyl/ops/padding.h"
#include "weyl/ops/segment.h"

namespace weyl {

Tensor attention_by_pairs(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                          double scale, const Tensor& bias) {
  // Two nodes of the batch are a pair when they are of one graph: found among all of them, in the order i, j.
  const Tensor pairs = graphs.index.unsqueeze(1).eq(graphs.index.unsqueeze(0)).nonzero();
  const Tensor query = pairs.select(1, 0), key = pairs.select(1, 1);
  std::vector<int64_t> keys_of_query;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    keys_of_query.insert(keys_of_query.end(), static_cast<size_t>(graphs.size(s)), graphs.size(s));
  }
  Tensor scores = (q.index_select(0, query) * k.index_select(0, key)).sum(-1) * scale;  // (pairs, H)
  scores = bias.defined() ? scores + bias : scores;
  const Tensor weights = segment_softmax(scores, Segments::of_sizes(keys_of_query, q.device()));
  return at::zeros({q.size(0), q.size(1), v.size(2)}, q.options())
      .index_add(0, query, weights.unsqueeze(-1) * v.index_select(0, key));
}

Tensor attention_padded(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                        double scale, const Tensor& bias) {
  const Padding padding(graphs, q.device());
  Tensor scores = at::matmul(padding.pad(q) * scale, padding.pad(k).transpose(-1, -2));
  if (bias.defined()) {
    scores = scores + padding.pad_pairs(bias, graphs);
  }
  if (!padding.full) {
    scores = scores.masked_fill(padding.empty_keys, -std::numeric_limits<double>::infinity());
  }
  return padding.unpad(at::matmul(scores.softmax(-1), padding.pad(v)));
}

}  // namespace weyl
