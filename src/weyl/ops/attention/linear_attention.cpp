#include "weyl/ops/attention/linear_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/ops/attention/padding.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

void require_like(const char* name, const Tensor& x, const Tensor& q, int64_t width) {
  require(
      x.dim() == 3 && x.size(0) == q.size(0) && x.size(1) == q.size(1) && (width < 0 || x.size(2) == width),
      "linear_attention: ", name, " must fit q ", q.sizes(), ", got ", x.sizes());
  require(x.scalar_type() == q.scalar_type(), "linear_attention: ", name, " must have q's dtype ",
          q.scalar_type(), ", got ", x.scalar_type());
}

/// Graphs cut into pieces of a few rows: a batch of them is padded to the longest piece, not to the longest
/// graph.
struct Pieces {
  Segments rows;       // of each piece
  Segments of_graphs;  // the pieces of each graph
};

int64_t count_of(const Segments& graphs, int64_t length) {
  int64_t pieces = 0;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    pieces += (graphs.size(s) + length - 1) / length;
  }
  return pieces;
}

/// The length longest / 2^i whose pieces have the fewest numbers: a piece has `length` rows of K + V numbers
/// and a (K, V) matrix. Graphs of one size stay whole.
int64_t best_length(const Segments& graphs, int64_t K, int64_t V) {
  int64_t best = 1, fewest = count_of(graphs, 1) * (K + V + K * V);
  for (int64_t length = std::max<int64_t>(graphs.longest(), 1); length > 1; length = (length + 1) / 2) {
    const int64_t numbers = count_of(graphs, length) * (length * (K + V) + K * V);
    if (numbers < fewest) {
      best = length;
      fewest = numbers;
    }
  }
  return best;
}

Pieces cut(const Segments& graphs, int64_t length, at::Device device) {
  std::vector<int64_t> rows, pieces;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    const size_t before = rows.size();
    for (int64_t left = graphs.size(s); left > 0; left -= length) {
      rows.push_back(std::min(left, length));
    }
    pieces.push_back(static_cast<int64_t>(rows.size() - before));
  }
  return {Segments::of_sizes(rows, device), Segments::of_sizes(pieces, device)};
}

}  // namespace

Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                        const Tensor& norm) {
  require(q.dim() == 3 && q.size(0) == graphs.rows(), "linear_attention: q must be (", graphs.rows(),
          ", H, K), got ", q.sizes());
  require_like("k", k, q, q.size(2));
  require_like("v", v, q, -1);
  const Pieces pieces = cut(graphs, best_length(graphs, k.size(2), v.size(2)), q.device());
  const Padding padding(pieces.rows, q.device());
  Tensor keys = padding.pad(k), values;
  if (norm.defined()) {
    require(norm.dim() == 1 && norm.size(0) == graphs.count(), "linear_attention: norm must be (",
            graphs.count(), "), got ", norm.sizes());
    values = padding.pad(v / norm.to(v.scalar_type()).index_select(0, graphs.index).view({-1, 1, 1}));
  } else {
    values = padding.pad(v);
  }
  if (!padding.full) {
    keys = keys.masked_fill(padding.empty_keys.transpose(-1, -2), 0);
  }
  Tensor matrices = at::matmul(keys.transpose(-1, -2), values);  // (pieces, H, K, V)
  if (pieces.of_graphs.longest() > 1) {
    matrices = segment_sum(matrices, pieces.of_graphs).index_select(0, pieces.of_graphs.index);
  }
  return padding.unpad(at::matmul(padding.pad(q), matrices));
}

}  // namespace weyl
